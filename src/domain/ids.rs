//! Identifiers: opaque text with a checked alphabet, one type per thing named.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest identifier accepted from outside, in bytes.
pub const MAX_ID_BYTES: usize = 64;

/// Why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a valid {kind} id: 1 to {MAX_ID_BYTES} of a-z, A-Z, 0-9, `-` and `_` are allowed")]
pub struct BadId {
    /// What kind of identifier was expected.
    pub kind: &'static str,
    /// The text as given, cut to 80 characters.
    pub value: String,
}

fn check(kind: &'static str, text: &str) -> Result<(), BadId> {
    let good = !text.is_empty()
        && text.len() <= MAX_ID_BYTES
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if good { Ok(()) } else { Err(BadId { kind, value: text.chars().take(80).collect() }) }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks and takes `text`.
            ///
            /// # Errors
            /// [`BadId`] when it is empty, longer than [`MAX_ID_BYTES`] or has a character outside
            /// `[A-Za-z0-9_-]`.
            pub fn new(text: impl Into<String>) -> Result<Self, BadId> {
                let text = text.into();
                check($kind, &text)?;
                Ok(Self(text))
            }

            /// The identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The first eight bytes, for people.
            #[must_use]
            pub fn short(&self) -> &str {
                self.0.get(..8).unwrap_or(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadId;
            fn try_from(text: String) -> Result<Self, BadId> {
                Self::new(text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A task.
    TaskId,
    "task"
);
id!(
    /// A session.
    SessionId,
    "session"
);
id!(
    /// A terminal: one PTY, one generation of an agent or a shell.
    TerminalId,
    "terminal"
);
id!(
    /// One running executor instance: a row of `executors_running`.
    ExecutorId,
    "executor"
);
id!(
    /// A queued prompt.
    PromptId,
    "prompt"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_checked_on_the_way_in() {
        assert!(SessionId::new("a-b_9").is_ok());
        assert!(SessionId::new("").is_err());
        assert!(SessionId::new("../etc").is_err());
        assert!(SessionId::new("x".repeat(65)).is_err());
        assert!(serde_json::from_str::<TaskId>("\"a/b\"").is_err());
    }
}
