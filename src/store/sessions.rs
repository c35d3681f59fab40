//! New sessions, and conversations that ran elsewhere.

use rusqlite::{Connection, params};

use crate::domain::ids::{ExecutorId, SessionId, TaskId, TerminalId};
use crate::domain::launch::{Launch, Size};
use crate::domain::rows::{Millis, Session, SessionMetadata};
use crate::domain::words::{AutoResume, Runtime, SessionState};

use super::bundles::{self, Bundle};
use super::codec::{one, run, to_json};
use super::decode;
use super::error::Result;
use super::load;
use super::names::free_name;
use super::tx::{Committed, Tx};
use super::worker::Store;

/// A worktree that a session works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Id.
    pub id: String,
    /// Directory.
    pub path: String,
    /// Branch.
    pub branch: String,
}

/// A session to make, with its executor instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Id.
    pub id: SessionId,
    /// Its task, which must exist.
    pub task_id: TaskId,
    /// Name as wished; a number is appended when an open session has it.
    pub name: String,
    /// Profile name.
    pub agent: String,
    /// Configured executor's name.
    pub executor: String,
    /// Id of its executor instance.
    pub executor_running_id: ExecutorId,
    /// Where it runs.
    pub runtime: Runtime,
    /// Where its agentctl will answer.
    pub agentctl_url: String,
    /// Directory that files and git show.
    pub workspace_path: String,
    /// Worktree, if it has one.
    pub worktree: Option<Worktree>,
    /// Bearer token for TCP.
    pub auth_token: Option<String>,
    /// What the profile says about resuming.
    pub supports_session_resume: bool,
    /// Its own policy of automatic resume.
    pub auto_resume: Option<AutoResume>,
    /// How its agent is started.
    pub launch: Launch,
    /// Now.
    pub now: Millis,
}

/// A conversation that ran elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopt {
    /// The session that will have it.
    pub session: NewSession,
    /// Id of the terminal that stands for where it ran.
    pub terminal: TerminalId,
    /// The conversation's id.
    pub token: String,
}

/// What came of adopting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Adopted {
    /// A session was made, with one ended, prompted candidate.
    Seeded(Box<Bundle>),
    /// This session has the conversation, live or as a candidate.
    AlreadyBound(SessionId),
}

impl Store {
    /// Makes a session in state `CREATED` that wants to run, and its executor row in status `starting`.
    ///
    /// # Errors
    /// An id is taken, no such task, or the database refused.
    pub async fn create_session(&self, new: NewSession) -> Result<Committed<Bundle>> {
        self.write(move |tx| bundles::of_session(tx, create(tx, &new, SessionState::Created)?)).await
    }

    /// Makes a session from a conversation that ran elsewhere, unless one has it.
    ///
    /// # Errors
    /// An id is taken, no such task, or the database refused.
    pub async fn adopt(&self, adopt: Adopt) -> Result<Committed<Adopted>> {
        self.write(move |tx| seed(tx, &adopt)).await
    }

    /// The session whose agent has this conversation: live, dead and a candidate, or on its way back.
    ///
    /// # Errors
    /// The database refused.
    pub async fn bound(&self, agent: String, token: String) -> Result<Option<SessionId>> {
        self.read(move |conn| bound(conn, &agent, &token)).await
    }
}

/// See [`Store::create_session`].
pub(super) fn create(tx: &Tx<'_>, new: &NewSession, state: SessionState) -> Result<Session> {
    load::task(tx, &new.task_id)?;
    let name = free_name(tx, &new.name, None)?;
    let tree = new.worktree.as_ref();
    let launch = &new.launch;
    run(
        tx,
        "INSERT INTO task_sessions (id, task_id, name, state, wanted, agent_profile_id, executor_id, metadata,
             worktree_id, worktree_path, worktree_branch, auto_resume, launch_args, launch_env, launch_cwd, launch_prompt,
             created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, 'run', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?16)",
        params![
            new.id.as_str(),
            new.task_id.as_str(),
            name,
            state.as_str(),
            new.agent,
            new.executor,
            to_json("metadata", &SessionMetadata::default())?,
            tree.map(|t| &t.id),
            tree.map(|t| &t.path),
            tree.map(|t| &t.branch),
            new.auto_resume.map(AutoResume::as_str),
            to_json("arguments", &launch.args)?,
            to_json("environment", &launch.env)?,
            launch.cwd,
            launch.prompt,
            new.now
        ],
    )?;
    run(
        tx,
        "INSERT INTO executors_running (id, session_id, task_id, runtime, agentctl_url, auth_token, status,
             supports_session_resume, workspace_path, worktree_id, worktree_path, worktree_branch)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'starting', ?7, ?8, ?9, ?10, ?11)",
        params![
            new.executor_running_id.as_str(),
            new.id.as_str(),
            new.task_id.as_str(),
            new.runtime.as_str(),
            new.agentctl_url,
            new.auth_token,
            new.supports_session_resume,
            new.workspace_path,
            tree.map(|t| &t.id),
            tree.map(|t| &t.path),
            tree.map(|t| &t.branch)
        ],
    )?;
    let session = load::session(tx, &new.id)?;
    let data = serde_json::json!({ "name": session.name, "agent": session.agent_profile_id, "state": session.state });
    tx.tell(&session, "session.created", new.now, data)?;
    Ok(session)
}

/// See [`Store::bound`].
fn bound(conn: &Connection, agent: &str, token: &str) -> Result<Option<SessionId>> {
    let holder = one(
        conn,
        "SELECT * FROM agent_bindings WHERE agent_id = ?1 AND agent_session_id = ?2
         AND (end_reason IS NULL OR end_reason = 'terminal-exited')",
        params![agent, token],
        decode::binding,
    )?;
    if let Some(holder) = holder {
        return Ok(Some(holder.session_id));
    }
    // A claim on its way has it as well, though its row is consumed.
    let claimed = one(
        conn,
        "SELECT * FROM task_sessions WHERE agent_profile_id = ?1 AND json_extract(pending, '$.token') = ?2",
        params![agent, token],
        decode::session,
    )?;
    Ok(claimed.map(|session| session.id))
}

fn seed(tx: &Tx<'_>, adopt: &Adopt) -> Result<Adopted> {
    let new = &adopt.session;
    if let Some(id) = bound(tx, &new.agent, &adopt.token)? {
        return Ok(Adopted::AlreadyBound(id));
    }
    let mut session = create(tx, new, SessionState::WaitingForInput)?;
    let Size { cols, rows } = Size::DEFAULT;
    run(
        tx,
        "INSERT INTO terminals (id, session_id, kind, generation, cols, rows, status, created_at, ended_at)
         VALUES (?1, ?2, 'agent', 1, ?3, ?4, 'exited', ?5, ?5)",
        params![adopt.terminal.as_str(), new.id.as_str(), cols, rows, new.now],
    )?;
    run(
        tx,
        "INSERT INTO agent_bindings (terminal_id, session_id, generation, agent_id, agent_session_id, prompted_at,
             start_mode, started_at, ended_at, end_reason, state_at_death, claim_epoch)
         VALUES (?1, ?2, 1, ?3, ?4, ?5, 'first', ?5, ?5, 'terminal-exited', 'WAITING_FOR_INPUT', 0)",
        params![adopt.terminal.as_str(), new.id.as_str(), new.agent, adopt.token, new.now],
    )?;
    run(tx, "UPDATE task_sessions SET prompted_at = ?2 WHERE id = ?1", params![new.id.as_str(), new.now])?;
    super::tokens::copy_token(tx, &mut session, Some(&adopt.token), new.now)?;
    super::tasks::move_task(
        tx,
        &new.task_id,
        crate::domain::words::TaskState::Todo,
        crate::domain::words::TaskState::InProgress,
        &new.id,
        new.now,
    )?;
    Ok(Adopted::Seeded(Box::new(bundles::of_session(tx, load::session(tx, &new.id)?)?)))
}
