//! Whether a state directory belongs to this machine: processes, locks and sockets in it mean nothing on another one.

use std::fs;
use std::io;
use std::path::Path;

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

fn check_as(state: &Path, here: Option<&str>) -> Result<(), Error> {
    let path = state.join("machine-id");
    let recorded = match fs::read_to_string(&path) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(Error::File { action: "read", path, source }),
    };
    match here {
        None => Ok(()),
        Some(here) if recorded == here => Ok(()),
        Some(here) if recorded.is_empty() => {
            fs::write(&path, format!("{here}\n")).map_err(|source| Error::File { action: "write", path, source })
        }
        Some(here) => Err(Error::OtherMachine { path: state.into(), recorded, here: here.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_of_another_machine_is_refused() {
        let state = tempfile::tempdir().unwrap();
        check_as(state.path(), None).unwrap();
        check_as(state.path(), Some("a")).unwrap();
        check_as(state.path(), Some("a")).unwrap();
        check_as(state.path(), None).unwrap();
        let error = check_as(state.path(), Some("b")).unwrap_err();
        assert!(error.to_string().contains("another machine (a; this one is b)"), "{error}");
    }
}
