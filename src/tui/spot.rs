//! What can be clicked: places of the drawn screen, each with what a click there does.

use ratatui::layout::{Position, Rect};

use super::keymap::Command;
use crate::domain::ids::SessionId;
use crate::wire::input::KeyCode;

/// What a click does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Chooses this session.
    Session(SessionId),
    /// Does this, as if its key had been pressed.
    Command(Command),
    /// Presses this key for what lies over the panes.
    Key(KeyCode),
    /// Marks this row of the list or form that has the keys; opens it when it is marked already.
    Row(usize),
    /// Nothing, whatever lies below.
    Nothing,
}

/// A place on the drawn screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Where.
    pub area: Rect,
    /// What a click there does.
    pub target: Target,
}

impl Spot {
    /// A place, and what a click there does.
    #[must_use]
    pub const fn new(area: Rect, target: Target) -> Self {
        Self { area, target }
    }
}

/// What is at a cell; of several what was drawn last.
#[must_use]
pub fn at(spots: &[Spot], col: u16, row: u16) -> Option<&Target> {
    spots.iter().rev().find(|spot| spot.area.contains(Position::new(col, row))).map(|spot| &spot.target)
}

/// A list or text that lies over everything: a click beside it goes back to the panes.
#[must_use]
pub fn over(whole: Rect, area: Rect) -> Vec<Spot> {
    vec![Spot::new(whole, Target::Key(KeyCode::Esc)), Spot::new(area, Target::Nothing)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_last_is_clicked() {
        let whole = Rect::new(0, 0, 80, 24);
        let mut spots = vec![Spot::new(Rect::new(0, 0, 9, 1), Target::Command(Command::Help))];
        assert_eq!((at(&spots, 8, 0), at(&spots, 9, 0)), (Some(&Target::Command(Command::Help)), None));
        spots.extend(over(whole, Rect::new(10, 5, 20, 5)));
        assert_eq!(at(&spots, 8, 0), Some(&Target::Key(KeyCode::Esc)));
        assert_eq!(at(&spots, 10, 9), Some(&Target::Nothing));
    }
}
