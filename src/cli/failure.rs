//! Failures as a person and a script see them: words, a hint, a stable code, an exit code.

use std::io::{self, Write as _};
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use crate::config;
use crate::domain::plain::{self, plain};
use crate::domain::words::ErrorCode;
use crate::link;
use crate::proc;
use crate::store;

/// Result of a command.
pub type Result<T> = std::result::Result<T, Failure>;

/// Exit codes; `--help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Exit {
    Failed = 1,
    Usage = 2,
    NotFound = 3,
    Refused = 4,
    Unreachable = 5,
    Config = 6,
    Database = 7,
    Foreign = 8,
}

impl Exit {
    const ALL: [Self; 8] = [
        Self::Failed,
        Self::Usage,
        Self::NotFound,
        Self::Refused,
        Self::Unreachable,
        Self::Config,
        Self::Database,
        Self::Foreign,
    ];

    /// The exit code that an error code gives.
    fn of(code: ErrorCode) -> Self {
        use ErrorCode as E;
        match code {
            E::SessionNotFound
            | E::SessionAmbiguous
            | E::SessionNotInTask
            | E::TaskNotFound
            | E::TerminalNotFound
            | E::AgentUnknown => Self::NotFound,
            E::NotResumable
            | E::MissingResumeToken
            | E::WorktreeMissing
            | E::DirectoryMissing
            | E::AgentNotFound
            | E::AgentRunning
            | E::AgentNotRunning
            | E::AlreadyBound
            | E::AliveElsewhere
            | E::ConfigGone
            | E::ResumeUnsupported
            | E::LoginExpired
            | E::UnknownConversation
            | E::StaleEpoch
            | E::Cancelled
            | E::TerminalBusy
            | E::ExecutorUnsupported => Self::Refused,
            E::ExecutorUnreachable
            | E::ExecutorStarting
            | E::ExecutorError
            | E::Timeout
            | E::TooManyConnections
            | E::ShuttingDown => Self::Unreachable,
            E::Database | E::DiskFull => Self::Database,
            E::VersionMismatch | E::Forbidden => Self::Foreign,
            E::BadRequest | E::UnknownMethod => Self::Usage,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit as Self
    }
}

impl TryFrom<u8> for Exit {
    type Error = String;
    fn try_from(code: u8) -> std::result::Result<Self, String> {
        Self::ALL.into_iter().find(|exit| *exit as u8 == code).ok_or_else(|| format!("{code} is no exit code of ours"))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Exit code.
    #[serde(rename = "exit_code")]
    pub code: Exit,
    /// Stable word.
    #[serde(rename = "code")]
    pub word: String,
    /// What was attempted, on which value, why it failed.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without a code of its own.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: Exit::Failed, word: ErrorCode::Internal.as_str().into(), message: message.into(), hint: None }
    }

    /// A failure with the code that the interfaces have for it.
    pub fn coded(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: Exit::of(code), word: code.as_str().into(), message: message.into(), hint: None }
    }

    /// A failure of the configuration or a directory.
    pub fn config(message: impl Into<String>) -> Self {
        Self { code: Exit::Config, word: "bad_config".into(), message: message.into(), hint: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Tells it on stderr. What it repeats of others' texts steers no terminal.
    pub fn tell(&self, json: bool) {
        let mut stderr = io::stderr().lock();
        // If even stderr is closed, the exit code is what is left.
        let _ = if json {
            writeln!(stderr, "{}", plain::json(&serde_json::json!({ "error": self }).to_string()))
        } else {
            let hint = self.hint.as_ref().map(|hint| format!("\n  {}", plain(hint))).unwrap_or_default();
            writeln!(stderr, "relight: {}{hint}", plain(&self.message))
        };
    }
}

impl From<config::Error> for Failure {
    fn from(error: config::Error) -> Self {
        match &error {
            config::Error::Directory { source, .. } | config::Error::File { source, .. } if full(source) => {
                Self::coded(ErrorCode::DiskFull, error.to_string()).hint("free some space and try again")
            }
            _ => Self::config(error.to_string()),
        }
    }
}

impl From<proc::error::Error> for Failure {
    fn from(error: proc::error::Error) -> Self {
        match &error {
            proc::error::Error::Lock { source, .. } if full(source) => {
                Self::coded(ErrorCode::DiskFull, error.to_string()).hint("free some space and try again")
            }
            proc::error::Error::Lock { .. } => Self::config(error.to_string()),
            _ => Self::new(error.to_string()),
        }
    }
}

/// Whether the disk or the quota is full.
pub fn full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        let code = match error {
            store::Error::DiskFull { .. } => ErrorCode::DiskFull,
            _ => ErrorCode::Database,
        };
        Self::coded(code, error.to_string())
    }
}

impl From<link::Error> for Failure {
    fn from(error: link::Error) -> Self {
        let wire = error.to_wire();
        let failure = Self { hint: wire.hint, ..Self::coded(wire.code, wire.message) };
        match error {
            link::Error::Unsendable { .. } => {
                let failure = Self { code: Exit::Usage, word: ErrorCode::BadRequest.as_str().into(), ..failure };
                failure.hint("put the text into a file and tell the agent to read that")
            }
            _ => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_is_in_the_help_and_reads_back() {
        use clap::CommandFactory as _;
        let help = super::super::args::Args::command().render_long_help().to_string();
        for exit in Exit::ALL {
            assert!(help.contains(&format!("\n  {}  ", exit as u8)), "{exit:?}");
            assert_eq!(Exit::try_from(exit as u8), Ok(exit));
        }
    }

    #[test]
    fn the_json_form_has_what_scripts_need() {
        let failure = Failure::coded(ErrorCode::SessionNotFound, "no session `x`").hint("`relight ls` lists them");
        let json = serde_json::to_value(&failure).unwrap();
        assert_eq!(json["code"], "session_not_found");
        assert_eq!(json["exit_code"], 3);
        assert_eq!(serde_json::from_value::<Failure>(json).unwrap(), failure);
    }
}
