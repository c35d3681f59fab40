//! Everything that the screen is drawn from.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ratatui::layout::Rect;

use super::badge;
use super::desk::{Desk, Shows};
use super::edit;
use super::form::{Choice, Form, Question};
use super::keymap::Keymap;
use super::layout::{self, Layout, Parts};
use super::msg::Timer;
use super::notice::{self, Notice};
use super::pane::Pane;
use super::panel::Panels;
use super::spot::Spot;
use crate::config::settings::MouseUse;
use crate::domain::ids::SessionId;
use crate::domain::launch::Size;
use crate::domain::status::Status;
use crate::domain::words::SessionState;
use crate::wire::host::SessionLine;

/// Announcements kept.
pub const MAX_ANNOUNCED: usize = 200;

/// What was decided before the screen opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Nothing is typed, sized or changed.
    pub read_only: bool,
    /// Which key means what.
    pub keys: Keymap,
    /// Agents that a new session may have.
    pub agents: Vec<Choice>,
    /// Names of the configured executors; the first is the default.
    pub executors: Vec<String>,
    /// Directory of a new session.
    pub cwd: String,
    /// What `~` stands for; empty: nothing.
    pub home: String,
    /// Environment of a new session, scrubbed.
    pub env: Vec<(String, String)>,
    /// No characters outside ASCII in what relight itself draws.
    pub ascii: bool,
    /// Colours in what relight itself draws.
    pub colour: bool,
    /// Who has the mouse.
    pub mouse: MouseUse,
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
    /// Its panes.
    pub desk: Desk,
    /// What its panels know.
    pub panels: Panels,
}

impl Tab {
    /// A session that was just heard of.
    #[must_use]
    pub fn new(line: SessionLine) -> Self {
        Self {
            line,
            status: None,
            asked: false,
            stale: false,
            unseen: false,
            desk: Desk::default(),
            panels: Panels::default(),
        }
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

/// What keys are for at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// The terminal.
    Normal,
    /// The prefix was pressed.
    Prefix,
    /// All keys are shown, from this line on.
    Help(usize),
    /// The list at the side; this line is marked.
    Sidebar(usize),
    /// The closed sessions; this one is marked.
    Reopen(usize),
    /// All that is known of the chosen session, from this line on.
    Explain(usize),
    /// What was announced, from this line on.
    Messages(usize),
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

/// Whether the host answers what it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// It said something, or nothing was sent.
    Spoke,
    /// Something was sent; it may need no answer.
    Awaited,
    /// It was asked whether it is there.
    Asked,
    /// It said nothing although it was asked.
    Silent,
}

/// A mouse button that went down in a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// The stream whose program was told.
    pub stream: Option<u32>,
    /// Where the pane stood.
    pub area: Rect,
    /// Column and row.
    pub from: (u16, u16),
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
    /// Sessions that a person ended or that ended from inside, the newest end first.
    pub closed: Vec<SessionLine>,
    /// The chosen session.
    pub current: Option<SessionId>,
    /// The one chosen before.
    pub last: Option<SessionId>,
    /// Choose this one as soon as the list has it.
    pub wish: Option<SessionId>,
    /// Session named by the person at the start, not yet asked for.
    pub named: Option<String>,
    /// Those of its terminals that are shown.
    pub panes: Vec<Pane>,
    /// Tasks and sessions are shown beside the panes.
    pub sidebar: bool,
    /// What keys are for.
    pub mode: Mode,
    /// Announcement.
    pub said: Option<String>,
    /// What was announced, oldest first, at most [`MAX_ANNOUNCED`].
    pub announced: VecDeque<String>,
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
    /// A pane is to be opened beside this session's agent once the host has answered.
    pub opening: Option<SessionId>,
    /// What can be clicked on what stands on the outer terminal.
    pub spots: Vec<Spot>,
    /// The button that is held.
    pub held: Option<Held>,
    /// The panel for which the timer was started that is under way.
    pub pacing: Option<Shows>,
    /// Quarters that the sign of what goes on by itself has turned.
    pub turn: u8,
    /// Whether the host answers.
    pub voice: Voice,
    /// Timers that run until their time, whatever happens meanwhile.
    pub steady: BTreeSet<Timer>,
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
            closed: vec![],
            current: None,
            last: None,
            wish: None,
            named,
            panes: vec![],
            sidebar: false,
            mode: Mode::Normal,
            said: None,
            announced: VecDeque::new(),
            seq: None,
            quiet: true,
            pastes: 0,
            pasting: Pasting::No,
            tickets: 0,
            opening: None,
            spots: vec![],
            held: None,
            pacing: None,
            turn: 0,
            voice: Voice::Spoke,
            steady: BTreeSet::new(),
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

    /// What was announced, in lines of `width` cells.
    #[must_use]
    pub fn messages(&self, width: usize) -> Vec<String> {
        self.announced.iter().flat_map(|text| edit::wrap(text, width.max(1))).collect()
    }

    /// The notice of the chosen session.
    #[must_use]
    pub fn notice(&self) -> Notice {
        self.chosen().map_or(Notice::None, Tab::notice)
    }

    /// The panes of the chosen session.
    #[must_use]
    pub fn desk(&self) -> Desk {
        self.chosen().map(|tab| tab.desk.clone()).unwrap_or_default()
    }

    /// Where everything stands.
    #[must_use]
    pub fn layout(&self) -> Layout {
        layout::divide(self.size.0, self.size.1, self.sidebar, &self.desk())
    }

    /// The terminals of the chosen session that are to be shown, and their sizes.
    #[must_use]
    pub fn wanted_panes(&self) -> Vec<(Shows, Size)> {
        let (layout, desk) = (self.layout(), self.desk());
        let shown = [Some(Shows::Agent), desk.beside].into_iter().flatten().filter(Shows::terminal);
        shown.filter_map(|shows| layout.space(&shows).map(|space| (shows, layout::size(space)))).collect()
    }

    /// The panel that is in sight, and where its parts stand.
    #[must_use]
    pub fn panel(&self) -> Option<(Shows, Parts)> {
        let shows = self.desk().beside.filter(|shows| !shows.terminal())?;
        let typing = shows == Shows::Files && self.chosen().is_some_and(|tab| tab.panels.files.types());
        let parts = self.layout().space(&shows)?.parts(typing);
        Some((shows, parts))
    }

    /// Size of a new session's terminal.
    #[must_use]
    pub fn new_size(&self) -> Size {
        let layout = layout::divide(self.size.0, self.size.1, self.sidebar, &Desk::default());
        layout.agent.map_or(Size::DEFAULT, layout::size)
    }

    /// The pane that shows this.
    #[must_use]
    pub fn pane(&self, shows: &Shows) -> Option<&Pane> {
        self.panes.iter().find(|pane| pane.shows == *shows)
    }

    /// The pane that takes keys, if it is a terminal.
    #[must_use]
    pub fn focused(&self) -> Option<&Pane> {
        self.pane(self.desk().focused())
    }

    /// Whether keys that are typed have no agent to go to, so that a banner takes them.
    #[must_use]
    pub fn banner_takes_keys(&self) -> bool {
        *self.desk().focused() == Shows::Agent && self.notice().takes_keys()
    }

    /// Whether the host answers.
    #[must_use]
    pub fn up(&self) -> bool {
        self.link == Link::Up
    }

    /// Whether the chosen session's agent runs, as far as is known.
    #[must_use]
    pub fn running(&self) -> Option<bool> {
        self.chosen().and_then(|tab| tab.status.as_ref()).and_then(|status| status.is_agent_running)
    }
}
