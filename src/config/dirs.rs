//! Where one instance of relight keeps its things.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::error::Error;

/// Variable that puts everything of one instance under one directory.
pub const HOME_VARIABLE: &str = "RELIGHT_HOME";

/// Mode of the state directory: what is in it lets one act as its owner.
const PRIVATE: u32 = 0o700;

/// The directories of one instance, all absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// `config.toml`.
    pub config: PathBuf,
    /// Database and its backups.
    pub data: PathBuf,
    /// Locks, sockets, journals.
    pub state: PathBuf,
    /// Log files.
    pub logs: PathBuf,
    /// The one directory that all of them are under; `None`: the XDG places.
    pub home: Option<PathBuf>,
}

impl Dirs {
    /// The directories under `home`, which is absolute.
    #[must_use]
    pub fn under(home: &Path) -> Self {
        Self {
            config: home.join("config"),
            data: home.join("data"),
            state: home.join("state"),
            logs: home.join("logs"),
            home: Some(home.to_owned()),
        }
    }

    /// Finds the directories: under `RELIGHT_HOME` when it is set, else in the XDG places. `lookup` reads one
    /// environment variable.
    ///
    /// # Errors
    /// [`Error::NotAbsolute`] for a relative `RELIGHT_HOME`, [`Error::NoHome`] when no home directory is known. A relative
    /// XDG variable is ignored, as its specification says.
    pub fn resolve(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, Error> {
        if let Some(home) = lookup(HOME_VARIABLE).filter(|value| !value.is_empty()) {
            let home = PathBuf::from(home);
            if !home.is_absolute() {
                let value = home.to_string_lossy().into_owned();
                return Err(Error::NotAbsolute { variable: HOME_VARIABLE, value });
            }
            return Ok(Self::under(&home));
        }
        let home = match lookup("HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
            Some(home) => home,
            None => etcetera::home_dir().ok().filter(|path| path.is_absolute()).ok_or(Error::NoHome)?,
        };
        let place = |variable: &str, default: &str| {
            let set = lookup(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            set.unwrap_or_else(|| home.join(default)).join("relight")
        };
        let state = place("XDG_STATE_HOME", ".local/state");
        Ok(Self {
            config: place("XDG_CONFIG_HOME", ".config"),
            data: place("XDG_DATA_HOME", ".local/share"),
            logs: state.join("logs"),
            state,
            home: None,
        })
    }

    /// Makes all of them; the state directory is its owner's alone.
    ///
    /// # Errors
    /// [`Error::Directory`] names the one that could not be made.
    pub fn create(&self) -> Result<(), Error> {
        for path in [&self.config, &self.data, &self.state, &self.logs] {
            let failed = |source| Error::Directory { path: path.clone(), source };
            fs::DirBuilder::new().recursive(true).mode(PRIVATE).create(path).map_err(failed)?;
        }
        fs::set_permissions(&self.state, fs::Permissions::from_mode(PRIVATE))
            .map_err(|source| Error::Directory { path: self.state.clone(), source })
    }

    /// The settings file; it need not exist.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.data.join("relight.db")
    }

    /// Copies of the database from before each migration.
    #[must_use]
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// The lock of the host: who holds it is the host.
    #[must_use]
    pub fn host_lock(&self) -> PathBuf {
        self.state.join("host.lock")
    }

    /// The host's socket.
    #[must_use]
    pub fn host_socket(&self) -> PathBuf {
        self.state.join("host.sock")
    }

    /// Mark of `relight host stop`: while it is there, no agentctl starts a host.
    #[must_use]
    pub fn host_stopped(&self) -> PathBuf {
        self.state.join("host.stopped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(pairs: &[(&str, &str)]) -> Result<Dirs, Error> {
        let pairs: Vec<(String, OsString)> = pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        Dirs::resolve(|name| pairs.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone()))
    }

    #[test]
    fn one_variable_moves_everything() {
        let dirs = resolve(&[("RELIGHT_HOME", "/r"), ("HOME", "/h"), ("XDG_STATE_HOME", "/s")]).unwrap();
        assert_eq!(dirs, Dirs::under(Path::new("/r")));
        assert_eq!(dirs.host_socket(), Path::new("/r/state/host.sock"));
        assert!(matches!(resolve(&[("RELIGHT_HOME", "r")]), Err(Error::NotAbsolute { .. })));
    }

    #[test]
    fn without_it_the_xdg_places_count() {
        let dirs = resolve(&[("RELIGHT_HOME", ""), ("HOME", "/h"), ("XDG_STATE_HOME", "/s"), ("XDG_DATA_HOME", "rel")]);
        let dirs = dirs.unwrap();
        assert_eq!(dirs.config, Path::new("/h/.config/relight"));
        assert_eq!(dirs.data, Path::new("/h/.local/share/relight"));
        assert_eq!(dirs.state, Path::new("/s/relight"));
        assert_eq!(dirs.logs, Path::new("/s/relight/logs"));
    }

    #[test]
    fn the_state_directory_is_private() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::under(&home.path().join("deep"));
        dirs.create().unwrap();
        dirs.create().unwrap();
        assert_eq!(fs::metadata(&dirs.state).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(home.path().join("file"), "").unwrap();
        assert!(matches!(Dirs::under(&home.path().join("file")).create(), Err(Error::Directory { .. })));
    }
}
