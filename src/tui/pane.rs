//! A terminal of the chosen session, as the screen shows it.

use super::desk::Shows;
use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::launch::{Exit, Size};
use crate::screen::view::View;
use crate::wire::frame::Frame;
use crate::wire::input::StreamInput;

/// Frames kept of a stream whose number is not known yet: its keyframe and what follows until the answer is read.
pub const MAX_EARLY_FRAMES: usize = 8;

/// Keys and texts kept that are typed before the stream's number is known: a person types fewer in that time.
pub const MAX_EARLY_KEYS: usize = 256;

/// A terminal that is shown.
pub struct Pane {
    /// Its session.
    pub session: SessionId,
    /// Which of its terminals.
    pub shows: Shows,
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
    /// A frame was taken, and its sender does not know yet that it is shown.
    pub undrawn: bool,
    /// Why nothing comes at the moment.
    pub lost: Option<String>,
    /// How the program ended.
    pub exited: Option<Exit>,
    /// Frames that came before the stream's number was known.
    pub early: Vec<(u32, Frame)>,
    /// What was typed before that.
    pub typed: Vec<StreamInput>,
}

impl Pane {
    /// A pane of a session to whose terminal an attach with this ticket is on its way.
    #[must_use]
    pub fn new(session: SessionId, shows: Shows, ticket: u64, size: Size) -> Self {
        Self {
            session,
            shows,
            ticket,
            asked: false,
            stream: None,
            terminal: None,
            view: View::new(size),
            size,
            undrawn: false,
            lost: None,
            exited: None,
            early: vec![],
            typed: vec![],
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
