//! Keys as terminals have always sent them, and with xterm's modifyOtherKeys.

use crate::wire::input::{Key, KeyCode, KeyKind, Mods};

use super::keytable::{self, Form};
use super::modes::InputModes;

/// Modifiers that the old forms can say.
const SAYABLE: u8 = Mods::SHIFT | Mods::ALT | Mods::CTRL;

/// Meta, which means the same as Alt here.
const META: u8 = 32;

/// The bytes of a key for a program without the kitty protocol.
pub(super) fn key(key: &Key, modes: &InputModes) -> Vec<u8> {
    if key.kind == KeyKind::Release {
        return Vec::new();
    }
    let mods = if key.mods.has(META) { Mods(key.mods.0 | Mods::ALT) } else { key.mods };
    // Super and hyper have no form: typing the bare key instead would be worse than nothing.
    let foreign = mods.0 & !(SAYABLE | META) != 0;
    let mods = Mods(mods.0 & SAYABLE);
    match key.code {
        _ if foreign => Vec::new(),
        KeyCode::Char(c) => character(c, mods, modes.modify_other_keys),
        KeyCode::Enter if other(modes, 1, mods) => modified(13, mods),
        KeyCode::Enter => with_alt(mods, if modes.newline { b"\r\n" } else { b"\r" }),
        KeyCode::Esc if other(modes, 1, mods) => modified(27, mods),
        KeyCode::Esc => with_alt(mods, b"\x1b"),
        KeyCode::Backspace if other(modes, 2, mods) => modified(127, mods),
        KeyCode::Backspace => with_alt(mods, if mods.has(Mods::CTRL) { b"\x08" } else { b"\x7f" }),
        KeyCode::BackTab => tab(Mods(mods.0 | Mods::SHIFT), modes),
        KeyCode::Tab => tab(mods, modes),
        KeyCode::Other(number) => keypad(number, mods, modes),
        KeyCode::F(n @ 13..=24) => function(n - 12, Mods(mods.0 | Mods::SHIFT)),
        KeyCode::F(n @ 25..=35) => function(n - 24, Mods(mods.0 | Mods::CTRL)),
        KeyCode::F(n) => function(n, mods),
        code => moving(code, mods, modes.app_cursor),
    }
}

/// The character with Shift, as far as it is known without the layout.
pub(super) fn upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

/// Whether modifyOtherKeys is on at this level and there is a modifier to tell.
fn other(modes: &InputModes, level: u8, mods: Mods) -> bool {
    modes.modify_other_keys >= level && mods.0 != 0
}

fn modified(code: u32, mods: Mods) -> Vec<u8> {
    format!("\x1b[27;{};{code}~", mods.0 + 1).into_bytes()
}

fn with_alt(mods: Mods, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 1);
    if mods.has(Mods::ALT) {
        out.push(0x1b);
    }
    out.extend_from_slice(bytes);
    out
}

fn tab(mods: Mods, modes: &InputModes) -> Vec<u8> {
    let rest = mods.0 & !Mods::SHIFT;
    if modes.modify_other_keys >= 1 && rest != 0 {
        return modified(9, mods);
    }
    with_alt(mods, if mods.has(Mods::SHIFT) { b"\x1b[Z" } else { b"\t" })
}

fn character(c: char, mods: Mods, other_keys: u8) -> Vec<u8> {
    let typed = if mods.has(Mods::SHIFT) { upper(c) } else { c };
    let control = control(c);
    let told_apart = match other_keys {
        0 => false,
        1 => mods.has(Mods::CTRL) && control.is_none(),
        _ => mods.0 & !Mods::SHIFT != 0,
    };
    if told_apart {
        return modified(u32::from(typed), mods);
    }
    match control.filter(|_| mods.has(Mods::CTRL)) {
        Some(byte) => with_alt(mods, &[byte]),
        None => with_alt(mods, typed.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// The control character that Ctrl makes of a key.
fn control(c: char) -> Option<u8> {
    Some(match c {
        'a'..='z' | 'A'..='Z' => c as u8 & 0x1f,
        ' ' | '@' | '2' | '`' => 0,
        '[' | '3' | '{' => 0x1b,
        '\\' | '4' | '|' => 0x1c,
        ']' | '5' | '}' => 0x1d,
        '^' | '6' | '~' => 0x1e,
        '_' | '7' | '/' | '-' => 0x1f,
        '8' | '?' => 0x7f,
        _ => return None,
    })
}

fn moving(code: KeyCode, mods: Mods, app_cursor: bool) -> Vec<u8> {
    match keytable::form(code) {
        Some(Form::Letter(letter)) if mods.0 == 0 => vec![0x1b, if app_cursor { b'O' } else { b'[' }, letter],
        Some(Form::Letter(letter)) => format!("\x1b[1;{}{}", mods.0 + 1, char::from(letter)).into_bytes(),
        Some(Form::Tilde(number)) => tilde(number, mods),
        Some(Form::Unicode(_)) | None => Vec::new(),
    }
}

fn tilde(number: u32, mods: Mods) -> Vec<u8> {
    if mods.0 == 0 {
        return format!("\x1b[{number}~").into_bytes();
    }
    format!("\x1b[{number};{}~", mods.0 + 1).into_bytes()
}

fn function(number: u8, mods: Mods) -> Vec<u8> {
    match (number, keytable::form(KeyCode::F(number))) {
        (1..=4, _) if mods.0 == 0 => vec![0x1b, b'O', b'P' + number - 1],
        (1..=4, _) => format!("\x1b[1;{}{}", mods.0 + 1, char::from(b'P' + number - 1)).into_bytes(),
        (_, Some(Form::Tilde(number))) => tilde(number, mods),
        _ => Vec::new(),
    }
}

fn keypad(number: u32, mods: Mods, modes: &InputModes) -> Vec<u8> {
    if let Some((_, letter, typed)) = keytable::KEYPAD.into_iter().find(|(code, ..)| *code == number) {
        return match (modes.app_keypad && mods.0 == 0, typed) {
            (true, _) => vec![0x1b, b'O', letter],
            (false, b'\r') => key(&Key { code: KeyCode::Enter, mods, kind: KeyKind::Press }, modes),
            (false, typed) => character(char::from(typed), mods, modes.modify_other_keys),
        };
    }
    let at = number.checked_sub(keytable::KEYPAD_FIRST_MOVE).and_then(|at| usize::try_from(at).ok());
    match at.and_then(|at| keytable::KEYPAD_MOVES.get(at)) {
        Some(code) => moving(*code, mods, modes.app_cursor),
        None => Vec::new(),
    }
}
