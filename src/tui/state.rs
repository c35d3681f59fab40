//! Everything that the screen is drawn from.

use std::collections::BTreeMap;

use super::badge;
use super::form::{Choice, Form, Question};
use super::keymap::{Command, Keymap};
use super::layout;
use super::msg::Timer;
use super::notice::{self, Notice};
use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::launch::{Exit, Size};
use crate::domain::status::Status;
use crate::domain::words::SessionState;
use crate::screen::view::View;
use crate::wire::frame::Frame;
use crate::wire::host::SessionLine;

/// Frames kept of a stream whose number is not known yet: its keyframe and what follows until the answer is read.
pub const MAX_EARLY_FRAMES: usize = 8;

/// What was decided before the screen opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Nothing is typed, sized or changed.
    pub read_only: bool,
    /// Which key means what.
    pub keys: Keymap,
    /// Agents that a new session may have.
    pub agents: Vec<Choice>,
    /// Directory of a new session.
    pub cwd: String,
    /// Environment of a new session, scrubbed.
    pub env: Vec<(String, String)>,
    /// No characters outside ASCII in what relight itself draws.
    pub ascii: bool,
    /// Colours in what relight itself draws.
    pub colour: bool,
}

/// The link to the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// First try.
    Connecting,
    /// It answers.
    Up,
    /// It does not.
    Away {
        /// In words.
        why: String,
        /// Tries since.
        tries: u32,
        /// It said goodbye: it is not started again unless a person asks.
        goodbye: bool,
    },
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    /// What the list says, kept up to date.
    pub line: SessionLine,
    /// Its status, once it was asked for.
    pub status: Option<Status>,
    /// A question for its status is on its way.
    pub asked: bool,
    /// Something happened since that question was sent.
    pub stale: bool,
    /// It got done with something that was not looked at yet.
    pub unseen: bool,
}

impl Tab {
    /// A session that was just heard of.
    #[must_use]
    pub const fn new(line: SessionLine) -> Self {
        Self { line, status: None, asked: false, stale: false, unseen: false }
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.line.session_id
    }

    /// Whether a person ended it.
    #[must_use]
    pub const fn ended(&self) -> bool {
        matches!(self.line.state, SessionState::Completed | SessionState::Cancelled)
    }

    /// How much it wants a person.
    #[must_use]
    pub const fn urgency(&self) -> u8 {
        badge::urgency(self.line.activity, self.unseen)
    }

    /// A turn was cut off.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.interrupted)
    }

    /// Its notice.
    #[must_use]
    pub fn notice(&self) -> Notice {
        notice::of(&self.line, self.status.as_ref())
    }
}

/// The terminal that is shown.
pub struct Pane {
    /// Its session.
    pub session: SessionId,
    /// Tells answers to this attach from those to earlier ones.
    pub ticket: u64,
    /// An attach is on its way.
    pub asked: bool,
    /// Its stream, once attached.
    pub stream: Option<u32>,
    /// Its terminal.
    pub terminal: Option<TerminalId>,
    /// What it shows.
    pub view: View,
    /// The size that the host was told last.
    pub size: Size,
    /// State number that the host was told last.
    pub acked: u64,
    /// Why nothing comes at the moment.
    pub lost: Option<String>,
    /// How the program ended.
    pub exited: Option<Exit>,
    /// Frames that came before the stream's number was known.
    pub early: Vec<(u32, Frame)>,
}

/// What keys are for at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// The terminal.
    Normal,
    /// The prefix was pressed.
    Prefix,
    /// All keys are shown, from this line on.
    Help(usize),
    /// A form.
    Form(Form),
    /// A question.
    Ask(Question),
}

/// Where a paste goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pasting {
    /// None is under way.
    No,
    /// Into a terminal's stream, under this number; so many parts were sent.
    Stream(u32, u32, u32),
    /// Into a form: the bytes so far.
    Form(Vec<u8>),
    /// Nowhere.
    Dropped,
}

/// All of it.
pub struct State {
    /// Decided before.
    pub setup: Setup,
    /// Columns and rows of the outer terminal.
    pub size: (u16, u16),
    /// Link to the host.
    pub link: Link,
    /// The list of sessions was read at least once.
    pub listed: bool,
    /// A question for the list is on its way; and whether another must follow.
    pub listing: (bool, bool),
    /// Open sessions, oldest first.
    pub tabs: Vec<Tab>,
    /// The chosen session.
    pub current: Option<SessionId>,
    /// The one chosen before.
    pub last: Option<SessionId>,
    /// Choose this one as soon as the list has it.
    pub wish: Option<SessionId>,
    /// Session named by the person at the start, not yet asked for.
    pub named: Option<String>,
    /// Its terminal.
    pub pane: Option<Pane>,
    /// What keys are for.
    pub mode: Mode,
    /// Announcement.
    pub said: Option<String>,
    /// Newest event seen.
    pub seq: Option<u64>,
    /// No key came for a moment.
    pub quiet: bool,
    /// Counts pastes.
    pub pastes: u32,
    /// The paste under way.
    pub pasting: Pasting,
    /// Counts attaches.
    pub tickets: u64,
    /// Newest life of each timer.
    pub timers: BTreeMap<Timer, u64>,
}

impl State {
    /// The state before anything happened.
    #[must_use]
    pub fn new(setup: Setup, size: (u16, u16), named: Option<String>) -> Self {
        Self {
            setup,
            size,
            link: Link::Connecting,
            listed: false,
            listing: (false, false),
            tabs: vec![],
            current: None,
            last: None,
            wish: None,
            named,
            pane: None,
            mode: Mode::Normal,
            said: None,
            seq: None,
            quiet: true,
            pastes: 0,
            pasting: Pasting::No,
            tickets: 0,
            timers: BTreeMap::new(),
        }
    }

    /// A session's tab.
    #[must_use]
    pub fn tab(&self, session: &SessionId) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.id() == session)
    }

    /// The same, to change it.
    pub fn tab_mut(&mut self, session: &SessionId) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.id() == session)
    }

    /// The chosen tab.
    #[must_use]
    pub fn chosen(&self) -> Option<&Tab> {
        self.current.as_ref().and_then(|id| self.tab(id))
    }

    /// Its place, from 0.
    #[must_use]
    pub fn place(&self) -> Option<usize> {
        self.current.as_ref().and_then(|id| self.tabs.iter().position(|tab| tab.id() == id))
    }

    /// The notice of the chosen session.
    #[must_use]
    pub fn notice(&self) -> Notice {
        self.chosen().map_or(Notice::None, Tab::notice)
    }

    /// Size of the pane.
    #[must_use]
    pub fn pane_size(&self) -> Size {
        layout::pane_size(self.size.0, self.size.1)
    }

    /// Whether the host answers.
    #[must_use]
    pub fn up(&self) -> bool {
        self.link == Link::Up
    }

    /// Whether a command works now; why not, in words.
    ///
    /// # Errors
    /// What to tell the person.
    pub fn can(&self, command: Command) -> Result<(), &'static str> {
        let changes = matches!(
            command,
            Command::New | Command::Resume | Command::Dismiss | Command::Rename | Command::Kill | Command::Quit
        );
        if self.setup.read_only && changes {
            return Err("This client is read-only.");
        }
        match command {
            Command::Resume if !self.up() => Ok(()),
            _ if changes && !self.up() => Err("The host is away."),
            Command::Next | Command::Previous if self.tabs.len() < 2 => Err("There is no other tab."),
            Command::Last if self.last.as_ref().is_none_or(|id| self.tab(id).is_none()) => {
                Err("No other tab was chosen before.")
            }
            Command::Waiting if !self.tabs.iter().any(|t| t.urgency() > 0) => Err("No session waits for you."),
            Command::Jump(n) if usize::from(n) > self.tabs.len() => Err("There is no tab with that number."),
            Command::Resume | Command::Dismiss | Command::Rename | Command::Kill if self.chosen().is_none() => {
                Err("No session is chosen.")
            }
            Command::Resume if self.running() == Some(true) => Err("Its agent is running."),
            Command::Dismiss if !matches!(self.notice(), Notice::Failure(_) | Notice::Offer(_)) => {
                Err("There is no failure to put away.")
            }
            _ => Ok(()),
        }
    }

    /// Whether the chosen session's agent runs, as far as is known.
    #[must_use]
    pub fn running(&self) -> Option<bool> {
        self.chosen().and_then(|tab| tab.status.as_ref()).and_then(|status| status.is_agent_running)
    }
}

impl Pane {
    /// The pane of a session to which an attach with this ticket is on its way.
    #[must_use]
    pub fn new(session: SessionId, ticket: u64, size: Size) -> Self {
        Self {
            session,
            ticket,
            asked: false,
            stream: None,
            terminal: None,
            view: View::new(size),
            size,
            acked: 0,
            lost: None,
            exited: None,
            early: vec![],
        }
    }

    /// First column and row shown, when the terminal is larger than the `cols` by `rows` cells of the pane: so that the
    /// cursor is visible.
    #[must_use]
    pub fn offset(&self, cols: u16, rows: u16) -> (u16, u16) {
        let size = self.view.size();
        let cursor = self.view.cursor();
        let first = |at: u16, all: u16, room: u16| {
            if all <= room { 0 } else { (at + 1).saturating_sub(room).min(all - room) }
        };
        (first(cursor.col, size.cols, cols), first(cursor.row, size.rows, rows))
    }
}
