//! Records of an agentctl's journal: what happened in one session, in order, told to the host. Plain values: agentctl writes
//! them, `wire` carries them, `store` applies them.

use serde::{Deserialize, Serialize};

use super::ids::{PromptId, TerminalId};
use super::launch::{Exit, ProcIdentity};
use super::rows::Millis;
use super::words::{ErrorCode, TerminalKind};

/// One record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Id of the journal: random, chosen when the file is made.
    pub journal: String,
    /// Count of agentctls that wrote to this journal, from 1.
    pub incarnation: u32,
    /// Grows by one per record, from 1, over all incarnations.
    pub seq: u64,
    /// Milliseconds since boot, sleep included (`CLOCK_BOOTTIME`).
    pub boot_ms: u64,
    /// Kernel boot id.
    pub boot_id: String,
    /// Wall clock.
    pub at: Millis,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}

/// What happened. Every record about a terminal names it with its generation; for any but the session's current one it is
/// kept and changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// An agentctl took the session's lock and is about to serve.
    SupervisorStarted {
        /// Who it is.
        identity: ProcIdentity,
        /// Its program version.
        version: String,
    },
    /// The one before it is gone without a word.
    SupervisorLost {
        /// Its incarnation.
        #[serde(rename = "lost_incarnation")]
        incarnation: u32,
        /// Milliseconds since boot of the last sign of it, in its own boot.
        last_boot_ms: u64,
        /// The box was started anew in between.
        rebooted: bool,
    },
    /// This agentctl was told to end (SIGTERM, or a person's shutdown of its host and agents). fsynced.
    ToldToEnd {
        /// By what.
        by: String,
    },
    /// A launch is about to happen. fsynced before the exec.
    Intent {
        /// Chosen by the host.
        terminal: TerminalId,
        /// Agent or shell.
        terminal_kind: TerminalKind,
        /// Generation.
        generation: u32,
        /// Claim epoch.
        epoch: u64,
    },
    /// The launch happened. fsynced.
    Spawned {
        /// Terminal.
        terminal: TerminalId,
        /// Agent or shell.
        terminal_kind: TerminalKind,
        /// Generation.
        generation: u32,
        /// Its process.
        identity: ProcIdentity,
        /// Conversation id assigned at launch or resumed.
        token: Option<String>,
    },
    /// The launch provably did not happen and never will. fsynced.
    LaunchFailed {
        /// Terminal.
        terminal: TerminalId,
        /// Why.
        code: ErrorCode,
        /// In words.
        message: String,
    },
    /// A tombstone: this id will never be launched. fsynced.
    Cancelled {
        /// Terminal.
        terminal: TerminalId,
    },
    /// Everything that these terminals had left was ended.
    Fenced {
        /// Terminals.
        terminals: Vec<TerminalId>,
        /// How many processes were ended.
        ended: u32,
    },
    /// The conversation's id was learnt, or changed. fsynced.
    Token {
        /// Terminal.
        terminal: TerminalId,
        /// Generation.
        generation: u32,
        /// The id.
        token: String,
        /// `hook`, `pid_file`, `open_file`.
        source: String,
    },
    /// The conversation was prompted for the first time as far as this agentctl knows. fsynced.
    Prompted {
        /// Terminal.
        terminal: TerminalId,
        /// Generation.
        generation: u32,
    },
    /// The agent said something about itself.
    Signal {
        /// Terminal.
        terminal: TerminalId,
        /// Generation.
        generation: u32,
        /// What.
        signal: Signal,
        /// Offset behind this line in the terminal's hook spool, when it came from there.
        spool: Option<u64>,
    },
    /// Hook lines up to here were read and are in the journal, as far as they say anything. For the next agentctl only.
    Spooled {
        /// Terminal.
        terminal: TerminalId,
        /// Offset behind the last such line in the terminal's hook spool.
        offset: u64,
    },
    /// A message of the conversation.
    Message {
        /// Terminal.
        terminal: TerminalId,
        /// Generation.
        generation: u32,
        /// Its id; a second one with the same id replaces the text.
        id: String,
        /// `user`, `assistant` or `tool`.
        role: String,
        /// Text.
        text: String,
    },
    /// The agent said goodbye. fsynced.
    Goodbye {
        /// Terminal.
        terminal: TerminalId,
        /// Generation.
        generation: u32,
        /// Reason as the agent gave it.
        reason: String,
        /// Whether only a person's quit has this reason (by the profile).
        person: bool,
    },
    /// A terminal's own process ended. fsynced.
    Exit {
        /// Terminal.
        terminal: TerminalId,
        /// Generation.
        generation: u32,
        /// How.
        exit: Exit,
        /// A quit input of the profile was typed within the last ten seconds.
        quit_input: bool,
        /// What its last words say about a failure that no retry mends.
        failure: Option<ErrorCode>,
        /// Its last line of output, cut to 200 characters, without control characters.
        last_line: String,
    },
    /// An exit lies more than 30 s back and this agentctl still runs: nothing outside was ending things. Bounds the window
    /// when the agentctl dies later without a word.
    ExitSettled {
        /// Terminal.
        terminal: TerminalId,
    },
    /// A queued prompt is about to be typed (`done` false), or was typed (`done` true). fsynced.
    Prompt {
        /// Id.
        id: PromptId,
        /// Terminal.
        terminal: TerminalId,
        /// Typed.
        done: bool,
    },
}

/// What an agent says about itself, whatever the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Ready for its first prompt.
    Ready,
    /// A turn begins.
    TurnBegan,
    /// A turn ended.
    TurnEnded,
    /// It asks for permission.
    NeedsPermission,
    /// It asks a question.
    NeedsInput,
}

impl Body {
    /// Whether the record must be on disk before anything follows from it.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        !matches!(
            self,
            Self::Signal { .. }
                | Self::Spooled { .. }
                | Self::Message { .. }
                | Self::Fenced { .. }
                | Self::ExitSettled { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_records_own_fields_and_its_bodys_do_not_meet() {
        let lost = Body::SupervisorLost { incarnation: 1, last_boot_ms: 2, rebooted: false };
        let identity = ProcIdentity { boot_id: "b".into(), pid: 1, start_time: 2 };
        let started = Body::SupervisorStarted { identity, version: "0".into() };
        let terminal = TerminalId::new("t").unwrap();
        let intent = Body::Intent { terminal, terminal_kind: TerminalKind::Agent, generation: 1, epoch: 1 };
        for body in [lost, started, intent] {
            let (journal, boot_id) = ("j".to_owned(), "b".to_owned());
            let record = Record { journal, incarnation: 9, seq: 8, boot_ms: 7, boot_id, at: 6, body };
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record, "{text}");
        }
    }
}
