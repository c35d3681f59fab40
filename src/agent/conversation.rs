//! Which conversation an agent holds, and which events are about it.

use crate::domain::rows::StartMode;

use super::hook::{HookLine, Kind, Told};
use super::observation::{Observation, Start};

/// The conversation of one agent.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts")]
pub(super) struct Conversation {
    pub(super) agent_pid: Option<i32>,
    pub(super) token: Option<String>,
    /// An event of the current conversation was heard.
    heard: bool,
    /// The agent said that it leaves its conversation for another.
    pub(super) moving: bool,
    prompted: bool,
    resumes: bool,
}

impl Conversation {
    pub(super) fn new(start: &Start) -> Self {
        let resumes = start.mode == StartMode::Resume;
        Self { token: start.token.clone(), prompted: start.prompted, resumes, ..Self::default() }
    }

    /// Whether an agent that was to resume begins another conversation instead, as its own first event tells. The
    /// token stays: what it names may still come back.
    pub(super) fn lost(&self, told: &Told) -> bool {
        self.resumes
            && !self.heard
            && told.kind == Kind::SessionStart
            && !matches!(told.source.as_str(), "resume" | "clear" | "compact")
            && self.token.is_some()
            && told.token.is_some()
            && self.token != told.token
    }

    /// Whether an event comes from the agent itself, about its own conversation; learns the id on the way.
    pub(super) fn takes(&mut self, told: &Told, line: &HookLine, out: &mut Vec<Observation>) -> bool {
        let Some(token) = &told.token else { return true };
        if self.token.as_ref() == Some(token) {
            self.heard = true;
            return true;
        }
        let outsider = self.agent_pid.is_some_and(|pid| !line.pids.is_empty() && !line.pids.contains(&pid));
        let moved = self.moving || matches!(told.source.as_str(), "clear" | "compact");
        // The agent's own first event comes before it can have started another agent.
        let accepted = match self.token {
            Some(_) => told.kind == Kind::SessionStart && (moved || !self.heard),
            None => !outsider,
        };
        if accepted {
            self.heard = true;
            out.push(self.take(token.clone(), "hook"));
        }
        accepted
    }

    /// The id is this one now.
    pub(super) fn take(&mut self, token: String, source: &'static str) -> Observation {
        if self.token.is_some() {
            self.prompted = false;
        }
        self.moving = false;
        self.token = Some(token.clone());
        Observation::Token { token, source }
    }

    /// It has a prompt.
    pub(super) fn prompted(&mut self, out: &mut Vec<Observation>) {
        if !self.prompted {
            self.prompted = true;
            out.push(Observation::Prompted);
        }
    }
}
