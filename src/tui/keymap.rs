//! Every command of the screen, once: name, help text, keys. Help, hints and tests are made from this table.
//!
//! The prefix is Ctrl-Space unless the settings say otherwise: tmux (Ctrl-B), screen (Ctrl-A) and the agents' own line
//! editors do not use it, and it is one chord on every keyboard layout, where `]` or `\` need AltGr on many. The direct
//! chords are Alt-1 to Alt-9 only: Alt with arrows moves by word in every agent's composer.

use super::chord::Chord;
use crate::wire::input::{Key, KeyCode};

/// The prefix unless the settings say otherwise.
pub const DEFAULT_PREFIX: Chord = Chord::ctrl(' ');

/// Something a person can ask the screen to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// Opens the form for a new session.
    New,
    /// Next tab.
    Next,
    /// Previous tab.
    Previous,
    /// The tab that was chosen before.
    Last,
    /// The next tab that waits for a person.
    Waiting,
    /// Tab by number, from 1.
    Jump(u8),
    /// Resumes, retries, or asks an absent host again.
    Resume,
    /// Puts a failure away.
    Dismiss,
    /// Opens the form for a name.
    Rename,
    /// Ends a session for good.
    Kill,
    /// Leaves; everything goes on.
    Detach,
    /// Ends host and agents.
    Quit,
    /// Draws everything anew.
    Redraw,
    /// Shows all keys.
    Help,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it does.
    pub command: Command,
    /// Its name in settings.
    pub name: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// Two or three words for the hint after the prefix.
    pub hint: &'static str,
    /// Keys after the prefix; the first is shown.
    pub keys: &'static [Chord],
    /// Chords that work without the prefix.
    pub direct: &'static [Chord],
}

const fn row(
    command: Command,
    name: &'static str,
    hint: &'static str,
    help: &'static str,
    keys: &'static [Chord],
) -> Entry {
    Entry { command, name, help, hint, keys, direct: &[] }
}

macro_rules! jump {
    ($n:literal, $c:literal) => {
        Entry {
            command: Command::Jump($n),
            name: concat!("tab-", $n),
            help: concat!("Go to tab ", $n),
            hint: concat!("tab ", $n),
            keys: &[Chord::char($c)],
            direct: &[Chord::alt($c)],
        }
    };
}

/// The table, in the order in which help shows it.
pub const TABLE: &[Entry] = &[
    row(Command::New, "new", "new", "Start a new session", &[Chord::char('c')]),
    row(
        Command::Next,
        "next",
        "next",
        "Go to the next tab",
        &[Chord::char('n'), Chord::key(KeyCode::Right), Chord::key(KeyCode::Tab)],
    ),
    row(
        Command::Previous,
        "previous",
        "previous",
        "Go to the previous tab",
        &[Chord::char('p'), Chord::key(KeyCode::Left), Chord::key(KeyCode::BackTab)],
    ),
    row(Command::Last, "last", "last", "Go back to the tab chosen before", &[Chord::char('l')]),
    row(Command::Waiting, "waiting", "next waiting", "Go to the next tab that waits for you", &[Chord::char('a')]),
    jump!(1, '1'),
    jump!(2, '2'),
    jump!(3, '3'),
    jump!(4, '4'),
    jump!(5, '5'),
    jump!(6, '6'),
    jump!(7, '7'),
    jump!(8, '8'),
    jump!(9, '9'),
    row(Command::Resume, "resume", "resume", "Resume this session, or retry what failed", &[Chord::char('r')]),
    row(Command::Dismiss, "dismiss", "dismiss", "Put this failure away", &[Chord::char('i')]),
    row(Command::Rename, "rename", "rename", "Give this session another name", &[Chord::char(',')]),
    row(Command::Kill, "kill", "kill", "End this session for good (asks first)", &[Chord::char('x'), Chord::char('&')]),
    row(Command::Detach, "detach", "detach", "Leave; every session goes on", &[Chord::char('d')]),
    row(
        Command::Quit,
        "quit",
        "quit all",
        "Stop host and agents until the next start (asks first)",
        &[Chord::char('q')],
    ),
    row(Command::Redraw, "redraw", "redraw", "Draw the screen anew", &[Chord::ctrl('l')]),
    row(Command::Help, "help", "help", "Show all keys", &[Chord::char('?'), Chord::char('h')]),
];

/// The rows as people see them: the key, and the nine tabs as one.
pub fn shown() -> impl Iterator<Item = (String, &'static Entry)> {
    TABLE.iter().filter_map(|entry| match entry.command {
        Command::Jump(1) => Some(("1-9".to_owned(), entry)),
        Command::Jump(_) => None,
        _ => Some((entry.keys.first().map_or(String::new(), ToString::to_string), entry)),
    })
}

/// How many lines help has: the rows, sending the prefix, how to read it.
#[must_use]
pub fn help_lines() -> usize {
    shown().count() + 2
}

/// The row of a command.
#[must_use]
pub fn entry(command: Command) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.command == command)
}

/// What a key does after the prefix.
#[must_use]
pub fn after_prefix(key: &Key) -> Option<Command> {
    let chord = Chord::of(key);
    TABLE.iter().find(|entry| entry.keys.contains(&chord)).map(|entry| entry.command)
}

/// What a key does without the prefix.
#[must_use]
pub fn direct(key: &Key) -> Option<Command> {
    let chord = Chord::of(key);
    TABLE.iter().find(|entry| entry.direct.contains(&chord)).map(|entry| entry.command)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_command_has_a_name_a_help_text_and_a_key() {
        for entry in TABLE {
            assert!(!entry.keys.is_empty(), "{} has no key", entry.name);
            assert!(entry.help.len() > 8 && !entry.help.ends_with('.'), "{}: {}", entry.name, entry.help);
            assert!(!entry.hint.is_empty() && entry.hint.len() <= 12, "{}", entry.name);
        }
        let names: HashSet<_> = TABLE.iter().map(|entry| entry.name).collect();
        let commands: HashSet<_> = TABLE.iter().map(|entry| entry.command).collect();
        assert_eq!((names.len(), commands.len()), (TABLE.len(), TABLE.len()));
    }

    #[test]
    fn no_key_means_two_things() {
        let mut keys = HashSet::new();
        let mut direct = HashSet::new();
        for entry in TABLE {
            for chord in entry.keys {
                assert!(keys.insert(*chord), "{chord} is bound twice after the prefix");
                assert_ne!(*chord, DEFAULT_PREFIX, "the prefix pressed twice sends it");
            }
            for chord in entry.direct {
                assert!(direct.insert(*chord), "{chord} is bound twice");
                assert_ne!(*chord, DEFAULT_PREFIX);
            }
        }
    }

    #[test]
    fn german_and_czech_keyboards_can_type_every_shown_key() {
        // What needs AltGr on either: @ [ ] { } \ | ~ # $ ^ ` and, on Czech, & * as well.
        let hard = "@[]{}\\|~#$^`&*<>";
        for entry in TABLE {
            let shown = entry.keys[0];
            assert!(!matches!(shown.code, KeyCode::Char(c) if hard.contains(c)), "{}", entry.name);
        }
    }

    #[test]
    fn a_key_is_looked_up_as_it_arrives() {
        let key = |chord: Chord| chord.to_key();
        assert_eq!(after_prefix(&key(Chord::char('c'))), Some(Command::New));
        assert_eq!(after_prefix(&key(Chord::char('C'))), None);
        assert_eq!(direct(&key(Chord::alt('7'))), Some(Command::Jump(7)));
        assert_eq!(direct(&key(Chord::char('7'))), None);
    }
}
