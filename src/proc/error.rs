//! What can go wrong with processes, in words.

use std::io;
use std::path::PathBuf;

/// Result of this room.
pub type Result<T> = std::result::Result<T, Error>;

/// A failed attempt on a process, a lock or a limit.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file under `/proc` could not be read.
    #[error("cannot read {path}: {source}; relight needs /proc to be mounted and readable")]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A file under `/proc` had another form than the kernel documents.
    #[error("{path} has an unknown form: `{text}`")]
    Form {
        /// The file.
        path: PathBuf,
        /// Its text, cut to 80 characters.
        text: String,
    },
    /// A handle on a process could not be had.
    #[error("cannot hold process {pid} by a pidfd: {source}; Linux 5.3 or newer is needed")]
    Pidfd {
        /// The process.
        pid: i32,
        /// Cause.
        source: io::Error,
    },
    /// A process could not be signalled.
    #[error("cannot send signal {signal} to process {pid}: {source}")]
    Signal {
        /// The process.
        pid: i32,
        /// Signal number.
        signal: i32,
        /// Cause.
        source: io::Error,
    },
    /// The end of a process could not be waited for.
    #[error("cannot wait for process {pid}: {source}")]
    Wait {
        /// The process.
        pid: i32,
        /// Cause.
        source: io::Error,
    },
    /// A lock file could not be opened, locked or written.
    #[error("cannot lock {path}: {source}; check that its directory exists, is yours and is on a local disk")]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A background process could not be started.
    #[error("cannot start {program} in the background: {source}")]
    Start {
        /// The program.
        program: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The intermediate process said that the start failed.
    #[error("{program} did not start in the background ({status}); the reason is at the end of {log}")]
    Intermediate {
        /// The program.
        program: PathBuf,
        /// How the intermediate process ended.
        status: String,
        /// Where its words are.
        log: PathBuf,
    },
    /// A program did not say what it was asked for.
    #[error("{program} did not answer: {why}")]
    Answer {
        /// The program.
        program: PathBuf,
        /// Why.
        why: String,
    },
    /// The hidden `detach` command was called with arguments it does not know.
    #[error("detach is internal: it takes `-- PROGRAM [ARGS…]`")]
    Usage,
    /// A setting of this process could not be changed.
    #[error("cannot {what}: {source}")]
    Setting {
        /// What was attempted.
        what: &'static str,
        /// Cause.
        source: io::Error,
    },
    /// Background work was cut off by the end of the program.
    #[error("{what} was cut off because the program ends")]
    CutOff {
        /// What was attempted.
        what: &'static str,
    },
}
