//! What can be wrong with the keys in the settings.

use std::fmt;

/// A mistake in `[keys]`, said so that a person can mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Where it stands: the tables and the key, from `keys` on.
    pub path: Vec<String>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path.join("."), self.message)
    }
}

impl std::error::Error for Mistake {}
