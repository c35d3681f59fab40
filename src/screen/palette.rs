//! Colours that programs ask for and set: a dark default palette and what a program changed of it.

use std::collections::BTreeMap;

/// Number of the text colour in OSC 10.
pub(super) const FOREGROUND: u16 = 10;

/// Red, green, blue.
pub(super) type Rgb = [u8; 3];

/// The first sixteen colours.
const BASE: [Rgb; 16] = [
    [0x1d, 0x1f, 0x21],
    [0xcc, 0x55, 0x55],
    [0x7c, 0xb3, 0x42],
    [0xd7, 0xaf, 0x5f],
    [0x5f, 0x87, 0xd7],
    [0xaf, 0x87, 0xd7],
    [0x5f, 0xaf, 0xaf],
    [0xd0, 0xd0, 0xd0],
    [0x6c, 0x6c, 0x6c],
    [0xff, 0x87, 0x87],
    [0xaf, 0xd7, 0x5f],
    [0xff, 0xd7, 0x87],
    [0x87, 0xaf, 0xff],
    [0xd7, 0xaf, 0xff],
    [0x87, 0xd7, 0xd7],
    [0xff, 0xff, 0xff],
];

/// Colours of one terminal. It knows indexes 0 to 255, and 10 to 12 for text, ground and cursor.
#[derive(Debug, Clone, Default)]
pub(super) struct Palette {
    /// Changed indexed colours; at most 256.
    indexed: BTreeMap<u8, Rgb>,
    /// Changed text, ground and cursor colour.
    dynamic: [Option<Rgb>; 3],
}

impl Palette {
    /// Colour by index.
    pub(super) fn indexed(&self, index: u8) -> Rgb {
        self.indexed.get(&index).copied().unwrap_or_else(|| default_indexed(index))
    }

    /// Text (10), ground (11) or cursor (12).
    pub(super) fn dynamic(&self, number: u16) -> Option<Rgb> {
        let slot = usize::from(number.checked_sub(FOREGROUND)?);
        let changed = *self.dynamic.get(slot)?;
        Some(changed.unwrap_or(if slot == 1 { [0x12, 0x13, 0x14] } else { [0xd8, 0xd8, 0xd8] }))
    }

    /// Changes a colour by index.
    pub(super) fn set_indexed(&mut self, index: u8, colour: Rgb) {
        self.indexed.insert(index, colour);
    }

    /// Changes text, ground or cursor; other numbers are ignored.
    pub(super) fn set_dynamic(&mut self, number: u16, colour: Option<Rgb>) {
        if let Some(slot) = number.checked_sub(FOREGROUND).and_then(|slot| self.dynamic.get_mut(usize::from(slot))) {
            *slot = colour;
        }
    }

    /// Gives one colour, or all, its default back.
    pub(super) fn reset_indexed(&mut self, index: Option<u8>) {
        match index {
            Some(index) => drop(self.indexed.remove(&index)),
            None => self.indexed.clear(),
        }
    }
}

/// The default colour of an index.
pub(super) fn default_indexed(index: u8) -> Rgb {
    match index {
        0..=15 => BASE[usize::from(index)],
        16..=231 => {
            let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            let index = index - 16;
            [step(index / 36), step(index / 6 % 6), step(index % 6)]
        }
        232..=255 => [8 + 10 * (index - 232); 3],
    }
}

/// Reads `rgb:R/G/B` with one to four digits each, or `#RGB`, `#RRGGBB`, `#RRRGGGBBB`, `#RRRRGGGGBBBB`.
pub(super) fn parse(text: &[u8]) -> Option<Rgb> {
    let text = std::str::from_utf8(text).ok()?;
    let mut colour = [0; 3];
    if let Some(parts) = text.strip_prefix("rgb:") {
        let mut parts = parts.split('/');
        for slot in &mut colour {
            *slot = channel(parts.next()?, true)?;
        }
        return parts.next().is_none().then_some(colour);
    }
    let digits = text.strip_prefix('#')?;
    if !digits.is_ascii() || !matches!(digits.len(), 3 | 6 | 9 | 12) {
        return None;
    }
    let width = digits.len() / 3;
    for (at, slot) in colour.iter_mut().enumerate() {
        *slot = channel(&digits[at * width..(at + 1) * width], false)?;
    }
    Some(colour)
}

/// One to four hexadecimal digits as eight bits: scaled, or (`#` form) the high bits.
fn channel(digits: &str, scaled: bool) -> Option<u8> {
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let bits = 4 * digits.len() as u32;
    let eight = if scaled { value * 255 / ((1 << bits) - 1) } else { value << 8 >> bits };
    u8::try_from(eight).ok()
}
