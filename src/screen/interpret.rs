//! The tokens of a program's output, carried out: on the model, on the state that the model does not keep, or as events.

use std::time::Duration;

use alacritty_terminal::Term;
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{Processor, Timeout};

use crate::domain::launch::Size;

use super::cell;
use super::csi::Csi;
use super::event::{MAX_MESSAGE_CHARS, ModelEvent};
use super::keyboard::Keyboard;
use super::osc;
use super::osc::{Colour, Osc};
use super::palette::{self, Palette};
use super::reply::{self, Parts};
use super::sniff::{End, Flow, Sink};
use super::text;

/// Most characters without a column kept in one cell: a family emoji has 6. Without a bound, one cell could fill memory.
const MAX_MARKS_PER_CELL: usize = 16;

/// Deepest stack of titles: xterm's.
const MAX_TITLES: usize = 10;

/// Leaves what a program may have set, but for the alternate screen and the cursor's place.
const LEAVE_MODES: &[u8] = b"\x1b[?1l\x1b[?6l\x1b[?7h\x1b[?25h\x1b[4l\x1b[20l\x1b>\x1b[m\x1b]8;;\x1b\\\x1b(B\x1b)B\x0f";

/// Leaves what only matters to input.
const LEAVE_INPUT_MODES: &[u8] =
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?2004l\x1b[?1007h";

/// Synchronized updates are held at the frame, never in the parser: it must answer at once.
#[derive(Debug, Default)]
struct NoSync;

impl Timeout for NoSync {
    fn set_timeout(&mut self, _: Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

/// Model and what stands beside it.
pub(super) struct Core {
    term: Term<VoidListener>,
    processor: Processor<NoSync>,
    events: Vec<ModelEvent>,
    title: String,
    titles: Vec<String>,
    palette: Palette,
    keyboard: Keyboard,
    notification: Parts,
    cursor_shape: u8,
    colour_scheme: bool,
    sync: Option<u64>,
    syncs: u64,
    /// The last character printed takes no column, so it must not be repeated.
    mark_last: bool,
}

impl Core {
    pub(super) fn new(term: Term<VoidListener>) -> Self {
        Self {
            term,
            processor: Processor::new(),
            events: Vec::new(),
            title: String::new(),
            titles: Vec::new(),
            palette: Palette::default(),
            keyboard: Keyboard::default(),
            notification: Parts::default(),
            cursor_shape: 0,
            colour_scheme: false,
            sync: None,
            syncs: 0,
            mark_last: false,
        }
    }

    pub(super) fn term(&self) -> &Term<VoidListener> {
        &self.term
    }

    pub(super) fn term_mut(&mut self) -> &mut Term<VoidListener> {
        &mut self.term
    }

    pub(super) fn take_events(&mut self) -> Vec<ModelEvent> {
        std::mem::take(&mut self.events)
    }

    pub(super) fn sync(&self) -> Option<u64> {
        self.sync
    }

    pub(super) fn end_sync(&mut self) {
        self.sync = None;
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }

    pub(super) fn cursor_shape(&self) -> u8 {
        self.cursor_shape
    }

    pub(super) fn kitty_flags(&self) -> u8 {
        self.keyboard.flags(self.is_alt())
    }

    pub(super) fn modify_other_keys(&self) -> u8 {
        self.keyboard.other_keys
    }

    pub(super) fn wants_colour_scheme(&self) -> bool {
        self.colour_scheme
    }

    /// Does what a killed program could not.
    pub(super) fn tidy_up(&mut self) {
        if self.is_alt() {
            self.advance(b"\x1b[?1049l");
        }
        self.leave_modes();
        self.advance(LEAVE_INPUT_MODES);
        self.keyboard = Keyboard::default();
        self.palette = Palette::default();
        self.notification = Parts::default();
        self.titles.clear();
        self.colour_scheme = false;
        self.sync = None;
    }

    fn is_alt(&self) -> bool {
        self.term.mode().contains(TermMode::ALT_SCREEN)
    }

    fn advance(&mut self, bytes: &[u8]) {
        self.processor.advance(&mut self.term, bytes);
    }

    fn leave_modes(&mut self) {
        self.advance(LEAVE_MODES);
        // Leaving the scroll region homes the cursor, so it is put back.
        let point = self.term.grid().cursor.point;
        self.advance(format!("\x1b[r\x1b[{};{}H", point.line.0 + 1, point.column.0 + 1).as_bytes());
        self.cursor_shape = 0;
    }

    fn reply(&mut self, bytes: &[u8]) {
        if let Some(ModelEvent::Reply(last)) = self.events.last_mut() {
            last.extend_from_slice(bytes);
        } else {
            self.events.push(ModelEvent::Reply(bytes.to_vec()));
        }
    }

    fn set_title(&mut self, title: String) {
        if self.title != title {
            self.title.clone_from(&title);
            self.events.push(ModelEvent::Title(title));
        }
    }

    fn size(&self) -> Size {
        use alacritty_terminal::grid::Dimensions;
        Size {
            cols: u16::try_from(self.term.columns()).unwrap_or(Size::MAX),
            rows: u16::try_from(self.term.screen_lines()).unwrap_or(Size::MAX),
        }
    }

    /// DECSET and DECRST.
    fn modes(&mut self, csi: &Csi, set: bool) -> Flow {
        let mut flow = Flow::Next;
        for at in 0..csi.params.len() {
            match csi.param(at, 0) {
                2026 if set => {
                    if self.sync.is_none() {
                        self.syncs += 1;
                        self.sync = Some(self.syncs);
                    }
                }
                2026 => {
                    if self.sync.take().is_some() {
                        flow = Flow::Stop;
                    }
                }
                2031 => self.colour_scheme = set,
                // The older switches of the alternate screen, which the model does not know.
                47 | 1047 => self.advance(if set { b"\x1b[?1049h" } else { b"\x1b[?1049l" }),
                1048 => self.advance(if set { b"\x1b7" } else { b"\x1b8" }),
                mode => self.advance(format!("\x1b[?{mode}{}", if set { 'h' } else { 'l' }).as_bytes()),
            }
        }
        flow
    }

    /// State of a private mode; `None`: unknown.
    fn private_mode(&self, mode: u32) -> Option<bool> {
        let flag = match mode {
            2026 => return Some(self.sync.is_some()),
            2031 => return Some(self.colour_scheme),
            1 => TermMode::APP_CURSOR,
            6 => TermMode::ORIGIN,
            7 => TermMode::LINE_WRAP,
            12 => return Some(matches!(self.cursor_shape, 1 | 3 | 5)),
            25 => TermMode::SHOW_CURSOR,
            47 | 1047 | 1049 => TermMode::ALT_SCREEN,
            66 => TermMode::APP_KEYPAD,
            1000 => TermMode::MOUSE_REPORT_CLICK,
            1002 => TermMode::MOUSE_DRAG,
            1003 => TermMode::MOUSE_MOTION,
            1004 => TermMode::FOCUS_IN_OUT,
            1005 => TermMode::UTF8_MOUSE,
            1006 => TermMode::SGR_MOUSE,
            1007 => TermMode::ALTERNATE_SCROLL,
            2004 => TermMode::BRACKETED_PASTE,
            _ => return None,
        };
        Some(self.term.mode().contains(flag))
    }

    fn request_mode(&mut self, csi: &Csi) {
        let mode = csi.param(0, 0);
        let state = match (csi.private, mode) {
            (b'?', mode) => self.private_mode(mode),
            (_, 4) => Some(self.term.mode().contains(TermMode::INSERT)),
            (_, 20) => Some(self.term.mode().contains(TermMode::LINE_FEED_NEW_LINE)),
            _ => None,
        };
        self.reply(&reply::mode(csi.private == b'?', mode, state));
    }

    fn window(&mut self, csi: &Csi) {
        match (csi.param(0, 0), csi.param(1, 0)) {
            (22, 0 | 2) => {
                if self.titles.len() == MAX_TITLES {
                    self.titles.remove(0);
                }
                self.titles.push(self.title.clone());
            }
            (23, 0 | 2) => {
                if let Some(title) = self.titles.pop() {
                    self.set_title(title);
                }
            }
            (what, _) => {
                if let Some(bytes) = reply::size(what, self.size()) {
                    self.reply(&bytes);
                }
            }
        }
    }

    /// REP, never more than the screen holds.
    fn repeat(&mut self, csi: &Csi) {
        let size = self.size();
        let most = u32::from(size.cols) * u32::from(size.rows);
        let count = csi.param(0, 1).clamp(1, most.min(u32::from(u16::MAX)));
        if !self.mark_last {
            self.advance(format!("\x1b[{count}b").as_bytes());
        }
    }

    fn colour(&mut self, colour: Colour, end: End) {
        match colour {
            Colour::Indexed(index, None) => {
                let bytes = reply::colour(&format!("4;{index}"), self.palette.indexed(index), end);
                self.reply(&bytes);
            }
            Colour::Dynamic(number, None) => {
                if let Some(rgb) = self.palette.dynamic(number) {
                    self.reply(&reply::colour(&number.to_string(), rgb, end));
                }
            }
            Colour::Indexed(index, Some(spec)) => {
                if let Some(rgb) = palette::parse(&spec) {
                    self.palette.set_indexed(index, rgb);
                }
            }
            Colour::Dynamic(number, Some(spec)) => {
                if let Some(rgb) = palette::parse(&spec) {
                    self.palette.set_dynamic(number, Some(rgb));
                }
            }
            Colour::ResetIndexed(index) => self.palette.reset_indexed(index),
            Colour::ResetDynamic(number) => self.palette.set_dynamic(number, None),
        }
    }
}

impl Sink for Core {
    fn pass(&mut self, bytes: &[u8]) {
        if self.mark_last && text::prints(bytes) {
            self.mark_last = false;
        }
        self.advance(bytes);
    }

    fn zero_width(&mut self, bytes: &[u8]) {
        if cell::marks_at_cursor(self.term.grid()) < MAX_MARKS_PER_CELL {
            self.advance(bytes);
            self.mark_last = true;
        }
    }

    fn bell(&mut self) {
        if self.events.last() != Some(&ModelEvent::Bell) {
            self.events.push(ModelEvent::Bell);
        }
    }

    fn csi(&mut self, sequence: &[u8]) -> Flow {
        let Some(csi) = Csi::parse(sequence) else { return Flow::Next };
        let alt = self.is_alt();
        match (csi.private, csi.intermediate, csi.last) {
            (0, 0, b'c') if csi.param(0, 0) == 0 => self.reply(reply::PRIMARY),
            (b'>', 0, b'c') if csi.param(0, 0) == 0 => self.reply(&reply::secondary()),
            (0, 0, b'n') if csi.param(0, 0) == 5 => self.reply(reply::READY),
            (0 | b'?', 0, b'n') if csi.param(0, 0) == 6 => {
                let point = self.term.grid().cursor.point;
                let row = usize::try_from(point.line.0).unwrap_or(0);
                self.reply(&reply::cursor(csi.private == b'?', row, point.column.0));
            }
            (b'?', 0, b'n') if csi.param(0, 0) == 996 => self.reply(reply::DARK),
            (0 | b'?', b'$', b'p') => self.request_mode(&csi),
            (0, b'!', b'p') => self.leave_modes(),
            (b'>', 0, b'q') if csi.param(0, 0) == 0 => self.reply(&reply::version()),
            (0, b' ', b'q') if csi.param(0, 0) <= 6 => self.cursor_shape = u8::try_from(csi.param(0, 0)).unwrap_or(0),
            (b'?', 0, b'u') => self.reply(&reply::kitty(self.keyboard.flags(alt))),
            (b'>', 0, b'u') => self.keyboard.push(alt, csi.param(0, 0)),
            (b'<', 0, b'u') => self.keyboard.pop(alt, csi.param(0, 1)),
            (b'=', 0, b'u') => self.keyboard.set(alt, csi.param(0, 0), csi.param(1, 1)),
            (b'>', 0, b'm') => self.keyboard.set_other_keys(csi.sub(0, 0), csi.sub(1, 0)),
            (b'?', 0, b'm') if csi.param(0, 0) == 4 => self.reply(&reply::other_keys(self.keyboard.other_keys)),
            (0, 0, b't') => self.window(&csi),
            (0, 0, b'b') => self.repeat(&csi),
            (b'?', 0, b'h') => return self.modes(&csi, true),
            (b'?', 0, b'l') => return self.modes(&csi, false),
            _ => {}
        }
        Flow::Next
    }

    fn reset(&mut self) {
        self.advance(b"\x1bc");
        self.tidy_up();
        self.set_title(String::new());
        self.mark_last = false;
    }

    fn osc(&mut self, payload: &[u8], end: End) {
        match osc::read(payload) {
            Osc::Event(event) => self.events.push(event),
            Osc::Title(title) => self.set_title(title),
            Osc::Link(bytes) => self.advance(&bytes),
            Osc::Colours(colours) => colours.into_iter().for_each(|colour| self.colour(colour, end)),
            Osc::Progress { busy, percent } => {
                self.events.extend([ModelEvent::Busy(busy), ModelEvent::Progress(percent)]);
            }
            Osc::Notify(part) => {
                if let Some((title, text)) = self.notification.take(part, MAX_MESSAGE_CHARS) {
                    self.events.push(ModelEvent::Notification { title, text });
                }
            }
            Osc::NotifyQuery(id) => self.reply(&reply::notify(&id, end)),
            Osc::StatusQuery => self.reply(&reply::status(end)),
            Osc::Unknown => {}
        }
    }

    fn dcs(&mut self, payload: &[u8]) {
        if let Some(bytes) = reply::dcs(payload, self.cursor_shape) {
            self.reply(&bytes);
        }
    }
}
