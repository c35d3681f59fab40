//! The interface of the host: JSON text messages on one WebSocket, `GET /ws` on its socket; `GET /hello` answers without one.
//!
//! A client sends [`Request`]s; the host answers each that has an id with one [`Reply`], and sends [`Push`]es. Binary
//! messages from the host are frames: the stream's number (u32, big endian), then the frame as `wire::frame` has it.
//!
//! | method | params → result |
//! |---|---|
//! | `task.create` | [`TaskCreate`] → [`crate::domain::rows::Task`] |
//! | `task.list` | `{}` → list of tasks |
//! | `session.create` | [`SessionCreate`] → [`SessionCreated`] |
//! | `session.adopt` | [`SessionAdopt`] → [`SessionAdopted`] |
//! | `session.list` | `{}` → list of [`SessionLine`] |
//! | `session.find` | [`Find`] → [`SessionCreated`] |
//! | `session.snapshot` | [`OfSession`] → [`Snapshot`] |
//! | `task.session.status` | [`OfSession`] → [`crate::domain::status::Status`] |
//! | `session.resume` | [`Resume`] → [`Resumed`] |
//! | `session.kill` | [`OfSession`] → `{}` |
//! | `session.dismiss` | [`OfSession`] → `{}` |
//! | `session.rename` | [`Rename`] → `{}` |
//! | `session.send` | [`Send`] → [`Sent`] |
//! | `session.capture` | [`Capture`] → [`super::agentctl::Captured`] |
//! | `session.shell` | [`ShellOpen`] → `{"terminal_id"}`: opens a shell in the session's directory |
//! | `session.terminals` | [`OfSession`] → list of [`super::agentctl::TerminalInfo`], oldest first: as its agentctl has them now |
//! | `session.workspace` | [`Workspace`] → as the agentctl path answers |
//! | `terminal.close` | [`CloseTerminal`] → `{}`: ends a shell and all it left |
//! | `terminal.attach` | [`Attach`] → [`Attached`] |
//! | `terminal.detach` | [`OfStream`] → `{}` |
//! | `terminal.input` | [`TerminalInput`], usually without id |
//! | `events.subscribe` | [`Subscribe`] → `{"seq"}`, then pushes |
//! | `client.environment` | [`ClientEnvironment`] → `{}` |
//! | `client.screen` | [`Screen`] → `{}`: this client shows the sessions to a person |
//! | `client.detach_others` | `{}` → [`DetachedOthers`]: every other screen is told to leave |
//! | `host.status` | `{}` → [`HostStatus`] |
//! | `host.stop` | [`Stop`] → `{}` |

use serde::{Deserialize, Serialize};

use crate::domain::ids::{SessionId, TaskId};
use crate::domain::launch::ProcIdentity;
use crate::domain::rows::Event;
use crate::domain::words::{Activity, ErrorCode};

use super::agentctl::StreamEvent;

mod calls;
mod client;

pub use calls::*;
pub use client::*;

/// Answer of `GET /hello`: who serves here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Protocol version.
    pub protocol: u32,
    /// Program version.
    pub version: String,
    /// The host's process.
    pub identity: ProcIdentity,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Number chosen by the client; none: no reply wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Method.
    pub method: String,
    /// Parameters.
    #[serde(default)]
    pub params: serde_json::Value,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The call's number.
    pub id: u64,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: ReplyOutcome,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyOutcome {
    /// It worked.
    Result(serde_json::Value),
    /// It did not.
    Error(WireError),
}

/// An error as every interface sends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct WireError {
    /// Stable code.
    pub code: ErrorCode,
    /// What was attempted, on which value, and why it failed.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl WireError {
    /// An error without hint. Control characters are shown as escapes, and a text of more than 1,000 characters is cut.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: readable(message.into()), hint: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Longest text of an error, in characters: it may repeat what was asked for, whatever that was.
const MAX_TEXT_CHARS: usize = 1_000;

/// The text without what a terminal would act on, and not longer than a person reads.
fn readable(text: String) -> String {
    let odd = |c: char| c.is_control() && c != '\n';
    if text.len() <= MAX_TEXT_CHARS && !text.contains(odd) {
        return text;
    }
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == MAX_TEXT_CHARS {
            out.push('…');
            break;
        }
        if odd(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// What the host sends unasked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "push", rename_all = "snake_case")]
pub enum Push {
    /// A committed, numbered event.
    Event(Event),
    /// Transient: latest wins, not numbered.
    Activity {
        /// Session.
        session_id: SessionId,
        /// Task.
        task_id: TaskId,
        /// Badge.
        activity: Activity,
        /// In words.
        why: String,
        /// Title.
        title: String,
        /// Percent.
        progress: Option<u8>,
    },
    /// This client fell behind: events after `seq` were dropped. Subscribe again from the last one seen.
    Resync {
        /// Newest number.
        seq: u64,
    },
    /// Something of an attached stream besides frames.
    Stream {
        /// Stream.
        stream: u32,
        /// What.
        event: StreamEvent,
    },
    /// Another client detached this screen: it leaves, and does not come back by itself. The connection ends.
    Detached {
        /// A sentence for the person.
        why: String,
    },
    /// The host ends; reconnect.
    Goodbye {
        /// In words.
        why: String,
    },
}
