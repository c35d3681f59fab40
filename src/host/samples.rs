//! Rows for tests of this room.

use crate::domain::ids::{ExecutorId, SessionId, TaskId, TerminalId};
use crate::domain::launch::Launch;
use crate::domain::rows::{Binding, ExecutorRunning, JournalCursor, Session, SessionMetadata};
use crate::domain::words::{EndReason, ExecutorStatus, Runtime, SessionState, Wanted};

/// A session with a prompted conversation that waits for input.
pub fn session() -> Session {
    Session {
        id: SessionId::new("s1").unwrap(),
        task_id: TaskId::new("t1").unwrap(),
        name: "one".into(),
        state: SessionState::WaitingForInput,
        wanted: Wanted::Run,
        agent_profile_id: "demo".into(),
        agent_execution_id: None,
        executor_id: "local".into(),
        metadata: SessionMetadata { resume_token: Some("c1".into()), ..SessionMetadata::default() },
        prompted_at: Some(5),
        worktree_id: None,
        worktree_path: None,
        worktree_branch: None,
        error_message: None,
        auto_resume: None,
        hold: None,
        unsettled_deaths: 0,
        not_before: None,
        interrupted: false,
        pending: None,
        launch: Launch { cwd: "/".into(), ..Launch::default() },
        created_at: 1,
        updated_at: 1,
    }
}

/// Its executor, ready.
pub fn executor() -> ExecutorRunning {
    ExecutorRunning {
        id: ExecutorId::new("e1").unwrap(),
        session_id: SessionId::new("s1").unwrap(),
        task_id: TaskId::new("t1").unwrap(),
        runtime: Runtime::Local,
        agentctl_url: "unix:/nowhere".into(),
        agentctl_port: None,
        container_id: None,
        pid: None,
        pid_start_time: None,
        boot_id: None,
        auth_token: None,
        status: ExecutorStatus::Ready,
        supports_session_resume: true,
        supports_workspace_only: true,
        resume_token: Some("c1".into()),
        workspace_path: "/".into(),
        worktree_id: None,
        worktree_path: None,
        worktree_branch: None,
        last_seen_at: None,
        unreachable_since: None,
        journal_cursor: JournalCursor::default(),
        error_message: None,
    }
}

/// Its newest binding, ended for this reason, or live.
pub fn binding(end: Option<EndReason>) -> Binding {
    Binding {
        terminal_id: TerminalId::new("x1").unwrap(),
        session_id: SessionId::new("s1").unwrap(),
        generation: 1,
        agent_id: "demo".into(),
        agent_session_id: Some("c1".into()),
        prompted_at: Some(5),
        started_at: 2,
        settled_at: None,
        last_event_at: None,
        last_event_type: None,
        ended_at: end.map(|_| 9),
        end_reason: end,
        state_at_death: end.map(|_| SessionState::WaitingForInput),
        claim_epoch: 0,
        claimed_at: None,
        successor_terminal_id: None,
        dismissed_at: None,
    }
}
