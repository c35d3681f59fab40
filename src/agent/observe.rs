//! Watches one agent: what its hooks, status reports, title, output and its person's keys say about its state.
//!
//! Sources are ranked by the profile; the best one that has spoken decides. Everything here is idempotent: a repeated
//! or late event changes nothing. Hook events that name another conversation come from an agent inside the agent, and
//! are dropped, unless the agent itself said that it moves on.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::domain::journal::Signal;
use crate::domain::profile::{Profile, StatusSource};
use crate::domain::words::{Activity, SessionState};
use crate::screen::event::{BlockedOn, ModelEvent, ProgramState};

use super::conversation::Conversation;
use super::hook::{self, HookLine, Kind, Told};
use super::keys::Keys;
pub use super::observation::{Observation, Start};
use super::status::{self, Board, QUIET_MS, Say};

/// Output this soon after a typed key or a resize is an echo or a repaint, and no work.
const ECHO_MS: u64 = 300;
/// An agent that prints without pause is taken for working, not starting, after this time.
const STARTUP_MS: u64 = 10_000;
/// A tool event this late after the end of a turn begins a new one (background work came back); an earlier one is a
/// straggler of the ended turn.
const STRAGGLER_MS: u64 = 2_000;

/// Most parts of a program that are counted: more says no more.
const MAX_PARTS: usize = 64;

/// Watches one agent. Times are milliseconds of one clock that only goes forward (boot time).
#[derive(Debug, Clone)]
pub struct Observer {
    profile: Profile,
    start: Start,
    conversation: Conversation,
    board: Board,
    /// Parts of the program that say they work (paths of OSC 7501 records).
    parts: BTreeSet<String>,
    was_ready: bool,
    turn: bool,
    goodbye: Option<String>,
    keys: Keys,
    interrupted_at: Option<u64>,
    first_output: Option<u64>,
    last_output: Option<u64>,
    turn_ended_at: Option<u64>,
    messages: u64,
}

impl Observer {
    /// A new observer for an agent that was just started.
    #[must_use]
    pub fn new(profile: &Profile, start: Start) -> Self {
        Self {
            conversation: Conversation::new(&start),
            board: Board::new(&profile.status.sources),
            parts: BTreeSet::new(),
            profile: profile.clone(),
            start,
            was_ready: false,
            turn: false,
            goodbye: None,
            keys: Keys::default(),
            interrupted_at: None,
            first_output: None,
            last_output: None,
            turn_ended_at: None,
            messages: 0,
        }
    }

    /// Tells the agent's pid: a hook whose ancestors are known and do not include it cannot tell the id of a
    /// conversation that is not known yet.
    pub fn set_agent_pid(&mut self, pid: i32) {
        self.conversation.agent_pid = Some(pid);
    }

    /// The conversation's id, once known.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.conversation.token.as_deref()
    }

    /// A line of the hook spool, parsed.
    pub fn on_hook(&mut self, line: &Value, now_ms: u64) -> Vec<Observation> {
        let line = HookLine::read(line);
        let mut out = Vec::new();
        let Some(told) = hook::told(&self.profile, &line) else { return out };
        if self.conversation.lost(&told) {
            self.hear(StatusSource::Hook, Say::Wrong(LOST.to_owned()), now_ms, &mut out);
        } else if self.conversation.takes(&told, &line, &mut out) {
            self.apply(&told, now_ms, &mut out);
        }
        out
    }

    /// The conversation's id as read from a file (`pid_file`, `open_file`).
    pub fn on_token(&mut self, token: &str, source: &'static str) -> Vec<Observation> {
        if self.conversation.token.as_deref() == Some(token) {
            return Vec::new();
        }
        vec![self.conversation.take(token.to_owned(), source)]
    }

    fn apply(&mut self, told: &Told, now_ms: u64, out: &mut Vec<Observation>) {
        let text = told.text.clone().unwrap_or_default();
        let hook = StatusSource::Hook;
        match told.kind {
            Kind::SessionStart => {
                self.goodbye = None;
                if told.source == "resume" {
                    self.conversation.prompted(out);
                }
                if !self.board.now().works() {
                    self.hear(hook, Say::Ready, now_ms, out);
                }
            }
            Kind::Prompt | Kind::TurnStart => {
                self.goodbye = None;
                self.keys.forget_quit();
                self.conversation.prompted(out);
                self.message(told, "user", out);
                self.hear(hook, Say::Working(String::new()), now_ms, out);
            }
            Kind::Tool => self.tool(text, now_ms, out),
            Kind::Permission => self.hear(hook, Say::Permission(text), now_ms, out),
            Kind::Question => self.hear(hook, Say::Question(text), now_ms, out),
            Kind::TurnEnd => {
                self.message(told, "assistant", out);
                self.turn_ended_at = Some(now_ms);
                let say = if told.background > 0 { Say::Background(told.background) } else { Say::Ready };
                self.hear(hook, say, now_ms, out);
            }
            Kind::Message => {
                let role = told.role.clone().unwrap_or_else(|| "assistant".to_owned());
                self.message(told, &role, out);
            }
            Kind::Goodbye => self.said_goodbye(&told.reason, out),
        }
    }

    fn tool(&mut self, text: String, now_ms: u64, out: &mut Vec<Observation>) {
        let straggler = !self.turn && self.turn_ended_at.is_none_or(|at| now_ms < at + STRAGGLER_MS);
        if !straggler || self.board.now().asks() {
            self.hear(StatusSource::Hook, Say::Working(text), now_ms, out);
        }
    }

    fn said_goodbye(&mut self, reason: &str, out: &mut Vec<Observation>) {
        if self.profile.quit.continues.iter().any(|r| r == reason) {
            self.conversation.moving = true;
            return;
        }
        if self.goodbye.as_deref() == Some(reason) {
            return;
        }
        self.goodbye = Some(reason.to_owned());
        let person = self.profile.quit.reasons.iter().any(|r| r == reason);
        out.push(Observation::Goodbye { reason: reason.to_owned(), person });
        out.push(Observation::Activity);
    }

    fn message(&mut self, told: &Told, role: &str, out: &mut Vec<Observation>) {
        let Some(text) = told.text.clone().filter(|text| !text.is_empty()) else { return };
        self.messages += 1;
        let id = told.id.clone().unwrap_or_else(|| format!("{}-{}", self.start.terminal, self.messages));
        out.push(Observation::Message { id, role: role.to_owned(), text });
    }

    /// The terminal's title changed.
    fn on_title(&mut self, title: &str, now_ms: u64) -> Vec<Observation> {
        let rule = &self.profile.status;
        let has = |texts: &[String]| texts.iter().any(|text| !text.is_empty() && title.contains(text.as_str()));
        let say = if has(&rule.title_blocked) {
            Say::Permission(String::new())
        } else if has(&rule.title_working) {
            Say::Working(String::new())
        } else if has(&rule.title_idle) {
            Say::Ready
        } else {
            return Vec::new();
        };
        let mut out = Vec::new();
        self.told_by(StatusSource::Title, say, now_ms, &mut out);
        out
    }

    /// A program status report: the root record is the agent's own, the others are parts of it.
    fn on_report(&mut self, state: ProgramState, kind: Option<BlockedOn>, msg: &str, now_ms: u64) -> Vec<Observation> {
        let Some(say) = Say::reported(state, kind, msg, self.parts.len()) else { return Vec::new() };
        let mut out = Vec::new();
        self.told_by(StatusSource::ProgramStatus, say, now_ms, &mut out);
        out
    }

    fn on_part(&mut self, id: &str, state: ProgramState, now_ms: u64) -> Vec<Observation> {
        if state == ProgramState::Working && self.parts.len() < MAX_PARTS {
            self.parts.insert(id.to_owned());
        } else if state != ProgramState::Working {
            self.parts.retain(|part| part != id && !(part.starts_with(id) && part[id.len()..].starts_with('/')));
        }
        let mut out = Vec::new();
        if matches!(self.board.now(), Say::Ready | Say::Background(_)) {
            let say = if self.parts.is_empty() { Say::Ready } else { Say::Background(self.parts.len()) };
            self.hear(StatusSource::ProgramStatus, say, now_ms, &mut out);
        }
        out
    }

    /// What the terminal's model read from the output.
    pub fn on_model(&mut self, event: &ModelEvent, now_ms: u64) -> Vec<Observation> {
        match event {
            ModelEvent::Title(title) => self.on_title(title, now_ms),
            ModelEvent::ProgramStatus { id: Some(id), state, .. } => self.on_part(id, *state, now_ms),
            ModelEvent::ProgramStatus { id: None, state, kind, title, msg, .. } => {
                let text = msg.as_deref().filter(|m| !m.is_empty()).or(title.as_deref()).unwrap_or_default();
                self.on_report(*state, *kind, text, now_ms)
            }
            _ => Vec::new(),
        }
    }

    fn told_by(&mut self, source: StatusSource, say: Say, now_ms: u64, out: &mut Vec<Observation>) {
        if say.works() && self.board.hears(source) {
            self.conversation.prompted(out);
        }
        self.hear(source, say, now_ms, out);
    }

    /// The program printed something.
    pub fn on_output(&mut self, now_ms: u64) -> Vec<Observation> {
        let mut out = Vec::new();
        let first = *self.first_output.get_or_insert(now_ms);
        self.last_output = Some(now_ms);
        if !self.board.hears(StatusSource::Output) {
            return out;
        }
        let echo = self.keys.echoes(now_ms, ECHO_MS);
        let starting = *self.board.now() == Say::Starting && now_ms < first + STARTUP_MS;
        if !echo && !starting && !self.waits_for_words() {
            self.hear(StatusSource::Output, Say::Working(String::new()), now_ms, &mut out);
        }
        out
    }

    /// Its better sources have not spoken yet, and nobody answered: what it shows may be a question of the start
    /// (trust, login).
    fn waits_for_words(&self) -> bool {
        self.board.expects_words() && self.wordless() && !self.keys.answered()
    }

    fn wordless(&self) -> bool {
        self.board.winner().is_none_or(|winner| winner == StatusSource::Output)
    }

    /// The terminal was resized: what follows is a repaint.
    pub fn on_resize(&mut self, now_ms: u64) {
        self.keys.touch(now_ms);
    }

    /// Bytes that a person's keys sent to the agent, as they went into the PTY.
    pub fn on_input(&mut self, bytes: &[u8], now_ms: u64) -> Vec<Observation> {
        let mut out = Vec::new();
        let meant = self.keys.feed(&self.profile.quit, bytes, self.board.now().works(), now_ms);
        if meant.sent && self.was_ready && self.wordless() {
            self.conversation.prompted(&mut out);
        }
        if meant.interrupt {
            self.interrupt(now_ms);
        }
        out
    }

    /// Hooks and titles often say nothing about an interrupted turn; quiet after the key does.
    fn interrupt(&mut self, now_ms: u64) {
        let explicit = self.board.winner() == Some(StatusSource::ProgramStatus);
        if !explicit && (self.board.now().works() || self.board.now().asks()) {
            self.interrupted_at = Some(now_ms);
        }
    }

    /// When [`Observer::tick`] has something to do, if nothing else happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        [self.board.deadline(), self.quiet_at(), self.interrupt_due()].into_iter().flatten().min()
    }

    /// When quiet means that work, or the start, is over.
    fn quiet_at(&self) -> Option<u64> {
        let open = self.board.now().works() || *self.board.now() == Say::Starting;
        (open && self.board.hears(StatusSource::Output)).then_some(self.last_output? + QUIET_MS)
    }

    fn interrupt_due(&self) -> Option<u64> {
        let at = self.interrupted_at?;
        Some(at.max(self.last_output.unwrap_or(at)) + QUIET_MS)
    }

    /// Time has passed.
    pub fn tick(&mut self, now_ms: u64) -> Vec<Observation> {
        let mut out = Vec::new();
        let before = self.board.now().clone();
        if self.board.tick(now_ms) {
            self.changed(&before, &mut out);
        }
        if self.quiet_at().is_some_and(|due| due <= now_ms) {
            let say = if self.waits_for_words() { Say::Question(UNSAID.to_owned()) } else { Say::Ready };
            self.hear(StatusSource::Output, say, now_ms, &mut out);
        }
        if self.interrupt_due().is_some_and(|due| due <= now_ms) {
            self.interrupted_at = None;
            let before = self.board.now().clone();
            if (before.works() || before.asks()) && self.board.set(Say::Stopped) {
                self.changed(&before, &mut out);
            }
        }
        out
    }

    fn hear(&mut self, source: StatusSource, say: Say, now_ms: u64, out: &mut Vec<Observation>) {
        if source != StatusSource::Output && self.board.hears(source) {
            self.interrupted_at = None;
        }
        let before = self.board.now().clone();
        if self.board.hear(source, say, now_ms) {
            self.changed(&before, out);
        }
    }

    /// The signal that a change of state is, if it is one, and the activity.
    fn changed(&mut self, before: &Say, out: &mut Vec<Observation>) {
        let now = self.board.now();
        let signal = if now.works() {
            let again = before.works();
            self.turn = true;
            (!again).then_some(Signal::TurnBegan)
        } else {
            match now {
                Say::Permission(_) => (!matches!(before, Say::Permission(_))).then_some(Signal::NeedsPermission),
                Say::Question(_) => (!matches!(before, Say::Question(_))).then_some(Signal::NeedsInput),
                _ if self.turn => Some(Signal::TurnEnded),
                Say::Wrong(_) => Some(Signal::NeedsInput),
                _ if !self.was_ready => Some(Signal::Ready),
                _ => None,
            }
        };
        if matches!(signal, Some(Signal::TurnEnded | Signal::Ready)) {
            self.turn = false;
            self.was_ready = true;
        }
        out.extend(signal.map(Observation::Signal));
        out.push(Observation::Activity);
    }

    /// The state that the session has by these signals.
    #[must_use]
    pub fn state(&self) -> SessionState {
        match self.board.now() {
            Say::Starting => SessionState::Starting,
            Say::Working(_) => SessionState::Running,
            _ => SessionState::WaitingForInput,
        }
    }

    /// What the badge shows, and why in words.
    #[must_use]
    pub fn activity(&self) -> (Activity, String) {
        match &self.goodbye {
            Some(reason) => (Activity::Ended, status::with("it said goodbye", reason)),
            None => self.board.now().activity(self.start.mode),
        }
    }

    /// Whether one of the profile's quit inputs was typed within [`crate::domain::ending::QUIT_INPUT_MS`] before
    /// `now_ms`, and no prompt since.
    #[must_use]
    pub fn quit_input(&self, now_ms: u64) -> bool {
        self.keys.quit(now_ms)
    }
}

/// Shown for an agent that was to resume and did not.
const LOST: &str = "it began another conversation instead of resuming this one";

/// Shown for an agent that is quiet before it ever reported.
const UNSAID: &str = "it has not reported yet; look at its screen";

#[cfg(test)]
mod tests;
