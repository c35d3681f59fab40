//! Taking back a claim, or a first start, whose launch provably never happened.

use rusqlite::params;

use crate::domain::ending::{Change, legal};
use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::rows::{Millis, Pending};
use crate::domain::words::{EndReason, ErrorCode, Hold, SessionState, Wanted};

use super::codec::run;
use super::error::Result;
use super::limits::one_line;
use super::load;
use super::tx::{Committed, Tx};
use super::worker::Store;

/// A claim to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclaim {
    /// Session.
    pub session: SessionId,
    /// The terminal that was chosen.
    pub successor: TerminalId,
    /// The claim's epoch.
    pub epoch: u64,
    /// Why the launch failed.
    pub code: ErrorCode,
    /// In words: one line, no secrets.
    pub message: String,
    /// Why the session waits for a person now.
    pub hold: Option<Hold>,
    /// Nothing is tried by itself before this time.
    pub not_before: Option<Millis>,
    /// Now.
    pub now: Millis,
}

/// What came of taking back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnclaimOutcome {
    /// The row has this reason again; none at a first start.
    Unclaimed(Option<EndReason>),
    /// This claim is not open: nothing was changed.
    NotPending,
}

impl Store {
    /// Gives the dead binding of an open claim back as it was, with its token; the session becomes `ERROR` with the
    /// message, or `CANCELLED` when a person ended it meanwhile.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn unclaim(&self, unclaim: Unclaim) -> Result<Committed<UnclaimOutcome>> {
        self.write(move |tx| take_back(tx, &unclaim)).await
    }
}

/// See [`Store::unclaim`].
pub(super) fn take_back(tx: &Tx<'_>, unclaim: &Unclaim) -> Result<UnclaimOutcome> {
    let mut session = load::session(tx, &unclaim.session)?;
    let Some(pending) = session.pending.clone() else { return Ok(UnclaimOutcome::NotPending) };
    if pending.terminal_id != unclaim.successor || pending.epoch != unclaim.epoch {
        return Ok(UnclaimOutcome::NotPending);
    }
    let stopped = session.wanted == Wanted::Stop;
    let back = match &pending.dead {
        None => None,
        Some(dead) => match give_back(tx, unclaim, &pending, dead, stopped)? {
            Some(reason) => Some(reason),
            None => return Ok(UnclaimOutcome::NotPending),
        },
    };
    let message = one_line(&unclaim.message);
    // What a person had killed stays killed when reopening it failed.
    let wanted = if stopped || back == Some(EndReason::Disposed) { Wanted::Stop } else { Wanted::Run };
    run(
        tx,
        "UPDATE task_sessions SET pending = NULL, hold = COALESCE(?2, hold), not_before = COALESCE(?5, not_before),
             wanted = ?3, updated_at = ?4 WHERE id = ?1",
        params![session.id.as_str(), unclaim.hold.map(Hold::as_str), wanted.as_str(), unclaim.now, unclaim.not_before],
    )?;
    run(
        tx,
        "UPDATE resume_attempts SET outcome = 'failed', ended_at = ?2, error_code = ?3, message = ?4
         WHERE successor = ?1",
        params![unclaim.successor.as_str(), unclaim.now, unclaim.code.as_str(), message],
    )?;
    if stopped {
        tx.set_state(&mut session, SessionState::Cancelled, None, unclaim.now)?;
    } else {
        tx.set_state(&mut session, SessionState::Error, Some(&message), unclaim.now)?;
    }
    let of = pending.dead.as_ref().unwrap_or(&pending.terminal_id);
    let data = serde_json::json!({ "terminal_id": of, "code": unclaim.code, "message": message, "mode": pending.mode });
    tx.tell(&session, "session.resume_failed", unclaim.now, data)?;
    tracing::warn!(session = %session.id, terminal = %of, code = %unclaim.code, message, "a launch failed");
    Ok(UnclaimOutcome::Unclaimed(back))
}

/// The dead row's reason after it was given back; `None` when the guard did not hold.
fn give_back(
    tx: &Tx<'_>,
    unclaim: &Unclaim,
    pending: &Pending,
    dead: &TerminalId,
    stopped: bool,
) -> Result<Option<EndReason>> {
    let had = pending.had.unwrap_or(EndReason::TerminalExited);
    let mut back = if stopped { EndReason::Disposed } else { had };
    if !legal(EndReason::Resumed, back, Change::Unclaim) {
        back = EndReason::TerminalExited;
    }
    // Another session may have taken up the conversation meanwhile: it keeps it.
    if back == EndReason::TerminalExited
        && let Some(binding) = load::binding(tx, dead)?
        && let Some(token) = &binding.agent_session_id
        && !load::other_holders(tx, &unclaim.session, &binding.agent_id, token)?.is_empty()
    {
        back = EndReason::Superseded;
    }
    let given = run(
        tx,
        "UPDATE agent_bindings
         SET end_reason = ?4, claimed_at = NULL, claimed_from = NULL, successor_terminal_id = NULL
         WHERE terminal_id = ?1 AND end_reason = 'resumed' AND claim_epoch = ?2 AND successor_terminal_id = ?3",
        params![dead.as_str(), unclaim.epoch as i64, unclaim.successor.as_str(), back.as_str()],
    )?;
    Ok((given == 1).then_some(back))
}
