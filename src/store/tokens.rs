//! The conversation's id: the session's metadata has the truth, its newest binding and its executor row have copies, all
//! written together.

use rusqlite::params;

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::rows::{Millis, Session};
use crate::domain::words::EndReason;

use super::codec::{all, run, to_json};
use super::error::Result;
use super::tx::{Committed, Tx};
use super::worker::Store;
use super::{decode, load};

/// A difference between the copies that was mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRepair {
    /// Session.
    pub session: SessionId,
    /// The newest agent terminal, whose binding counts.
    pub terminal: TerminalId,
}

impl Store {
    /// Mends every session whose three token copies differ, by its newest binding; each is logged. A binding without token
    /// takes it from the session, then from the executor row: a token is never lost by a repair.
    ///
    /// # Errors
    /// The database refused.
    pub async fn repair_tokens(&self, now: Millis) -> Result<Committed<Vec<TokenRepair>>> {
        self.write(move |tx| repair(tx, now)).await
    }
}

/// Writes the token to the session's metadata and to the executor row.
pub(super) fn copy_token(tx: &Tx<'_>, session: &mut Session, token: Option<&str>, now: Millis) -> Result<()> {
    session.metadata.resume_token = token.map(str::to_owned);
    run(
        tx,
        "UPDATE task_sessions SET metadata = ?2, updated_at = ?3 WHERE id = ?1",
        params![session.id.as_str(), to_json("metadata", &session.metadata)?, now],
    )?;
    run(
        tx,
        "UPDATE executors_running SET resume_token = ?2 WHERE session_id = ?1",
        params![session.id.as_str(), token],
    )?;
    Ok(())
}

/// Ends the hold of every other session on a conversation that `session` has now.
pub(super) fn supersede(tx: &Tx<'_>, session: &Session, token: &str, now: Millis) -> Result<()> {
    for other in load::other_holders(tx, &session.id, &session.agent_profile_id, token)? {
        let of = load::session(tx, &other.session_id)?;
        run(
            tx,
            "UPDATE agent_bindings SET end_reason = 'superseded', ended_at = COALESCE(ended_at, ?2),
                    state_at_death = COALESCE(state_at_death, ?3)
             WHERE terminal_id = ?1 AND (end_reason IS NULL OR end_reason = 'terminal-exited')",
            params![other.terminal_id.as_str(), now, of.state.as_str()],
        )?;
        let data = serde_json::json!({
            "state": of.state,
            "previous": of.state,
            "error_message": of.error_message,
            "end_reason": EndReason::Superseded,
            "by_session_id": session.id,
        });
        tx.tell(&of, "session.state_changed", now, data)?;
    }
    Ok(())
}

fn repair(tx: &Tx<'_>, now: Millis) -> Result<Vec<TokenRepair>> {
    let mut repaired = Vec::new();
    for mut session in all(tx, "SELECT * FROM task_sessions", [], decode::session)? {
        let Some(newest) = load::newest(tx, &session.id)? else { continue };
        let copy = load::executor(tx, &session.id)?.map(|e| e.resume_token);
        let truth = session.metadata.resume_token.clone();
        let same = truth == newest.agent_session_id && copy.as_ref().is_none_or(|copy| *copy == truth);
        if same {
            continue;
        }
        let token = newest.agent_session_id.clone().or(truth).or(copy.flatten());
        tracing::warn!(session = %session.id, terminal = %newest.terminal_id, "token copies differed; repaired");
        if newest.agent_session_id.is_none()
            && let Some(token) = &token
            && load::other_holders(tx, &session.id, &newest.agent_id, token)?.is_empty()
        {
            run(
                tx,
                "UPDATE agent_bindings SET agent_session_id = ?2 WHERE terminal_id = ?1",
                params![newest.terminal_id.as_str(), token],
            )?;
        }
        copy_token(tx, &mut session, token.as_deref(), now)?;
        repaired.push(TokenRepair { session: session.id, terminal: newest.terminal_id });
    }
    Ok(repaired)
}
