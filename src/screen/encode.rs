//! Keys, text, pastes, mouse and focus → the bytes that a program with these modes expects.

use crate::wire::input::{Key, Mouse};

use super::modes::InputModes;

/// A key. Empty when the program has nothing to read for it (a release, for one that did not ask for releases).
#[must_use]
pub fn key(_key: &Key, _modes: &InputModes) -> Vec<u8> {
    Vec::new()
}

/// Text as typed.
#[must_use]
pub fn text(_text: &str, _modes: &InputModes) -> Vec<u8> {
    Vec::new()
}

/// A whole paste: bracketed when the program asked for it, with the end marker taken out of the inside.
#[must_use]
pub fn paste(_bytes: &[u8], _modes: &InputModes) -> Vec<u8> {
    Vec::new()
}

/// A mouse event. Empty when the program did not ask for it.
#[must_use]
pub fn mouse(_mouse: &Mouse, _modes: &InputModes) -> Vec<u8> {
    Vec::new()
}

/// Focus came or went. Empty when the program did not ask for it.
#[must_use]
pub fn focus(_gained: bool, _modes: &InputModes) -> Vec<u8> {
    Vec::new()
}
