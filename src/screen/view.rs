//! Frames → what a pane draws.

use std::num::NonZeroU16;
use std::panic::AssertUnwindSafe;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::Widget;
use ref_cast::RefCast;
use tui_term::widget::{Cursor, PseudoTerminal};
use unicode_width::UnicodeWidthStr;

use crate::domain::launch::Size;
use crate::wire::frame::{CursorState, Frame, FrameHead, Overlay, OverlayKind, ScreenModes};

use super::pane::PaneScreen;

/// The view cannot use this frame: ask for a keyframe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the frame does not follow state {have}; a keyframe is needed")]
pub struct NeedKeyframe {
    /// State that the view has; 0: none.
    pub have: u64,
}

/// What one pane shows.
pub struct View {
    parser: vt100::Parser<Strange>,
    head: FrameHead,
    overlay: Vec<Vec<Overlay>>,
}

/// Counts what the parser does not know. Frames keep to what it knows, so it stays 0.
#[derive(Debug, Default)]
struct Strange(u32);

impl View {
    /// An empty view.
    #[must_use]
    pub fn new(size: Size) -> Self {
        let size = Size::clamped(size.cols, size.rows);
        let head = FrameHead { cols: size.cols, rows: size.rows, ..FrameHead::default() };
        Self { parser: parser(size), head, overlay: vec![Vec::new(); usize::from(size.rows)] }
    }

    /// Takes a frame.
    ///
    /// # Errors
    /// [`NeedKeyframe`] when it does not follow the state that the view has. The view then keeps what it shows, but after a
    /// fault inside the parser, which leaves it empty.
    pub fn apply(&mut self, frame: &Frame) -> Result<(), NeedKeyframe> {
        let head = &frame.head;
        let size = Size::clamped(head.cols, head.rows);
        let have = self.head.state;
        if head.base == 0 {
            self.start_anew(size);
        } else if head.base != have || size != self.size() {
            return Err(NeedKeyframe { have });
        }
        let parser = &mut self.parser;
        // The parser has panicked on what it should not get; a pane is no reason to end.
        if std::panic::catch_unwind(AssertUnwindSafe(|| parser.process(&frame.vt))).is_err() {
            *self = Self::new(size);
            return Err(NeedKeyframe { have: 0 });
        }
        for row in &head.sent {
            if let Some(ranges) = self.overlay.get_mut(usize::from(*row)) {
                ranges.clear();
            }
        }
        for range in &head.overlay {
            if let Some(ranges) = self.overlay.get_mut(usize::from(range.row)) {
                ranges.push(range.clone());
            }
        }
        self.head = FrameHead { overlay: Vec::new(), sent: Vec::new(), cols: size.cols, rows: size.rows, ..*head };
        Ok(())
    }

    /// State of the last frame taken; 0: none.
    pub fn state(&self) -> u64 {
        self.head.state
    }

    /// Size of the terminal, which may differ from that of the pane.
    pub fn size(&self) -> Size {
        Size { cols: self.head.cols, rows: self.head.rows }
    }

    /// Where the terminal's cursor is, whether and how it is shown.
    pub fn cursor(&self) -> CursorState {
        self.head.cursor
    }

    /// Modes.
    pub fn modes(&self) -> ScreenModes {
        self.head.modes
    }

    /// Lines of history above the screen.
    pub fn history(&self) -> u64 {
        self.head.history
    }

    /// The screen as tui-term's widgets take it.
    pub fn screen(&self) -> &PaneScreen {
        PaneScreen::ref_cast(self.parser.screen())
    }

    /// What lies over a row.
    pub fn overlay(&self, row: u16) -> &[Overlay] {
        self.overlay.get(usize::from(row)).map_or(&[], Vec::as_slice)
    }

    /// Target of the hyperlink at a cell. It comes from a program: show it before it is opened.
    pub fn link_at(&self, row: u16, col: u16) -> Option<&str> {
        self.overlay(row).iter().find_map(|range| match &range.what {
            OverlayKind::Link(uri) if (range.from..range.to).contains(&col) => Some(uri.as_str()),
            _ => None,
        })
    }

    /// Text of a row from column `from` up to, without, `to`; a wide character belongs to its left column. Trailing blanks
    /// are cut.
    pub fn text(&self, row: u16, from: u16, to: u16) -> String {
        let mut out = String::new();
        for cell in (from..to.min(self.head.cols)).map_while(|col| self.parser.screen().cell(row, col)) {
            match cell.contents() {
                _ if cell.is_wide_continuation() => {}
                "" => out.push(' '),
                text => out.push_str(text),
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out
    }

    /// Draws the upper left part that fits into `area`; the cursor is left to the caller (see [`View::cursor`]).
    pub fn render(&self, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        PseudoTerminal::new(self.screen()).cursor(Cursor::default().visibility(false)).render(area, buf);
        let rows = area.height.min(self.head.rows);
        let cols = area.width.min(self.head.cols);
        for row in 0..rows {
            self.mend_wide(row, cols, area, buf);
            for range in self.overlay(row) {
                let Some(style) = overlay_style(&range.what) else { continue };
                for col in range.from..range.to.min(cols) {
                    if let Some(cell) = buf.cell_mut((area.x + col, area.y + row)) {
                        cell.set_style(style);
                    }
                }
            }
        }
    }

    /// Both columns of a wide character get the style of the left one; one that is cut by the area's edge is blank.
    fn mend_wide(&self, row: u16, cols: u16, area: Rect, buf: &mut Buffer) {
        for col in 0..cols {
            if !self.parser.screen().cell(row, col).is_some_and(vt100::Cell::is_wide) {
                continue;
            }
            let (x, y) = (area.x + col, area.y + row);
            let Some(style) = buf.cell((x, y)).map(ratatui::buffer::Cell::style) else { continue };
            if col + 1 < area.width {
                if let Some(right) = buf.cell_mut((x + 1, y)) {
                    right.set_style(style);
                }
            } else if let Some(cut) = buf.cell_mut((x, y))
                && cut.symbol().width() > 1
            {
                cut.set_symbol(" ");
            }
        }
    }

    fn start_anew(&mut self, size: Size) {
        if self.size() != size {
            let (rows, cols) = dimensions(size);
            let parser = &mut self.parser;
            let resized = std::panic::catch_unwind(AssertUnwindSafe(|| parser.screen_mut().set_size(rows, cols)));
            if resized.is_err() {
                self.parser = self::parser(size);
            }
        }
        self.overlay = vec![Vec::new(); usize::from(size.rows)];
        self.head = FrameHead { cols: size.cols, rows: size.rows, ..FrameHead::default() };
    }

    /// How many sequences the parser did not know, and its screen.
    #[cfg(test)]
    pub(super) fn inside(&self) -> (u32, &vt100::Screen) {
        (self.parser.callbacks().0, self.parser.screen())
    }
}

fn dimensions(size: Size) -> (NonZeroU16, NonZeroU16) {
    let side = |n| NonZeroU16::new(n).unwrap_or(NonZeroU16::MIN);
    (side(size.rows), side(size.cols))
}

fn parser(size: Size) -> vt100::Parser<Strange> {
    let (rows, cols) = dimensions(size);
    vt100::Parser::new_with_callbacks(rows, cols, 0, Strange::default())
}

fn overlay_style(what: &OverlayKind) -> Option<Style> {
    match what {
        OverlayKind::Strike => Some(Style::new().add_modifier(Modifier::CROSSED_OUT)),
        OverlayKind::Dim => Some(Style::new().add_modifier(Modifier::DIM)),
        OverlayKind::UnderlineColor([r, g, b]) => Some(Style::new().underline_color(Color::Rgb(*r, *g, *b))),
        // Hidden text was never sent; ratatui knows one kind of underline; links are looked up.
        OverlayKind::Hidden | OverlayKind::Underline(_) | OverlayKind::Link(_) => None,
    }
}

impl vt100::Callbacks for Strange {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.0 += 1;
    }

    fn visual_bell(&mut self, _: &mut vt100::Screen) {
        self.0 += 1;
    }

    fn resize(&mut self, _: &mut vt100::Screen, _: (u16, u16)) {
        self.0 += 1;
    }

    fn set_window_icon_name(&mut self, _: &mut vt100::Screen, _: &[u8]) {
        self.0 += 1;
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, _: &[u8]) {
        self.0 += 1;
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], _: &[u8]) {
        self.0 += 1;
    }

    fn paste_from_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8]) {
        self.0 += 1;
    }

    fn unhandled_char(&mut self, _: &mut vt100::Screen, _: char) {
        self.0 += 1;
    }

    fn unhandled_control(&mut self, _: &mut vt100::Screen, _: u8) {
        self.0 += 1;
    }

    fn unhandled_escape(&mut self, _: &mut vt100::Screen, _: Option<u8>, _: Option<u8>, _: u8) {
        self.0 += 1;
    }

    fn unhandled_csi(&mut self, _: &mut vt100::Screen, _: Option<u8>, _: Option<u8>, _: &[&[u16]], _: char) {
        self.0 += 1;
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, _: &[&[u8]]) {
        self.0 += 1;
    }
}
