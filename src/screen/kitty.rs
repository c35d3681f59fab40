//! Keys in the kitty keyboard protocol.

use crate::wire::input::{Key, KeyCode, KeyKind, Mods};

use super::keytable::{self, Form};
use super::legacy;
use super::modes::InputModes;

/// Flag: repeats and releases are reported.
const EVENT_TYPES: u8 = 2;

/// Flag: the shifted character is reported as well.
const ALTERNATE_KEYS: u8 = 4;

/// Flag: every key is an escape sequence.
pub(super) const ALL_KEYS: u8 = 8;

/// Flag: such a sequence has the text of the key.
const TEXT: u8 = 16;

/// The bytes of a key for a program that set any flag.
pub(super) fn key(key: &Key, modes: &InputModes) -> Vec<u8> {
    let flags = modes.kitty;
    let all = flags & ALL_KEYS != 0;
    let key = normal(key);
    let plain = key.mods.0 == 0;
    if key.kind == KeyKind::Release {
        let silent = matches!(key.code, KeyCode::Enter | KeyCode::Tab | KeyCode::Backspace);
        if flags & EVENT_TYPES == 0 || (silent && !all) {
            return Vec::new();
        }
    } else if !all {
        match key.code {
            KeyCode::Char(c) if plain || key.mods.0 == Mods::SHIFT => return utf8(shifted(c, key.mods)),
            KeyCode::Enter | KeyCode::Tab | KeyCode::Backspace if plain => {
                return legacy::key(&Key { kind: KeyKind::Press, ..key }, modes);
            }
            // Only these flags, without telling keys apart: as ever, but for what has an event to report.
            _ if flags & 1 == 0 && key.kind == KeyKind::Press => return legacy::key(&key, modes),
            _ => {}
        }
    }
    match key.code {
        KeyCode::Char(c) => {
            let mut number = u32::from(c).to_string();
            let upper = shifted(c, key.mods);
            if flags & ALTERNATE_KEYS != 0 && upper != c {
                number = format!("{number}:{}", u32::from(upper));
            }
            let typed = flags & TEXT != 0 && all && key.kind != KeyKind::Release && key.mods.0 & !Mods::SHIFT == 0;
            write(&number, &key, flags, typed.then_some(upper), 'u')
        }
        code => match keytable::form(code) {
            Some(Form::Letter(letter)) => write("1", &key, flags, None, char::from(letter)),
            Some(Form::Tilde(number)) => write(&number.to_string(), &key, flags, None, '~'),
            Some(Form::Unicode(number)) => write(&number.to_string(), &key, flags, None, 'u'),
            None => Vec::new(),
        },
    }
}

/// Characters by their unshifted key, Shift+Tab as Tab with Shift.
fn normal(key: &Key) -> Key {
    match key.code {
        KeyCode::BackTab => Key { code: KeyCode::Tab, mods: Mods(key.mods.0 | Mods::SHIFT), ..*key },
        KeyCode::Char(c) if c.is_uppercase() => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(small), None) => Key { code: KeyCode::Char(small), mods: Mods(key.mods.0 | Mods::SHIFT), ..*key },
                _ => *key,
            }
        }
        _ => *key,
    }
}

/// The character that the key types with these modifiers, as far as it is known without the layout.
fn shifted(c: char, mods: Mods) -> char {
    if mods.has(Mods::SHIFT) { legacy::upper(c) } else { c }
}

fn utf8(c: char) -> Vec<u8> {
    c.encode_utf8(&mut [0; 4]).as_bytes().to_vec()
}

fn write(number: &str, key: &Key, flags: u8, text: Option<char>, last: char) -> Vec<u8> {
    let event = match key.kind {
        KeyKind::Press => None,
        _ if flags & EVENT_TYPES == 0 => None,
        KeyKind::Repeat => Some(2),
        KeyKind::Release => Some(3),
    };
    let mods = u32::from(key.mods.0) + 1;
    let middle = match (mods, event) {
        (1, None) => String::new(),
        (mods, None) => mods.to_string(),
        (mods, Some(event)) => format!("{mods}:{event}"),
    };
    let text = text.map(|c| format!(";{middle};{}", u32::from(c)));
    let rest = text.unwrap_or_else(|| if middle.is_empty() { String::new() } else { format!(";{middle}") });
    // A letter alone needs no number in front.
    let number = if rest.is_empty() && number == "1" && last.is_ascii_uppercase() { "" } else { number };
    format!("\x1b[{number}{rest}{last}").into_bytes()
}
