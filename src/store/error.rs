//! What can go wrong with the database, in words that say what to do.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Result of the store.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the database did not do what was asked. Texts are for people; causes are kept as text, so that one failed commit
/// can answer every job that it held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Another program holds the database.
    #[error(
        "the database {path} is locked by another program and stayed so for {seconds} s; end that program, or try again",
        path = .path.display(), seconds = super::limits::BUSY_TIMEOUT.as_secs()
    )]
    Locked {
        /// Database file.
        path: PathBuf,
    },
    /// The file is damaged or no database. It is left as it is.
    #[error(
        "the database {path} is damaged and was left as it is ({detail}); move it away, with its -wal and -shm files, and {advice}",
        path = .path.display()
    )]
    Corrupt {
        /// Database file.
        path: PathBuf,
        /// What to put in its place.
        advice: String,
        /// What SQLite says.
        detail: String,
    },
    /// A database, but of another program.
    #[error("{path} is a database of another program; it was left as it is: move it away", path = .path.display())]
    NotOurs {
        /// Database file.
        path: PathBuf,
    },
    /// A newer relight wrote this file.
    #[error(
        "the database {path} has schema {found}, but this relight knows only up to {known}; use the newer relight that wrote it",
        path = .path.display()
    )]
    NewerSchema {
        /// Database file.
        path: PathBuf,
        /// Version in the file.
        found: i64,
        /// Newest version known here.
        known: i64,
    },
    /// No space left, or a quota.
    #[error("no space left for the database {path}; nothing was changed: free some space and try again", path = .path.display())]
    DiskFull {
        /// Database file.
        path: PathBuf,
    },
    /// The file may not be written.
    #[error("the database {path} cannot be written ({detail}); check the owner and the permissions of the file and its directory", path = .path.display())]
    ReadOnly {
        /// Database file.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// WAL does not work over a network.
    #[error(
        "the database {path} would lie on a network filesystem ({kind}), where it can be damaged; set RELIGHT_HOME to a local directory",
        path = .path.display()
    )]
    NetworkFilesystem {
        /// Database file.
        path: PathBuf,
        /// Which filesystem.
        kind: &'static str,
    },
    /// The file or a directory could not be made or opened.
    #[error("cannot open the database {path}: {detail}", path = .path.display())]
    Open {
        /// The file or directory.
        path: PathBuf,
        /// Cause.
        detail: String,
    },
    /// The backup before a migration failed; nothing was migrated.
    #[error("cannot back up the database to {path} before its migration: {detail}; nothing was changed", path = .path.display())]
    Backup {
        /// Backup file.
        path: PathBuf,
        /// Cause.
        detail: String,
    },
    /// A migration failed and was rolled back.
    #[error("migration {version} of the database {path} failed and was rolled back: {detail}", path = .path.display())]
    Migration {
        /// Database file.
        path: PathBuf,
        /// Version that was to be reached.
        version: i64,
        /// Cause.
        detail: String,
    },
    /// A column holds what no relight wrote.
    #[error("the database holds an odd value: table `{table}`, row `{row}`, column `{column}`: {detail}")]
    BadColumn {
        /// Table.
        table: &'static str,
        /// Key of the row.
        row: String,
        /// Column.
        column: &'static str,
        /// Why it is odd.
        detail: String,
    },
    /// No such row.
    #[error("no {what} `{id}`")]
    NotFound {
        /// Kind of the row: `session`, `task`, `terminal`, `executor of session`.
        what: &'static str,
        /// Its id as asked for.
        id: String,
    },
    /// Anything else that SQLite says.
    #[error("the database {path} refused: {detail}", path = .path.display())]
    Sqlite {
        /// Database file.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// A value cannot be written as JSON.
    #[error("cannot write {what} as JSON: {detail}")]
    Encode {
        /// What was to be written.
        what: &'static str,
        /// Cause.
        detail: String,
    },
    /// The store was closed, or its thread ended.
    #[error("the database is closed")]
    Closed,
}

impl Error {
    /// The same error with the places filled in that only the opened store knows.
    #[must_use]
    pub(super) fn at(mut self, file: &Path, backup_dir: &Path) -> Self {
        match &mut self {
            Self::Locked { path }
            | Self::DiskFull { path }
            | Self::ReadOnly { path, .. }
            | Self::Sqlite { path, .. } => {
                file.clone_into(path);
            }
            Self::Corrupt { path, advice, .. } => {
                file.clone_into(path);
                *advice = match newest(backup_dir) {
                    Some(backup) => format!("put the newest backup, {}, in its place", backup.display()),
                    None => format!(
                        "put what `sqlite3 {} .recover` saves in its place: there is no backup yet",
                        file.display()
                    ),
                };
            }
            _ => {}
        }
        self
    }

    /// An error for a missing row.
    pub(super) fn not_found(what: &'static str, id: impl Into<String>) -> Self {
        Self::NotFound { what, id: id.into() }
    }
}

/// The newest file of a directory.
fn newest(dir: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?.flatten();
    let dated = entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
    dated.max().map(|(_, path)| path)
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let path = PathBuf::new();
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt { path, advice: String::new(), detail }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::ReadOnly { path, detail }
            }
            _ => Self::Sqlite { path, detail },
        }
    }
}
