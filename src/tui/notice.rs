//! What the pane says of its session besides the terminal, chosen from the session's status and nothing else.

use super::keymap::Command;
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
    /// Its executor failed: that is tried again, whatever becomes of the agent.
    Executor(String),
    /// Its executor does not answer.
    Unreachable(String),
}

/// What a banner offers: its name, a shorter one, the command.
pub type Action = (&'static str, &'static str, Command);

const RETRY: Action = ("Retry", "Retry", Command::Resume);
const REACH: Action = ("Try now", "Try", Command::Resume);
const AGAIN: Action = ("Start its executor again", "Again", Command::Resume);
const DISMISS: Action = ("Dismiss", "Dismiss", Command::Dismiss);
const RESUME: Action = ("Resume session", "Resume", Command::Resume);
const NEW: Action = ("Create new session", "New", Command::New);

impl Notice {
    /// What a person can do about it, each with a single key while keys have no agent to go to.
    #[must_use]
    pub const fn actions(&self) -> &'static [Action] {
        match self {
            Self::None | Self::Pill(_) => &[],
            Self::Unreachable(_) => &[REACH],
            Self::Executor(_) => &[AGAIN],
            Self::Offer(_) => &[RESUME, DISMISS],
            Self::Failure(_) => &[RETRY, DISMISS],
            Self::NewSession(_) => &[NEW],
            Self::Ended(_) => &[RESUME, NEW],
        }
    }

    /// Whether keys that are typed have no agent to go to, so that a banner may take them.
    #[must_use]
    pub const fn takes_keys(&self) -> bool {
        !self.actions().is_empty()
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
    match chosen(status) {
        // What was put away is the failed resume; not what goes on since, and not its executor.
        Notice::Failure(_) | Notice::Offer(_) | Notice::NewSession(_) if status.dismissed => Notice::None,
        notice => notice,
    }
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
        ResumeReason::ExecutorUnreachable => Notice::Unreachable(sentence(&status.why)),
        ResumeReason::ExecutorError | ResumeReason::WorktreeMissing => Notice::Executor(explain(status)),
        ResumeReason::Completed | ResumeReason::Disposed | ResumeReason::Superseded => {
            Notice::Ended(sentence(&status.why))
        }
        _ if status.executor_status == Some(ExecutorStatus::Starting) => Notice::Pill("Starting its executor…".into()),
        ResumeReason::Recovering => Notice::Pill("Looking for what is still running…".into()),
        ResumeReason::BackingOff => Notice::Pill(match status.next_attempt_in_ms {
            Some(pause @ 1..) => format!("Resuming in {} s…", pause.div_ceil(1000)),
            _ => "Resuming…".into(),
        }),
        ResumeReason::AgentNotRunning | ResumeReason::NeverPrompted if status.automatic => {
            Notice::Pill("Resuming…".into())
        }
        ResumeReason::NeverStarted if matches!(status.state, SessionState::Created | SessionState::Starting) => {
            Notice::Pill("Starting…".into())
        }
        ResumeReason::NotResumable | ResumeReason::MissingResumeToken => {
            Notice::NewSession(NOT_RESUMABLE_BANNER.into())
        }
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
        Some(error) if !error.is_empty() && !why.to_lowercase().contains(&error.to_lowercase()) => {
            format!("{why} {}", sentence(error))
        }
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
