//! New ids. Random, so that their first eight characters tell sessions apart.

use uuid::Uuid;

use crate::domain::ids::{ExecutorId, PromptId, SessionId, TaskId, TerminalId};

fn text() -> String {
    Uuid::new_v4().to_string()
}

macro_rules! fresh {
    ($($(#[$doc:meta])* $name:ident -> $kind:ident;)+) => {
        $($(#[$doc])* #[must_use] pub fn $name() -> $kind {
            loop {
                if let Ok(id) = $kind::new(text()) {
                    return id;
                }
            }
        })+
    };
}

fresh! {
    /// A task's.
    task -> TaskId;
    /// A session's.
    session -> SessionId;
    /// A terminal's.
    terminal -> TerminalId;
    /// An executor instance's.
    executor -> ExecutorId;
    /// A queued prompt's.
    prompt -> PromptId;
}

/// A conversation id, for agents that take one: a UUID.
#[must_use]
pub fn conversation() -> String {
    text()
}
