//! What a person says about a session: kill and close, dismiss, rename, its own policy; and an error that the host found.

use rusqlite::params;

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::rows::{Millis, Pending};
use crate::domain::words::{AutoResume, Hold, SessionState};

use super::codec::{one, run};
use super::error::Result;
use super::limits::one_line;
use super::load;
use super::names::free_name;
use super::tx::{Committed, Tx};
use super::worker::Store;

/// What a killed session leaves to be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disposed {
    /// The agent terminal whose process may live.
    pub live: Option<TerminalId>,
    /// A launch on its way: its confirm or unclaim finds the stop.
    pub pending: Option<Pending>,
}

impl Store {
    /// A person ends the session, before anything is killed: nobody wants it any more, a live agent or a candidate is
    /// `disposed`, the session `CANCELLED`. A repeat changes nothing.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn dispose(&self, session: SessionId, now: Millis) -> Result<Committed<Disposed>> {
        self.write(move |tx| dispose(tx, &session, now)).await
    }

    /// A person hides the failure of a dead session; it stays a candidate. `false`: there is none to hide.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn dismiss(&self, session: SessionId, now: Millis) -> Result<Committed<bool>> {
        self.write(move |tx| dismiss(tx, &session, now)).await
    }

    /// Gives the session a name; `-2`, `-3` and so on is appended when an open session has it. Returns the name it got.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn rename(&self, session: SessionId, name: String, now: Millis) -> Result<Committed<String>> {
        self.write(move |tx| rename(tx, &session, &name, now)).await
    }

    /// Sets or clears the session's own policy of automatic resume.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn set_auto_resume(
        &self,
        session: SessionId,
        policy: Option<AutoResume>,
        now: Millis,
    ) -> Result<Committed<()>> {
        self.write(move |tx| {
            let session = load::session(tx, &session)?;
            let sql = "UPDATE task_sessions SET auto_resume = ?2, updated_at = ?3 WHERE id = ?1";
            run(tx, sql, params![session.id.as_str(), policy.map(AutoResume::as_str), now])?;
            Ok(())
        })
        .await
    }

    /// Puts the session into `ERROR` with a message of one line, and on hold when one is given. A session that a person
    /// ended stays as it is.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn session_error(
        &self,
        session: SessionId,
        message: String,
        hold: Option<Hold>,
        now: Millis,
    ) -> Result<Committed<()>> {
        self.write(move |tx| fail(tx, &session, &message, hold, now)).await
    }
}

/// See [`Store::dispose`].
pub(super) fn dispose(tx: &Tx<'_>, id: &SessionId, now: Millis) -> Result<Disposed> {
    let mut session = load::session(tx, id)?;
    run(
        tx,
        "UPDATE task_sessions SET wanted = 'stop', not_before = NULL, hold = NULL, updated_at = ?2 WHERE id = ?1",
        params![id.as_str(), now],
    )?;
    // At most one row: live, or a candidate. What ended otherwise keeps its reason.
    run(
        tx,
        "UPDATE agent_bindings SET end_reason = 'disposed', ended_at = COALESCE(ended_at, ?2),
             state_at_death = COALESCE(state_at_death, ?3)
         WHERE session_id = ?1 AND (end_reason IS NULL OR end_reason = 'terminal-exited')",
        params![id.as_str(), now, session.state.as_str()],
    )?;
    tx.set_state(&mut session, SessionState::Cancelled, None, now)?;
    Ok(Disposed { live: session.agent_execution_id, pending: session.pending })
}

fn dismiss(tx: &Tx<'_>, id: &SessionId, now: Millis) -> Result<bool> {
    let session = load::session(tx, id)?;
    let hidden = one(
        tx,
        "UPDATE agent_bindings SET dismissed_at = ?2
         WHERE session_id = ?1 AND end_reason = 'terminal-exited' AND dismissed_at IS NULL RETURNING terminal_id",
        params![id.as_str(), now],
        |row| Ok(row.get::<_, String>(0)?),
    )?;
    if let Some(terminal) = &hidden {
        let data = serde_json::json!({
            "state": session.state,
            "previous": session.state,
            "error_message": session.error_message,
            "dismissed": terminal,
        });
        tx.tell(&session, "session.state_changed", now, data)?;
    }
    Ok(hidden.is_some())
}

fn rename(tx: &Tx<'_>, id: &SessionId, name: &str, now: Millis) -> Result<String> {
    let session = load::session(tx, id)?;
    let name = free_name(tx, name, Some(id))?;
    if name != session.name {
        let sql = "UPDATE task_sessions SET name = ?2, updated_at = ?3 WHERE id = ?1";
        run(tx, sql, params![id.as_str(), name, now])?;
        let data = serde_json::json!({ "name": name, "previous": session.name });
        tx.tell(&session, "session.renamed", now, data)?;
    }
    Ok(name)
}

/// See [`Store::session_error`].
pub(super) fn fail(tx: &Tx<'_>, id: &SessionId, message: &str, hold: Option<Hold>, now: Millis) -> Result<()> {
    let mut session = load::session(tx, id)?;
    if matches!(session.state, SessionState::Cancelled | SessionState::Completed) {
        return Ok(());
    }
    if let Some(hold) = hold {
        run(tx, "UPDATE task_sessions SET hold = ?2 WHERE id = ?1", params![id.as_str(), hold.as_str()])?;
    }
    tx.set_state(&mut session, SessionState::Error, Some(&one_line(message)), now)
}
