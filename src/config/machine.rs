//! Whether a state directory belongs to this machine: processes, locks and sockets in it mean nothing on another one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::Error;

/// Where a machine's own id stands: systemd's file, and the older one of D-Bus.
const SOURCES: [&str; 2] = ["/etc/machine-id", "/var/lib/dbus/machine-id"];

/// This machine's id; `None` where it has none (many containers), and then nothing can be told apart.
#[must_use]
pub fn id() -> Option<String> {
    #[cfg(debug_assertions)]
    if let Ok(id) = std::env::var("RELIGHT_TEST_MACHINE_ID") {
        return Some(id);
    }
    SOURCES
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .map(|text| text.trim().to_owned())
        .find(|id| !id.is_empty() && id != "uninitialized")
}

/// Checks that the state directory was made on this machine, and marks a new one. Only for who holds the host's lock.
///
/// # Errors
/// [`Error::OtherMachine`] when another machine made it, [`Error::File`] when the mark can be neither read nor written.
pub fn check(state: &Path) -> Result<(), Error> {
    check_as(state, id().as_deref())
}

/// The same without a mark on a new one: for whoever is about to write into the state directory, or to take a lock in it.
///
/// # Errors
/// [`Error::OtherMachine`], or [`Error::File`] when the mark cannot be read.
pub fn refuse_foreign(state: &Path) -> Result<(), Error> {
    refuse_foreign_as(state, id().as_deref()).map(drop)
}

fn check_as(state: &Path, here: Option<&str>) -> Result<(), Error> {
    let unmarked = refuse_foreign_as(state, here)?;
    let (true, Some(here)) = (unmarked, here) else { return Ok(()) };
    let path = mark(state);
    fs::write(&path, format!("{here}\n")).map_err(|source| Error::File { action: "write", path, source })
}

fn mark(state: &Path) -> PathBuf {
    state.join("machine-id")
}

/// Whether the directory has no mark yet.
fn refuse_foreign_as(state: &Path, here: Option<&str>) -> Result<bool, Error> {
    let path = mark(state);
    let recorded = match fs::read_to_string(&path) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(Error::File { action: "read", path, source }),
    };
    match here {
        Some(here) if !recorded.is_empty() && recorded != here => {
            Err(Error::OtherMachine { path: state.into(), recorded, here: here.into() })
        }
        _ => Ok(recorded.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_of_another_machine_is_refused() {
        let state = tempfile::tempdir().unwrap();
        check_as(state.path(), None).unwrap();
        refuse_foreign_as(state.path(), Some("a")).unwrap();
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
        check_as(state.path(), Some("a")).unwrap();
        check_as(state.path(), Some("a")).unwrap();
        check_as(state.path(), None).unwrap();
        let error = check_as(state.path(), Some("b")).unwrap_err();
        assert!(error.to_string().contains("another machine (a; this one is b)"), "{error}");
    }
}
