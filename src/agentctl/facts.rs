//! What the journal's records add up to: the fate of every terminal and prompt. Pure.

use std::collections::BTreeMap;

use crate::domain::ids::{PromptId, TerminalId};
use crate::domain::journal::{Body, Record};
use crate::domain::launch::{Exit, ProcIdentity};
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::wire::agentctl::LaunchReply;

/// What is known about one terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fact {
    /// Agent or shell; `None` for a tombstone of an id that was never heard.
    pub kind: Option<TerminalKind>,
    /// Generation.
    pub generation: u32,
    /// Claim epoch.
    pub epoch: u64,
    /// Its process, once it was spawned.
    pub identity: Option<ProcIdentity>,
    /// Conversation id, the newest.
    pub token: Option<String>,
    /// The conversation was prompted here.
    pub prompted: bool,
    /// How it ended.
    pub exit: Option<Exit>,
    /// Why it provably was not launched.
    pub failed: Option<(ErrorCode, String)>,
    /// A tombstone stands.
    pub cancelled: bool,
    /// How much of its hook spool is in the journal, in bytes.
    pub spool: u64,
}

impl Fact {
    /// It was spawned, and its end is not known.
    #[must_use]
    pub fn lives(&self) -> bool {
        self.identity.is_some() && self.exit.is_none()
    }

    /// A launch was begun, and nothing says what became of it.
    #[must_use]
    pub fn undecided(&self) -> bool {
        self.kind.is_some() && self.identity.is_none() && self.failed.is_none() && !self.cancelled
    }
}

/// The last sign of the incarnation that wrote before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Last {
    /// Incarnation.
    pub incarnation: u32,
    /// When, on the boot clock.
    pub boot_ms: u64,
    /// Boot id.
    pub boot_id: String,
}

/// Everything known.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Facts {
    terminals: BTreeMap<TerminalId, Fact>,
    prompts: BTreeMap<PromptId, bool>,
    last: Option<Last>,
    told: bool,
}

impl Facts {
    /// Takes in a record.
    pub fn apply(&mut self, record: &Record) {
        self.last =
            Some(Last { incarnation: record.incarnation, boot_ms: record.boot_ms, boot_id: record.boot_id.clone() });
        match &record.body {
            Body::SupervisorStarted { .. } => self.told = false,
            Body::ToldToEnd { .. } => self.told = true,
            Body::Intent { terminal, terminal_kind, generation, epoch } => {
                let fact = self.entry(terminal);
                fact.kind = Some(*terminal_kind);
                (fact.generation, fact.epoch) = (*generation, *epoch);
            }
            Body::Spawned { terminal, terminal_kind, generation, identity, token } => {
                let fact = self.entry(terminal);
                fact.kind = Some(*terminal_kind);
                fact.generation = *generation;
                fact.identity = Some(identity.clone());
                fact.token.clone_from(token);
            }
            Body::LaunchFailed { terminal, code, message } => {
                self.entry(terminal).failed = Some((*code, message.clone()));
            }
            Body::Cancelled { terminal } => self.entry(terminal).cancelled = true,
            Body::Token { terminal, token, .. } => self.entry(terminal).token = Some(token.clone()),
            Body::Prompted { terminal, .. } => self.entry(terminal).prompted = true,
            Body::Signal { terminal, spool: Some(offset), .. } | Body::Spooled { terminal, offset } => {
                let fact = self.entry(terminal);
                fact.spool = fact.spool.max(*offset);
            }
            Body::Exit { terminal, exit, .. } => self.entry(terminal).exit = Some(*exit),
            Body::Prompt { id, done, .. } => {
                let known = self.prompts.entry(id.clone()).or_default();
                *known |= *done;
            }
            _ => {}
        }
    }

    fn entry(&mut self, terminal: &TerminalId) -> &mut Fact {
        self.terminals.entry(terminal.clone()).or_default()
    }

    /// What is known about a terminal.
    #[must_use]
    pub fn terminal(&self, terminal: &TerminalId) -> Option<&Fact> {
        self.terminals.get(terminal)
    }

    /// All terminals.
    pub fn terminals(&self) -> impl Iterator<Item = (&TerminalId, &Fact)> {
        self.terminals.iter()
    }

    /// Whether a prompt was typed: `None` unknown, `false` begun and perhaps typed, `true` typed.
    #[must_use]
    pub fn prompt(&self, id: &PromptId) -> Option<bool> {
        self.prompts.get(id).copied()
    }

    /// The last sign of whoever wrote last.
    #[must_use]
    pub fn last(&self) -> Option<&Last> {
        self.last.as_ref()
    }

    /// Whether whoever wrote last was told to end, and saw the end of everything it had.
    #[must_use]
    pub fn ended_cleanly(&self) -> bool {
        self.last.is_none() || (self.told && !self.terminals.values().any(|f| f.lives() || f.undecided()))
    }

    /// What became of a launch.
    #[must_use]
    pub fn fate(&self, terminal: &TerminalId) -> LaunchReply {
        let Some(fact) = self.terminals.get(terminal) else { return LaunchReply::Unheard };
        if let Some(identity) = &fact.identity {
            let (identity, token) = (identity.clone(), fact.token.clone());
            return LaunchReply::Spawned { identity, token, exit: fact.exit };
        }
        match &fact.failed {
            _ if fact.cancelled => LaunchReply::Cancelled,
            Some((code, message)) => LaunchReply::Failed { code: *code, message: message.clone() },
            None => LaunchReply::Unheard,
        }
    }

    /// The live agent, if there is one other than `but`.
    #[must_use]
    pub fn live_agent(&self, but: &TerminalId) -> Option<&TerminalId> {
        let mut agents = self.terminals.iter().filter(|(_, f)| f.kind == Some(TerminalKind::Agent) && f.lives());
        agents.find(|(id, _)| *id != but).map(|(id, _)| id)
    }

    /// The highest claim epoch of an agent other than `but` that was launched or may have been.
    #[must_use]
    pub fn epoch(&self, but: &TerminalId) -> u64 {
        let agents = self
            .terminals
            .iter()
            .filter(|(id, f)| *id != but && f.kind == Some(TerminalKind::Agent) && f.failed.is_none() && !f.cancelled);
        agents.map(|(_, f)| f.epoch).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TerminalId {
        TerminalId::new(text).unwrap()
    }

    fn facts(bodies: Vec<Body>) -> Facts {
        let mut facts = Facts::default();
        for (n, body) in bodies.into_iter().enumerate() {
            let n = n as u64 + 1;
            let (journal, boot_id) = ("j".to_owned(), "b".to_owned());
            facts.apply(&Record { journal, incarnation: 1, seq: n, boot_ms: n, boot_id, at: 0, body });
        }
        facts
    }

    fn intent(terminal: &str, epoch: u64) -> Body {
        Body::Intent { terminal: id(terminal), terminal_kind: TerminalKind::Agent, generation: 1, epoch }
    }

    fn spawned(terminal: &str) -> Body {
        Body::Spawned {
            terminal: id(terminal),
            terminal_kind: TerminalKind::Agent,
            generation: 1,
            identity: ProcIdentity { boot_id: "b".into(), pid: 7, start_time: 8 },
            token: Some("tok".into()),
        }
    }

    fn exit(terminal: &str) -> Body {
        Body::Exit {
            terminal: id(terminal),
            generation: 1,
            exit: Exit::Code(0),
            quit_input: false,
            failure: None,
            last_line: String::new(),
        }
    }

    #[test]
    fn a_fate_is_what_the_records_prove() {
        assert_eq!(facts(vec![]).fate(&id("a")), LaunchReply::Unheard);
        assert_eq!(facts(vec![intent("a", 1)]).fate(&id("a")), LaunchReply::Unheard);
        assert!(facts(vec![intent("a", 1)]).terminal(&id("a")).unwrap().undecided());
        assert!(matches!(
            facts(vec![intent("a", 1), spawned("a")]).fate(&id("a")),
            LaunchReply::Spawned { exit: None, token: Some(_), .. }
        ));
        assert!(matches!(
            facts(vec![intent("a", 1), spawned("a"), exit("a")]).fate(&id("a")),
            LaunchReply::Spawned { exit: Some(Exit::Code(0)), .. }
        ));
        let failed = Body::LaunchFailed { terminal: id("a"), code: ErrorCode::AgentNotFound, message: "m".into() };
        assert!(matches!(facts(vec![intent("a", 1), failed]).fate(&id("a")), LaunchReply::Failed { .. }));
        assert_eq!(facts(vec![Body::Cancelled { terminal: id("a") }]).fate(&id("a")), LaunchReply::Cancelled);
    }

    #[test]
    fn a_clean_end_needs_the_word_and_every_exit() {
        let told = || Body::ToldToEnd { by: "SIGTERM".into() };
        assert!(facts(vec![]).ended_cleanly());
        assert!(!facts(vec![intent("a", 1), spawned("a"), exit("a")]).ended_cleanly());
        assert!(!facts(vec![intent("a", 1), spawned("a"), told()]).ended_cleanly());
        assert!(!facts(vec![intent("a", 1), told()]).ended_cleanly());
        assert!(facts(vec![intent("a", 1), spawned("a"), told(), exit("a")]).ended_cleanly());
    }

    #[test]
    fn epochs_of_launches_that_never_happened_do_not_count() {
        let failed = Body::LaunchFailed { terminal: id("b"), code: ErrorCode::AgentNotFound, message: "m".into() };
        let facts = facts(vec![intent("a", 3), spawned("a"), exit("a"), intent("b", 5), failed]);
        assert_eq!(facts.epoch(&id("c")), 3);
        assert_eq!(facts.epoch(&id("a")), 0);
        assert_eq!(facts.live_agent(&id("c")), None);
    }
}
