//! What is known of an agent when it starts, and what an observer tells about it.

use crate::domain::journal::Signal;
use crate::domain::rows::StartMode;

/// How the observed agent was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Its terminal's id: makes message ids unique over the generations of a session.
    pub terminal: String,
    /// First start, resume or fresh start.
    pub mode: StartMode,
    /// Conversation id known from the start (`launch::Plan::token`).
    pub token: Option<String>,
    /// The conversation was prompted before.
    pub prompted: bool,
}

/// What was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// The conversation's id was learnt, or is another one now. A new conversation is not prompted until
    /// [`Observation::Prompted`] says so again.
    Token {
        /// The id.
        token: String,
        /// `hook`, `pid_file`, `open_file`.
        source: &'static str,
    },
    /// The conversation has its first prompt. Once per conversation.
    Prompted,
    /// The state changed.
    Signal(Signal),
    /// A message of the conversation.
    Message {
        /// Id, unique in the session; the same again replaces.
        id: String,
        /// `user`, `assistant`, `tool`.
        role: String,
        /// Text.
        text: String,
    },
    /// The agent said goodbye. Once per reason.
    Goodbye {
        /// Reason as given.
        reason: String,
        /// Only a person's quit has this reason.
        person: bool,
    },
    /// `Observer::activity` has changed.
    Activity,
}
