//! What can go wrong in a supervisor, in words for a person and with a stable code.

use std::io;
use std::path::PathBuf;

use crate::domain::words::ErrorCode;
use crate::wire::host::WireError;

/// Exit code of an agentctl that found another one in its session: nothing is wrong, it is only not needed.
pub const EXIT_HELD: u8 = 75;

/// Why an agentctl cannot do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another agentctl has this session.
    #[error("session `{session}` already has a live agentctl ({holder}); nothing was started")]
    Held {
        /// Session.
        session: String,
        /// Who, as far as it says.
        holder: String,
    },
    /// An operation on a file failed.
    #[error("cannot {what} `{}`: {source}", path.display())]
    File {
        /// What was attempted.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The journal was written by a newer relight.
    #[error("the journal `{}` has format {found}, newer than this relight's {known}; update relight", path.display())]
    JournalVersion {
        /// Journal.
        path: PathBuf,
        /// Format found.
        found: u32,
        /// Format known.
        known: u32,
    },
    /// A record is longer than a journal takes.
    #[error("a journal record of {bytes} bytes is longer than {limit}; it was not written")]
    RecordTooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Something about processes failed.
    #[error("cannot {what}: {why}")]
    Process {
        /// What was attempted.
        what: &'static str,
        /// Why it failed.
        why: String,
    },
    /// The socket cannot be bound or served.
    #[error("cannot serve at `{}`: {why}", path.display())]
    Socket {
        /// Socket.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl Error {
    /// A failed operation on a file.
    pub fn file(what: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::File { what, path: path.into(), source }
    }

    /// A failed operation on processes.
    pub fn process(what: &'static str, why: impl std::fmt::Display) -> Self {
        Self::Process { what, why: why.to_string() }
    }

    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => ErrorCode::DiskFull,
            Self::File { source, .. } if source.kind() == io::ErrorKind::QuotaExceeded => ErrorCode::DiskFull,
            Self::Held { .. } => ErrorCode::AliveElsewhere,
            Self::JournalVersion { .. } => ErrorCode::VersionMismatch,
            _ => ErrorCode::ExecutorError,
        }
    }

    /// Exit code of an agentctl that ends with this error: [`EXIT_HELD`] when another one has the session, else 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Held { .. }) { EXIT_HELD } else { 1 }
    }

    /// The error as the interface sends it.
    #[must_use]
    pub fn wire(&self) -> WireError {
        let error = WireError::new(self.code(), self.to_string());
        if self.code() == ErrorCode::DiskFull { error.hint("free some space, then try again") } else { error }
    }
}
