//! What a client says of itself, and of the others.

use serde::{Deserialize, Serialize};

/// `client.environment`: of the client that a person uses now, for agents that are started from now on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClientEnvironment {
    /// Variables that go stale, as `resume.refresh_env` names them; those that the client has not are missing.
    pub env: Vec<(String, String)>,
}

/// `client.screen`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screen {
    /// Tells this screen from all others, also when it connects again.
    pub name: String,
}

/// Result of `client.detach_others`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetachedOthers {
    /// How many connected screens were told to leave. Calls of other clients go on.
    pub screens: u32,
}
