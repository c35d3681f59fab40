//! What keys mean in a panel.

use crate::wire::input::{Key, KeyCode, Mods};

/// What became of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// The panel stays.
    Stay,
    /// The agent's pane gets the focus.
    Leave,
    /// The panel is closed.
    Close,
    /// Something is said.
    Say(String),
    /// Something that is in the directory `path` is shown by the files panel.
    Look(String),
}

/// Cells of a panel for its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// A way through rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Up by so many.
    Up(usize),
    /// Down by so many.
    Down(usize),
    /// To the first.
    Home,
    /// To the last.
    End,
}

impl Step {
    /// What a key says, in a panel with so many rows.
    #[must_use]
    pub fn of(key: &Key, height: usize) -> Option<Self> {
        let page = height.saturating_sub(1).max(1);
        Some(match key.code {
            KeyCode::Up => Self::Up(1),
            KeyCode::Down => Self::Down(1),
            KeyCode::PageUp => Self::Up(page),
            KeyCode::PageDown => Self::Down(page),
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            _ => match letter(key)? {
                'k' => Self::Up(1),
                'j' => Self::Down(1),
                ' ' => Self::Down(page),
                _ => return None,
            },
        })
    }

    /// Where it leads from `at` among `count`.
    #[must_use]
    pub fn from(self, at: usize, count: usize) -> usize {
        let last = count.saturating_sub(1);
        match self {
            Self::Up(by) => at.saturating_sub(by).min(last),
            Self::Down(by) => at.saturating_add(by).min(last),
            Self::Home => 0,
            Self::End => last,
        }
    }
}

/// The letter of a key that was pressed without Ctrl and Alt.
#[must_use]
pub fn letter(key: &Key) -> Option<char> {
    match key.code {
        KeyCode::Char(c) if !key.mods.has(Mods::CTRL) && !key.mods.has(Mods::ALT) => Some(c),
        _ => None,
    }
}
