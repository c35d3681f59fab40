//! Answers to queries, as bytes.

use crate::domain::launch::Size;

use super::osc::NotifyPart;
use super::palette::Rgb;
use super::sniff::End;

/// Nominal size of a cell in pixels, width and height: nobody knows the real one here, and programs only need the ratio.
const CELL_PIXELS: (u32, u32) = (10, 20);

/// Most capabilities answered in one XTGETTCAP.
const MAX_CAPABILITIES: usize = 64;

/// Longest name of a capability, in hexadecimal digits.
const MAX_CAPABILITY_DIGITS: usize = 64;

/// DA1: VT220 with colour and clipboard writing.
pub(super) const PRIMARY: &[u8] = b"\x1b[?62;22;52c";

/// DSR 5: all is well.
pub(super) const READY: &[u8] = b"\x1b[0n";

/// DSR ?996: dark.
pub(super) const DARK: &[u8] = b"\x1b[?997;1n";

/// OSC 7501 `?`: the same bytes.
pub(super) fn status(end: End) -> Vec<u8> {
    osc("7501;?", end)
}

/// OSC 99 `p=?`.
pub(super) fn notify(id: &str, end: End) -> Vec<u8> {
    osc(&format!("99;i={id}:p=?;p=title,body"), end)
}

/// DA2: a program version as one number.
pub(super) fn secondary() -> Vec<u8> {
    let version =
        env!("CARGO_PKG_VERSION").split('.').filter_map(|n| n.parse::<u32>().ok()).fold(0, |v, n| v * 100 + n);
    format!("\x1b[>1;{version};0c").into_bytes()
}

/// XTVERSION.
pub(super) fn version() -> Vec<u8> {
    format!("\x1bP>|relight {}\x1b\\", env!("CARGO_PKG_VERSION")).into_bytes()
}

/// DSR 6 or ?6: the cursor, given from 0.
pub(super) fn cursor(private: bool, row: usize, col: usize) -> Vec<u8> {
    let (mark, page) = if private { ("?", ";1") } else { ("", "") };
    format!("\x1b[{mark}{};{}{page}R", row + 1, col + 1).into_bytes()
}

/// DECRQM: `None` for an unknown mode.
pub(super) fn mode(private: bool, mode: u32, set: Option<bool>) -> Vec<u8> {
    let mark = if private { "?" } else { "" };
    let state = match set {
        None => 0,
        Some(true) => 1,
        Some(false) => 2,
    };
    format!("\x1b[{mark}{mode};{state}$y").into_bytes()
}

/// `?u`.
pub(super) fn kitty(flags: u8) -> Vec<u8> {
    format!("\x1b[?{flags}u").into_bytes()
}

/// `?4m`.
pub(super) fn other_keys(level: u8) -> Vec<u8> {
    format!("\x1b[>4;{level}m").into_bytes()
}

/// 14t, 16t, 18t.
pub(super) fn size(what: u32, size: Size) -> Option<Vec<u8>> {
    let (cols, rows) = (u32::from(size.cols), u32::from(size.rows));
    let (width, height) = CELL_PIXELS;
    let text = match what {
        14 => format!("\x1b[4;{};{}t", rows * height, cols * width),
        16 => format!("\x1b[6;{height};{width}t"),
        18 => format!("\x1b[8;{rows};{cols}t"),
        _ => return None,
    };
    Some(text.into_bytes())
}

/// A colour; `name` is `4;N`, `10`, `11` or `12`.
pub(super) fn colour(name: &str, [r, g, b]: Rgb, end: End) -> Vec<u8> {
    osc(&format!("{name};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}"), end)
}

/// DCS queries: XTGETTCAP and DECRQSS.
pub(super) fn dcs(payload: &[u8], shape: u8) -> Option<Vec<u8>> {
    if let Some(names) = payload.strip_prefix(b"+q") {
        return Some(names.split(|b| *b == b';').take(MAX_CAPABILITIES).flat_map(capability).collect());
    }
    match payload.strip_prefix(b"$q")? {
        b" q" => Some(format!("\x1bP1$r{shape} q\x1b\\").into_bytes()),
        _ => Some(b"\x1bP0$r\x1b\\".to_vec()),
    }
}

/// One capability, its name in hexadecimal.
fn capability(name: &[u8]) -> Vec<u8> {
    let safe =
        name.len() <= MAX_CAPABILITY_DIGITS && name.len().is_multiple_of(2) && name.iter().all(u8::is_ascii_hexdigit);
    let name = if safe { String::from_utf8_lossy(name).into_owned() } else { String::new() };
    let value = match name.to_ascii_uppercase().as_str() {
        // TN, Co, colors, RGB, Ms, Tc
        "544E" | "6E616D65" => Some("xterm-256color"),
        "436F" | "636F6C6F7273" => Some("256"),
        "524742" => Some("8"),
        "4D73" => Some("\\E]52;%p1%s;%p2%s\\007"),
        "5463" => Some(""),
        _ => None,
    };
    let Some(value) = value else { return format!("\x1bP0+r{name}\x1b\\").into_bytes() };
    let mut out = format!("\x1bP1+r{name}");
    if !value.is_empty() {
        out.push('=');
    }
    out.extend(value.bytes().map(|byte| format!("{byte:02X}")));
    out.push_str("\x1b\\");
    out.into_bytes()
}

/// An OSC with the end that the query had.
fn osc(text: &str, end: End) -> Vec<u8> {
    let end = match end {
        End::Bel => "\x07",
        End::St => "\x1b\\",
    };
    format!("\x1b]{text}{end}").into_bytes()
}

/// A notification that comes in parts (OSC 99); one at a time is kept.
#[derive(Debug, Default)]
pub(super) struct Parts {
    id: String,
    title: String,
    text: String,
}

impl Parts {
    /// Takes a part; title and text when it was the last one.
    pub(super) fn take(&mut self, part: NotifyPart, limit: usize) -> Option<(String, String)> {
        if self.id != part.id {
            *self = Self { id: part.id, ..Self::default() };
        }
        let into = if part.is_title { &mut self.title } else { &mut self.text };
        if into.len() + part.text.len() <= 4 * limit {
            into.push_str(&part.text);
        }
        if !part.done {
            return None;
        }
        let done = std::mem::take(self);
        (!done.title.is_empty() || !done.text.is_empty()).then_some((done.title, done.text))
    }
}
