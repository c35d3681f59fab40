//! Sequences of the outer terminal: what begins with ESC, as far as its length goes.

use crate::wire::input::{Key, KeyCode, Mods};

use super::decode_csi;
use super::decode_plain::{self, press};
use super::keytable;
use super::outer::{Outer, Reply};

/// Longest CSI sequence waited for, in bytes; kitty's longest key with text is a third of it.
const MAX_CSI_BYTES: usize = 256;

/// What was found at the start of the buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// This many bytes mean this; nothing, when they are to be dropped.
    Item(usize, Option<Outer>),
    /// The rest has not come yet.
    Wait,
}

/// Everything that begins with ESC.
pub(super) fn read(bytes: &[u8]) -> Found {
    let Some(&second) = bytes.get(1) else { return Found::Wait };
    match second {
        b'[' => csi(bytes),
        b'O' => single_shift(bytes),
        b']' | b'P' | b'_' | b'^' => string(bytes, second),
        // The end of a string that was given up.
        b'\\' if bytes.len() == 2 => Found::Item(2, Some(Outer::Key(alt(KeyCode::Char('\\'))))),
        0x1b => match read(&bytes[1..]) {
            // Terminals that put ESC in front of a key's sequence for Alt do so for the arrows.
            Found::Item(used, Some(Outer::Key(key))) if is_arrow(key.code) && key.mods.0 == 0 => {
                Found::Item(used + 1, Some(Outer::Key(Key { mods: Mods(Mods::ALT), ..key })))
            }
            Found::Wait if bytes.len() == 2 => Found::Wait,
            _ => Found::Item(1, Some(Outer::Key(press(KeyCode::Esc)))),
        },
        0x00..=0x7f => {
            let key = decode_plain::single(second);
            Found::Item(2, Some(Outer::Key(Key { mods: Mods(key.mods.0 | Mods::ALT), ..key })))
        }
        _ => match decode_plain::character(&bytes[1..]) {
            Ok((c, len)) => Found::Item(1 + len, Some(Outer::Key(alt(KeyCode::Char(c))))),
            Err(0) => Found::Wait,
            Err(skip) => Found::Item(1 + skip, None),
        },
    }
}

fn alt(code: KeyCode) -> Key {
    Key { mods: Mods(Mods::ALT), ..press(code) }
}

const fn is_arrow(code: KeyCode) -> bool {
    matches!(code, KeyCode::Up | KeyCode::Down | KeyCode::Left | KeyCode::Right)
}

fn csi(bytes: &[u8]) -> Found {
    if let [_, _, b'M', rest @ ..] = bytes {
        // The old mouse form: three bytes follow, whatever they are.
        return match rest {
            [button, col, row, ..] => Found::Item(6, decode_csi::old_mouse(*button, *col, *row)),
            _ => Found::Wait,
        };
    }
    // The Linux console's F1 to F5.
    if let [_, _, b'[', rest @ ..] = bytes {
        return match rest.first() {
            Some(letter @ b'A'..=b'E') => Found::Item(4, Some(Outer::Key(press(KeyCode::F(letter - b'A' + 1))))),
            Some(_) => Found::Item(3, None),
            None => Found::Wait,
        };
    }
    let body = &bytes[2..];
    match body.iter().position(|b| !(0x20..=0x3f).contains(b)) {
        None if bytes.len() > MAX_CSI_BYTES => Found::Item(bytes.len(), None),
        None => Found::Wait,
        Some(at) if (0x40..=0x7e).contains(&body[at]) => Found::Item(at + 3, decode_csi::item(&bytes[..at + 3])),
        // Broken off: what broke it is read anew.
        Some(at) => Found::Item(at + 2, None),
    }
}

fn single_shift(bytes: &[u8]) -> Found {
    let digits = bytes[2..].iter().take(2).take_while(|b| b.is_ascii_digit()).count();
    let Some(&last) = bytes.get(2 + digits) else { return Found::Wait };
    let held = bytes[2..2 + digits].iter().fold(0, |n: u8, d| n.saturating_mul(10).saturating_add(d - b'0'));
    let keypad = keytable::KEYPAD.into_iter().find(|(_, letter, _)| *letter == last);
    let code = keytable::by_letter(last).or(keypad.map(|(number, ..)| KeyCode::Other(number)));
    match code {
        Some(code) => {
            let mods = Mods(held.saturating_sub(1) & decode_csi::REAL_MODS);
            Found::Item(3 + digits, Some(Outer::Key(Key { mods, ..press(code) })))
        }
        None => Found::Item(2, Some(Outer::Key(alt(KeyCode::Char('O'))))),
    }
}

/// OSC, DCS, APC and PM: replies, never keys.
fn string(bytes: &[u8], kind: u8) -> Found {
    let body = &bytes[2..];
    // A person's Alt and the introducer, with more keys behind it, do not look like the start of any reply.
    let starts = |first: &u8| match kind {
        b']' => first.is_ascii_digit() || matches!(first, b'l' | b'L' | b'I'),
        b'P' => first.is_ascii_digit() || matches!(first, b'>' | b'!' | b'$' | b'+' | b'='),
        _ => first.is_ascii_graphic(),
    };
    if body.first().is_some_and(|first| !starts(first)) {
        return Found::Item(2, Some(Outer::Key(alt(KeyCode::Char(char::from(kind))))));
    }
    let is_end = |b: &u8| matches!(b, 0x18 | 0x1a | 0x1b) || (*b == 0x07 && kind == b']');
    let Some(end) = body.iter().position(is_end) else { return Found::Wait };
    let used = match &body[end..] {
        [0x1b] => return Found::Wait,
        [0x1b, b'\\', ..] => end + 4,
        [0x1b, ..] => return Found::Item(end + 2, None),
        [0x07, ..] => end + 3,
        _ => return Found::Item(end + 3, None),
    };
    let payload = body[..end].to_vec();
    let reply = match kind {
        b']' => Reply::Osc(payload),
        b'P' => Reply::Dcs(payload),
        _ => Reply::Other(bytes[..used].to_vec()),
    };
    Found::Item(used, Some(Outer::Reply(reply)))
}
