//! Parameters and results of the host's methods.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{SessionId, TaskId, TerminalId};
use crate::domain::launch::Size;
use crate::domain::rows::{Millis, QueuedPrompt, Session, SessionMessage, Task};
use crate::domain::status::Status;
use crate::domain::words::{
    Activity, EndReason, ExecutorStatus, ResumeReason, Runtime, SessionState, TaskState, TerminalKind,
};
use crate::wire::input::StreamInput;

use super::Hello;

/// `task.create`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCreate {
    /// Title.
    pub title: String,
    /// Repository or directory.
    #[serde(default)]
    pub repository_path: Option<String>,
}

/// `session.create`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCreate {
    /// Profile name.
    pub agent: String,
    /// Name; none: made from the agent's.
    #[serde(default)]
    pub name: Option<String>,
    /// Task, by id, unique id prefix or title; a title that does not exist makes a task. None: a task of its own.
    #[serde(default)]
    pub task: Option<String>,
    /// Working directory, absolute.
    pub cwd: String,
    /// First prompt.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Configured executor's name; none: `local`.
    #[serde(default)]
    pub executor: Option<String>,
    /// The person's own arguments for the agent.
    #[serde(default)]
    pub args: Vec<String>,
    /// The client's environment, already scrubbed.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Size of the client's pane.
    #[serde(default)]
    pub size: Option<Size>,
}

/// Result of `session.create` and `session.find`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCreated {
    /// Session.
    pub session_id: SessionId,
    /// Task.
    pub task_id: TaskId,
}

/// `session.adopt`: a conversation that ran elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAdopt {
    /// Profile name.
    pub agent: String,
    /// The conversation's id.
    pub token: String,
    /// Directory it ran in, absolute.
    pub cwd: String,
    /// Name.
    #[serde(default)]
    pub name: Option<String>,
    /// Task, as in [`SessionCreate`].
    #[serde(default)]
    pub task: Option<String>,
    /// The client's environment, already scrubbed.
    #[serde(default)]
    pub env: Vec<(String, String)>,
}

/// Result of `session.adopt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAdopted {
    /// `seeded` or `already_bound`.
    pub outcome: String,
    /// The session that has it.
    pub session_id: SessionId,
    /// Its task.
    pub task_id: TaskId,
}

/// One line of `session.list`: the status and what only a list needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLine {
    /// Session.
    pub session_id: SessionId,
    /// Task.
    pub task_id: TaskId,
    /// Task's title.
    pub task_title: String,
    /// How far the task is.
    pub task_state: TaskState,
    /// Name.
    pub name: String,
    /// Profile name.
    pub agent: String,
    /// Profile's label.
    pub agent_label: String,
    /// State.
    pub state: SessionState,
    /// Badge.
    pub activity: Activity,
    /// In words.
    pub why: String,
    /// Title of the agent's terminal.
    pub title: String,
    /// Percent.
    pub progress: Option<u8>,
    /// Executor.
    pub executor_status: Option<ExecutorStatus>,
    /// Where.
    pub runtime: Option<Runtime>,
    /// Newest agent terminal.
    pub terminal_id: Option<TerminalId>,
    /// The agent's pid while it lives.
    pub pid: Option<i32>,
    /// agentctl's pid.
    pub agentctl_pid: Option<i32>,
    /// Generation.
    pub generation: Option<u32>,
    /// Conversation id.
    pub agent_session_id: Option<String>,
    /// How the newest binding ended.
    pub end_reason: Option<EndReason>,
    /// When its agent ended, or, for one that a person ended, when its rows changed last. `None`: it has not ended.
    #[serde(default)]
    pub ended_at: Option<Millis>,
    /// Directory.
    pub cwd: String,
    /// Creation.
    pub created_at: Millis,
}

/// Names a session: id, unique prefix of an id, or name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Find {
    /// The text.
    pub session: String,
}

/// Names a session by id, prefix or name; `task_id`, when given, must be its task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfSession {
    /// Id, unique prefix or name.
    pub session: String,
    /// Task it must belong to.
    #[serde(default)]
    pub task_id: Option<TaskId>,
}

/// `session.shell`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOpen {
    /// Id, unique prefix or name.
    pub session: String,
    /// Task it must belong to.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// Size of the client's pane; none: that of the session's agent terminal.
    #[serde(default)]
    pub size: Option<Size>,
}

/// `terminal.close`. Only shells are closed; one that has ended already, or was closed before, is no error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseTerminal {
    /// Terminal.
    pub terminal: TerminalId,
    /// Also while a program runs in it; else that is `terminal_busy`.
    #[serde(default)]
    pub force: bool,
}

/// `session.resume`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// Id, unique prefix or name.
    pub session: String,
    /// Task it must belong to.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// The dead terminal that the caller saw; another one being resumed answers `superseded`.
    #[serde(default)]
    pub terminal_id: Option<TerminalId>,
    /// Also what a person ended.
    #[serde(default)]
    pub reopen: bool,
}

/// Result of `session.resume`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// A launch happened for this call or for one that it joined.
    pub resumed: bool,
    /// Why, in one word.
    pub reason: ResumeReason,
    /// The terminal where the session's agent is, or was.
    pub terminal_id: Option<TerminalId>,
    /// The dead terminal.
    #[serde(default)]
    pub old_terminal_id: Option<TerminalId>,
    /// In words.
    #[serde(default)]
    pub message: Option<String>,
}

/// `session.rename`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rename {
    /// Id, unique prefix or name.
    pub session: String,
    /// New name.
    pub name: String,
}

/// `session.send`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Send {
    /// Id, unique prefix or name.
    pub session: String,
    /// Text.
    pub text: String,
    /// Press Enter afterwards.
    pub enter: bool,
    /// Wait in the queue while no agent runs, instead of an error.
    #[serde(default)]
    pub queue: bool,
}

/// Result of `session.send`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// `typed` or `queued`.
    pub outcome: String,
}

/// `session.capture`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// Id, unique prefix or name.
    pub session: String,
    /// Lines of history above the screen, at most.
    #[serde(default)]
    pub history: u32,
    /// With SGR sequences.
    #[serde(default)]
    pub ansi: bool,
}

/// `session.workspace`: one of agentctl's read-only paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Id, unique prefix or name.
    pub session: String,
    /// `/workspace/tree?path=src`, `/git/status`, …
    pub path: String,
}

/// `session.snapshot`: everything of one transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Session, without its environment.
    pub session: Session,
    /// Task.
    pub task: Task,
    /// Status.
    pub status: Status,
    /// Its terminals, newest first.
    pub terminals: Vec<TerminalLine>,
    /// Messages, oldest first, at most 500.
    pub messages: Vec<SessionMessage>,
    /// Queued prompts.
    pub prompts: Vec<QueuedPrompt>,
    /// Newest event at that moment.
    pub seq: u64,
}

/// A terminal in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalLine {
    /// Id.
    pub id: TerminalId,
    /// Agent or shell.
    pub kind: TerminalKind,
    /// Generation.
    pub generation: u32,
    /// Lives.
    pub live: bool,
}

/// `terminal.attach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// Session: its agent terminal, followed to each successor.
    #[serde(default)]
    pub session: Option<String>,
    /// Or one terminal; a disposed one answers with its successor.
    #[serde(default)]
    pub terminal: Option<TerminalId>,
    /// Size of the pane; none: a viewer that never sets it.
    #[serde(default)]
    pub size: Option<Size>,
}

/// Result of `terminal.attach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// Number of the stream on this connection.
    pub stream: u32,
    /// Session.
    pub session_id: SessionId,
    /// Terminal it shows now; none: nothing runs yet.
    pub terminal_id: Option<TerminalId>,
}

/// `terminal.detach`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfStream {
    /// Stream.
    pub stream: u32,
}

/// `terminal.input`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalInput {
    /// Stream.
    pub stream: u32,
    /// What.
    #[serde(flatten)]
    pub input: StreamInput,
}

/// `events.subscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscribe {
    /// Only this session's.
    pub session_id: Option<SessionId>,
    /// Replay what came after this number; none: only what comes from now on.
    pub since: Option<u64>,
    /// Also transient activity.
    pub activity: bool,
}

/// `host.status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStatus {
    /// Who.
    pub hello: Hello,
    /// Start.
    pub started_at: Millis,
    /// It is still recovering executors.
    pub recovering: bool,
    /// Sessions, all.
    pub sessions: u32,
    /// Live agents.
    pub agents: u32,
    /// Connected clients.
    pub clients: u32,
    /// Database file.
    pub database: String,
}

/// `host.stop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Stop {
    /// End the agents as well, as an orderly shutdown does (they come back at the next start).
    pub agents: bool,
    /// Another host follows at once: leave no mark.
    pub restart: bool,
}
