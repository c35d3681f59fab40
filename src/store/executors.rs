//! Rows of `executors_running`: what is known of the place where a session runs.

use rusqlite::params;

use crate::domain::ids::SessionId;
use crate::domain::launch::{Exit, ProcIdentity};
use crate::domain::rows::{ExecutorRunning, Millis, Session};
use crate::domain::words::{ErrorCode, ExecutorStatus};

use super::codec::{all, run};
use super::dispose::fail;
use super::error::{Error, Result};
use super::limits::one_line;
use super::tx::{Committed, Tx};
use super::worker::Store;
use super::{decode, ends, load, terminals};

/// A healthy agentctl, and what it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutorReady {
    /// Session.
    pub session: SessionId,
    /// Profile and probe agree that agents can be resumed here.
    pub supports_session_resume: bool,
    /// Shell, files and git without an agent.
    pub supports_workspace_only: bool,
    /// Who the agentctl is.
    pub identity: ProcIdentity,
    /// Where it answers.
    pub agentctl_url: String,
    /// Now.
    pub now: Millis,
}

impl Store {
    /// Every executor row, in the order of its sessions.
    ///
    /// # Errors
    /// The database refused.
    pub async fn executors(&self) -> Result<Vec<ExecutorRunning>> {
        self.read(|conn| all(conn, "SELECT * FROM executors_running ORDER BY rowid", [], decode::executor)).await
    }

    /// Its agentctl is being started. Told once.
    ///
    /// # Errors
    /// No such session or row, or the database refused.
    pub async fn executor_starting(&self, session: SessionId, now: Millis) -> Result<Committed<()>> {
        self.write(move |tx| {
            let (session, row) = both(tx, &session)?;
            run(
                tx,
                "UPDATE executors_running SET status = 'starting', error_message = NULL WHERE session_id = ?1",
                [session.id.as_str()],
            )?;
            let data = serde_json::json!({ "runtime": row.runtime, "agentctl_url": row.agentctl_url });
            tx.tell(&session, "session.agentctl_starting", now, data)
        })
        .await
    }

    /// It answers: shell, files and git work from here on. Told when it was not ready before, did not answer, or is another
    /// process.
    ///
    /// # Errors
    /// No such session or row, or the database refused.
    pub async fn executor_ready(&self, ready: ExecutorReady) -> Result<Committed<()>> {
        self.write(move |tx| be_ready(tx, &ready)).await
    }

    /// A good health check. Not told; write it at most every 10 s.
    ///
    /// # Errors
    /// The database refused.
    pub async fn executor_seen(&self, session: SessionId, now: Millis) -> Result<Committed<()>> {
        let sql = "UPDATE executors_running SET last_seen_at = ?2, unreachable_since = NULL,
                   error_message = CASE WHEN status = 'error' THEN error_message END WHERE session_id = ?1";
        self.write(move |tx| run(tx, sql, params![session.as_str(), now]).map(|_| ())).await
    }

    /// It does not answer, for this reason; the session keeps its state. Told once. Returns since when.
    ///
    /// # Errors
    /// No such session or row, or the database refused.
    pub async fn executor_unreachable(
        &self,
        session: SessionId,
        message: String,
        now: Millis,
    ) -> Result<Committed<Millis>> {
        self.write(move |tx| be_unreachable(tx, &session, &message, now)).await
    }

    /// The place itself says that it is gone or broken: status `error`, and the session `ERROR` with the message.
    ///
    /// # Errors
    /// No such session or row, or the database refused.
    pub async fn executor_error(
        &self,
        session: SessionId,
        code: ErrorCode,
        message: String,
        now: Millis,
    ) -> Result<Committed<()>> {
        self.write(move |tx| be_broken(tx, &session, code, &message, now)).await
    }

    /// Nothing of it runs any more, and none is wanted. A terminal whose end no record told has ended, too.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn executor_stopped(&self, session: SessionId, now: Millis) -> Result<Committed<()>> {
        self.write(move |tx| be_stopped(tx, &session, now)).await
    }
}

fn be_stopped(tx: &Tx<'_>, id: &SessionId, now: Millis) -> Result<()> {
    let mut session = load::session(tx, id)?;
    let sql = "UPDATE executors_running SET status = 'stopped', unreachable_since = NULL, pid = NULL,
               pid_start_time = NULL WHERE session_id = ?1";
    run(tx, sql, [id.as_str()])?;
    for terminal in terminals::of_session(tx, id)?.into_iter().filter(|terminal| terminal.ended_at.is_none()) {
        let reason = load::binding(tx, &terminal.id)?.and_then(|binding| binding.end_reason);
        ends::terminal_gone(tx, &mut session, &terminal.id, Exit::Unknown, reason, now)?;
    }
    Ok(())
}

fn both(tx: &Tx<'_>, id: &SessionId) -> Result<(Session, ExecutorRunning)> {
    let session = load::session(tx, id)?;
    let row = load::executor(tx, id)?.ok_or_else(|| Error::not_found("executor of session", id.as_str()))?;
    Ok((session, row))
}

fn be_ready(tx: &Tx<'_>, ready: &ExecutorReady) -> Result<()> {
    let (session, row) = both(tx, &ready.session)?;
    let who = &ready.identity;
    run(
        tx,
        "UPDATE executors_running SET status = 'ready', supports_session_resume = ?2, supports_workspace_only = ?3,
             pid = ?4, pid_start_time = ?5, boot_id = ?6, agentctl_url = ?7, last_seen_at = ?8, unreachable_since = NULL,
             error_message = NULL
         WHERE session_id = ?1",
        params![
            session.id.as_str(),
            ready.supports_session_resume,
            ready.supports_workspace_only,
            who.pid,
            who.start_time as i64,
            who.boot_id,
            ready.agentctl_url,
            ready.now
        ],
    )?;
    let same = row.status == ExecutorStatus::Ready
        && row.unreachable_since.is_none()
        && row.pid == Some(who.pid)
        && row.pid_start_time == Some(who.start_time)
        && row.agentctl_url == ready.agentctl_url;
    if same {
        return Ok(());
    }
    let data = serde_json::json!({
        "runtime": row.runtime,
        "agentctl_url": ready.agentctl_url,
        "pid": who.pid,
        "supports_session_resume": ready.supports_session_resume,
        "supports_workspace_only": ready.supports_workspace_only,
    });
    tx.tell(&session, "session.agentctl_ready", ready.now, data)
}

fn be_unreachable(tx: &Tx<'_>, id: &SessionId, message: &str, now: Millis) -> Result<Millis> {
    let (session, row) = both(tx, id)?;
    let line = one_line(message);
    // What an executor in error says is what a person has to mend first.
    if row.status != ExecutorStatus::Error && row.error_message.as_deref() != Some(&line) {
        tracing::warn!(session = %id, why = line, "its executor does not answer");
        let sql = "UPDATE executors_running SET error_message = ?2 WHERE session_id = ?1";
        run(tx, sql, params![id.as_str(), line])?;
    }
    if let Some(since) = row.unreachable_since {
        return Ok(since);
    }
    let sql = "UPDATE executors_running SET unreachable_since = ?2 WHERE session_id = ?1";
    run(tx, sql, params![id.as_str(), now])?;
    let data = serde_json::json!({ "code": ErrorCode::ExecutorUnreachable, "message": line, "retrying": true });
    tx.tell(&session, "session.agentctl_error", now, data)?;
    Ok(now)
}

fn be_broken(tx: &Tx<'_>, id: &SessionId, code: ErrorCode, message: &str, now: Millis) -> Result<()> {
    let (session, row) = both(tx, id)?;
    let line = one_line(message);
    // The status reads this code back from the row's message.
    let stored = if code == ErrorCode::WorktreeMissing { code.as_str() } else { &line };
    run(
        tx,
        "UPDATE executors_running SET status = 'error', error_message = ?2, unreachable_since = NULL WHERE session_id = ?1",
        params![id.as_str(), stored],
    )?;
    if row.status != ExecutorStatus::Error || row.error_message.as_deref() != Some(stored) {
        let data = serde_json::json!({ "code": code, "message": line, "retrying": false });
        tx.tell(&session, "session.agentctl_error", now, data)?;
    }
    fail(tx, id, &line, None, now)
}
