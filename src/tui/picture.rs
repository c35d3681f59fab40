//! What a drawn screen has besides its cells.

use ratatui::layout::Position;

/// The cursor of a drawn screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Picture {
    /// Where the cursor stands; none: hidden.
    pub cursor: Option<Position>,
    /// DECSCUSR parameter of the cursor.
    pub shape: u8,
}
