//! The interface of one agentctl: HTTP/1.1 with JSON bodies, and WebSockets for the journal and for terminals.
//!
//! | method and path | body → reply |
//! |---|---|
//! | `GET /health` | [`Health`] |
//! | `GET /capabilities` | [`Capabilities`] |
//! | `GET /terminals` | `[`[`TerminalInfo`]`]`, oldest first |
//! | `POST /terminals` | [`LaunchRequest`] → [`LaunchReply`] |
//! | `POST /terminals/{id}/cancel` | → [`LaunchReply`]: cancelled, or what it found |
//! | `POST /terminals/{id}/input` | [`SendRequest`] → `{}` |
//! | `POST /terminals/{id}/resize` | [`crate::domain::launch::Size`] → `{}` |
//! | `POST /terminals/{id}/close` | [`CloseRequest`] → [`CloseReply`] after the process and all it left are gone |
//! | `GET /terminals/{id}/capture?history=N&ansi=BOOL` | [`Captured`] |
//! | `GET /terminals/{id}/stream` | WebSocket: binary frames and [`StreamEvent`] out, [`super::input::StreamInput`] in |
//! | `GET /journal?after=SEQ` | `[`[`super::journal::Record`]`]`, at most 1,000 |
//! | `GET /journal/stream?after=SEQ` | WebSocket: [`Feed`] |
//! | `POST /hooks` | → `{}`: look at the spools now |
//! | `GET /workspace/tree?path=`, `/workspace/file?path=`, `/workspace/search?text=` | [`TreeEntry`] list, [`FileText`], [`SearchHit`] list |
//! | `GET /git/status`, `/git/diff?path=`, `/git/log` | [`GitStatus`], [`FileText`], [`GitCommit`] list |
//! | `POST /shutdown` | → `{}`: end every terminal, then itself |
//!
//! Errors are [`super::host::WireError`] with an HTTP status of 4xx or 5xx.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{PromptId, SessionId, TerminalId};
use crate::domain::launch::{Exit, ProcIdentity, Size};
use crate::domain::profile::Profile;
use crate::domain::rows::StartMode;
use crate::domain::words::{Activity, ErrorCode, SessionState, TerminalKind};

use super::journal::Record;

/// Health of an agentctl.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Protocol version.
    pub protocol: u32,
    /// Program version.
    pub version: String,
    /// Session it supervises.
    pub session_id: SessionId,
    /// Who it is.
    pub identity: ProcIdentity,
    /// Its incarnation.
    pub incarnation: u32,
    /// Id of its journal.
    pub journal: String,
    /// Sequence number of the newest record.
    pub journal_seq: u64,
    /// Its terminals.
    pub terminals: Vec<TerminalInfo>,
}

/// What an executor can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Agents can be resumed here.
    pub supports_session_resume: bool,
    /// Shell, files and git without an agent.
    pub supports_workspace_only: bool,
}

/// One terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalInfo {
    /// Id.
    pub id: TerminalId,
    /// Agent or shell.
    pub kind: TerminalKind,
    /// Generation.
    pub generation: u32,
    /// Its process.
    pub identity: Option<ProcIdentity>,
    /// How it ended; `None` while it lives.
    pub exit: Option<Exit>,
    /// Size.
    pub size: Size,
    /// Title, control characters removed.
    pub title: String,
    /// Conversation id, once known.
    pub token: Option<String>,
    /// For an agent: what its signals say; the state that the session would have.
    pub state: Option<SessionState>,
    /// Name of the program in its foreground, when that is not the terminal's own process: what runs in a shell. At most 40
    /// characters, control characters removed.
    #[serde(default)]
    pub foreground: Option<String>,
}

/// Order to start a program in a new terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    /// Chosen by the host; a repeat with the same id answers with what it finds and starts nothing.
    pub terminal: TerminalId,
    /// Agent or shell.
    pub kind: TerminalKind,
    /// Generation; 0 for shells.
    pub generation: u32,
    /// Claim epoch; an epoch at or below a known one of another agent terminal is refused. 0 for shells.
    pub epoch: u64,
    /// First start, resume or fresh start. Shells: first.
    pub mode: StartMode,
    /// The resolved profile.
    pub profile: Profile,
    /// Conversation to resume, or to assign.
    pub token: Option<String>,
    /// The conversation was prompted before.
    pub prompted: bool,
    /// The person's own arguments.
    pub args: Vec<String>,
    /// Whole environment of the new process, before the profile's own and ours.
    pub env: Vec<(String, String)>,
    /// Working directory, absolute.
    pub cwd: String,
    /// First prompt.
    pub prompt: Option<String>,
    /// Size.
    pub size: Size,
    /// Dead terminals whose remains are ended first.
    pub fence: Vec<TerminalId>,
}

/// What became of a launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum LaunchReply {
    /// It happened.
    Spawned {
        /// The process.
        identity: ProcIdentity,
        /// Conversation id assigned or resumed.
        token: Option<String>,
        /// It has ended since.
        exit: Option<Exit>,
    },
    /// It provably did not happen and never will.
    Failed {
        /// Why.
        code: ErrorCode,
        /// In words.
        message: String,
    },
    /// A tombstone stands for this id.
    Cancelled,
    /// Nothing is known of this id (only as a reply to a question, see `GET /terminals/{id}/fate`).
    Unheard,
}

/// Text to type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendRequest {
    /// Text, typed as a paste when the program asked for bracketed paste and it has more than one line.
    pub text: String,
    /// Press Enter afterwards, apart from the text.
    pub enter: bool,
    /// Id of a queued prompt: journaled before and after.
    pub prompt: Option<PromptId>,
}

/// How a terminal is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CloseRequest {
    /// A shell in which a program runs is left alone: `terminal_busy`.
    pub unless_busy: bool,
}

/// What closing found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseReply {
    /// How the terminal's process ended; `None` when there was none.
    pub exit: Option<Exit>,
    /// How many processes were ended in all.
    pub ended: u32,
}

/// Text of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// Lines, oldest first, trailing blanks removed; with SGR sequences when asked for.
    pub lines: Vec<String>,
}

/// What the journal stream carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "feed", rename_all = "snake_case")]
pub enum Feed {
    /// A record.
    Record(Record),
    /// Everything written so far has been sent.
    CaughtUp {
        /// Sequence number of the newest record.
        seq: u64,
    },
    /// Transient: latest wins.
    Activity(ActivityReport),
}

/// Transient state of an agent terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityReport {
    /// Terminal.
    pub terminal: TerminalId,
    /// Badge.
    pub activity: Activity,
    /// In words.
    pub why: String,
    /// Title, control characters removed.
    pub title: String,
    /// Progress in percent, if it says so.
    pub progress: Option<u8>,
}

/// What a terminal's stream says besides frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum StreamEvent {
    /// First message: what is attached.
    Attached {
        /// Terminal.
        terminal: TerminalId,
        /// Size.
        size: Size,
    },
    /// Title changed.
    Title {
        /// Title.
        text: String,
    },
    /// BEL.
    Bell,
    /// A notification from the program (OSC 9, 99, 777).
    Notification {
        /// Title, may be empty.
        title: String,
        /// Text.
        text: String,
    },
    /// The program asks to copy (OSC 52), text as bytes in base64.
    Clipboard {
        /// Base64.
        data: String,
    },
    /// The process ended.
    Exited {
        /// How.
        exit: Exit,
    },
    /// The session's agent goes on in another terminal, whose frames follow.
    Moved {
        /// The old one.
        from: TerminalId,
        /// The new one.
        terminal: TerminalId,
    },
    /// The link to the terminal is gone for now; it comes back by itself.
    Lost {
        /// In words.
        why: String,
    },
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEntry {
    /// Name.
    pub name: String,
    /// `file`, `dir`, `link`, `other`.
    pub kind: String,
    /// Bytes.
    pub size: u64,
}

/// Text of a file or a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// Text; invalid UTF-8 replaced.
    pub text: String,
    /// It was cut at the limit.
    pub truncated: bool,
    /// It is not text; `text` is empty.
    pub binary: bool,
}

/// One line found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchHit {
    /// Path below the workspace.
    pub path: String,
    /// Line number from 1.
    pub line: u32,
    /// The line, cut to 400 characters.
    pub text: String,
}

/// Git status of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitStatus {
    /// It is a repository at all.
    pub repository: bool,
    /// Branch, or the short commit when detached.
    pub branch: Option<String>,
    /// Commits ahead of and behind the upstream.
    pub ahead_behind: Option<(u32, u32)>,
    /// Changed paths.
    pub entries: Vec<GitEntry>,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitEntry {
    /// Two letters as in `git status --porcelain`.
    pub code: String,
    /// Path.
    pub path: String,
}

/// One commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitCommit {
    /// Short id.
    pub id: String,
    /// Author.
    pub author: String,
    /// Subject.
    pub subject: String,
    /// Commit time, seconds since the epoch.
    pub at: i64,
}
