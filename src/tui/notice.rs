//! What the pane says of its session besides the terminal, chosen from the session's status and nothing else.

use crate::domain::status::{NOT_RESUMABLE_BANNER, Status};
use crate::domain::words::{Activity, ExecutorStatus, ResumeReason, SessionState};
use crate::wire::host::SessionLine;

/// What is said, and what a person can do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Nothing.
    None,
    /// Something goes on by itself.
    Pill(String),
    /// It can be resumed, and will not be by itself.
    Offer(String),
    /// A failure: retry or dismiss.
    Failure(String),
    /// It cannot be resumed: only a new session helps.
    NewSession(String),
    /// It ended; `r` would bring it back.
    Ended(String),
    /// Its executor does not answer.
    Unreachable(String),
}

impl Notice {
    /// Whether keys that are typed have no agent to go to, so that a banner may take them.
    #[must_use]
    pub const fn takes_keys(&self) -> bool {
        matches!(self, Self::Offer(_) | Self::Failure(_) | Self::NewSession(_) | Self::Ended(_))
    }
}

/// The notice of a session. `status` is asked for apart and may come later than its line in the list.
#[must_use]
pub fn of(line: &SessionLine, status: Option<&Status>) -> Notice {
    let Some(status) = status else {
        return match line.activity {
            Activity::Resuming => Notice::Pill("Resuming…".into()),
            Activity::Starting => Notice::Pill("Starting…".into()),
            _ => Notice::None,
        };
    };
    if status.dismissed && status.is_agent_running != Some(true) && status.resume_reason != ResumeReason::Resuming {
        return Notice::None;
    }
    chosen(status)
}

fn chosen(status: &Status) -> Notice {
    let failed = || Notice::Failure(explain(status));
    match status.resume_reason {
        ResumeReason::AgentRunning | ResumeReason::Resumed | ResumeReason::StartedFresh | ResumeReason::Dismissed => {
            match status.activity {
                Activity::Starting => Notice::Pill("Starting…".into()),
                _ => Notice::None,
            }
        }
        ResumeReason::Resuming => Notice::Pill("Resuming…".into()),
        ResumeReason::Recovering => Notice::Pill("Looking for what is still running…".into()),
        ResumeReason::BackingOff => Notice::Pill("It died again; resuming after a pause…".into()),
        ResumeReason::AgentNotRunning | ResumeReason::NeverPrompted if status.automatic => {
            Notice::Pill("Resuming…".into())
        }
        ResumeReason::NeverStarted if matches!(status.state, SessionState::Created | SessionState::Starting) => {
            Notice::Pill("Starting…".into())
        }
        ResumeReason::ExecutorUnreachable => Notice::Unreachable(sentence(&status.why)),
        ResumeReason::Completed | ResumeReason::Disposed | ResumeReason::Superseded => {
            Notice::Ended(sentence(&status.why))
        }
        ResumeReason::NotResumable => Notice::NewSession(NOT_RESUMABLE_BANNER.into()),
        ResumeReason::MissingResumeToken => Notice::NewSession(
            "The id of this conversation was never learnt. Create a new session to continue messaging.".into(),
        ),
        _ if status.executor_status == Some(ExecutorStatus::Starting) => Notice::Pill("Starting its executor…".into()),
        _ if status.needs_resume && status.hold.is_none() && status.error_message.is_none() => {
            Notice::Offer("The agent is not running; its conversation can be resumed.".into())
        }
        ResumeReason::NeverPrompted | ResumeReason::AutoOff => Notice::Offer("The agent is not running.".into()),
        _ => failed(),
    }
}

fn explain(status: &Status) -> String {
    let why = sentence(&status.why);
    match &status.error_message {
        Some(error) if !error.is_empty() && !why.contains(error.as_str()) => format!("{why} {}", sentence(error)),
        _ => why,
    }
}

/// `text` with a capital and a full stop.
#[must_use]
pub fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let mut out: String = first.to_uppercase().chain(chars).collect();
    if !out.ends_with(['.', '!', '?', '…']) {
        out.push('.');
    }
    out
}
