//! What the demo agent's state machine orders.

use serde_json::Value;

use super::brain::Message;

/// What is to be done, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Keep a message; on disk before the next effect.
    Save(Message),
    /// Run the hook: event and fields.
    Hook(&'static str, Value),
    /// A line of the transcript.
    Line(String),
    /// The state changed.
    Status(Status),
    /// Notify the person.
    Notify(String),
    /// Run a command, then call `App::tool_done`.
    Tool(String),
    /// Begin another conversation.
    Renew,
    /// End with this code.
    Quit(i32),
}

/// State as title and OSC 7501 tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Waits for its next prompt.
    Idle,
    /// A turn runs.
    Working,
    /// Asks for permission.
    Blocked(String),
    /// A turn ended.
    Done,
}
