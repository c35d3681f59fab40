//! Turns what is observed of one agent into records: hooks from its spool, and what the model and the person's keys say.

use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::hook::HookLine;
use crate::agent::observe::{Observation, Observer, Start};
use crate::domain::ids::TerminalId;
use crate::domain::journal::{Body, Signal};

use super::facts::Fact;
use super::kept::Kept;
use super::ledger::Ledger;
use super::spool::{Line, Spool};

/// Hook lines taken at once: a turn has some ten.
const LINES: usize = 64;

/// What writing observations showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Noted {
    /// The badge may have changed.
    pub activity: bool,
    /// The agent takes input now: it is ready, or its turn ended.
    pub ready: bool,
}

impl Noted {
    fn and(self, other: Self) -> Self {
        Self { activity: self.activity || other.activity, ready: self.ready || other.ready }
    }
}

/// Writes down what one agent does.
#[derive(Debug)]
pub struct Scribe {
    ledger: Arc<Ledger>,
    terminal: TerminalId,
    generation: u32,
    observer: Observer,
    spool: Spool,
}

impl Scribe {
    /// For a terminal that was launched as `kept` says. `fact` is what the journal knows of it already, `spool` where its
    /// hook lines are.
    #[must_use]
    pub fn new(ledger: Arc<Ledger>, terminal: &TerminalId, kept: &Kept, fact: &Fact, spool: PathBuf) -> Self {
        // Ids of messages that have none of their own must not meet those of an earlier incarnation.
        let place = match fact.spool {
            0 => terminal.to_string(),
            offset => format!("{terminal}-{offset}"),
        };
        let start = Start {
            terminal: place,
            mode: kept.mode,
            token: fact.token.clone().or_else(|| kept.token.clone()),
            prompted: kept.prompted || fact.prompted,
        };
        let mut observer = Observer::new(&kept.profile, start);
        if let Some(identity) = &fact.identity {
            observer.set_agent_pid(identity.pid);
        }
        Self {
            ledger,
            terminal: terminal.clone(),
            generation: kept.generation,
            observer,
            spool: Spool::new(spool, fact.spool),
        }
    }

    /// Reads the hook lines that were appended since the last call.
    pub fn read_spool(&mut self, now_ms: u64) -> Noted {
        let mut noted = Noted::default();
        loop {
            let lines = match self.spool.take(LINES) {
                Ok(lines) => lines,
                Err(error) => {
                    tracing::warn!(terminal = %self.terminal, %error, "the hook spool cannot be read");
                    return noted;
                }
            };
            if lines.is_empty() {
                return noted;
            }
            for line in lines {
                noted = noted.and(self.hook(&line, now_ms));
            }
        }
    }

    fn hook(&mut self, line: &Line, now_ms: u64) -> Noted {
        let Some(value) = &line.value else {
            tracing::warn!(terminal = %self.terminal, end = line.end, "a hook line is no JSON or too long; skipped");
            return Noted::default();
        };
        let hook = HookLine::read(value);
        if hook.generation.is_some_and(|generation| generation != self.generation) {
            return Noted::default();
        }
        let seen = self.observer.on_hook(value, now_ms);
        self.write(seen, Some(line.end))
    }

    /// Observes with `look` and writes down what it says.
    pub fn observe(&mut self, look: impl FnOnce(&mut Observer) -> Vec<Observation>) -> Noted {
        let seen = look(&mut self.observer);
        self.write(seen, None)
    }

    /// The observer, to be asked.
    #[must_use]
    pub fn observer(&self) -> &Observer {
        &self.observer
    }

    /// The observer, to be told what says nothing by itself.
    pub fn observer_mut(&mut self) -> &mut Observer {
        &mut self.observer
    }

    fn write(&mut self, seen: Vec<Observation>, spool: Option<u64>) -> Noted {
        let (terminal, generation) = (|| self.terminal.clone(), self.generation);
        let mut noted = Noted::default();
        let mut bodies = Vec::new();
        for one in seen {
            bodies.push(match one {
                Observation::Token { token, source } => {
                    Body::Token { terminal: terminal(), generation, token, source: source.to_owned() }
                }
                Observation::Prompted => Body::Prompted { terminal: terminal(), generation },
                Observation::Signal(signal) => {
                    noted.ready |= matches!(signal, Signal::Ready | Signal::TurnEnded);
                    Body::Signal { terminal: terminal(), generation, signal, spool: None }
                }
                Observation::Message { id, role, text } => {
                    Body::Message { terminal: terminal(), generation, id, role, text }
                }
                Observation::Goodbye { reason, person } => {
                    Body::Goodbye { terminal: terminal(), generation, reason, person }
                }
                Observation::Activity => {
                    noted.activity = true;
                    continue;
                }
            });
        }
        if let (Some(offset), Some(last)) = (spool, bodies.last_mut()) {
            // Only with the last record of a line is the line done.
            if let Body::Signal { spool, .. } = last {
                *spool = Some(offset);
            } else {
                bodies.push(Body::Spooled { terminal: terminal(), offset });
            }
        }
        noted.activity |= !bodies.is_empty();
        for body in bodies {
            self.ledger.note(body);
        }
        noted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::profile::Profile;
    use crate::domain::rows::StartMode;
    use crate::domain::words::TerminalKind;
    use std::io::Write;

    fn kept() -> Kept {
        let mut profile = Profile { name: "x".into(), agent: true, ..Profile::default() };
        for (name, word) in [("Start", "session_start"), ("Prompt", "prompt"), ("Bye", "goodbye")] {
            profile.hooks.events.insert(name.into(), word.into());
        }
        profile.hooks.text_fields.insert("prompt".into(), "text".into());
        profile.status.sources = vec![crate::domain::profile::StatusSource::Hook];
        Kept {
            kind: TerminalKind::Agent,
            generation: 1,
            mode: StartMode::First,
            token: None,
            prompted: false,
            cwd: "/".into(),
            profile,
        }
    }

    fn bodies(ledger: &Ledger) -> Vec<Body> {
        ledger.settle().unwrap();
        ledger.read(0, 100).unwrap().into_iter().map(|r| r.body).collect()
    }

    #[tokio::test]
    async fn lines_become_records_once_over_incarnations() {
        let dir = tempfile::tempdir().unwrap();
        let (spool, journal) = (dir.path().join("t"), dir.path().join("journal"));
        let terminal = TerminalId::new("t").unwrap();
        let mut file = std::fs::File::options().create(true).append(true).open(&spool).unwrap();
        writeln!(file, r#"{{"hook_event_name":"Start","session_id":"tok"}}"#).unwrap();
        writeln!(file, "garbage").unwrap();
        writeln!(file, r#"{{"hook_event_name":"Prompt","session_id":"tok","text":"hi"}}"#).unwrap();
        {
            let (ledger, _) = Ledger::open(&journal, "b".into()).unwrap();
            let mut scribe = Scribe::new(Arc::clone(&ledger), &terminal, &kept(), &Fact::default(), spool.clone());
            assert!(scribe.read_spool(1).activity);
            assert_eq!(scribe.read_spool(2), Noted::default());
            let seen = bodies(&ledger);
            assert!(matches!(&seen[0], Body::Token { token, .. } if token == "tok"), "{seen:?}");
            assert!(seen.iter().any(|b| matches!(b, Body::Prompted { .. })));
        }
        writeln!(file, r#"{{"hook_event_name":"Bye","session_id":"tok","reason":"quit"}}"#).unwrap();
        let (ledger, _) = Ledger::open(&journal, "b".into()).unwrap();
        let before = bodies(&ledger).len();
        let fact = ledger.facts(|f| f.terminal(&terminal).unwrap().clone());
        let mut scribe = Scribe::new(Arc::clone(&ledger), &terminal, &kept(), &fact, spool);
        scribe.read_spool(3);
        let seen = bodies(&ledger);
        assert!(matches!(&seen[before], Body::Goodbye { reason, .. } if reason == "quit"), "{seen:?}");
        assert!(matches!(&seen[before + 1..], [Body::Spooled { .. }]), "{seen:?}");
    }
}
