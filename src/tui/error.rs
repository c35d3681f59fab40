//! Why the screen cannot be shown.

use std::io;

/// An error of this room.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing to show it on.
    #[error("no terminal: run it in one, or use `relight ls`, `relight send` and `relight capture` in scripts ({0})")]
    NoTerminal(io::Error),
    /// The terminal does not do what is needed.
    #[error("the terminal refused to be {what}: {source}")]
    Terminal {
        /// What was attempted.
        what: &'static str,
        /// Cause.
        source: io::Error,
    },
    /// The runtime has no timer, signals or readiness.
    #[error("cannot wait for {what}: {source}")]
    Wait {
        /// For what.
        what: &'static str,
        /// Cause.
        source: io::Error,
    },
}
