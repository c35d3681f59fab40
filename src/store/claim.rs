//! Claims: the durable, atomic act of taking a dead binding in order to resume it; and the first start of a session.

use rusqlite::{Connection, named_params, params};

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::rows::{Binding, Millis, Pending, Session, StartMode};
use crate::domain::rules;
use crate::domain::words::{EndReason, ResumeReason, SessionState, Trigger, Wanted};

use super::codec::{one, run, to_json};
use super::error::{Error, Result};
use super::predicate;
use super::tx::{Committed, Tx};
use super::worker::Store;
use super::{decode, load};

/// Who claims, and with that what may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimBy {
    /// The host by itself: only what died under the person.
    Automatic,
    /// A person: also what was ended from inside.
    User,
    /// A person who overrules: also what was killed or closed.
    Reopen,
}

/// A claim to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRequest {
    /// Session.
    pub session: SessionId,
    /// The dead terminal that the caller saw; another one is not taken.
    pub dead: Option<TerminalId>,
    /// The terminal chosen for what follows.
    pub successor: TerminalId,
    /// Conversation id assigned in advance, used only if it comes to a fresh start.
    pub new_token: Option<String>,
    /// Who claims.
    pub by: ClaimBy,
    /// What made it happen.
    pub trigger: Trigger,
    /// Now.
    pub now: Millis,
}

/// What came of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// Taken: launch this, then confirm or unclaim.
    Claimed(Pending),
    /// Nothing was changed.
    Refused(ResumeReason),
}

/// A first start to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstStart {
    /// Session.
    pub session: SessionId,
    /// The terminal chosen for it.
    pub terminal: TerminalId,
    /// Conversation id assigned in advance.
    pub token: Option<String>,
    /// What made it happen.
    pub trigger: Trigger,
    /// Now.
    pub now: Millis,
}

impl Store {
    /// Takes the session's newest dead binding, if the rule lets `request` have it. Of any number of claims on one binding
    /// exactly one wins.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn claim(&self, request: ClaimRequest) -> Result<Committed<ClaimOutcome>> {
        self.write(move |tx| claim(tx, &request)).await
    }

    /// Begins the first start of a session that has neither a live nor a resumable agent.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn begin_first(&self, first: FirstStart) -> Result<Committed<ClaimOutcome>> {
        self.write(move |tx| begin_first(tx, &first)).await
    }

    /// What a claim by itself would take now, and how it would be started.
    ///
    /// # Errors
    /// The database refused.
    pub async fn find_candidate(&self, session: SessionId) -> Result<Option<(Binding, StartMode)>> {
        self.read(move |conn| find_candidate(conn, &session)).await
    }
}

/// See [`Store::find_candidate`].
pub(super) fn find_candidate(conn: &Connection, session: &SessionId) -> Result<Option<(Binding, StartMode)>> {
    let found = one(conn, predicate::FIND_CLAIMABLE, [session.as_str()], decode::binding)?;
    Ok(found.map(|binding| {
        let mode = mode_of(&binding);
        (binding, mode)
    }))
}

fn mode_of(binding: &Binding) -> StartMode {
    if binding.prompted_at.is_none() { StartMode::Fresh } else { StartMode::Resume }
}

/// See [`Store::claim`].
pub(super) fn claim(tx: &Tx<'_>, request: &ClaimRequest) -> Result<ClaimOutcome> {
    let mut session = load::session(tx, &request.session)?;
    let person = request.by != ClaimBy::Automatic;
    let taken = one(
        tx,
        predicate::CLAIM,
        named_params! {
            ":session": request.session.as_str(),
            ":dead": request.dead.as_ref().map(TerminalId::as_str),
            ":successor": request.successor.as_str(),
            ":person": person,
            ":reopen": request.by == ClaimBy::Reopen,
            ":now": request.now,
        },
        |row| Ok((decode::binding(row)?, row.get::<_, String>("claimed_from")?)),
    )?;
    let Some((dead, had)) = taken else {
        return refusal(tx, &session, request).map(ClaimOutcome::Refused);
    };
    let mode = mode_of(&dead);
    let pending = Pending {
        terminal_id: request.successor.clone(),
        generation: dead.generation + 1,
        epoch: dead.claim_epoch,
        mode,
        token: if mode == StartMode::Fresh { request.new_token.clone() } else { dead.agent_session_id.clone() },
        dead: Some(dead.terminal_id.clone()),
        had: Some(had.parse().map_err(|e| Error::BadColumn {
            table: "agent_bindings",
            row: dead.terminal_id.to_string(),
            column: "claimed_from",
            detail: format!("{e}"),
        })?),
        trigger: request.trigger,
    };
    set_pending(tx, &session, &pending, request.now)?;
    if person {
        run(
            tx,
            "UPDATE task_sessions SET wanted = 'run', hold = NULL, not_before = NULL, unsettled_deaths = 0 WHERE id = ?1",
            [session.id.as_str()],
        )?;
        run(tx, "UPDATE agent_bindings SET dismissed_at = NULL WHERE terminal_id = ?1", [dead.terminal_id.as_str()])?;
        session.wanted = Wanted::Run;
    }
    run(
        tx,
        "INSERT INTO resume_attempts (session_id, terminal_id, successor, \"trigger\", started_at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            session.id.as_str(),
            dead.terminal_id.as_str(),
            request.successor.as_str(),
            request.trigger.as_str(),
            request.now
        ],
    )?;
    let data = serde_json::json!({
        "old_terminal_id": dead.terminal_id,
        "terminal_id": request.successor,
        "mode": mode,
        "trigger": request.trigger,
    });
    tx.tell(&session, "session.resuming", request.now, data)?;
    Ok(ClaimOutcome::Claimed(pending))
}

fn set_pending(tx: &Tx<'_>, session: &Session, pending: &Pending, now: Millis) -> Result<()> {
    run(
        tx,
        "UPDATE task_sessions SET pending = ?2, last_epoch = ?3, updated_at = ?4 WHERE id = ?1",
        params![session.id.as_str(), to_json("pending", pending)?, pending.epoch as i64, now],
    )?;
    Ok(())
}

/// Why a claim matched nothing.
fn refusal(conn: &Connection, session: &Session, request: &ClaimRequest) -> Result<ResumeReason> {
    if let Some(pending) = &session.pending {
        let same = request.dead.is_none() || request.dead == pending.dead;
        return Ok(if same { ResumeReason::Resuming } else { ResumeReason::Superseded });
    }
    let Some(newest) = load::newest(conn, &session.id)? else { return Ok(ResumeReason::NeverStarted) };
    if let Some(dead) = &request.dead
        && *dead != newest.terminal_id
    {
        let resumed = load::binding(conn, dead)?.is_some_and(|old| {
            old.end_reason == Some(EndReason::Resumed)
                && old.successor_terminal_id.as_ref() == Some(&newest.terminal_id)
        });
        return Ok(if resumed { ResumeReason::Resumed } else { ResumeReason::Superseded });
    }
    let overruled = match newest.end_reason {
        Some(EndReason::Detached) => request.by != ClaimBy::Automatic,
        Some(EndReason::Disposed | EndReason::TerminalExited) => request.by == ClaimBy::Reopen,
        _ => false,
    };
    if overruled && newest.prompted_at.is_some() && newest.agent_session_id.is_none() {
        return Ok(ResumeReason::MissingResumeToken);
    }
    if overruled {
        return Ok(ResumeReason::Superseded);
    }
    Ok(match rules::restart(session, &newest) {
        Err(reason) => reason,
        Ok(_) => ResumeReason::NoCandidate,
    })
}

/// See [`Store::begin_first`].
fn begin_first(tx: &Tx<'_>, first: &FirstStart) -> Result<ClaimOutcome> {
    let begun = one(
        tx,
        "UPDATE task_sessions SET last_epoch = last_epoch + 1, updated_at = ?2
         WHERE id = ?1 AND pending IS NULL AND wanted = 'run'
           AND NOT EXISTS (SELECT 1 FROM agent_bindings b WHERE b.session_id = task_sessions.id)
         RETURNING last_epoch",
        params![first.session.as_str(), first.now],
        |row| Ok(row.get::<_, i64>(0)?),
    )?;
    let mut session = load::session(tx, &first.session)?;
    let Some(epoch) = begun else {
        let reason = if session.pending.is_some() {
            ResumeReason::Resuming
        } else if session.wanted == Wanted::Stop {
            ResumeReason::Disposed
        } else {
            match load::newest(tx, &session.id)? {
                Some(newest) => rules::restart(&session, &newest).err().unwrap_or(ResumeReason::AgentNotRunning),
                None => ResumeReason::NoCandidate,
            }
        };
        return Ok(ClaimOutcome::Refused(reason));
    };
    let pending = Pending {
        terminal_id: first.terminal.clone(),
        generation: 1,
        epoch: epoch.unsigned_abs(),
        mode: StartMode::First,
        token: first.token.clone(),
        dead: None,
        had: None,
        trigger: first.trigger,
    };
    set_pending(tx, &session, &pending, first.now)?;
    run(tx, "UPDATE task_sessions SET hold = NULL WHERE id = ?1", [session.id.as_str()])?;
    tx.set_state(&mut session, SessionState::Starting, None, first.now)?;
    Ok(ClaimOutcome::Claimed(pending))
}
