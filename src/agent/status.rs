//! One state out of several sources that may contradict each other: the best one that has spoken wins.

use crate::domain::profile::StatusSource;
use crate::domain::rows::StartMode;
use crate::domain::words::Activity;
use crate::screen::event::{BlockedOn, ProgramState};

/// What a source says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Say {
    /// Nothing yet.
    Starting,
    /// A turn runs; on what, may be empty.
    Working(String),
    /// Asks for permission; for what, may be empty.
    Permission(String),
    /// Asks something.
    Question(String),
    /// Waits for a prompt.
    Ready,
    /// Waits for a prompt while so many tasks go on.
    Background(usize),
    /// Its turn was interrupted by the person.
    Stopped,
    /// It says that something is wrong.
    Wrong(String),
}

impl Say {
    /// A turn runs.
    pub(super) const fn works(&self) -> bool {
        matches!(self, Self::Working(_))
    }

    /// The word of a program status report, while so many `parts` of the program work; `None` for one that takes its
    /// record away: what held still does, until another word comes.
    pub(super) fn reported(state: ProgramState, kind: Option<BlockedOn>, msg: &str, parts: usize) -> Option<Self> {
        let msg = msg.to_owned();
        Some(match (state, kind) {
            (ProgramState::Working, _) => Self::Working(msg),
            (ProgramState::Blocked, Some(BlockedOn::Permission) | None) => Self::Permission(msg),
            (ProgramState::Blocked, Some(BlockedOn::Auth)) if msg.is_empty() => Self::Question("log in".to_owned()),
            (ProgramState::Blocked, _) => Self::Question(msg),
            (ProgramState::Idle | ProgramState::Done, _) if parts > 0 => Self::Background(parts),
            (ProgramState::Idle | ProgramState::Done, _) => Self::Ready,
            (ProgramState::Error, _) => Self::Wrong(msg),
            (ProgramState::Clear, _) => return None,
        })
    }

    /// What the badge shows for it, and why in words.
    pub(super) fn activity(&self, mode: StartMode) -> (Activity, String) {
        match self {
            Self::Starting if mode == StartMode::Resume => {
                (Activity::Starting, "the agent is taking up its conversation".to_owned())
            }
            Self::Starting => (Activity::Starting, "the agent is starting".to_owned()),
            Self::Working(what) => (Activity::Working, with("a turn is running", what)),
            Self::Permission(what) => (Activity::NeedsPermission, with("it asks for permission", what)),
            Self::Question(what) => (Activity::NeedsInput, with("it asks you something", what)),
            Self::Ready => (Activity::Ready, "waiting for your next prompt".to_owned()),
            Self::Background(1) => (Activity::Background, "its turn ended; one task goes on".to_owned()),
            Self::Background(n) => (Activity::Background, format!("its turn ended; {n} tasks go on")),
            Self::Stopped => (Activity::Ready, "you interrupted its turn; waiting for your next prompt".to_owned()),
            Self::Wrong(what) => (Activity::Error, with("it reports an error", what)),
        }
    }

    /// It asks the person.
    pub(super) const fn asks(&self) -> bool {
        matches!(self, Self::Permission(_) | Self::Question(_))
    }
}

/// A reason in words, with more if there is more.
pub(super) fn with(text: &str, more: &str) -> String {
    if more.is_empty() { text.to_owned() } else { format!("{text}: {more}") }
}

/// An indirect source (title, output) that says that work is over is believed after this time: spinners pause, and
/// full-screen programs repaint in bursts. Work and questions are believed at once.
pub(super) const QUIET_MS: u64 = 1_500;

/// The sources' words.
#[derive(Debug, Clone)]
pub(super) struct Board {
    order: Vec<StatusSource>,
    best: Option<usize>,
    now: Say,
    /// A word that leaves work behind, from an indirect source, and when it is believed.
    pending: Option<(Say, u64)>,
}

impl Board {
    /// A board for sources in this order, best first; empty: output only.
    pub(super) fn new(order: &[StatusSource]) -> Self {
        let order = if order.is_empty() { vec![StatusSource::Output] } else { order.to_vec() };
        Self { order, best: None, now: Say::Starting, pending: None }
    }

    /// What holds now.
    pub(super) const fn now(&self) -> &Say {
        &self.now
    }

    /// Whether `source` may speak: it is listed, and no better one has spoken.
    pub(super) fn hears(&self, source: StatusSource) -> bool {
        self.rank(source).is_some_and(|rank| self.best.is_none_or(|best| rank <= best))
    }

    /// The source that wins so far.
    pub(super) fn winner(&self) -> Option<StatusSource> {
        self.best.and_then(|best| self.order.get(best)).copied()
    }

    /// Whether an agent like this has a source that says more than output does.
    pub(super) fn expects_words(&self) -> bool {
        self.order.iter().any(|source| *source != StatusSource::Output)
    }

    fn rank(&self, source: StatusSource) -> Option<usize> {
        self.order.iter().position(|other| *other == source)
    }

    /// `source` says `say`. Returns whether what holds has changed.
    pub(super) fn hear(&mut self, source: StatusSource, say: Say, now_ms: u64) -> bool {
        if !self.hears(source) {
            return false;
        }
        // Output only guesses: it never keeps a better source from speaking later, and is outranked by any.
        self.best = self.rank(source);
        let leaves_work = self.now.works() && !say.works() && !say.asks();
        if leaves_work && source == StatusSource::Title {
            if self.pending.as_ref().is_none_or(|(pending, _)| *pending != say) {
                self.pending = Some((say, now_ms + QUIET_MS));
            }
            return false;
        }
        self.pending = None;
        self.set(say)
    }

    /// Sets what holds, whoever said it.
    pub(super) fn set(&mut self, say: Say) -> bool {
        self.pending = None;
        let changed = self.now != say;
        self.now = say;
        changed
    }

    /// When the pending word is believed.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.pending.as_ref().map(|(_, due)| *due)
    }

    /// Time passes. Returns whether what holds has changed.
    pub(super) fn tick(&mut self, now_ms: u64) -> bool {
        match self.pending.take() {
            Some((say, due)) if due <= now_ms => self.set(say),
            other => {
                self.pending = other;
                false
            }
        }
    }
}
