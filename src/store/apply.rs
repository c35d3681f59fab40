//! Applying an agentctl's journal: each record once, in order, in the transaction that moves the cursor behind it.

use rusqlite::params;

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::journal::{Body, Record, Signal};
use crate::domain::rows::{Binding, JournalCursor, Millis, Pending, Session};
use crate::domain::words::{SessionState, TerminalKind};

use super::codec::{one, run, to_variant};
use super::ends::{self, AgentEnd, Ended, Outside, Seen};
use super::error::{Error, Result};
use super::load;
use super::messages::put_message;
use super::tokens::{copy_token, supersede};
use super::tx::{Committed, Tx};
use super::worker::Store;

/// What applying needs to know beyond the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplyRules {
    /// Deaths in a row of resumed agents that had not settled, after which a session waits for a person.
    pub max_attempts: u32,
    /// Now.
    pub now: Millis,
}

/// What became of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// It was applied earlier.
    Ignored,
    /// Records before it are missing: read on behind this one. The cursor did not move.
    Gap {
        /// The first missing sequence number.
        expected: u64,
    },
    /// It speaks of a launch that is not confirmed yet: confirm (or unclaim), then apply it again. The cursor did not move.
    Early(Pending),
    /// It is applied.
    Applied(Change),
}

/// What an applied record changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Nothing that a decision depends on.
    Nothing,
    /// The session's state.
    State(SessionState),
    /// The conversation's id.
    Token(String),
    /// The session's agent ended.
    AgentEnded {
        /// Its terminal.
        terminal: TerminalId,
        /// How.
        end: AgentEnd,
    },
    /// An end that looked like the person's own was not: its agent is a candidate now.
    Outside {
        /// Its terminal.
        terminal: TerminalId,
    },
    /// A terminal is gone whose end was known, or a shell.
    TerminalGone(TerminalId),
    /// Another agentctl serves the session.
    Supervisor,
}

impl Store {
    /// Applies `record` of the session's journal, if it is the next one.
    ///
    /// # Errors
    /// No such session or executor row, or the database refused.
    pub async fn apply(&self, session: SessionId, record: Record, rules: ApplyRules) -> Result<Committed<Applied>> {
        self.write(move |tx| apply(tx, &session, &record, rules)).await
    }
}

/// See [`Store::apply`].
pub(super) fn apply(tx: &Tx<'_>, id: &SessionId, record: &Record, rules: ApplyRules) -> Result<Applied> {
    let mut session = load::session(tx, id)?;
    let executor = load::executor(tx, id)?.ok_or_else(|| Error::not_found("executor of session", id.as_str()))?;
    let JournalCursor { journal, seq } = executor.journal_cursor;
    let seq = if journal == record.journal { seq } else { 0 };
    if record.seq <= seq {
        return Ok(Applied::Ignored);
    }
    if record.seq != seq + 1 {
        return Ok(Applied::Gap { expected: seq + 1 });
    }
    if let Some(pending) = &session.pending
        && waits_for(&record.body, &pending.terminal_id)
    {
        return Ok(Applied::Early(pending.clone()));
    }
    let change = change(tx, &mut session, record, rules)?;
    run(
        tx,
        "UPDATE executors_running SET journal_id = ?2, journal_seq = ?3 WHERE session_id = ?1",
        params![id.as_str(), record.journal, record.seq as i64],
    )?;
    Ok(Applied::Applied(change))
}

/// Whether a record is of no use before `terminal` is confirmed.
fn waits_for(body: &Body, terminal: &TerminalId) -> bool {
    match body {
        Body::Token { terminal: of, .. }
        | Body::Prompted { terminal: of, .. }
        | Body::Signal { terminal: of, .. }
        | Body::Message { terminal: of, .. }
        | Body::Goodbye { terminal: of, .. }
        | Body::Exit { terminal: of, .. } => of == terminal,
        _ => false,
    }
}

fn change(tx: &Tx<'_>, session: &mut Session, record: &Record, rules: ApplyRules) -> Result<Change> {
    let at = record.at;
    match &record.body {
        Body::SupervisorStarted { identity, .. } => {
            run(
                tx,
                "UPDATE executors_running SET pid = ?2, pid_start_time = ?3, boot_id = ?4 WHERE session_id = ?1",
                params![session.id.as_str(), identity.pid, identity.start_time as i64, identity.boot_id],
            )?;
            Ok(Change::Supervisor)
        }
        Body::SupervisorLost { incarnation, last_boot_ms, .. } => {
            lost(tx, session, record, rules, *incarnation, *last_boot_ms)
        }
        Body::ToldToEnd { .. } => {
            ends::remember_outside(tx, session, Outside::Told, record)?;
            let named = ends::death_gasp(tx, session, record, None, rules.now)?;
            Ok(named.map_or(Change::Nothing, |terminal| Change::Outside { terminal }))
        }
        Body::Spawned { terminal, terminal_kind, identity, .. } => {
            spawned(tx, session, record, terminal)?;
            if *terminal_kind == TerminalKind::Shell {
                super::terminals::add_shell(tx, session, terminal, Some(identity), at)?;
            }
            Ok(Change::Nothing)
        }
        Body::Token { terminal, generation, token, .. } => {
            let Some(binding) = current(tx, session, terminal, *generation)? else { return Ok(Change::Nothing) };
            learn_token(tx, session, &binding, token, at)?;
            Ok(Change::Token(token.clone()))
        }
        Body::Prompted { terminal, generation } => {
            if let Some(binding) = current(tx, session, terminal, *generation)? {
                prompted(tx, session, &binding, at)?;
            }
            Ok(Change::Nothing)
        }
        Body::Signal { terminal, generation, signal, .. } => match current(tx, session, terminal, *generation)? {
            Some(binding) => signalled(tx, session, &binding, *signal, at),
            None => Ok(Change::Nothing),
        },
        Body::Message { terminal, generation, id, role, text } => {
            if current(tx, session, terminal, *generation)?.is_some() {
                put_message(tx, session, id, role, text, at)?;
            }
            Ok(Change::Nothing)
        }
        Body::Goodbye { terminal, generation, reason, person } => {
            if current(tx, session, terminal, *generation)?.is_some() {
                run(
                    tx,
                    "UPDATE agent_bindings SET goodbye_at = ?2, goodbye_reason = ?3, goodbye_person = goodbye_person OR ?4
                     WHERE terminal_id = ?1",
                    params![terminal.as_str(), at, reason, person],
                )?;
            }
            Ok(Change::Nothing)
        }
        Body::Exit { terminal, generation, exit, quit_input, failure, last_line } => {
            let ended = Ended { exit: *exit, quit_input: *quit_input, failure: *failure, last_line };
            exited(tx, session, record, rules, terminal, *generation, ended)
        }
        Body::ExitSettled { terminal } => {
            run(tx, "UPDATE agent_bindings SET exit_settled = 1 WHERE terminal_id = ?1", [terminal.as_str()])?;
            Ok(Change::Nothing)
        }
        Body::Prompt { id, done, .. } => {
            super::prompts::typed(tx, &session.id, id, *done)?;
            Ok(Change::Nothing)
        }
        Body::Intent { .. }
        | Body::Spooled { .. }
        | Body::LaunchFailed { .. }
        | Body::Cancelled { .. }
        | Body::Fenced { .. } => Ok(Change::Nothing),
    }
}

/// The session's live binding, if it is the one that a record names.
fn current(tx: &Tx<'_>, session: &Session, terminal: &TerminalId, generation: u32) -> Result<Option<Binding>> {
    let newest = load::newest(tx, &session.id)?;
    Ok(newest.filter(|b| b.terminal_id == *terminal && b.generation == generation && b.end_reason.is_none()))
}

fn spawned(tx: &Tx<'_>, session: &Session, record: &Record, terminal: &TerminalId) -> Result<()> {
    run(
        tx,
        "INSERT OR REPLACE INTO spawns (terminal_id, session_id, journal_id, journal_seq, incarnation)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![terminal.as_str(), session.id.as_str(), record.journal, record.seq as i64, record.incarnation],
    )?;
    Ok(())
}

fn learn_token(tx: &Tx<'_>, session: &mut Session, binding: &Binding, token: &str, at: Millis) -> Result<()> {
    if binding.agent_session_id.as_deref() == Some(token) && session.metadata.resume_token.as_deref() == Some(token) {
        return Ok(());
    }
    supersede(tx, session, token, at)?;
    let other_conversation = binding.agent_session_id.as_deref().is_some_and(|old| old != token);
    run(
        tx,
        "UPDATE agent_bindings SET agent_session_id = ?2, prompted_at = CASE WHEN ?3 THEN NULL ELSE prompted_at END
         WHERE terminal_id = ?1",
        params![binding.terminal_id.as_str(), token, other_conversation],
    )?;
    if other_conversation {
        run(tx, "UPDATE task_sessions SET prompted_at = NULL WHERE id = ?1", [session.id.as_str()])?;
        session.prompted_at = None;
    }
    copy_token(tx, session, Some(token), at)
}

fn prompted(tx: &Tx<'_>, session: &Session, binding: &Binding, at: Millis) -> Result<()> {
    let sql = "UPDATE agent_bindings SET prompted_at = COALESCE(prompted_at, ?2) WHERE terminal_id = ?1";
    run(tx, sql, params![binding.terminal_id.as_str(), at])?;
    let sql = "UPDATE task_sessions SET prompted_at = COALESCE(prompted_at, ?2), updated_at = ?2 WHERE id = ?1";
    run(tx, sql, params![session.id.as_str(), at])?;
    Ok(())
}

fn signalled(tx: &Tx<'_>, session: &mut Session, binding: &Binding, signal: Signal, at: Millis) -> Result<Change> {
    let settled = (signal == Signal::TurnEnded).then_some(at);
    run(
        tx,
        "UPDATE agent_bindings SET last_event_at = ?2, last_event_type = ?3, settled_at = COALESCE(settled_at, ?4)
         WHERE terminal_id = ?1",
        params![binding.terminal_id.as_str(), at, to_variant("signal", &signal)?, settled],
    )?;
    if settled.is_some() {
        let sql = "UPDATE task_sessions SET unsettled_deaths = 0, not_before = NULL WHERE id = ?1";
        run(tx, sql, [session.id.as_str()])?;
    }
    let state = match signal {
        Signal::Ready if session.state != SessionState::Starting => return Ok(Change::Nothing),
        Signal::TurnBegan => {
            run(tx, "UPDATE task_sessions SET interrupted = 0 WHERE id = ?1", [session.id.as_str()])?;
            SessionState::Running
        }
        Signal::Ready | Signal::TurnEnded | Signal::NeedsPermission | Signal::NeedsInput => {
            SessionState::WaitingForInput
        }
    };
    if session.state == state {
        return Ok(Change::Nothing);
    }
    tx.set_state(session, state, None, at)?;
    Ok(Change::State(state))
}

fn exited(
    tx: &Tx<'_>,
    session: &mut Session,
    record: &Record,
    rules: ApplyRules,
    terminal: &TerminalId,
    generation: u32,
    ended: Ended<'_>,
) -> Result<Change> {
    let seen = Seen { record: Some(record), max_attempts: rules.max_attempts, now: rules.now };
    if let Some(binding) = current(tx, session, terminal, generation)? {
        let end = ends::agent_ended(tx, session, &binding, ended, seen)?;
        return Ok(Change::AgentEnded { terminal: terminal.clone(), end });
    }
    // A shell, or an agent whose end is named already: that never changes by an exit.
    let known = load::binding(tx, terminal)?;
    if known.as_ref().is_some_and(|b| b.generation != generation || b.session_id != session.id) {
        return Ok(Change::Nothing);
    }
    let gone = ends::terminal_gone(tx, session, terminal, ended.exit, known.and_then(|b| b.end_reason), record.at)?;
    Ok(if gone { Change::TerminalGone(terminal.clone()) } else { Change::Nothing })
}

/// An agentctl is gone without a word: so is every agent that it had started.
fn lost(
    tx: &Tx<'_>,
    session: &mut Session,
    record: &Record,
    rules: ApplyRules,
    incarnation: u32,
    last_boot_ms: u64,
) -> Result<Change> {
    ends::remember_outside(tx, session, Outside::Lost, record)?;
    let newest = load::newest(tx, &session.id)?;
    if let Some(binding) = newest.filter(|b| b.end_reason.is_none() || session.agent_execution_id.is_some()) {
        // One that a later incarnation started was confirmed before this record was read: it lives.
        let later = one(
            tx,
            "SELECT 1 FROM spawns WHERE terminal_id = ?1 AND journal_id = ?2 AND incarnation <= ?3",
            params![binding.terminal_id.as_str(), record.journal, incarnation],
            |_| Ok(()),
        )?
        .is_none();
        if later {
            return Ok(Change::Nothing);
        }
        let terminal = binding.terminal_id.clone();
        if binding.end_reason.is_some() {
            ends::terminal_gone(tx, session, &terminal, Ended::UNSEEN.exit, binding.end_reason, record.at)?;
            return Ok(Change::TerminalGone(terminal));
        }
        let seen = Seen { record: Some(record), max_attempts: rules.max_attempts, now: rules.now };
        let end = ends::agent_ended(tx, session, &binding, Ended::UNSEEN, seen)?;
        return Ok(Change::AgentEnded { terminal, end });
    }
    let named = ends::death_gasp(tx, session, record, Some((incarnation, last_boot_ms)), rules.now)?;
    Ok(named.map_or(Change::Nothing, |terminal| Change::Outside { terminal }))
}
