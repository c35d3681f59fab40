//! The one true screen of a terminal: takes a program's bytes, keeps screen, history and modes, answers queries, and
//! reports signals.

use std::time::Duration;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::term::{Config, Term, TermDamage, TermMode};

use crate::domain::launch::Size;
use crate::wire::frame::{CursorState, ScreenModes};

use super::event::ModelEvent;
use super::interpret::Core;
use super::modes::{InputModes, MouseEncoding, MouseTracking};
use super::sniff::Sniffer;
use super::text;

/// How long a synchronized update may hold frames back: the limit that other terminals use.
pub const SYNC_LIMIT: Duration = Duration::from_millis(150);

/// An open synchronized update (mode 2026).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncHold {
    /// Number of this hold; a new one has a new number.
    pub number: u64,
    /// Call [`Model::end_sync`] when this much time passed since the number was first seen.
    pub limit: Duration,
}

/// What [`Model::feed_part`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fed {
    /// Bytes taken.
    pub used: usize,
    /// What they said, in order.
    pub events: Vec<ModelEvent>,
}

/// Terminal model: screen, history, modes. Memory is bounded by size, history and a megabyte of clipboard.
pub struct Model {
    sniffer: Sniffer,
    core: Core,
}

impl Model {
    /// An empty terminal; `size` is clamped. `history_lines`: lines kept above the screen.
    #[must_use]
    pub fn new(size: Size, history_lines: usize) -> Self {
        let size = Size::clamped(size.cols, size.rows);
        let config = Config { scrolling_history: history_lines, ..Config::default() };
        let term = Term::new(config, &Dims(size), VoidListener);
        Self { sniffer: Sniffer::default(), core: Core::new(term) }
    }

    /// Takes bytes of the program, cut anywhere; what they say, in order. Adjacent replies are one.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<ModelEvent> {
        let mut at = 0;
        while at < bytes.len() {
            at += self.sniffer.feed(&bytes[at..], &mut self.core);
        }
        self.core.take_events()
    }

    /// As [`Model::feed`], but stops behind the end of a synchronized update, so that a frame can be taken of the screen as
    /// the program meant it. Call again with the rest.
    pub fn feed_part(&mut self, bytes: &[u8]) -> Fed {
        let used = self.sniffer.feed(bytes, &mut self.core);
        Fed { used, events: self.core.take_events() }
    }

    /// Gives the terminal another size, clamped; text reflows on the main screen.
    pub fn resize(&mut self, size: Size) {
        self.core.term_mut().resize(Dims(Size::clamped(size.cols, size.rows)));
    }

    /// The open synchronized update, if there is one: no frames leave meanwhile. The model itself goes on, so that queries
    /// are answered at once.
    pub fn sync_deadline(&self) -> Option<SyncHold> {
        self.core.sync().map(|number| SyncHold { number, limit: SYNC_LIMIT })
    }

    /// Ends a synchronized update that took too long.
    pub fn end_sync(&mut self) {
        self.core.end_sync();
    }

    /// Leaves every mode that a program which was killed could not leave itself: alternate screen, mouse, paste, focus,
    /// keyboard protocols, scroll region, hidden cursor, styles. The text and the title stay.
    pub fn reset_after_death(&mut self) {
        self.sniffer.reset();
        self.core.tidy_up();
    }

    /// The text, oldest line first: at most `history` lines above the screen, then the screen; trailing blanks cut, empty
    /// lines at the end cut. `ansi`: with SGR sequences. Hidden text is blank.
    pub fn lines(&self, history: usize, ansi: bool) -> Vec<String> {
        let above = history.min(self.history_len());
        let first = -(i32::try_from(above).unwrap_or(i32::MAX));
        let mut lines: Vec<String> = (first..i32::from(self.size().rows))
            .map(|line| text::line(&self.core.term().grid()[Line(line)][..], ansi))
            .collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    /// Modes that decide how input is encoded.
    pub fn input_modes(&self) -> InputModes {
        let mode = *self.core.term().mode();
        let mouse = if mode.contains(TermMode::MOUSE_MOTION) {
            MouseTracking::Motion
        } else if mode.contains(TermMode::MOUSE_DRAG) {
            MouseTracking::Drag
        } else if mode.contains(TermMode::MOUSE_REPORT_CLICK) {
            MouseTracking::Click
        } else {
            MouseTracking::Off
        };
        let mouse_encoding = if mode.contains(TermMode::SGR_MOUSE) {
            MouseEncoding::Sgr
        } else if mode.contains(TermMode::UTF8_MOUSE) {
            MouseEncoding::Utf8
        } else {
            MouseEncoding::X10
        };
        InputModes {
            app_cursor: mode.contains(TermMode::APP_CURSOR),
            app_keypad: mode.contains(TermMode::APP_KEYPAD),
            newline: mode.contains(TermMode::LINE_FEED_NEW_LINE),
            bracketed_paste: mode.contains(TermMode::BRACKETED_PASTE),
            focus: mode.contains(TermMode::FOCUS_IN_OUT),
            alternate_scroll: mode.contains(TermMode::ALTERNATE_SCROLL),
            alt_screen: mode.contains(TermMode::ALT_SCREEN),
            mouse,
            mouse_encoding,
            modify_other_keys: self.core.modify_other_keys(),
            kitty: self.core.kitty_flags(),
        }
    }

    /// Modes that matter to a viewer.
    pub fn screen_modes(&self) -> ScreenModes {
        let modes = self.input_modes();
        ScreenModes {
            alt: modes.alt_screen,
            mouse: modes.mouse != MouseTracking::Off,
            mouse_motion: modes.mouse >= MouseTracking::Drag,
            paste: modes.bracketed_paste,
            focus: modes.focus,
            alternate_scroll: modes.alternate_scroll,
        }
    }

    /// Whether the program wants to hear of changes between dark and light (mode 2031).
    pub fn wants_colour_scheme(&self) -> bool {
        self.core.wants_colour_scheme()
    }

    /// Cursor.
    pub fn cursor(&self) -> CursorState {
        let term = self.core.term();
        let point = term.grid().cursor.point;
        CursorState {
            row: u16::try_from(point.line.0).unwrap_or(0),
            col: u16::try_from(point.column.0).unwrap_or(0),
            visible: term.mode().contains(TermMode::SHOW_CURSOR),
            shape: self.core.cursor_shape(),
        }
    }

    /// Size.
    pub fn size(&self) -> Size {
        let term = self.core.term();
        Size {
            cols: u16::try_from(term.columns()).unwrap_or(Size::MAX),
            rows: u16::try_from(term.screen_lines()).unwrap_or(Size::MAX),
        }
    }

    /// Title, without control characters.
    pub fn title(&self) -> &str {
        self.core.title()
    }

    /// Lines of history above the screen; none on the alternate screen.
    pub fn history_len(&self) -> usize {
        self.core.term().history_size()
    }

    /// Cells of a row of the screen.
    pub(super) fn row(&self, row: u16) -> &[Cell] {
        &self.core.term().grid()[Line(i32::from(row))][..]
    }

    /// Rows that may have changed since the last call; `None`: all.
    pub(super) fn take_damage(&mut self) -> Option<Vec<u16>> {
        let term = self.core.term_mut();
        let rows = match term.damage() {
            TermDamage::Full => None,
            TermDamage::Partial(lines) => {
                Some(lines.filter_map(|line| u16::try_from(line.line).ok()).collect::<Vec<_>>())
            }
        };
        term.reset_damage();
        rows
    }
}

/// A size as the model wants it.
struct Dims(Size);

impl Dimensions for Dims {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.0.rows)
    }

    fn columns(&self) -> usize {
        usize::from(self.0.cols)
    }

    fn last_column(&self) -> Column {
        Column(self.columns().saturating_sub(1))
    }
}
