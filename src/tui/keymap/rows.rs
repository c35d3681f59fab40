//! The keys of each command, and how people see them: the nine tabs and the four directions in one row each.

use super::table::{Command, Entry};
use crate::tui::chord::Chord;
use crate::wire::input::KeyCode;

/// The keys of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The command.
    pub entry: &'static Entry,
    /// Keys after the prefix; the first is shown.
    pub keys: Vec<Chord>,
    /// Chords that work without the prefix.
    pub direct: Vec<Chord>,
}

/// A command, or several that are shown as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The command; of several, the first.
    pub entry: &'static Entry,
    /// All of them.
    pub commands: Vec<Command>,
    /// The first key after the prefix; empty when there is none.
    pub first: String,
    /// All keys after the prefix.
    pub keys: Vec<String>,
    /// All chords without the prefix.
    pub direct: Vec<String>,
    /// For the hint.
    pub hint: &'static str,
    /// For help.
    pub help: &'static str,
}

/// Commands that are shown as one while their keys belong together.
struct Family {
    commands: fn(Command) -> bool,
    /// The keys after the prefix that belong together, in the order of the table.
    keys: &'static [Chord],
    direct: &'static [Chord],
    shown: &'static str,
    shown_direct: &'static str,
    hint: &'static str,
    help: &'static str,
}

const TABS: Family = Family {
    commands: |command| matches!(command, Command::Jump(_)),
    keys: &digits(false),
    direct: &digits(true),
    shown: "1-9",
    shown_direct: "Alt-1 to Alt-9",
    hint: "tab",
    help: "Go to that tab",
};

const DIRECTIONS: Family = Family {
    commands: |command| {
        matches!(command, Command::FocusLeft | Command::FocusRight | Command::FocusUp | Command::FocusDown)
    },
    keys: &[Chord::key(KeyCode::Left), Chord::key(KeyCode::Right), Chord::key(KeyCode::Up), Chord::key(KeyCode::Down)],
    direct: &[],
    shown: "Arrows",
    shown_direct: "",
    hint: "move",
    help: "Go to the pane on that side",
};

const fn digits(alt: bool) -> [Chord; 9] {
    let mut all = [Chord::char('1'); 9];
    let mut i = 0;
    while i < 9 {
        let digit = (b'1' + i as u8) as char;
        all[i] = if alt { Chord::alt(digit) } else { Chord::char(digit) };
        i += 1;
    }
    all
}

/// The rows of these bindings, in their order.
#[must_use]
pub fn rows(bindings: &[Binding]) -> Vec<Row> {
    let mut rows: Vec<Row> = vec![];
    for binding in bindings {
        let command = binding.entry.command;
        let family = [&TABS, &DIRECTIONS].into_iter().find(|family| (family.commands)(command));
        match family.filter(|family| family.whole(bindings)) {
            Some(family) if rows.last().is_some_and(|row| (family.commands)(row.entry.command)) => {
                if let Some(row) = rows.last_mut() {
                    row.commands.push(command);
                }
            }
            Some(family) => rows.push(family.row(binding)),
            None => rows.push(alone(binding)),
        }
    }
    rows
}

fn alone(binding: &Binding) -> Row {
    let words = |chords: &[Chord]| chords.iter().map(ToString::to_string).collect::<Vec<_>>();
    Row {
        entry: binding.entry,
        commands: vec![binding.entry.command],
        first: binding.keys.first().map(ToString::to_string).unwrap_or_default(),
        keys: words(&binding.keys),
        direct: words(&binding.direct),
        hint: binding.entry.hint,
        help: binding.entry.help,
    }
}

impl Family {
    /// Whether the keys of all its commands are those that belong together.
    fn whole(&self, bindings: &[Binding]) -> bool {
        let own: Vec<&Binding> = bindings.iter().filter(|binding| (self.commands)(binding.entry.command)).collect();
        let keys = own.iter().flat_map(|binding| &binding.keys).eq(self.keys);
        let direct = own.iter().flat_map(|binding| &binding.direct).eq(self.direct);
        keys && direct && own.len() == self.keys.len()
    }

    fn row(&self, binding: &Binding) -> Row {
        let direct = if self.direct.is_empty() { vec![] } else { vec![self.shown_direct.to_owned()] };
        Row {
            entry: binding.entry,
            commands: vec![binding.entry.command],
            first: self.shown.into(),
            keys: vec![self.shown.into()],
            direct,
            hint: self.hint,
            help: self.help,
        }
    }
}
