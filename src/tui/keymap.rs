//! The keys: which command a key means, from the defaults in `assets/keymap.toml` and the person's `[keys]`. Hint, help,
//! documentation and tests are made from this.
//!
//! The prefix is Ctrl-Space unless the settings say otherwise: tmux (Ctrl-B), screen (Ctrl-A) and the agents' own line
//! editors do not use it, and it is one chord on every keyboard layout, where `]` or `\` need AltGr on many.

mod mistake;
mod rows;
mod table;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::chord::Chord;
use crate::config::settings::{Bindings, Keys};
use crate::wire::input::{Key, KeyCode};

pub use mistake::Mistake;
pub use rows::{Binding, Row};
pub use table::{Command, Entry, Group, OFTEN, TABLE};

/// The prefix unless the settings say otherwise.
pub const DEFAULT_PREFIX: Chord = Chord::ctrl(' ');

/// The default keys.
const DEFAULTS: &str = include_str!("../../assets/keymap.toml");

/// The two tables of keys, as settings and defaults write them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    after_prefix: Bindings,
    direct: Bindings,
}

/// Which key means what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    prefix: Chord,
    /// One for each row of the table, in its order.
    bindings: Vec<Binding>,
}

impl Keymap {
    /// The default keys.
    #[must_use]
    pub fn builtin() -> Self {
        // The file is part of the program, and a test reads it.
        Self::with(&Keys::default()).unwrap_or(Self { prefix: DEFAULT_PREFIX, bindings: vec![] })
    }

    /// The default keys with the person's laid over them, command by command.
    ///
    /// # Errors
    /// [`Mistake`]: an unknown command, a text that is no key, a key with two meanings, a key that a terminal needs.
    pub fn with(own: &Keys) -> Result<Self, Mistake> {
        let defaults: Tables = toml::from_str(DEFAULTS)
            .map_err(|error| Mistake { path: vec!["keys".into()], message: format!("the defaults: {error}") })?;
        let prefix = prefix(&own.prefix)?;
        let after = Half::new("after_prefix", &own.after_prefix, &defaults.after_prefix)?;
        let direct = Half::new("direct", &own.direct, &defaults.direct)?;
        for half in [&after, &direct] {
            half.check(prefix)?;
        }
        let bindings = TABLE
            .iter()
            .map(|entry| Binding { entry, keys: after.of(entry.name), direct: direct.of(entry.name) })
            .collect();
        Ok(Self { prefix, bindings })
    }

    /// The prefix.
    #[must_use]
    pub const fn prefix(&self) -> Chord {
        self.prefix
    }

    /// The keys of each command, in the order of the table.
    #[must_use]
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// What a key does after the prefix.
    #[must_use]
    pub fn after_prefix(&self, key: &Key) -> Option<Command> {
        let chord = Chord::of(key);
        self.bindings.iter().find(|binding| binding.keys.contains(&chord)).map(|binding| binding.entry.command)
    }

    /// What a key does without the prefix.
    #[must_use]
    pub fn direct(&self, key: &Key) -> Option<Command> {
        let chord = Chord::of(key);
        self.bindings.iter().find(|binding| binding.direct.contains(&chord)).map(|binding| binding.entry.command)
    }

    /// The first key of a command after the prefix.
    #[must_use]
    pub fn first(&self, command: Command) -> Option<Chord> {
        self.binding(command).and_then(|binding| binding.keys.first()).copied()
    }

    /// How a person says a command, in words for a sentence: the prefix and its first key, or its first direct chord;
    /// `None` when it has no key.
    #[must_use]
    pub fn spoken(&self, command: Command) -> Option<String> {
        let after = self.first(command).map(|key| format!("{} {key}", self.prefix));
        after.or_else(|| self.binding(command)?.direct.first().map(ToString::to_string))
    }

    /// The key of a command while a banner offers it and takes keys alone: its first key after the prefix if that is a
    /// plain character, else the one that it has by default. A new session is `n`, as its banner says.
    #[must_use]
    pub fn banner(&self, command: Command) -> Chord {
        let own =
            self.first(command).filter(|chord| matches!(chord.code, KeyCode::Char(_)) && !chord.ctrl && !chord.alt);
        match command {
            Command::New => Chord::char('n'),
            Command::Dismiss => own.unwrap_or(Chord::char('i')),
            _ => own.unwrap_or(Chord::char('r')),
        }
    }

    /// The commands with their keys as people see them, in the order of the table.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        rows::rows(&self.bindings)
    }

    /// The same for the hint after the prefix: what has a key there, most wanted first.
    #[must_use]
    pub fn hints(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.rows().into_iter().filter(|row| !row.first.is_empty()).collect();
        rows.sort_by_key(|row| OFTEN.iter().position(|often| *often == row.entry.command).unwrap_or(OFTEN.len()));
        rows
    }

    fn binding(&self, command: Command) -> Option<&Binding> {
        self.bindings.iter().find(|binding| binding.entry.command == command)
    }
}

/// One of the two tables, read.
struct Half {
    table: &'static str,
    /// Command, its keys, whether the person wrote them; in the order of [`TABLE`].
    keys: Vec<(&'static str, Vec<Chord>, bool)>,
}

impl Half {
    fn new(table: &'static str, own: &Bindings, defaults: &Bindings) -> Result<Self, Mistake> {
        if let Some(name) = own.keys().find(|name| Command::named(name).is_none()) {
            return Err(Mistake { path: path(table, name), message: unknown(name) });
        }
        let nothing = vec![];
        let mut keys = vec![];
        for entry in TABLE {
            let (texts, written) = match own.get(entry.name) {
                Some(texts) => (texts, true),
                None => (defaults.get(entry.name).unwrap_or(&nothing), false),
            };
            let mut chords = vec![];
            for text in texts {
                let bad = |error: super::chord::BadChord| Mistake {
                    path: path(table, entry.name),
                    message: error.to_string(),
                };
                let chord = text.parse().map_err(bad)?;
                if !chords.contains(&chord) {
                    chords.push(chord);
                }
            }
            keys.push((entry.name, chords, written));
        }
        Ok(Self { table, keys })
    }

    fn of(&self, name: &str) -> Vec<Chord> {
        self.keys.iter().find(|(n, ..)| *n == name).map(|(_, chords, _)| chords.clone()).unwrap_or_default()
    }

    /// Refuses keys that mean two things, and those that must stay what they are.
    fn check(&self, prefix: Chord) -> Result<(), Mistake> {
        let mut seen: BTreeMap<String, (&str, bool)> = BTreeMap::new();
        for (name, chords, written) in &self.keys {
            let mistake = |message| Err(Mistake { path: path(self.table, name), message });
            for chord in chords {
                if *chord == prefix && *written {
                    return mistake(format!("{chord} is the prefix, and pressed twice it sends itself"));
                }
                if *chord == prefix {
                    let message = format!("{chord} is a key of `{name}` by default: {}", elsewhere(self.table, name));
                    return Err(Mistake { path: vec!["keys".into(), "prefix".into()], message });
                }
                if self.table == "direct" && needed(*chord) {
                    return mistake(format!("programs in a terminal need {chord}; bind it under `keys.after_prefix`"));
                }
                if self.table == "after_prefix" && *chord == Chord::key(KeyCode::Esc) {
                    return mistake(format!("{chord} takes the prefix back"));
                }
                let Some((other, theirs)) = seen.insert(chord.to_string(), (name, *written)) else { continue };
                let (blamed, second, default) = if *written { (*name, other, !theirs) } else { (other, *name, true) };
                let message = if default {
                    format!("{chord} is a key of `{second}` by default: {}", elsewhere(self.table, second))
                } else {
                    format!("{chord} is a key of `{second}` too: a key does one thing")
                };
                return Err(Mistake { path: path(self.table, blamed), message });
            }
        }
        Ok(())
    }
}

fn path(table: &str, name: &str) -> Vec<String> {
    vec!["keys".into(), table.into(), name.into()]
}

/// What to do with a command whose default key is wanted for another one.
fn elsewhere(table: &str, name: &str) -> String {
    format!("give that one other keys, as in `keys.{table}.{name} = [\"f12\"]`, or none with `[]`")
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
    match crate::config::nearest(name, &names) {
        Some(near) => format!("there is no command `{name}`; did you mean `{near}`?"),
        None => format!("there is no command `{name}`; the commands are: {}", names.join(", ")),
    }
}

fn prefix(text: &str) -> Result<Chord, Mistake> {
    let wrong = |message| Mistake { path: vec!["keys".into(), "prefix".into()], message };
    let chord: Chord = text.parse().map_err(|error: super::chord::BadChord| wrong(error.to_string()))?;
    // A prefix still reaches the program, pressed twice: these two are worth it to who comes from `screen`.
    let habit = chord == Chord::ctrl('z') || chord == Chord::ctrl('j');
    if needed(chord) && !habit {
        return Err(wrong(format!("programs in a terminal need {chord}; write for example `ctrl-space` or `ctrl-b`")));
    }
    Ok(chord)
}

/// Keys that programs in a terminal cannot do without, whatever they are.
fn needed(chord: Chord) -> bool {
    match chord.code {
        KeyCode::F(_) => false,
        KeyCode::Char(c) if chord.ctrl => !chord.alt && matches!(c, 'c' | 'd' | 'h' | 'j' | 'z'),
        KeyCode::Char(_) | KeyCode::BackTab => !chord.alt,
        // Newlines of the agents' composers.
        KeyCode::Enter => true,
        _ => !chord.ctrl && !chord.alt && !chord.shift,
    }
}

#[cfg(test)]
mod layouts;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod written;
