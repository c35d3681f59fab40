//! Names of the files in a session's directory.

use std::path::{Path, PathBuf};

use crate::domain::ids::{SessionId, TerminalId};

/// Directory of one session below the state directory. Only names: nothing is created or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDir {
    dir: PathBuf,
}

impl SessionDir {
    /// The directory of `session` below `state`.
    #[must_use]
    pub fn new(state: &Path, session: &SessionId) -> Self {
        Self { dir: state.join("sessions").join(session.as_str()) }
    }

    /// A directory by its own path.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Lock of the session's agentctl.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.dir.join("agentctl.lock")
    }

    /// Socket of the session's agentctl.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.dir.join("agentctl.sock")
    }

    /// Journal.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.dir.join("journal")
    }

    /// Directory of the hook spools.
    #[must_use]
    pub fn spool_dir(&self) -> PathBuf {
        self.dir.join("spool")
    }

    /// Hook spool of one terminal.
    #[must_use]
    pub fn spool(&self, terminal: &TerminalId) -> PathBuf {
        self.spool_dir().join(terminal.as_str())
    }

    /// Directory of the terminals' history.
    #[must_use]
    pub fn history_dir(&self) -> PathBuf {
        self.dir.join("history")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_lies_below_the_sessions_directory() {
        let session = SessionId::new("s1").unwrap();
        let terminal = TerminalId::new("t1").unwrap();
        let dir = SessionDir::new(Path::new("/state"), &session);
        assert_eq!(dir.socket(), Path::new("/state/sessions/s1/agentctl.sock"));
        assert_eq!(dir.spool(&terminal), Path::new("/state/sessions/s1/spool/t1"));
        assert_eq!(SessionDir::at("/state/sessions/s1"), dir);
    }
}
