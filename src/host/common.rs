//! What several files of this room need of rows and errors.

use crate::domain::plain::strip;
use crate::domain::words::{ErrorCode, Runtime};
use crate::store::{self, Bundle};
use crate::wire::host::WireError;

use super::volatile::Volatile;

/// Longest name of a session and title of a task, in characters.
const NAME_CHARS: usize = 80;

/// A person's text as the name of a session or the title of a task: what steers a terminal is left out. May be empty.
#[must_use]
pub fn name(text: &str) -> String {
    strip(text.trim()).chars().take(NAME_CHARS).collect::<String>().trim().to_owned()
}

/// The directory that a session's files and git show.
#[must_use]
pub fn directory_of(bundle: &Bundle) -> String {
    bundle.session.worktree_path.clone().unwrap_or_else(|| bundle.session.launch.cwd.clone())
}

/// The environment of what is started in a session now. What goes stale is of this machine, and so of no use elsewhere.
#[must_use]
pub fn environment_of(volatile: &Volatile, bundle: &Bundle) -> Vec<(String, String)> {
    let env = bundle.session.launch.env.clone();
    let local = bundle.executor.as_ref().is_some_and(|row| row.runtime == Runtime::Local);
    if local { volatile.refresh(env) } else { env }
}

/// A store's error as clients get it.
#[must_use]
pub fn store_error(error: &store::Error) -> WireError {
    let code = match error {
        store::Error::NotFound { what: "session", .. } => ErrorCode::SessionNotFound,
        store::Error::NotFound { what: "task", .. } => ErrorCode::TaskNotFound,
        store::Error::NotFound { what: "terminal", .. } => ErrorCode::TerminalNotFound,
        store::Error::DiskFull { .. } => ErrorCode::DiskFull,
        _ => ErrorCode::Database,
    };
    WireError::new(code, error.to_string())
}
