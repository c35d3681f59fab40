//! The one true screen of a terminal.

use std::time::Duration;

use crate::domain::launch::Size;

use super::event::ModelEvent;
use super::modes::InputModes;

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

/// Terminal model: screen, history, modes.
pub struct Model {
    size: Size,
}

impl Model {
    /// An empty terminal; `size` is clamped. `history_lines`: lines kept above the screen.
    #[must_use]
    pub fn new(size: Size, _history_lines: usize) -> Self {
        Self { size: Size::clamped(size.cols, size.rows) }
    }

    /// Takes bytes of the program, cut anywhere; what they say, in order.
    pub fn feed(&mut self, _bytes: &[u8]) -> Vec<ModelEvent> {
        Vec::new()
    }

    /// Gives the terminal another size, clamped; text reflows on the main screen.
    pub fn resize(&mut self, size: Size) {
        self.size = Size::clamped(size.cols, size.rows);
    }

    /// The open synchronized update, if there is one: no frames leave meanwhile.
    pub fn sync_deadline(&self) -> Option<SyncHold> {
        None
    }

    /// Ends a synchronized update that took too long.
    pub fn end_sync(&mut self) {}

    /// Leaves every mode that a program which was killed could not leave itself. The text stays.
    pub fn reset_after_death(&mut self) {}

    /// The text, oldest line first: at most `history` lines above the screen, then the screen; trailing blanks cut, empty
    /// lines at the end cut. `ansi`: with SGR sequences.
    pub fn lines(&self, _history: usize, _ansi: bool) -> Vec<String> {
        Vec::new()
    }

    /// Modes that decide how input is encoded.
    pub fn input_modes(&self) -> InputModes {
        InputModes::default()
    }

    /// Size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Title, without control characters.
    pub fn title(&self) -> &str {
        ""
    }

    /// Lines of history above the screen.
    pub fn history_len(&self) -> usize {
        0
    }
}
