//! Keys, text, pastes, mouse and focus → the bytes that a program with these modes expects.

use crate::wire::input::{Key, KeyCode, KeyKind, Mods, Mouse, MouseKind};

use super::kitty;
use super::legacy;
use super::modes::{InputModes, MouseEncoding, MouseTracking};

/// End of a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Lines that one notch of the wheel moves, where the wheel becomes arrows.
const WHEEL_LINES: usize = 3;

/// A key. Empty when the program has nothing to read for it (a release, for one that did not ask for releases).
#[must_use]
pub fn key(key: &Key, modes: &InputModes) -> Vec<u8> {
    if modes.kitty == 0 { legacy::key(key, modes) } else { kitty::key(key, modes) }
}

/// Text as typed. Line ends become Enter, other control characters are left out.
#[must_use]
pub fn text(text: &str, modes: &InputModes) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let each_key = modes.kitty & kitty::ALL_KEYS != 0;
    let mut after_cr = false;
    for c in text.chars() {
        let code = match c {
            '\n' if after_cr => None,
            '\r' | '\n' => Some(KeyCode::Enter),
            '\t' => Some(KeyCode::Tab),
            c if c.is_control() => None,
            c => Some(KeyCode::Char(c)),
        };
        after_cr = c == '\r';
        match code {
            Some(KeyCode::Char(c)) if !each_key => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Some(code) => {
                out.extend(key(&Key { code, mods: Mods::default(), kind: KeyKind::Press }, modes));
            }
            None => {}
        }
    }
    out
}

/// A whole paste: bracketed when the program asked for it, with the end marker taken out of the inside; else with line ends
/// as Enter sends them.
#[must_use]
pub fn paste(bytes: &[u8], modes: &InputModes) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 12);
    if !modes.bracketed_paste {
        let mut after_cr = false;
        for &byte in bytes {
            match byte {
                b'\n' if after_cr => {}
                b'\n' => out.push(b'\r'),
                _ => out.push(byte),
            }
            after_cr = byte == b'\r';
        }
        return out;
    }
    out.extend_from_slice(b"\x1b[200~");
    let start = out.len();
    for &byte in bytes {
        out.push(byte);
        // Taking one out may put another together, which is then seen when its last byte comes.
        if out[start..].ends_with(PASTE_END) {
            out.truncate(out.len() - PASTE_END.len());
        }
    }
    out.extend_from_slice(PASTE_END);
    out
}

/// A mouse event. Empty when the program did not ask for it; on the alternate screen the wheel may be arrows instead.
#[must_use]
pub fn mouse(mouse: &Mouse, modes: &InputModes) -> Vec<u8> {
    let needs = match mouse.kind {
        MouseKind::Drag(_) => MouseTracking::Drag,
        MouseKind::Moved => MouseTracking::Motion,
        _ => MouseTracking::Click,
    };
    if modes.mouse < needs {
        return wheel_as_arrows(*mouse, modes);
    }
    let (button, release) = match mouse.kind {
        MouseKind::Down(button) => (button.min(2), false),
        MouseKind::Up(button) => (button.min(2), true),
        MouseKind::Drag(button) => (button.min(2) + 32, false),
        MouseKind::Moved => (35, false),
        MouseKind::ScrollUp => (64, false),
        MouseKind::ScrollDown => (65, false),
    };
    let held = |bit, value| if mouse.mods.has(bit) { value } else { 0 };
    let mods = held(Mods::SHIFT, 4) + held(Mods::ALT, 8) + held(Mods::CTRL, 16);
    let (col, row) = (u32::from(mouse.col) + 1, u32::from(mouse.row) + 1);
    match modes.mouse_encoding {
        MouseEncoding::Sgr => {
            let last = if release { 'm' } else { 'M' };
            format!("\x1b[<{};{col};{row}{last}", button + mods).into_bytes()
        }
        encoding => {
            // These have no word for which button was released.
            let button = if release { 3 } else { button };
            let mut out = b"\x1b[M".to_vec();
            out.push(32 + button + mods);
            for coordinate in [col, row] {
                match (encoding, u8::try_from(coordinate + 32)) {
                    (MouseEncoding::X10, Ok(byte)) => out.push(byte),
                    (MouseEncoding::Utf8, _) if coordinate <= 2015 => {
                        let c = char::from_u32(coordinate + 32).unwrap_or(' ');
                        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    _ => return Vec::new(),
                }
            }
            out
        }
    }
}

/// Focus came or went. Empty when the program did not ask for it.
#[must_use]
pub fn focus(gained: bool, modes: &InputModes) -> Vec<u8> {
    match (modes.focus, gained) {
        (false, _) => Vec::new(),
        (true, true) => b"\x1b[I".to_vec(),
        (true, false) => b"\x1b[O".to_vec(),
    }
}

fn wheel_as_arrows(mouse: Mouse, modes: &InputModes) -> Vec<u8> {
    let letter = match mouse.kind {
        MouseKind::ScrollUp => b'A',
        MouseKind::ScrollDown => b'B',
        _ => return Vec::new(),
    };
    if modes.mouse != MouseTracking::Off || !modes.alt_screen || !modes.alternate_scroll {
        return Vec::new();
    }
    [0x1b, if modes.app_cursor { b'O' } else { b'[' }, letter].repeat(WHEEL_LINES)
}
