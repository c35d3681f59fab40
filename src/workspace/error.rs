//! What can go wrong when a workspace is read.

use std::io;
use std::time::Duration;

use crate::domain::words::ErrorCode;
use crate::wire::host::WireError;

/// An error of this room.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The session's directory itself cannot be read.
    #[error("the session's directory `{path}` cannot be read: {source}")]
    Root {
        /// Directory.
        path: String,
        /// Cause.
        source: io::Error,
    },
    /// A path that is not below the session's directory, as written or once its links are resolved.
    #[error("`{path}` is outside of the session's directory: name a path below it")]
    Outside {
        /// Path as given.
        path: String,
    },
    /// There is no such file or directory.
    #[error("there is no `{path}` in the session's directory")]
    Missing {
        /// Path as given.
        path: String,
    },
    /// It is another kind of thing.
    #[error("`{path}` is not a {wanted}")]
    Kind {
        /// Path as given.
        path: String,
        /// `file` or `directory`.
        wanted: &'static str,
    },
    /// It cannot be read.
    #[error("`{path}` cannot be read: {source}")]
    Unreadable {
        /// Path as given.
        path: String,
        /// Cause.
        source: io::Error,
    },
    /// A text that cannot be searched for.
    #[error("cannot search for `{text}`: give 1 to 1000 characters without line breaks")]
    Text {
        /// Text as given, cut.
        text: String,
    },
    /// git could not be started.
    #[error("cannot start git: {source}; install it where the session runs")]
    NoGit {
        /// Cause.
        source: io::Error,
    },
    /// git failed.
    #[error("`git {what}` failed: {why}")]
    Git {
        /// Its subcommand.
        what: String,
        /// What it said.
        why: String,
    },
    /// It took too long and was given up.
    #[error("`{what}` took longer than {} s and was given up", after.as_secs())]
    Slow {
        /// What.
        what: String,
        /// The limit.
        after: Duration,
    },
    /// The program is ending.
    #[error("`{what}` was given up: the program is ending")]
    Ending {
        /// What.
        what: String,
    },
}

impl Error {
    /// The error's code on every interface.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Root { .. } => ErrorCode::WorktreeMissing,
            Self::Outside { .. } => ErrorCode::Forbidden,
            Self::Missing { .. } | Self::Kind { .. } | Self::Text { .. } => ErrorCode::BadRequest,
            Self::Slow { .. } => ErrorCode::Timeout,
            Self::Ending { .. } => ErrorCode::ShuttingDown,
            Self::Unreadable { .. } | Self::NoGit { .. } | Self::Git { .. } => ErrorCode::Internal,
        }
    }
}

impl From<Error> for WireError {
    fn from(error: Error) -> Self {
        Self::new(error.code(), error.to_string())
    }
}
