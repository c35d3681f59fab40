//! How the panes of a session stand: its agent's terminal, and at most one pane beside it. Each client has its own.

use crate::domain::ids::TerminalId;

/// What a pane shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Shows {
    /// The terminal of the session's agent, and of its successors.
    Agent,
    /// A shell in the session's directory.
    Shell(TerminalId),
    /// What git says of the session's directory.
    Git,
    /// The files in the session's directory.
    Files,
}

impl Shows {
    /// Whether it is a terminal.
    #[must_use]
    pub const fn terminal(&self) -> bool {
        matches!(self, Self::Agent | Self::Shell(_))
    }
}

/// Where the pane beside the agent's stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// To its right.
    #[default]
    Right,
    /// Below it.
    Down,
}

/// A direction on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Up.
    Up,
    /// Down.
    Down,
}

/// The panes of a session. They stay as they are when its agent dies and goes on in another terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Desk {
    /// What stands beside the agent's terminal.
    pub beside: Option<Shows>,
    /// Where.
    pub split: Split,
    /// The pane beside has the focus.
    pub away: bool,
    /// Only the pane with the focus is shown.
    pub zoom: bool,
}

impl Desk {
    /// What the pane with the focus shows.
    #[must_use]
    pub fn focused(&self) -> &Shows {
        match &self.beside {
            Some(beside) if self.away => beside,
            _ => &Shows::Agent,
        }
    }

    /// Whether two panes are to be shown.
    #[must_use]
    pub const fn two(&self) -> bool {
        self.beside.is_some() && !self.zoom
    }

    /// Puts something beside the agent's terminal, with the focus.
    pub fn open(&mut self, shows: Shows) {
        self.beside = Some(shows);
        self.away = true;
        self.zoom = false;
    }

    /// Takes away what stands beside the agent's terminal.
    pub fn close(&mut self) {
        self.beside = None;
        self.away = false;
        self.zoom = false;
    }

    /// Moves the focus; `false` when there is nothing in that direction.
    pub fn focus(&mut self, to: Direction) -> bool {
        let away = match (self.split, to) {
            (Split::Right, Direction::Right) | (Split::Down, Direction::Down) => true,
            (Split::Right, Direction::Left) | (Split::Down, Direction::Up) => false,
            _ => return false,
        };
        if self.beside.is_none() || self.away == away {
            return false;
        }
        self.away = away;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_focus_moves_where_a_pane_is() {
        let mut desk = Desk::default();
        assert!(!desk.focus(Direction::Right));
        assert_eq!(desk.focused(), &Shows::Agent);
        desk.open(Shows::Git);
        assert_eq!((desk.focused(), desk.two()), (&Shows::Git, true));
        assert!(!desk.focus(Direction::Right) && !desk.focus(Direction::Up));
        assert!(desk.focus(Direction::Left));
        assert_eq!(desk.focused(), &Shows::Agent);
        desk.split = Split::Down;
        assert!(desk.focus(Direction::Down));
        desk.zoom = true;
        assert!(!desk.two());
        desk.close();
        assert_eq!(desk, Desk { split: Split::Down, ..Desk::default() });
    }
}
