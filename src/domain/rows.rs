//! The rows of the database as plain values. Times are milliseconds since the Unix epoch.

use serde::{Deserialize, Serialize};

use super::ids::{ExecutorId, PromptId, SessionId, TaskId, TerminalId};
use super::launch::{Exit, Launch, ProcIdentity, Size};
use super::words::{
    AutoResume, EndReason, ErrorCode, ExecutorStatus, Hold, Outcome, Runtime, SessionState, TaskState, TerminalKind,
    TerminalStatus, Trigger, Wanted,
};

/// Milliseconds since the Unix epoch.
pub type Millis = i64;

/// A piece of work in a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Id.
    pub id: TaskId,
    /// Title.
    pub title: String,
    /// State.
    pub state: TaskState,
    /// Repository or directory.
    pub repository_path: Option<String>,
    /// Creation.
    pub created_at: Millis,
    /// Last change.
    pub updated_at: Millis,
}

/// What the `metadata` column holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionMetadata {
    /// The conversation's id: the truth, of which bindings and `executors_running` hold copies.
    pub resume_token: Option<String>,
    /// Everything else that was there: kept.
    #[serde(flatten)]
    pub other: serde_json::Map<String, serde_json::Value>,
}

/// The unit of execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Id.
    pub id: SessionId,
    /// Its task.
    pub task_id: TaskId,
    /// Name, unique among open sessions; chosen by the person or made from the agent's name.
    pub name: String,
    /// State.
    pub state: SessionState,
    /// Whether a person wants it to run.
    pub wanted: Wanted,
    /// Profile name.
    pub agent_profile_id: String,
    /// The agent terminal now live.
    pub agent_execution_id: Option<TerminalId>,
    /// The configured executor's name.
    pub executor_id: String,
    /// Resume token and others' fields.
    pub metadata: SessionMetadata,
    /// First prompt of the present conversation.
    pub prompted_at: Option<Millis>,
    /// Worktree.
    pub worktree_id: Option<String>,
    /// Worktree's directory.
    pub worktree_path: Option<String>,
    /// Worktree's branch.
    pub worktree_branch: Option<String>,
    /// What went wrong last, one line.
    pub error_message: Option<String>,
    /// Overrides `resume.auto` for this session.
    pub auto_resume: Option<AutoResume>,
    /// Why it is not resumed by itself any more.
    pub hold: Option<Hold>,
    /// Deaths in a row of resumed agents that had not settled.
    pub unsettled_deaths: u32,
    /// No automatic attempt before this time.
    pub not_before: Option<Millis>,
    /// A turn was running when the agent died, and no turn has begun since.
    pub interrupted: bool,
    /// A start on its way: claimed, its launch not yet confirmed.
    pub pending: Option<Pending>,
    /// How the agent is started.
    pub launch: Launch,
    /// Creation.
    pub created_at: Millis,
    /// Last change.
    pub updated_at: Millis,
}

/// What a start on its way does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartMode {
    /// The session's first agent, with its first prompt.
    First,
    /// From its conversation.
    Resume,
    /// Anew, without the first prompt.
    Fresh,
}

/// A start on its way. Written by a claim (or a first start), cleared by confirm or unclaim; what a host that died in
/// between leaves for the next one to settle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// The terminal chosen for it.
    pub terminal_id: TerminalId,
    /// Its generation.
    pub generation: u32,
    /// Epoch of the claim.
    pub epoch: u64,
    /// What it does.
    pub mode: StartMode,
    /// The conversation: to resume, or assigned in advance.
    pub token: Option<String>,
    /// The claimed dead terminal; none at a first start.
    pub dead: Option<TerminalId>,
    /// The reason that the dead row had: what an unclaim gives back.
    pub had: Option<EndReason>,
    /// What made it happen.
    pub trigger: Trigger,
}

/// One running executor instance: the seed's table, one row per session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorRunning {
    /// Executor instance id.
    pub id: ExecutorId,
    /// Session.
    pub session_id: SessionId,
    /// Task.
    pub task_id: TaskId,
    /// Where it runs.
    pub runtime: Runtime,
    /// `unix:PATH`, `ssh:…`, `docker-exec:…`, `http(s):…`.
    pub agentctl_url: String,
    /// TCP port, with TCP only.
    pub agentctl_port: Option<u16>,
    /// Container.
    pub container_id: Option<String>,
    /// agentctl's pid.
    pub pid: Option<i32>,
    /// agentctl's start time, see [`ProcIdentity`].
    pub pid_start_time: Option<u64>,
    /// agentctl's boot id.
    pub boot_id: Option<String>,
    /// Bearer token. Never printed.
    pub auth_token: Option<String>,
    /// Status.
    pub status: ExecutorStatus,
    /// Profile and probe agree that agents can be resumed here.
    pub supports_session_resume: bool,
    /// Shell, files and git without an agent.
    pub supports_workspace_only: bool,
    /// Copy of the session's token.
    pub resume_token: Option<String>,
    /// Directory that files and git show.
    pub workspace_path: String,
    /// Worktree.
    pub worktree_id: Option<String>,
    /// Worktree's directory.
    pub worktree_path: Option<String>,
    /// Worktree's branch.
    pub worktree_branch: Option<String>,
    /// Last good health check.
    pub last_seen_at: Option<Millis>,
    /// Since when it does not answer.
    pub unreachable_since: Option<Millis>,
    /// Last applied journal record, see [`JournalCursor`].
    pub journal_cursor: JournalCursor,
    /// What went wrong last, one line.
    pub error_message: Option<String>,
}

/// A place in a session's journal. A journal that was lost and begun anew has another id, so that its first records
/// are not taken for old ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JournalCursor {
    /// Id of the journal; empty: none was read yet.
    pub journal: String,
    /// Sequence number of the last applied record; 0: none.
    pub seq: u64,
}

/// One PTY.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// Id.
    pub id: TerminalId,
    /// Session.
    pub session_id: SessionId,
    /// What runs in it.
    pub kind: TerminalKind,
    /// 1 for a session's first agent, one more for each successor; 0 for shells.
    pub generation: u32,
    /// Its process, once known.
    pub identity: Option<ProcIdentity>,
    /// Size.
    pub size: Size,
    /// How it ended.
    pub exit: Option<Exit>,
    /// Life.
    pub status: TerminalStatus,
    /// Creation.
    pub created_at: Millis,
    /// End.
    pub ended_at: Option<Millis>,
}

/// What ties a conversation to a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The agent terminal.
    pub terminal_id: TerminalId,
    /// Its session.
    pub session_id: SessionId,
    /// Its generation.
    pub generation: u32,
    /// Profile name.
    pub agent_id: String,
    /// The agent's own conversation id.
    pub agent_session_id: Option<String>,
    /// First prompt of that conversation, inherited by every successor.
    pub prompted_at: Option<Millis>,
    /// Start.
    pub started_at: Millis,
    /// The agent completed a turn, or lived long enough to count as well.
    pub settled_at: Option<Millis>,
    /// Last signal from the agent.
    pub last_event_at: Option<Millis>,
    /// Its kind.
    pub last_event_type: Option<String>,
    /// End.
    pub ended_at: Option<Millis>,
    /// Why.
    pub end_reason: Option<EndReason>,
    /// Session state when it ended.
    pub state_at_death: Option<SessionState>,
    /// Epoch of the claim that took it or, while it lives, of the claim that started it. Grows within a session.
    pub claim_epoch: u64,
    /// When it was claimed.
    pub claimed_at: Option<Millis>,
    /// The terminal that continues it.
    pub successor_terminal_id: Option<TerminalId>,
    /// When a person dismissed the failure banner of this candidate.
    pub dismissed_at: Option<Millis>,
}

/// One try to resume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeAttempt {
    /// Row number.
    pub id: i64,
    /// Session.
    pub session_id: SessionId,
    /// The dead terminal.
    pub terminal_id: TerminalId,
    /// The terminal chosen for it.
    pub successor: TerminalId,
    /// What made it happen.
    pub trigger: Trigger,
    /// Begin.
    pub started_at: Millis,
    /// End.
    pub ended_at: Option<Millis>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Why it failed.
    pub error_code: Option<ErrorCode>,
    /// One line, no control characters, no secrets.
    pub message: Option<String>,
}

/// One message of a session's conversation, as hooks tell it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionMessage {
    /// Id: the agent's own when it gives one.
    pub id: String,
    /// Session.
    pub session_id: SessionId,
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// Text.
    pub text: String,
    /// Creation.
    pub created_at: Millis,
    /// Last change.
    pub updated_at: Millis,
}

/// Life of a queued prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptState {
    /// Not typed yet.
    Queued,
    /// Typing began; whether the agent got it is not known. Never typed again by itself.
    MaybeDelivered,
    /// Typed.
    Delivered,
}

/// A prompt that waits for its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedPrompt {
    /// Id.
    pub id: PromptId,
    /// Session.
    pub session_id: SessionId,
    /// Text.
    pub text: String,
    /// State.
    pub state: PromptState,
    /// Creation.
    pub created_at: Millis,
}

/// One numbered event, as published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Sequence number: grows by one per event.
    pub seq: u64,
    /// `session.state_changed` and so on.
    #[serde(rename = "type")]
    pub kind: String,
    /// Session.
    pub session_id: SessionId,
    /// Task.
    pub task_id: TaskId,
    /// Time.
    pub at: Millis,
    /// The rest.
    pub data: serde_json::Value,
}
