//! Numbers and letters of the keys that are not characters, shared by encoding and decoding.

use crate::wire::input::KeyCode;

/// How a key is written in CSI sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `CSI 1 ; mods LETTER`.
    Letter(u8),
    /// `CSI NUMBER ; mods ~`.
    Tilde(u32),
    /// `CSI NUMBER ; mods u`.
    Unicode(u32),
}

/// Number of F13 in the kitty protocol; the others follow it.
const F13: u32 = 57376;

/// Keys of the keypad in the kitty protocol (0 to 9 first), with the letter of their SS3 form and what they type.
pub(super) const KEYPAD: [(u32, u8, u8); 17] = [
    (57399, b'p', b'0'),
    (57400, b'q', b'1'),
    (57401, b'r', b'2'),
    (57402, b's', b'3'),
    (57403, b't', b'4'),
    (57404, b'u', b'5'),
    (57405, b'v', b'6'),
    (57406, b'w', b'7'),
    (57407, b'x', b'8'),
    (57408, b'y', b'9'),
    (57409, b'n', b'.'),
    (57410, b'o', b'/'),
    (57411, b'j', b'*'),
    (57412, b'm', b'-'),
    (57413, b'k', b'+'),
    (57414, b'M', b'\r'),
    (57415, b'X', b'='),
];

/// Keys of the keypad that move, and the key that they equal: 57417 and up, in this order.
pub(super) const KEYPAD_MOVES: [KeyCode; 10] = [
    KeyCode::Left,
    KeyCode::Right,
    KeyCode::Up,
    KeyCode::Down,
    KeyCode::PageUp,
    KeyCode::PageDown,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::Insert,
    KeyCode::Delete,
];

/// Number of the first of [`KEYPAD_MOVES`].
pub(super) const KEYPAD_FIRST_MOVE: u32 = 57417;

/// The kitty form of a key that is not a character.
pub(super) fn form(code: KeyCode) -> Option<Form> {
    Some(match code {
        KeyCode::Esc => Form::Unicode(27),
        KeyCode::Enter => Form::Unicode(13),
        KeyCode::Tab | KeyCode::BackTab => Form::Unicode(9),
        KeyCode::Backspace => Form::Unicode(127),
        KeyCode::Insert => Form::Tilde(2),
        KeyCode::Delete => Form::Tilde(3),
        KeyCode::PageUp => Form::Tilde(5),
        KeyCode::PageDown => Form::Tilde(6),
        KeyCode::Up => Form::Letter(b'A'),
        KeyCode::Down => Form::Letter(b'B'),
        KeyCode::Right => Form::Letter(b'C'),
        KeyCode::Left => Form::Letter(b'D'),
        KeyCode::End => Form::Letter(b'F'),
        KeyCode::Home => Form::Letter(b'H'),
        KeyCode::F(1) => Form::Letter(b'P'),
        KeyCode::F(2) => Form::Letter(b'Q'),
        KeyCode::F(3) => Form::Tilde(13),
        KeyCode::F(4) => Form::Letter(b'S'),
        KeyCode::F(5) => Form::Tilde(15),
        KeyCode::F(n @ 6..=10) => Form::Tilde(u32::from(n) + 11),
        KeyCode::F(n @ 11..=12) => Form::Tilde(u32::from(n) + 12),
        KeyCode::F(n @ 13..=35) => Form::Unicode(F13 + u32::from(n) - 13),
        KeyCode::Char(_) | KeyCode::F(_) => return None,
        KeyCode::Other(number) => Form::Unicode(number),
    })
}

/// The key of a final letter.
pub(super) fn by_letter(letter: u8) -> Option<KeyCode> {
    Some(match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'E' => KeyCode::Other(57427),
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'R' => KeyCode::F(3),
        b'S' => KeyCode::F(4),
        b'Z' => KeyCode::BackTab,
        _ => return None,
    })
}

/// The key of a number before a tilde.
pub(super) fn by_tilde(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => function(number - 10)?,
        17..=21 => function(number - 11)?,
        23..=26 => function(number - 12)?,
        28 | 29 => function(number - 13)?,
        31..=34 => function(number - 14)?,
        57427 => KeyCode::Other(57427),
        _ => return None,
    })
}

/// The key of a number before `u`, or of a code of modifyOtherKeys.
pub(super) fn by_unicode(number: u32) -> Option<KeyCode> {
    Some(match number {
        27 => KeyCode::Esc,
        10 | 13 => KeyCode::Enter,
        9 => KeyCode::Tab,
        8 | 127 => KeyCode::Backspace,
        57376..=57398 => function(number - F13 + 13)?,
        57344..=63743 => KeyCode::Other(number),
        _ => KeyCode::Char(char::from_u32(number).filter(|c| !c.is_control())?),
    })
}

fn function(number: u32) -> Option<KeyCode> {
    u8::try_from(number).ok().map(KeyCode::F)
}
