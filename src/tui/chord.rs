//! A key with what is held: how it is written in settings, shown on screen and compared with what arrives.

use std::fmt;
use std::str::FromStr;

use crate::wire::input::{Key, KeyCode, Mods};

/// One key with modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    /// Which key.
    pub code: KeyCode,
    /// With Ctrl.
    pub ctrl: bool,
    /// With Alt.
    pub alt: bool,
    /// With Shift; always `false` for a character, which says so itself.
    pub shift: bool,
}

/// Why a text is not a chord.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a key: write for example `ctrl-space`, `ctrl-b`, `alt-1`, `f12`")]
pub struct BadChord(pub String);

impl Chord {
    /// A plain character.
    #[must_use]
    pub const fn char(c: char) -> Self {
        Self { code: KeyCode::Char(c), ctrl: false, alt: false, shift: false }
    }

    /// A character with Ctrl.
    #[must_use]
    pub const fn ctrl(c: char) -> Self {
        Self { code: KeyCode::Char(c), ctrl: true, alt: false, shift: false }
    }

    /// A character with Alt.
    #[must_use]
    pub const fn alt(c: char) -> Self {
        Self { code: KeyCode::Char(c), ctrl: false, alt: true, shift: false }
    }

    /// A key that is no character.
    #[must_use]
    pub const fn key(code: KeyCode) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    /// The chord that a key event is.
    #[must_use]
    pub fn of(key: &Key) -> Self {
        let held = |bit| key.mods.has(bit);
        Self { code: key.code, ctrl: held(Mods::CTRL), alt: held(Mods::ALT), shift: held(Mods::SHIFT) }.canonical()
    }

    /// The one form of chords that terminals do not tell apart: Ctrl-@ and Ctrl-` are Ctrl-Space, Ctrl-I is Tab, Ctrl-M
    /// Enter, Ctrl-[ Esc, Ctrl-/ is Ctrl-_, and letters with Ctrl are small.
    fn canonical(self) -> Self {
        let Self { code, ctrl, alt, shift } = self;
        let plain = |code| Self { code, ctrl: false, alt, shift };
        match code {
            KeyCode::Char('@' | '`' | ' ') if ctrl => Self { ctrl, alt, ..Self::char(' ') },
            KeyCode::Char('\0') => Self { ctrl: true, alt, ..Self::char(' ') },
            KeyCode::Char('i' | 'I') if ctrl => plain(KeyCode::Tab).canonical(),
            KeyCode::Char('m' | 'M') if ctrl => plain(KeyCode::Enter),
            KeyCode::Char('[') if ctrl => plain(KeyCode::Esc),
            KeyCode::Char('/') if ctrl => Self { ctrl, alt, ..Self::char('_') },
            KeyCode::Char(c) if ctrl => Self { ctrl, alt, ..Self::char(c.to_ascii_lowercase()) },
            KeyCode::Char(c) if shift => Self { alt, ..Self::char(upper(c)) },
            KeyCode::Tab if shift => Self { ctrl, alt, ..Self::key(KeyCode::BackTab) },
            KeyCode::BackTab => Self { shift: false, ..self },
            _ => self,
        }
    }

    /// The key event that this chord is, to send it into a terminal.
    #[must_use]
    pub fn to_key(self) -> Key {
        let mut mods = 0;
        for (held, bit) in [(self.shift, Mods::SHIFT), (self.alt, Mods::ALT), (self.ctrl, Mods::CTRL)] {
            if held {
                mods |= bit;
            }
        }
        Key { code: self.code, mods: Mods(mods), kind: crate::wire::input::KeyKind::Press }
    }
}

/// The capital of a letter that has one of one character.
fn upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

const NAMES: [(&str, &str, KeyCode); 15] = [
    ("space", "Space", KeyCode::Char(' ')),
    ("enter", "Enter", KeyCode::Enter),
    ("tab", "Tab", KeyCode::Tab),
    ("backspace", "Backspace", KeyCode::Backspace),
    ("esc", "Esc", KeyCode::Esc),
    ("up", "Up", KeyCode::Up),
    ("down", "Down", KeyCode::Down),
    ("left", "Left", KeyCode::Left),
    ("right", "Right", KeyCode::Right),
    ("home", "Home", KeyCode::Home),
    ("end", "End", KeyCode::End),
    ("pageup", "PageUp", KeyCode::PageUp),
    ("pagedown", "PageDown", KeyCode::PageDown),
    ("insert", "Insert", KeyCode::Insert),
    ("delete", "Delete", KeyCode::Delete),
];

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for (held, name) in [(self.ctrl, "Ctrl-"), (self.alt, "Alt-"), (self.shift, "Shift-")] {
            if held {
                text.push_str(name);
            }
        }
        match (NAMES.iter().find(|(_, _, code)| *code == self.code), self.code) {
            (Some((_, shown, _)), _) => text.push_str(shown),
            (None, KeyCode::Char(c)) if self.ctrl => text.extend(c.to_uppercase()),
            (None, KeyCode::Char(c)) => text.push(c),
            (None, KeyCode::F(n)) => text.extend(["F", &n.to_string()]),
            (None, KeyCode::BackTab) => text.push_str("Shift-Tab"),
            (None, _) => text.push('?'),
        }
        f.pad(&text)
    }
}

impl FromStr for Chord {
    type Err = BadChord;

    fn from_str(text: &str) -> Result<Self, BadChord> {
        let bad = || BadChord(text.chars().take(40).collect());
        let mut chord = Self::char(' ');
        let mut rest = text.trim();
        loop {
            let lower = rest.to_ascii_lowercase();
            let cut = ["ctrl-", "ctrl+", "c-", "alt-", "alt+", "m-", "shift-", "shift+"]
                .iter()
                .find(|start| lower.starts_with(**start) && lower.len() > start.len());
            match cut {
                Some(start) if start.starts_with('c') => chord.ctrl = true,
                Some(start) if start.starts_with('s') => chord.shift = true,
                Some(_) => chord.alt = true,
                None => break,
            }
            rest = rest.get(cut.map_or(0, |start| start.len())..).unwrap_or_default();
        }
        let lower = rest.to_ascii_lowercase();
        let mut chars = rest.chars();
        chord.code = match (NAMES.iter().find(|(name, _, _)| *name == lower), chars.next(), chars.next()) {
            (Some((_, _, code)), _, _) => *code,
            (None, Some(c), None) if chord.ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            (None, Some(c), None) if !c.is_control() => KeyCode::Char(c),
            (None, Some('f' | 'F'), Some(_)) => {
                let number = lower.trim_start_matches('f').parse::<u8>().map_err(|_| bad())?;
                if (1..=35).contains(&number) { KeyCode::F(number) } else { return Err(bad()) }
            }
            _ => return Err(bad()),
        };
        Ok(chord.canonical())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::input::KeyKind;

    #[test]
    fn what_is_shown_reads_back() {
        for text in ["Ctrl-Space", "Alt-1", "Ctrl-B", "F12", "?", "Ctrl-Alt-Left", "-", "Shift-Home"] {
            let chord: Chord = text.parse().unwrap();
            assert_eq!(chord.to_string(), text);
        }
        for text in ["", "ctrl-", "hello", "f99", "f0"] {
            assert!(text.parse::<Chord>().is_err(), "{text}");
        }
    }

    #[test]
    fn chords_that_terminals_do_not_tell_apart_are_one() {
        let same = [
            ("ctrl-i", "Tab"),
            ("ctrl-shift-i", "Shift-Tab"),
            ("shift-tab", "Shift-Tab"),
            ("ctrl-m", "Enter"),
            ("ctrl-[", "Esc"),
            ("ctrl-@", "Ctrl-Space"),
            ("ctrl-/", "Ctrl-_"),
            ("ctrl-N", "Ctrl-N"),
            ("alt-shift-n", "Alt-N"),
            ("alt-N", "Alt-N"),
        ];
        for (written, shown) in same {
            let chord: Chord = written.parse().unwrap();
            assert_eq!(chord.to_string(), shown, "{written}");
            assert_eq!(shown.parse(), Ok(chord), "{shown}");
        }
        let alt_n = Key { code: KeyCode::Char('n'), mods: Mods(Mods::ALT | Mods::SHIFT), kind: KeyKind::Press };
        assert_eq!(Chord::of(&alt_n), Chord::alt('N'), "as the kitty protocol has it");
    }

    #[test]
    fn every_way_to_send_ctrl_space_is_the_same_chord() {
        let wanted: Chord = "ctrl-space".parse().unwrap();
        for (c, mods) in [('@', Mods::CTRL), (' ', Mods::CTRL), ('`', Mods::CTRL), ('\0', 0)] {
            let key = Key { code: KeyCode::Char(c), mods: Mods(mods), kind: KeyKind::Press };
            assert_eq!(Chord::of(&key), wanted, "{c:?}");
        }
        assert_eq!(Chord::of(&wanted.to_key()), wanted);
    }
}
