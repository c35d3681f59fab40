//! What can happen to the screen, and what it orders. Plain values: logged, compared and made up in tests.

use std::time::Duration;

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::launch::Size;
use crate::domain::status::Status;
use crate::domain::words::ErrorCode;
use crate::screen::decode::Outer;
use crate::tui::desk::Shows;
use crate::tui::panel::ask::{Ask, Found};
use crate::tui::spot::Spot;
use crate::wire::agentctl::TerminalInfo;
use crate::wire::frame::Frame;
use crate::wire::host::{Attached, Push, SessionCreate, SessionCreated, SessionLine};
use crate::wire::input::StreamInput;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// The outer terminal sent something.
    Outer(Outer),
    /// The outer terminal has this many columns and rows.
    Resized(u16, u16),
    /// A timer ran out.
    Timer(Timer, u64),
    /// The host answers.
    Connected,
    /// The host could not be reached; `refused`: it answered, and trying again is of no use.
    NoHost {
        /// In words.
        why: String,
        /// It will not become better by itself.
        refused: bool,
    },
    /// The link to the host is gone.
    Lost(String),
    /// The host says something.
    Push(Push),
    /// A frame of a stream.
    Frame(u32, Frame),
    /// Directories whose names begin with this text, as it was asked for.
    Completed(String, Vec<String>),
    /// The host answered a call.
    Answered(Call, Result<Answer, Refusal>),
    /// The newest state stands on the outer terminal, with this to click on.
    Drawn(Vec<Spot>),
    /// The program was stopped and goes on, or the screen is not to be trusted.
    Awoke,
}

/// What a timer is for. Each has one life: starting it anew makes the old one void.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Timer {
    /// The announcement has been read.
    Said,
    /// No key came for a moment: banners may take single keys.
    Quiet,
    /// The outer terminal's size has settled.
    Resize,
    /// Has the stream followed the session to its new terminal?
    Follow,
    /// Attach again.
    Attach,
    /// Ask again for what the panel shows.
    Panel,
    /// The sign of what goes on by itself turns on.
    Turn,
    /// Ask again for a status that changes with time.
    Look,
    /// Has the host said something since it was asked?
    Silent,
}

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the host; the answer comes as [`Msg::Answered`].
    Call(Call),
    /// Send into a terminal; no answer.
    Send(u32, StreamInput),
    /// Start a timer.
    Start(Timer, u64, Duration),
    /// Connect to the host after a pause.
    Connect {
        /// Pause.
        after: Duration,
        /// Start a host when none is there.
        start: bool,
    },
    /// Look for directories whose names begin with this text; the answer comes as [`Msg::Completed`].
    Complete(String),
    /// Put this (base64) on the clipboard of the outer terminal.
    Clipboard(String),
    /// Ring.
    Bell,
    /// Forget what stands on the outer terminal and draw all of it.
    Redraw,
    /// The outer terminal speaks the kitty keyboard protocol: use it.
    KittyKeys,
    /// Leave.
    Leave(Exit),
}

/// A call to the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// Events after this number, and activity.
    Subscribe(Option<u64>),
    /// All sessions.
    List,
    /// A session's status.
    Status(SessionId),
    /// A stream of one of a session's terminals.
    Attach {
        /// Session.
        session: SessionId,
        /// Which.
        shows: Shows,
        /// Size of the pane; none: never set it.
        size: Option<Size>,
        /// Tells this attach from earlier ones.
        ticket: u64,
    },
    /// No more of this stream.
    Detach(u32),
    /// Which session is meant?
    Find(String),
    /// A new session.
    Create(Box<SessionCreate>),
    /// Resume.
    Resume {
        /// Session.
        session: SessionId,
        /// Also what a person ended.
        reopen: bool,
    },
    /// End for good.
    Kill(SessionId),
    /// Put the failure away.
    Dismiss(SessionId),
    /// Another name.
    Rename(SessionId, String),
    /// The terminals that a session has.
    Terminals(SessionId),
    /// A new shell in a session's directory.
    Shell {
        /// Session.
        session: SessionId,
        /// Size of its pane.
        size: Option<Size>,
    },
    /// Close a shell.
    Close {
        /// Session.
        session: SessionId,
        /// Shell.
        terminal: TerminalId,
        /// Also when something runs in it.
        force: bool,
    },
    /// A panel's question about a session's directory.
    Workspace {
        /// Session.
        session: SessionId,
        /// Question.
        ask: Ask,
    },
    /// Is it there?
    Ping,
    /// End host and agents.
    StopHost,
}

/// An answer of the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Subscribed; the newest event has this number.
    Subscribed(u64),
    /// All sessions.
    Sessions(Vec<SessionLine>),
    /// A status.
    Status(Box<Status>),
    /// A stream.
    Attached(Attached),
    /// A session was found or made.
    Session(SessionCreated),
    /// What came of a resume, in words if there is something to say.
    Resumed {
        /// It was.
        resumed: bool,
        /// In words.
        message: String,
    },
    /// Its terminals.
    Terminals(Vec<TerminalInfo>),
    /// A shell.
    Terminal(TerminalId),
    /// What a panel asked for.
    Workspace(Found),
    /// Done.
    Done,
}

/// Why the host did not do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Code; none when the link failed.
    pub code: Option<ErrorCode>,
    /// In words.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// How the client ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// The person left; everything goes on.
    Detached,
    /// Another client detached this one; everything goes on. A sentence.
    SentAway(String),
    /// The person ended host and agents.
    Quit,
    /// The outer terminal is gone.
    TerminalGone,
    /// A signal (SIGHUP, SIGTERM, SIGINT) asked for it.
    Signal(i32),
    /// It cannot go on: what the person needs to know.
    Refused(String),
}
