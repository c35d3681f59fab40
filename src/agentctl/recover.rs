//! What a new agentctl finds of the one before it: ends all that it left, and writes down how things stand.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::ids::TerminalId;
use crate::domain::journal::Body;
use crate::domain::launch::{Exit, ProcIdentity};
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::link::place::SessionDir;
use crate::proc::fence::{Fence, fence};
use crate::proc::marks;

use super::error::Error;
use super::facts::Fact;
use super::kept;
use super::ledger::Ledger;
use super::scribe::Scribe;

/// Agents lost their terminal with their agentctl, and get this long for a goodbye before SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// A terminal whose end nobody saw.
struct Suspect {
    id: TerminalId,
    fact: Fact,
}

/// Brings the journal to the truth: afterwards nothing of an earlier incarnation lives, and every terminal's fate is known.
///
/// # Errors
/// When something cannot be ended, or the journal not be written. Then nothing may be started.
pub async fn recover(ledger: &Arc<Ledger>, dir: &SessionDir, boot_id: &str, now_ms: u64) -> Result<(), Error> {
    let (clean, last) = ledger.facts(|facts| (facts.ended_cleanly(), facts.last().cloned()));
    let suspects = suspects(ledger, dir);
    if !suspects.is_empty() {
        find_undecided(ledger, dir, &suspects)?;
        end(ledger, &suspects).await?;
    }
    read_spools(ledger, dir, now_ms);
    if let Some(last) = last.filter(|_| !clean) {
        ledger.record(Body::SupervisorLost {
            incarnation: last.incarnation,
            last_boot_ms: last.boot_ms,
            rebooted: last.boot_id != boot_id,
        })?;
    }
    for suspect in suspects {
        let Some(fact) = ledger.facts(|facts| facts.terminal(&suspect.id).cloned()) else { continue };
        if fact.lives() {
            ledger.record(Body::Exit {
                terminal: suspect.id,
                generation: fact.generation,
                exit: Exit::Unknown,
                quit_input: false,
                failure: None,
                last_line: String::new(),
            })?;
        } else if fact.undecided() {
            ledger.record(Body::LaunchFailed {
                terminal: suspect.id,
                code: ErrorCode::Cancelled,
                message: "its agentctl died before the program was started".into(),
            })?;
        }
    }
    ledger.settle()
}

/// Terminals that may live: by the journal, or, where the journal was lost, by what was kept of their launch.
fn suspects(ledger: &Ledger, dir: &SessionDir) -> Vec<Suspect> {
    let mut suspects: Vec<Suspect> = ledger.facts(|facts| {
        let open = facts.terminals().filter(|(_, fact)| fact.lives() || fact.undecided());
        open.map(|(id, fact)| Suspect { id: id.clone(), fact: fact.clone() }).collect()
    });
    for id in kept::list(dir) {
        if ledger.facts(|facts| facts.terminal(&id).is_none()) {
            suspects.push(Suspect { id, fact: Fact::default() });
        }
    }
    suspects
}

/// A launch that was begun happened if its process is found: then it is one that died, not one that never was.
fn find_undecided(ledger: &Ledger, dir: &SessionDir, suspects: &[Suspect]) -> Result<(), Error> {
    for suspect in suspects.iter().filter(|s| s.fact.undecided()) {
        let found = marks::find(suspect.id.as_str()).map_err(|e| Error::process("look for left processes", e))?;
        // The oldest is the terminal's own.
        let Some(identity) = found.into_iter().min_by_key(|who| (who.start_time, who.pid)) else { continue };
        ledger.record(Body::Spawned {
            terminal: suspect.id.clone(),
            terminal_kind: suspect.fact.kind.unwrap_or(TerminalKind::Agent),
            generation: suspect.fact.generation,
            identity,
            token: kept::read(dir, &suspect.id).and_then(|kept| kept.token),
        })?;
    }
    Ok(())
}

async fn end(ledger: &Arc<Ledger>, suspects: &[Suspect]) -> Result<(), Error> {
    let marks = suspects.iter().map(|s| s.id.to_string()).collect();
    let leaders: Vec<ProcIdentity> = suspects.iter().filter_map(|s| s.fact.identity.clone()).collect();
    let report = fence(Fence { marks, leaders, grace: GRACE }).await;
    let report = report.map_err(|e| Error::process("end what an earlier agentctl left", e))?;
    if let Some(left) = report.left.first() {
        let why = format!("process {} does not end; end it by hand, then resume the session", left.pid);
        return Err(Error::process("end what an earlier agentctl left", why));
    }
    let terminals = suspects.iter().map(|s| s.id.clone()).collect();
    ledger.note(Body::Fenced { terminals, ended: report.ended });
    Ok(())
}

/// Hook lines that nobody read yet, of terminals that ended before or just now.
fn read_spools(ledger: &Arc<Ledger>, dir: &SessionDir, now_ms: u64) {
    for id in kept::list(dir) {
        let Some(kept) = kept::read(dir, &id).filter(|kept| kept.kind == TerminalKind::Agent) else { continue };
        let Some(fact) = ledger.facts(|facts| facts.terminal(&id).cloned()) else { continue };
        if fact.identity.is_some() {
            Scribe::new(Arc::clone(ledger), &id, &kept, &fact, dir.spool(&id)).read_spool(now_ms);
        }
    }
}
