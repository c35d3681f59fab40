//! What can be wrong with the configuration and its directories.

use std::io;
use std::path::PathBuf;

/// A mistake in the configuration, said so that a person can mend it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No home directory is known.
    #[error("neither RELIGHT_HOME nor a home directory is known: set HOME, or RELIGHT_HOME to a directory for relight")]
    NoHome,
    /// A directory from the environment is not absolute.
    #[error("{variable}=`{value}` is not an absolute path: give it from `/` on")]
    NotAbsolute {
        /// Variable.
        variable: &'static str,
        /// As set.
        value: String,
    },
    /// A directory could not be made.
    #[error("cannot make the directory {path}: {source}; make it yourself, or set RELIGHT_HOME to another place")]
    Directory {
        /// Directory.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}; check that it is yours and that RELIGHT_HOME is a directory")]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// File.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("{place}: {message}; `relight config example` prints a valid file")]
    Syntax {
        /// File and line.
        place: Place,
        /// What the parser says.
        message: String,
    },
    /// A key that nothing reads.
    #[error("{place}: unknown key `{key}`{}; the keys here are: {known}", near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownKey {
        /// File and line.
        place: Place,
        /// Key with its tables.
        key: String,
        /// Nearest known key.
        near: Option<String>,
        /// All known keys of that table.
        known: String,
    },
    /// A value out of range or of another type.
    #[error("{place}: `{key} = {value}`: {message}")]
    BadValue {
        /// File and line.
        place: Place,
        /// Key with its tables.
        key: String,
        /// Value as written.
        value: String,
        /// What it may be.
        message: String,
    },
    /// A profile begins from one that does not exist.
    #[error("agents.{name} extends `{base}`, which is no profile; known are: {known}")]
    UnknownBase {
        /// The profile.
        name: String,
        /// What it extends.
        base: String,
        /// Built-in profiles.
        known: String,
    },
    /// A profile cannot be used.
    #[error("agents.{name}: {message}")]
    BadProfile {
        /// The profile.
        name: String,
        /// Why.
        message: String,
    },
    /// The state directory was made on another machine.
    #[error(
        "{path} belongs to another machine ({recorded}; this one is {here}): a copied or mounted home? Two machines must not run the same sessions. Set RELIGHT_HOME to a directory of this machine, or, if the other machine is gone for good, remove {path}/machine-id"
    )]
    OtherMachine {
        /// State directory.
        path: PathBuf,
        /// Machine id found there.
        recorded: String,
        /// Machine id of this machine.
        here: String,
    },
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// File.
    pub file: PathBuf,
    /// Line from 1.
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}
