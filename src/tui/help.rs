//! The lines of the help, made from the keymap: what every key does, and whether it does so now.

use super::keymap::{Command, Row};
use super::state::State;

/// Columns of the help with its frame, where the screen has them.
pub const WIDTH: u16 = 76;

/// Narrower than this inside the frame, a command has its hint instead of its help text.
const NARROW: u16 = 60;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Between two groups.
    Blank,
    /// The heading of a group.
    Heading(&'static str),
    /// A command.
    Keys {
        /// Its keys after the prefix.
        keys: String,
        /// What it does.
        text: String,
        /// Whether it does so now.
        works: bool,
    },
}

/// How many columns are inside the frame on a screen of `cols` columns.
#[must_use]
pub fn room(cols: u16) -> u16 {
    cols.min(WIDTH).saturating_sub(2)
}

/// How many lines are inside the frame on a screen of `rows` rows.
#[must_use]
pub fn fits(rows: u16) -> usize {
    usize::from(if rows < 3 { rows } else { rows - 2 }).max(1)
}

/// All lines, for so many columns inside the frame.
#[must_use]
pub fn lines(state: &State, room: u16) -> Vec<Line> {
    let narrow = room < NARROW;
    let prefix = state.setup.keys.prefix().to_string();
    let mut lines = vec![];
    let mut group = None;
    for row in state.setup.keys.rows() {
        if group.replace(row.entry.group) != Some(row.entry.group) {
            if !lines.is_empty() && !narrow {
                lines.push(Line::Blank);
            }
            lines.push(Line::Heading(row.entry.group.heading()));
        }
        let works = works(state, &row);
        let keys = if narrow { row.first.clone() } else { row.keys.join(" ") };
        let text = if narrow { row.hint.to_owned() } else { row.help.to_owned() + &alone(&row) };
        lines.push(Line::Keys { keys, text, works });
    }
    let text = if narrow { "send itself".to_owned() } else { format!("Send {prefix} itself to the terminal") };
    lines.push(Line::Keys { keys: prefix, text, works: state.chosen().is_some() });
    lines
}

/// The last line that can stand on top.
#[must_use]
pub fn most(state: &State) -> usize {
    lines(state, room(state.size.0)).len().saturating_sub(fits(state.size.1))
}

/// Whether one of a row's commands works now.
#[must_use]
pub fn works(state: &State, row: &Row) -> bool {
    row.commands.iter().any(|command: &Command| state.can(*command).is_ok())
}

/// Which keys do the same without the prefix.
fn alone(row: &Row) -> String {
    match (row.keys.is_empty(), row.direct.join(", ")) {
        (true, direct) if direct.is_empty() => " (no key)".into(),
        (_, direct) if direct.is_empty() => String::new(),
        (true, direct) => format!(" ({direct} alone)"),
        (false, direct) => format!(" (or {direct} alone)"),
    }
}
