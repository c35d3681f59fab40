//! What can go wrong between two processes.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::words::ErrorCode;
use crate::wire::host::WireError;

/// An error of this room: what was attempted, on which address, and the cause.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing listens there: no socket, or one that nobody serves.
    #[error("nobody listens at {at}: {source}")]
    NobodyThere {
        /// Address.
        at: String,
        /// Cause.
        source: io::Error,
    },
    /// No answer in time. What became of the request is unknown.
    #[error("{at} did not answer `{what}` within {} ms", after.as_millis())]
    Silent {
        /// Address.
        at: String,
        /// The request.
        what: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The other side speaks another version of the protocol.
    #[error(
        "this relight speaks protocol {ours}, the other side protocol {theirs}: \
         use the same version on both sides (`relight host stop`, then start it again with the new one)"
    )]
    VersionMismatch {
        /// Our version.
        ours: u32,
        /// Its version.
        theirs: u32,
    },
    /// It answered with an error.
    #[error("{0}")]
    Remote(WireError),
    /// The socket is served by another user.
    #[error(
        "{at} is served by the user with id {uid}, not by you: set RELIGHT_HOME to a place of your own, or remove it if it is in yours"
    )]
    OtherOwner {
        /// Address.
        at: String,
        /// The server's user id.
        uid: u32,
    },
    /// The connection ended.
    #[error("the connection to {at} ended: {why}")]
    Closed {
        /// Address.
        at: String,
        /// Why.
        why: String,
    },
    /// An answer that is none of this protocol.
    #[error("the answer of {at} to `{what}` cannot be read: {why}")]
    Unreadable {
        /// Address.
        at: String,
        /// The request.
        what: String,
        /// Why.
        why: String,
    },
    /// A message of ours that cannot be sent.
    #[error("`{what}` cannot be sent: {why}")]
    Unsendable {
        /// The message.
        what: String,
        /// Why.
        why: String,
    },
    /// Not an address.
    #[error("`{url}` is not an address that can be reached from here: `unix:PATH` is")]
    BadUrl {
        /// The text.
        url: String,
    },
    /// A socket could not be made.
    #[error("cannot listen at {}: {source}", path.display())]
    Bind {
        /// Path.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Any other failure of the connection.
    #[error("`{what}` at {at} failed: {source}")]
    Io {
        /// Address.
        at: String,
        /// What was attempted.
        what: String,
        /// Cause.
        source: io::Error,
    },
}

impl Error {
    /// The error's code on every interface.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Remote(error) => error.code,
            Self::VersionMismatch { .. } => ErrorCode::VersionMismatch,
            Self::Silent { .. } => ErrorCode::Timeout,
            Self::OtherOwner { .. } => ErrorCode::Forbidden,
            Self::BadUrl { .. } => ErrorCode::ExecutorUnsupported,
            Self::NobodyThere { .. } | Self::Closed { .. } | Self::Io { .. } => ErrorCode::ExecutorUnreachable,
            Self::Unreadable { .. } | Self::Unsendable { .. } | Self::Bind { .. } => ErrorCode::Internal,
        }
    }

    /// The same as it goes over the wire: a remote error unchanged, any other with its code.
    #[must_use]
    pub fn to_wire(&self) -> WireError {
        match self {
            Self::Remote(error) => error.clone(),
            other => WireError::new(other.code(), other.to_string()),
        }
    }
}
