//! What is known about each agent CLI: arguments, what to watch and how to read it. Pure.
//!
//! [`launch::plan`] turns a launch request into an argv and an environment; [`observe::Observer`] turns what an agent
//! does (hook events, status reports, titles, output, typed keys) into the session's state; [`token`] says where a
//! conversation id can be read; [`failure::classify`] names last words that no retry mends.

mod conversation;
pub mod failure;
pub mod hook;
mod keys;
pub mod launch;
mod observation;
pub mod observe;
pub mod person;
mod places;
pub mod scrub;
mod status;
pub mod token;
mod typed;

use crate::domain::words::ErrorCode;

/// Why a launch cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The profile has no resume arguments.
    #[error("agent `{agent}` cannot resume a conversation: its profile has no `resume.args`; start a new session")]
    ResumeUnsupported {
        /// Profile.
        agent: String,
    },
    /// A resume without the conversation's id.
    #[error("agent `{agent}` cannot resume: the conversation id was never learnt; start a new session")]
    MissingToken {
        /// Profile.
        agent: String,
    },
    /// The profile names no program.
    #[error(
        "agent `{agent}` has no program to start; name one after `--`, or set `[agents.{agent}] program` in the config"
    )]
    NoProgram {
        /// Profile.
        agent: String,
    },
    /// A NUL byte where the kernel takes none.
    #[error("the {what} of agent `{agent}` contains a NUL byte, which no program can be given; remove it")]
    Nul {
        /// Profile.
        agent: String,
        /// Which text.
        what: &'static str,
    },
}

impl Error {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::ResumeUnsupported { .. } => ErrorCode::ResumeUnsupported,
            Self::MissingToken { .. } => ErrorCode::MissingResumeToken,
            Self::NoProgram { .. } => ErrorCode::ConfigGone,
            Self::Nul { .. } => ErrorCode::BadRequest,
        }
    }
}
