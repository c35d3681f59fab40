//! How agents end: the exit that a journal tells, what outside it explains, and the loss of what ran them.

use rusqlite::params;

use crate::domain::ending::{Change, Evidence, OUTSIDE_WINDOW_MS, classify, legal};
use crate::domain::ids::TerminalId;
use crate::domain::journal::Record;
use crate::domain::launch::Exit;
use crate::domain::rows::{Binding, Millis, Session, StartMode};
use crate::domain::rules::{SETTLED_AFTER_MS, backoff_ms};
use crate::domain::words::{EndReason, ErrorCode, Hold, SessionState, TerminalStatus, Wanted};

use super::codec::{one, run};
use super::decode::EndFacts;
use super::error::Result;
use super::limits::one_line;
use super::load;
use super::tx::Tx;

/// What a journal's exit says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended<'a> {
    pub(super) exit: Exit,
    pub(super) quit_input: bool,
    pub(super) failure: Option<ErrorCode>,
    pub(super) last_line: &'a str,
}

impl Ended<'_> {
    /// It is gone, and nobody saw how.
    pub(super) const UNSEEN: Self = Self { exit: Exit::Unknown, quit_input: false, failure: None, last_line: "" };
}

/// What the end of a session's agent came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentEnd {
    /// Why it ended.
    pub reason: EndReason,
    /// Why it is not started again by itself.
    pub hold: Option<Hold>,
}

/// When and by whom an end was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    /// The record that tells it; none: the host itself found it gone.
    pub(super) record: Option<&'a Record>,
    /// Deaths in a row of resumed, unsettled agents that make a crash loop.
    pub(super) max_attempts: u32,
    /// The host's clock.
    pub(super) now: Millis,
}

impl Seen<'_> {
    fn at(&self) -> Millis {
        self.record.map_or(self.now, |r| r.at)
    }
}

/// The terminal's process is gone: its row, the session's live agent, an event. `false`: that was known.
pub(super) fn terminal_gone(
    tx: &Tx<'_>,
    session: &mut Session,
    terminal: &TerminalId,
    exit: Exit,
    reason: Option<EndReason>,
    at: Millis,
) -> Result<bool> {
    let Some(row) = load::terminal(tx, terminal)? else { return Ok(false) };
    if session.agent_execution_id.as_ref() == Some(terminal) {
        let sql = "UPDATE task_sessions SET agent_execution_id = NULL, updated_at = ?2 WHERE id = ?1";
        run(tx, sql, params![session.id.as_str(), at])?;
        session.agent_execution_id = None;
    }
    if row.ended_at.is_some() {
        return Ok(false);
    }
    let (code, signal) = match exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal)),
        Exit::Unknown => (None, None),
    };
    let status = if row.status == TerminalStatus::Disposed { row.status } else { TerminalStatus::Exited };
    run(
        tx,
        "UPDATE terminals SET status = ?2, exit_code = ?3, exit_signal = ?4, ended_at = ?5 WHERE id = ?1",
        params![terminal.as_str(), status.as_str(), code, signal, at],
    )?;
    let data = serde_json::json!({
        "terminal_id": terminal,
        "terminal_kind": row.kind,
        "exit": exit,
        "end_reason": reason,
    });
    tx.tell(session, "terminal.exited", at, data)?;
    Ok(true)
}

/// The session's live agent ended. Names the end, and what follows for the session.
pub(super) fn agent_ended(
    tx: &Tx<'_>,
    session: &mut Session,
    binding: &Binding,
    ended: Ended<'_>,
    seen: Seen<'_>,
) -> Result<AgentEnd> {
    let at = seen.at();
    let facts = load::end_facts(tx, &binding.terminal_id)?;
    let outside = outside(tx, session, &binding.terminal_id, seen)?;
    let evidence = Evidence {
        exit: ended.exit,
        person_goodbye: facts.goodbye_person,
        quit_input: ended.quit_input,
        outside: outside.is_some() || seen.record.is_none(),
    };
    let reason = classify(&evidence);
    run(
        tx,
        "UPDATE agent_bindings SET ended_at = ?2, end_reason = ?3, state_at_death = ?4, exit_boot_ms = ?5,
             exit_boot_id = ?6, exit_incarnation = ?7, exit_person_quit = ?8
         WHERE terminal_id = ?1 AND end_reason IS NULL",
        params![
            binding.terminal_id.as_str(),
            at,
            reason.as_str(),
            session.state.as_str(),
            seen.record.map(|r| r.boot_ms as i64),
            seen.record.map(|r| r.boot_id.as_str()),
            seen.record.map(|r| r.incarnation),
            evidence.person_quit()
        ],
    )?;
    terminal_gone(tx, session, &binding.terminal_id, ended.exit, Some(reason), at)?;
    if reason == EndReason::Detached {
        run(
            tx,
            "UPDATE task_sessions SET unsettled_deaths = 0, not_before = NULL, hold = NULL, interrupted = 0 WHERE id = ?1",
            [session.id.as_str()],
        )?;
        tx.set_state(session, SessionState::Completed, None, at)?;
        return Ok(AgentEnd { reason, hold: None });
    }
    let hold = died(tx, session, binding, &facts, ended, outside, seen)?;
    Ok(AgentEnd { reason, hold })
}

/// What a death under the person means for the next attempt.
fn died(
    tx: &Tx<'_>,
    session: &mut Session,
    binding: &Binding,
    facts: &EndFacts,
    ended: Ended<'_>,
    outside: Option<Outside>,
    seen: Seen<'_>,
) -> Result<Option<Hold>> {
    let at = seen.at();
    let settled = binding.settled_at.is_some() || at - binding.started_at >= SETTLED_AFTER_MS;
    let deaths = match (settled, facts.start_mode, outside) {
        (true, ..) | (_, StartMode::First, _) => 0,
        // To be told to end is no fault of the agent.
        (.., Some(Outside::Told)) => session.unsettled_deaths,
        _ => session.unsettled_deaths.saturating_add(1),
    };
    let failure = match ended.failure {
        _ if outside.is_some() => None,
        Some(ErrorCode::LoginExpired) => Some(Hold::LoginExpired),
        Some(ErrorCode::UnknownConversation) => Some(Hold::UnknownConversation),
        _ => None,
    };
    let hold = failure.or((deaths > 0 && deaths >= seen.max_attempts).then_some(Hold::CrashLoop));
    let not_before = (deaths > 0).then(|| seen.now + backoff_ms(deaths));
    let interrupted = session.interrupted || session.state == SessionState::Running;
    session.unsettled_deaths = deaths;
    session.interrupted = interrupted;
    session.hold = hold.or(session.hold);
    run(
        tx,
        "UPDATE task_sessions SET unsettled_deaths = ?2, not_before = ?3, interrupted = ?4, hold = ?5, updated_at = ?6
         WHERE id = ?1",
        params![session.id.as_str(), deaths, not_before, interrupted, session.hold.map(Hold::as_str), at],
    )?;
    if let Some(hold) = hold {
        let what = match hold {
            Hold::LoginExpired => "the agent's login has expired".to_owned(),
            Hold::UnknownConversation => "the agent does not know this conversation any more".to_owned(),
            _ => format!("the agent died {deaths} times in a row after it was resumed ({})", ended.exit),
        };
        let last = one_line(ended.last_line);
        let message = one_line(&if last.is_empty() { what } else { format!("{what}: {last}") });
        tracing::warn!(session = %session.id, terminal = %binding.terminal_id, hold = %hold, message, "not resumed any more");
        tx.set_state(session, SessionState::Error, Some(&message), at)?;
    }
    Ok(hold)
}

/// What outside ended things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outside {
    /// agentctl was told to end.
    Told,
    /// It was lost without a word.
    Lost,
}

/// Remembers that something outside ended what runs here.
pub(super) fn remember_outside(tx: &Tx<'_>, session: &Session, kind: Outside, record: &Record) -> Result<()> {
    let kind = if kind == Outside::Told { "told" } else { "lost" };
    run(
        tx,
        "UPDATE executors_running SET outside_kind = ?2, outside_seq = ?3, outside_boot_ms = ?4, outside_boot_id = ?5
         WHERE session_id = ?1",
        params![session.id.as_str(), kind, record.seq as i64, record.boot_ms as i64, record.boot_id],
    )?;
    Ok(())
}

/// Whether something outside explains this exit: it came at most 30 s before, and the terminal was there already.
fn outside(tx: &Tx<'_>, session: &Session, terminal: &TerminalId, seen: Seen<'_>) -> Result<Option<Outside>> {
    let Some(record) = seen.record else { return Ok(None) };
    let sql = "SELECT x.outside_kind AS kind, x.outside_boot_ms AS boot_ms FROM executors_running x
         LEFT JOIN spawns p ON p.terminal_id = ?2 AND p.journal_id = ?4
         WHERE x.session_id = ?1 AND x.outside_boot_id = ?3
           AND (p.journal_seq IS NULL OR p.journal_seq < x.outside_seq)";
    let found = one(tx, sql, params![session.id.as_str(), terminal.as_str(), record.boot_id, record.journal], |row| {
        Ok((row.get::<_, String>("kind")?, row.get::<_, i64>("boot_ms")?.unsigned_abs()))
    })?;
    Ok(found.and_then(|(kind, boot_ms)| {
        let near = record.boot_ms <= boot_ms.saturating_add(OUTSIDE_WINDOW_MS);
        near.then_some(if kind == "told" { Outside::Told } else { Outside::Lost })
    }))
}

/// Something outside ended things, as `record` tells: an exit shortly before was the death gasp and no person's quit.
/// `lost`: incarnation and last sign of an agentctl that is gone. Returns the terminal whose end was named anew.
pub(super) fn death_gasp(
    tx: &Tx<'_>,
    session: &mut Session,
    record: &Record,
    lost: Option<(u32, u64)>,
    now: Millis,
) -> Result<Option<TerminalId>> {
    let Some(newest) = load::newest(tx, &session.id)? else { return Ok(None) };
    let to = EndReason::TerminalExited;
    if !newest.end_reason.is_some_and(|from| legal(from, to, Change::Outside))
        || session.wanted == Wanted::Stop
        || session.pending.is_some()
    {
        return Ok(None);
    }
    let facts = load::end_facts(tx, &newest.terminal_id)?;
    if facts.exit_person_quit || facts.exit_settled || !in_window(&facts, record, lost) {
        return Ok(None);
    }
    if let Some(token) = &newest.agent_session_id
        && !load::other_holders(tx, &session.id, &newest.agent_id, token)?.is_empty()
    {
        return Ok(None);
    }
    run(
        tx,
        "UPDATE agent_bindings SET end_reason = 'terminal-exited' WHERE terminal_id = ?1 AND end_reason = 'detached'",
        [newest.terminal_id.as_str()],
    )?;
    let state = newest.state_at_death.unwrap_or(SessionState::WaitingForInput);
    session.interrupted = state == SessionState::Running;
    let sql = "UPDATE task_sessions SET interrupted = ?2 WHERE id = ?1";
    run(tx, sql, params![session.id.as_str(), session.interrupted])?;
    tx.set_state(session, state, None, now)?;
    Ok(Some(newest.terminal_id))
}

fn in_window(facts: &EndFacts, record: &Record, lost: Option<(u32, u64)>) -> bool {
    let Some(exit) = facts.exit_boot_ms else { return false };
    match lost {
        // The last sign is on the lost one's own clock, so the exit must be as well.
        Some((incarnation, last_sign)) => {
            facts.exit_incarnation == Some(incarnation) && exit.saturating_add(OUTSIDE_WINDOW_MS) >= last_sign
        }
        None => {
            facts.exit_boot_id.as_deref() == Some(record.boot_id.as_str())
                && exit.saturating_add(OUTSIDE_WINDOW_MS) >= record.boot_ms
        }
    }
}
