//! Confirming a launch: the spawn was acknowledged, and the successor becomes the session's agent.

use rusqlite::params;

use crate::domain::ids::{PromptId, SessionId, TerminalId};
use crate::domain::launch::{ProcIdentity, Size};
use crate::domain::rows::{Binding, Millis, Pending, PromptState, QueuedPrompt, Session, StartMode};
use crate::domain::words::{EndReason, SessionState, TaskState, Wanted};

use super::codec::{one, run, to_variant};
use super::error::Result;
use super::load;
use super::prompts::enqueue;
use super::tasks::move_task;
use super::tokens::{copy_token, supersede};
use super::tx::{Committed, Tx};
use super::worker::Store;

/// A launch that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirm {
    /// Session.
    pub session: SessionId,
    /// The terminal that was chosen for it.
    pub terminal: TerminalId,
    /// Epoch of its claim.
    pub epoch: u64,
    /// The agent's process.
    pub identity: ProcIdentity,
    /// Conversation id as agentctl told it; else the claim's own is taken.
    pub token: Option<String>,
    /// Size that it was started with.
    pub size: Size,
    /// Now.
    pub now: Millis,
}

/// What came of confirming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmOutcome {
    /// The session's agent is the new one; also when it was already.
    Confirmed,
    /// A person ended the session meanwhile: end what was launched.
    StopWanted,
    /// Neither open nor confirmed earlier: nothing was changed.
    NotPending,
}

impl Store {
    /// Makes the successor the session's agent and disposes the dead terminal. A repeat answers the same and changes
    /// nothing.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn confirm(&self, confirm: Confirm) -> Result<Committed<ConfirmOutcome>> {
        self.write(move |tx| confirmed(tx, &confirm)).await
    }
}

/// See [`Store::confirm`].
pub(super) fn confirmed(tx: &Tx<'_>, confirm: &Confirm) -> Result<ConfirmOutcome> {
    let mut session = load::session(tx, &confirm.session)?;
    let stopped = session.wanted == Wanted::Stop;
    let open = session.pending.take_if(|p| p.terminal_id == confirm.terminal && p.epoch == confirm.epoch);
    let Some(pending) = open else { return repeat(tx, confirm) };
    let dead = match &pending.dead {
        Some(dead) => load::binding(tx, dead)?,
        None => None,
    };
    let token = confirm.token.clone().or_else(|| pending.token.clone());
    if let Some(token) = &token
        && !stopped
    {
        supersede(tx, &session, token, confirm.now)?;
    }
    // None at a fresh start: that is why it is one.
    let prompted_at = dead.as_ref().and_then(|d| d.prompted_at);
    insert(tx, confirm, &session, &pending, prompted_at, token.as_deref(), stopped)?;
    if let Some(dead) = &dead {
        if pending.mode == StartMode::Fresh {
            first_prompt_back(tx, &session, dead, confirm.now)?;
        }
        run(tx, "UPDATE terminals SET status = 'disposed' WHERE id = ?1", [dead.terminal_id.as_str()])?;
    }
    run(
        tx,
        "UPDATE task_sessions SET pending = NULL, agent_execution_id = ?2, prompted_at = ?3, updated_at = ?4 WHERE id = ?1",
        params![session.id.as_str(), confirm.terminal.as_str(), prompted_at, confirm.now],
    )?;
    copy_token(tx, &mut session, token.as_deref(), confirm.now)?;
    let (outcome, code) = if stopped { ("failed", Some("cancelled")) } else { ("resumed", None) };
    run(
        tx,
        "UPDATE resume_attempts SET outcome = ?2, ended_at = ?3, error_code = ?4 WHERE successor = ?1",
        params![confirm.terminal.as_str(), outcome, confirm.now, code],
    )?;
    if stopped {
        tx.set_state(&mut session, SessionState::Cancelled, None, confirm.now)?;
        return Ok(ConfirmOutcome::StopWanted);
    }
    announce(tx, &mut session, &pending, confirm)?;
    Ok(ConfirmOutcome::Confirmed)
}

/// No such claim is open: was it confirmed before?
fn repeat(tx: &Tx<'_>, confirm: &Confirm) -> Result<ConfirmOutcome> {
    let known = load::binding(tx, &confirm.terminal)?
        .filter(|b| b.session_id == confirm.session && b.claim_epoch >= confirm.epoch);
    Ok(match known {
        None => ConfirmOutcome::NotPending,
        Some(binding) if binding.end_reason == Some(EndReason::Disposed) => ConfirmOutcome::StopWanted,
        Some(_) => ConfirmOutcome::Confirmed,
    })
}

fn insert(
    tx: &Tx<'_>,
    confirm: &Confirm,
    session: &Session,
    pending: &Pending,
    prompted_at: Option<Millis>,
    token: Option<&str>,
    stopped: bool,
) -> Result<()> {
    let identity = &confirm.identity;
    run(
        tx,
        "INSERT INTO terminals (id, session_id, kind, generation, pid, pid_start_time, boot_id, cols, rows, status, created_at)
         VALUES (?1, ?2, 'agent', ?3, ?4, ?5, ?6, ?7, ?8, 'active', ?9)",
        params![
            confirm.terminal.as_str(),
            session.id.as_str(),
            pending.generation,
            identity.pid,
            identity.start_time as i64,
            identity.boot_id,
            confirm.size.cols,
            confirm.size.rows,
            confirm.now
        ],
    )?;
    let (ended_at, reason, state) = if stopped {
        (Some(confirm.now), Some(EndReason::Disposed.as_str()), Some(session.state.as_str()))
    } else {
        (None, None, None)
    };
    run(
        tx,
        "INSERT INTO agent_bindings (terminal_id, session_id, generation, agent_id, agent_session_id, prompted_at,
             start_mode, started_at, claim_epoch, ended_at, end_reason, state_at_death)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            confirm.terminal.as_str(),
            session.id.as_str(),
            pending.generation,
            session.agent_profile_id,
            token,
            prompted_at,
            to_variant("start mode", &pending.mode)?,
            confirm.now,
            pending.epoch as i64,
            ended_at,
            reason,
            state
        ],
    )?;
    Ok(())
}

/// What the session's first agent was given to begin with, and its successor is not: it goes to the queue, since nobody knows
/// whether the dead one got it.
fn first_prompt_back(tx: &Tx<'_>, session: &Session, dead: &Binding, now: Millis) -> Result<()> {
    let Some(text) = session.launch.prompt.clone().filter(|text| !text.is_empty()) else { return Ok(()) };
    let first = one(
        tx,
        "SELECT 1 FROM agent_bindings WHERE terminal_id = ?1 AND start_mode = ?2",
        params![dead.terminal_id.as_str(), to_variant("start mode", &StartMode::First)?],
        |_| Ok(()),
    )?;
    // The dead terminal's id: unique, and the same if it is told twice.
    let (Some(()), Ok(id)) = (first, PromptId::new(dead.terminal_id.as_str())) else { return Ok(()) };
    let session_id = session.id.clone();
    enqueue(tx, &QueuedPrompt { id, session_id, text, state: PromptState::MaybeDelivered, created_at: now })
}

/// Session and task states, and the event.
fn announce(tx: &Tx<'_>, session: &mut Session, pending: &Pending, confirm: &Confirm) -> Result<()> {
    let now = confirm.now;
    match pending.mode {
        StartMode::First => {
            tx.set_state(session, SessionState::Starting, None, now)?;
            move_task(tx, &session.task_id, TaskState::Todo, TaskState::InProgress, &session.id, now)?;
        }
        StartMode::Fresh => tx.set_state(session, SessionState::Starting, None, now)?,
        StartMode::Resume => {
            tx.set_state(session, SessionState::WaitingForInput, None, now)?;
            move_task(tx, &session.task_id, TaskState::InProgress, TaskState::Review, &session.id, now)?;
        }
    }
    if let Some(dead) = &pending.dead {
        let data = serde_json::json!({
            "old_terminal_id": dead,
            "terminal_id": confirm.terminal,
            "mode": pending.mode,
        });
        tx.tell(session, "session.resumed", now, data)?;
    }
    Ok(())
}
