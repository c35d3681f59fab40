//! CSI sequences of the outer terminal: keys of every protocol, mouse, focus, paste, replies.

use crate::wire::input::{Key, KeyCode, KeyKind, Mods, Mouse, MouseKind};

use super::csi::Csi;
use super::keytable;
use super::legacy;
use super::outer::{Outer, Reply};

/// Modifiers that a person holds; Caps Lock and Num Lock, the other two bits, change no key's meaning.
pub(super) const REAL_MODS: u8 = 0x3f;

/// What a whole CSI sequence means; `None`: nothing.
pub(super) fn item(sequence: &[u8]) -> Option<Outer> {
    let other = || Some(Outer::Reply(Reply::Other(sequence.to_vec())));
    let Some(csi) = Csi::parse(sequence) else { return other() };
    match (csi.private, csi.intermediate, csi.last) {
        (b'<', 0, b'M' | b'm') => mouse(&csi),
        (b'?', 0, b'c') => Some(Outer::Reply(Reply::PrimaryAttributes(numbers(&csi)))),
        (b'>', 0, b'c') => Some(Outer::Reply(Reply::SecondaryAttributes(numbers(&csi)))),
        (b'?', 0, b'u') => Some(Outer::Reply(Reply::KittyFlags(u8::try_from(csi.param(0, 0)).unwrap_or(0)))),
        (b'?', b'$', b'y') => {
            Some(Outer::Reply(Reply::Mode { mode: short(csi.param(0, 0)), state: short(csi.param(1, 0)) }))
        }
        (0, 0, b'R') if is_position(&csi) => {
            Some(Outer::Reply(Reply::CursorPosition { row: short(csi.param(0, 1)), col: short(csi.param(1, 1)) }))
        }
        (0, 0, b'I') => Some(Outer::Focus(true)),
        (0, 0, b'O') => Some(Outer::Focus(false)),
        (0, 0, b'~') => tilde(&csi),
        (0, 0, b'u') => unicode(&csi),
        (0, 0, letter) => match keytable::by_letter(letter) {
            Some(code) => Some(Outer::Key(key(&csi, code, 1))),
            None => other(),
        },
        _ => other(),
    }
}

/// The form before SGR: a byte each for buttons, column and row.
pub(super) fn old_mouse(buttons: u8, col: u8, row: u8) -> Option<Outer> {
    let at = |byte: u8| byte.checked_sub(33).map(u16::from);
    let buttons = u32::from(buttons.checked_sub(32)?);
    let release = buttons & 3 == 3 && buttons & (32 | 64) == 0;
    report(buttons, release, at(col)?, at(row)?)
}

fn mouse(csi: &Csi) -> Option<Outer> {
    let at = |n| short(csi.param(n, 1)).saturating_sub(1);
    report(csi.param(0, 0), csi.last == b'm', at(1), at(2))
}

fn report(buttons: u32, release: bool, col: u16, row: u16) -> Option<Outer> {
    let button = u8::try_from(buttons & 3).unwrap_or(0);
    let kind = match (buttons & 64 != 0, buttons & 32 != 0, button) {
        // Buttons 8 and up: back and forward.
        _ if buttons & 128 != 0 => return None,
        (true, _, 0) => MouseKind::ScrollUp,
        (true, _, 1) => MouseKind::ScrollDown,
        (false, true, 3) => MouseKind::Moved,
        (false, true, button) => MouseKind::Drag(button),
        (false, false, button) if release => MouseKind::Up(if button == 3 { 0 } else { button }),
        (true, ..) | (false, false, 3) => return None,
        (false, false, button) => MouseKind::Down(button),
    };
    if release && buttons & 64 != 0 {
        return None;
    }
    let held = |bit, value| if buttons & bit != 0 { value } else { 0 };
    let mods = Mods(held(4, Mods::SHIFT) | held(8, Mods::ALT) | held(16, Mods::CTRL));
    Some(Outer::Mouse(Mouse { kind, col, row, mods }))
}

/// `CSI row ; col R`, and not F3 with modifiers, which has the same form for row 1. relight never asks for the cursor of
/// the outer terminal, so row 1 is a key.
fn is_position(csi: &Csi) -> bool {
    csi.params.len() == 2 && !(csi.param(0, 1) == 1 && (2..=16).contains(&csi.param(1, 1)))
}

fn tilde(csi: &Csi) -> Option<Outer> {
    match csi.param(0, 0) {
        200 => Some(Outer::PasteStart),
        // An end without a start.
        201 => None,
        // modifyOtherKeys: modifiers first, then the character.
        27 if csi.params.len() >= 3 => {
            let code = keytable::by_unicode(csi.param(2, 0))?;
            Some(Outer::Key(normal(key(csi, code, 1))))
        }
        number => Some(Outer::Key(key(csi, keytable::by_tilde(number)?, 1))),
    }
}

fn unicode(csi: &Csi) -> Option<Outer> {
    let number = csi.param(0, 0);
    if number == 0 {
        // Text without a key, as an input method sends it.
        let text: String =
            csi.params.get(2)?.iter().filter_map(|code| char::from_u32((*code)?).filter(|c| !c.is_control())).collect();
        return (!text.is_empty()).then_some(Outer::Text(text));
    }
    Some(Outer::Key(normal(layout(csi, key(csi, keytable::by_unicode(number)?, 1)))))
}

/// Alt and Shift with a key that types another character than a capital with Shift is Alt with that character: which one
/// it is, only the layout says, and the terminal tells it beside the key. So Alt and the key `+` of a Czech keyboard, which
/// has 1 above it, is Alt-1, as it always was without the kitty protocol. With Ctrl, programs know it by the key.
fn layout(csi: &Csi, key: Key) -> Key {
    let shifted = csi.sub(0, 1).and_then(char::from_u32).filter(|c| !c.is_control());
    match (key.code, shifted) {
        (KeyCode::Char(base), Some(c))
            if key.mods.has(Mods::SHIFT | Mods::ALT) && !key.mods.has(Mods::CTRL) && c != legacy::upper(base) =>
        {
            Key { code: KeyCode::Char(c), mods: Mods(key.mods.0 & !Mods::SHIFT), ..key }
        }
        _ => key,
    }
}

/// A key with the modifiers and the event type of parameter `at`.
fn key(csi: &Csi, code: KeyCode, at: usize) -> Key {
    let mods = csi.param(at, 1).saturating_sub(1) & u32::from(REAL_MODS);
    let kind = match csi.sub(at, 1) {
        Some(2) => KeyKind::Repeat,
        Some(3) => KeyKind::Release,
        _ => KeyKind::Press,
    };
    Key { code, mods: Mods(u8::try_from(mods).unwrap_or(0)), kind }
}

/// Characters by their unshifted key, Tab with Shift as `BackTab`.
fn normal(key: Key) -> Key {
    match key.code {
        KeyCode::Tab if key.mods.has(Mods::SHIFT) => {
            Key { code: KeyCode::BackTab, mods: Mods(key.mods.0 & !Mods::SHIFT), ..key }
        }
        KeyCode::Char(c) if key.mods.has(Mods::SHIFT) => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(small), None) => Key { code: KeyCode::Char(small), ..key },
                _ => key,
            }
        }
        _ => key,
    }
}

fn numbers(csi: &Csi) -> Vec<u16> {
    (0..csi.params.len()).map(|at| short(csi.param(at, 0))).collect()
}

fn short(number: u32) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
