//! Why a program could not be started on a terminal, or a terminal not be used.

use std::io;
use std::path::PathBuf;

/// Result of this room.
pub type Result<T> = std::result::Result<T, Error>;

/// A failed attempt on a terminal.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such program.
    #[error("program `{program}` {}; install it, or correct the profile", if program.components().nth(1).is_some() { "does not exist".into() } else { format!("was not found on PATH ({path})") })]
    ProgramMissing {
        /// As asked for.
        program: PathBuf,
        /// The PATH searched; for an absolute program, itself.
        path: String,
    },
    /// The file is there but cannot be executed.
    #[error("`{program}` cannot be executed: {why}")]
    NotExecutable {
        /// The file.
        program: PathBuf,
        /// Why.
        why: &'static str,
    },
    /// A script whose interpreter is missing.
    #[error("`{program}` needs the interpreter `{interpreter}`, which is missing; install it or mend the first line")]
    InterpreterMissing {
        /// The script.
        program: PathBuf,
        /// From its first line.
        interpreter: PathBuf,
    },
    /// No such directory.
    #[error("directory `{directory}` does not exist; make it again or choose another one")]
    DirectoryMissing {
        /// The directory.
        directory: PathBuf,
    },
    /// The directory cannot be entered.
    #[error("directory `{directory}` cannot be used: {why}")]
    DirectoryUnusable {
        /// The directory.
        directory: PathBuf,
        /// Why.
        why: String,
    },
    /// The kernel would refuse the arguments and the environment.
    #[error(
        "{what} is too long: {bytes} bytes, and the kernel takes at most {limit}; shorten the prompt or the environment"
    )]
    TooLong {
        /// Which text.
        what: String,
        /// Its length.
        bytes: usize,
        /// Limit.
        limit: usize,
    },
    /// An argument or a variable has a form that no program can be given.
    #[error("{what} cannot be passed to a program: it holds a NUL byte or, as a variable's name, `=` or nothing")]
    Unpassable {
        /// Which text.
        what: String,
    },
    /// No terminal could be opened.
    #[error("cannot open a terminal: {why}; close some, or raise the limit (kernel.pty.max, open files)")]
    Open {
        /// In words.
        why: String,
    },
    /// The program could not be started for another reason.
    #[error("cannot start `{program}`: {why}")]
    Spawn {
        /// The program.
        program: PathBuf,
        /// In words.
        why: String,
    },
    /// Something about the terminal or its process failed.
    #[error("cannot {what}: {source}")]
    Terminal {
        /// What was attempted.
        what: &'static str,
        /// Cause.
        source: io::Error,
    },
    /// Something about its process failed.
    #[error(transparent)]
    Process(#[from] crate::proc::error::Error),
}

/// Why bytes were not taken for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The program does not read.
    #[error(
        "the program does not read its input: {queued} bytes wait already, and at most {limit} may; try again later"
    )]
    Full {
        /// Bytes that wait.
        queued: usize,
        /// Limit.
        limit: usize,
    },
    /// Nobody will read any more.
    #[error("the terminal is closed")]
    Closed,
}
