//! Rows of each table as the types of `domain::rows`.

use rusqlite::Row;

use crate::domain::launch::{Exit, Launch, ProcIdentity, Size};
use crate::domain::rows::{
    Binding, Event, ExecutorRunning, JournalCursor, QueuedPrompt, ResumeAttempt, Session, SessionMessage, StartMode,
    Task, Terminal,
};

use super::codec::Columns;
use super::error::Result;

/// A task.
pub(super) fn task(row: &Row<'_>) -> Result<Task> {
    let c = Columns::new(row, "tasks", "id");
    Ok(Task {
        id: c.word("id")?,
        title: c.get("title")?,
        state: c.word("state")?,
        repository_path: c.get("repository_path")?,
        created_at: c.get("created_at")?,
        updated_at: c.get("updated_at")?,
    })
}

/// A session.
pub(super) fn session(row: &Row<'_>) -> Result<Session> {
    let c = Columns::new(row, "task_sessions", "id");
    Ok(Session {
        id: c.word("id")?,
        task_id: c.word("task_id")?,
        name: c.get("name")?,
        state: c.word("state")?,
        wanted: c.word("wanted")?,
        agent_profile_id: c.get("agent_profile_id")?,
        agent_execution_id: c.opt_word("agent_execution_id")?,
        executor_id: c.get("executor_id")?,
        metadata: c.json("metadata")?,
        prompted_at: c.get("prompted_at")?,
        worktree_id: c.get("worktree_id")?,
        worktree_path: c.get("worktree_path")?,
        worktree_branch: c.get("worktree_branch")?,
        error_message: c.get("error_message")?,
        auto_resume: c.opt_word("auto_resume")?,
        hold: c.opt_word("hold")?,
        unsettled_deaths: c.int("unsettled_deaths")?,
        not_before: c.get("not_before")?,
        interrupted: c.get("interrupted")?,
        pending: c.opt_json("pending")?,
        launch: Launch {
            args: c.json("launch_args")?,
            env: c.json("launch_env")?,
            cwd: c.get("launch_cwd")?,
            prompt: c.get("launch_prompt")?,
        },
        created_at: c.get("created_at")?,
        updated_at: c.get("updated_at")?,
    })
}

/// An executor instance.
pub(super) fn executor(row: &Row<'_>) -> Result<ExecutorRunning> {
    let c = Columns::new(row, "executors_running", "session_id");
    Ok(ExecutorRunning {
        id: c.word("id")?,
        session_id: c.word("session_id")?,
        task_id: c.word("task_id")?,
        runtime: c.word("runtime")?,
        agentctl_url: c.get("agentctl_url")?,
        agentctl_port: c.opt_int("agentctl_port")?,
        container_id: c.get("container_id")?,
        pid: c.opt_int("pid")?,
        pid_start_time: c.opt_int("pid_start_time")?,
        boot_id: c.get("boot_id")?,
        auth_token: c.get("auth_token")?,
        status: c.word("status")?,
        supports_session_resume: c.get("supports_session_resume")?,
        supports_workspace_only: c.get("supports_workspace_only")?,
        resume_token: c.get("resume_token")?,
        workspace_path: c.get("workspace_path")?,
        worktree_id: c.get("worktree_id")?,
        worktree_path: c.get("worktree_path")?,
        worktree_branch: c.get("worktree_branch")?,
        last_seen_at: c.get("last_seen_at")?,
        unreachable_since: c.get("unreachable_since")?,
        journal_cursor: JournalCursor { journal: c.get("journal_id")?, seq: c.int("journal_seq")? },
        error_message: c.get("error_message")?,
    })
}

/// A terminal.
pub(super) fn terminal(row: &Row<'_>) -> Result<Terminal> {
    let c = Columns::new(row, "terminals", "id");
    let identity = match (c.opt_int("pid")?, c.opt_int("pid_start_time")?, c.get("boot_id")?) {
        (Some(pid), Some(start_time), Some(boot_id)) => Some(ProcIdentity { boot_id, pid, start_time }),
        _ => None,
    };
    let ended_at: Option<i64> = c.get("ended_at")?;
    let exit = match (ended_at, c.opt_int("exit_code")?, c.opt_int("exit_signal")?) {
        (_, Some(code), _) => Some(Exit::Code(code)),
        (_, _, Some(signal)) => Some(Exit::Signal(signal)),
        (Some(_), None, None) => Some(Exit::Unknown),
        (None, None, None) => None,
    };
    Ok(Terminal {
        id: c.word("id")?,
        session_id: c.word("session_id")?,
        kind: c.word("kind")?,
        generation: c.int("generation")?,
        identity,
        size: Size { cols: c.int("cols")?, rows: c.int("rows")? },
        exit,
        status: c.word("status")?,
        created_at: c.get("created_at")?,
        ended_at,
    })
}

/// A binding.
pub(super) fn binding(row: &Row<'_>) -> Result<Binding> {
    let c = Columns::new(row, "agent_bindings", "terminal_id");
    Ok(Binding {
        terminal_id: c.word("terminal_id")?,
        session_id: c.word("session_id")?,
        generation: c.int("generation")?,
        agent_id: c.get("agent_id")?,
        agent_session_id: c.get("agent_session_id")?,
        prompted_at: c.get("prompted_at")?,
        started_at: c.get("started_at")?,
        settled_at: c.get("settled_at")?,
        last_event_at: c.get("last_event_at")?,
        last_event_type: c.get("last_event_type")?,
        ended_at: c.get("ended_at")?,
        end_reason: c.opt_word("end_reason")?,
        state_at_death: c.opt_word("state_at_death")?,
        claim_epoch: c.int("claim_epoch")?,
        claimed_at: c.get("claimed_at")?,
        successor_terminal_id: c.opt_word("successor_terminal_id")?,
        dismissed_at: c.get("dismissed_at")?,
    })
}

/// What a binding's row holds beyond [`Binding`]: what its end is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EndFacts {
    /// How it was started.
    pub(super) start_mode: StartMode,
    /// It said goodbye with a reason that only a person's quit has.
    pub(super) goodbye_person: bool,
    /// Its exit on agentctl's boot clock.
    pub(super) exit_boot_ms: Option<u64>,
    /// In this boot.
    pub(super) exit_boot_id: Option<String>,
    /// Seen by this incarnation.
    pub(super) exit_incarnation: Option<u32>,
    /// A person's quit explains the exit.
    pub(super) exit_person_quit: bool,
    /// Nothing outside was ending things around it.
    pub(super) exit_settled: bool,
}

/// The same row's facts.
pub(super) fn end_facts(row: &Row<'_>) -> Result<EndFacts> {
    let c = Columns::new(row, "agent_bindings", "terminal_id");
    Ok(EndFacts {
        start_mode: c.variant("start_mode")?,
        goodbye_person: c.get("goodbye_person")?,
        exit_boot_ms: c.opt_int("exit_boot_ms")?,
        exit_boot_id: c.get("exit_boot_id")?,
        exit_incarnation: c.opt_int("exit_incarnation")?,
        exit_person_quit: c.get("exit_person_quit")?,
        exit_settled: c.get("exit_settled")?,
    })
}

/// A resume attempt.
pub(super) fn attempt(row: &Row<'_>) -> Result<ResumeAttempt> {
    let c = Columns::new(row, "resume_attempts", "id");
    Ok(ResumeAttempt {
        id: c.get("id")?,
        session_id: c.word("session_id")?,
        terminal_id: c.word("terminal_id")?,
        successor: c.word("successor")?,
        trigger: c.word("trigger")?,
        started_at: c.get("started_at")?,
        ended_at: c.get("ended_at")?,
        outcome: c.opt_word("outcome")?,
        error_code: c.opt_word("error_code")?,
        message: c.get("message")?,
    })
}

/// A message.
pub(super) fn message(row: &Row<'_>) -> Result<SessionMessage> {
    let c = Columns::new(row, "session_messages", "id");
    Ok(SessionMessage {
        id: c.get("id")?,
        session_id: c.word("session_id")?,
        role: c.get("role")?,
        text: c.get("text")?,
        created_at: c.get("created_at")?,
        updated_at: c.get("updated_at")?,
    })
}

/// A queued prompt.
pub(super) fn prompt(row: &Row<'_>) -> Result<QueuedPrompt> {
    let c = Columns::new(row, "queued_prompts", "id");
    Ok(QueuedPrompt {
        id: c.word("id")?,
        session_id: c.word("session_id")?,
        text: c.get("text")?,
        state: c.variant("state")?,
        created_at: c.get("created_at")?,
    })
}

/// An event.
pub(super) fn event(row: &Row<'_>) -> Result<Event> {
    let c = Columns::new(row, "events", "seq");
    Ok(Event {
        seq: c.int("seq")?,
        kind: c.get("kind")?,
        session_id: c.word("session_id")?,
        task_id: c.word("task_id")?,
        at: c.get("at")?,
        data: c.json("data")?,
    })
}
