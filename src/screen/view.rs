//! Frames → what a pane draws.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::domain::launch::Size;
use crate::wire::frame::{CursorState, Frame, Overlay, ScreenModes};

/// The view cannot use this frame: ask for a keyframe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the frame does not follow state {have}; a keyframe is needed")]
pub struct NeedKeyframe {
    /// State that the view has; 0: none.
    pub have: u64,
}

/// What one pane shows.
pub struct View {
    size: Size,
}

impl View {
    /// An empty view.
    #[must_use]
    pub fn new(size: Size) -> Self {
        Self { size: Size::clamped(size.cols, size.rows) }
    }

    /// Takes a frame.
    ///
    /// # Errors
    /// [`NeedKeyframe`] when it does not follow the state that the view has.
    pub fn apply(&mut self, _frame: &Frame) -> Result<(), NeedKeyframe> {
        Ok(())
    }

    /// State of the last frame taken; 0: none.
    pub fn state(&self) -> u64 {
        0
    }

    /// Size of the terminal, which may differ from that of the pane.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Where the terminal's cursor is, whether and how it is shown.
    pub fn cursor(&self) -> CursorState {
        CursorState::default()
    }

    /// Modes.
    pub fn modes(&self) -> ScreenModes {
        ScreenModes::default()
    }

    /// Lines of history above the screen.
    pub fn history(&self) -> u64 {
        0
    }

    /// What lies over a row.
    pub fn overlay(&self, _row: u16) -> &[Overlay] {
        &[]
    }

    /// Target of the hyperlink at a cell.
    pub fn link_at(&self, _row: u16, _col: u16) -> Option<&str> {
        None
    }

    /// Text of a row from column `from` up to, without, `to`; trailing blanks cut.
    pub fn text(&self, _row: u16, _from: u16, _to: u16) -> String {
        String::new()
    }

    /// Draws the upper left part that fits into `area`; the cursor is left to the caller (see [`View::cursor`]).
    pub fn render(&self, _area: Rect, _buf: &mut Buffer) {}
}
