//! Text and control characters of the outer terminal.

use crate::wire::input::{Key, KeyCode, KeyKind, Mods};

use super::outer::Outer;

/// A key pressed without modifiers.
pub(super) const fn press(code: KeyCode) -> Key {
    Key { code, mods: Mods(0), kind: KeyKind::Press }
}

/// Text and control characters in front of the next ESC; how many bytes they took, 0: wait.
pub(super) fn read(bytes: &[u8], out: &mut Vec<Outer>) -> usize {
    let mut text = String::new();
    let mut at = 0;
    let mut waits = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            0x20..=0x7e => {
                text.push(char::from(byte));
                at += 1;
            }
            0x80.. => match character(&bytes[at..]) {
                Ok((c, len)) => {
                    if !c.is_control() {
                        text.push(c);
                    }
                    at += len;
                }
                Err(0) => {
                    waits = true;
                    break;
                }
                Err(skip) => at += skip,
            },
            _ => break,
        }
    }
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(_), Some(_)) => out.push(Outer::Text(text)),
        (Some(c), None) => out.push(Outer::Key(press(KeyCode::Char(c)))),
        _ => {}
    }
    match bytes.get(at) {
        Some(&byte) if at == 0 && !waits => {
            out.push(Outer::Key(single(byte)));
            1
        }
        _ => at,
    }
}

/// The key of one ASCII byte.
pub(super) fn single(byte: u8) -> Key {
    let ctrl = |c: char| Key { mods: Mods(Mods::CTRL), ..press(KeyCode::Char(c)) };
    match byte {
        0x00 => ctrl(' '),
        0x09 => press(KeyCode::Tab),
        0x0d => press(KeyCode::Enter),
        0x1b => press(KeyCode::Esc),
        0x01..=0x1a => ctrl(char::from(byte + 0x60)),
        0x1c => ctrl('\\'),
        0x1d => ctrl(']'),
        0x1e => ctrl('^'),
        0x1f => ctrl('_'),
        0x7f => press(KeyCode::Backspace),
        _ => press(KeyCode::Char(char::from(byte))),
    }
}

/// The character at the start of `bytes` and its length; or how many bytes are none, 0 when its end has not come yet.
pub(super) fn character(bytes: &[u8]) -> Result<(char, usize), usize> {
    let window = &bytes[..bytes.len().min(4)];
    let (text, bad) = match std::str::from_utf8(window) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default();
            (valid, Some(error.error_len().unwrap_or(0)))
        }
    };
    match (text.chars().next(), bad) {
        (Some(c), _) => Ok((c, c.len_utf8())),
        (None, Some(len)) => Err(len),
        (None, None) => Err(1),
    }
}
