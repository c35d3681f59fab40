//! What the program tells the screen.

use std::pin::Pin;

use super::keymap::Keymap;
use crate::config::settings::MouseUse;
use crate::link::endpoint::Endpoint;

/// Starts a host and returns when it answers, or says why not.
pub type StartHost = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// How the screen is opened.
pub struct Options {
    /// Where the host is.
    pub endpoint: Endpoint,
    /// How to start one when none is there; none: wait for it.
    pub start_host: Option<StartHost>,
    /// Session to show first, by id, unique prefix or name.
    pub session: Option<String>,
    /// Look, but type, size and change nothing.
    pub read_only: bool,
    /// The keys: [`Keymap::builtin`], or with the person's own.
    pub keys: Keymap,
    /// Who has the mouse.
    pub mouse: MouseUse,
    /// Agents of new sessions, as profile name and label; the first is the default.
    pub agents: Vec<(String, String)>,
    /// Names of the configured executors; the first is the default.
    pub executors: Vec<String>,
    /// What `~` stands for in a directory; empty: nothing.
    pub home: String,
    /// Directory of new sessions, absolute.
    pub cwd: String,
    /// Environment of new sessions, scrubbed.
    pub env: Vec<(String, String)>,
    /// Of it what agents that are resumed get from us, see `resume.refresh_env`.
    pub volatile: Vec<(String, String)>,
}
