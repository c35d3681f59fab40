//! The style of a cell as SGR sequences.

use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, NamedColor};

use super::palette::{self, Rgb};

/// A colour as SGR has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Paint {
    /// The terminal's own.
    #[default]
    Default,
    /// By index.
    Index(u8),
    /// As it is.
    Rgb(Rgb),
}

/// Switches of a style, with the SGR parameter that sets each.
const SWITCHES: [(Flags, u8); 6] = [
    (Flags::BOLD, b'1'),
    (Flags::DIM, b'2'),
    (Flags::ITALIC, b'3'),
    (Flags::UNDERLINE, b'4'),
    (Flags::INVERSE, b'7'),
    (Flags::STRIKEOUT, b'9'),
];

/// Colours and switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    pub fg: Paint,
    pub bg: Paint,
    flags: Flags,
}

impl Default for Style {
    fn default() -> Self {
        Self { fg: Paint::Default, bg: Paint::Default, flags: Flags::empty() }
    }
}

impl Style {
    /// All that SGR can say about the cell.
    pub(super) fn whole(cell: &Cell) -> Self {
        let mut flags = cell.flags & (Flags::DIM_BOLD | Flags::ITALIC | Flags::INVERSE | Flags::STRIKEOUT);
        flags.set(Flags::UNDERLINE, cell.flags.intersects(Flags::ALL_UNDERLINES));
        Self { fg: paint(cell.fg), bg: paint(cell.bg), flags }
    }

    /// What a frame's text may carry: one of bold and dim, no strike.
    pub(super) fn framed(cell: &Cell) -> Self {
        let mut style = Self::whole(cell);
        style.flags.remove(Flags::STRIKEOUT);
        if style.flags.contains(Flags::BOLD) {
            style.flags.remove(Flags::DIM);
        }
        style
    }

    /// Writes the sequence that leads from this style to `to`; nothing when they are equal.
    pub(super) fn write_change(self, to: Self, out: &mut Vec<u8>) {
        if self == to {
            return;
        }
        let from = if (self.flags - to.flags).is_empty() { self } else { Self::default() };
        out.extend_from_slice(b"\x1b[");
        let start = out.len();
        if from != self {
            out.extend_from_slice(b"0;");
        }
        for (flag, parameter) in SWITCHES {
            if (to.flags - from.flags).contains(flag) {
                out.extend_from_slice(&[parameter, b';']);
            }
        }
        if from.fg != to.fg {
            write_paint(to.fg, false, out);
        }
        if from.bg != to.bg {
            write_paint(to.bg, true, out);
        }
        // Every part left a semicolon behind.
        if out.len() > start {
            out.pop();
        }
        out.push(b'm');
    }
}

/// Writes the parameters of a colour and a semicolon.
fn write_paint(paint: Paint, ground: bool, out: &mut Vec<u8>) {
    let shift = if ground { 10 } else { 0 };
    match paint {
        Paint::Default => write_number(39 + shift, out),
        Paint::Index(index @ 0..=7) => write_number(30 + shift + index, out),
        Paint::Index(index @ 8..=15) => write_number(82 + shift + index, out),
        Paint::Index(index) => {
            write_number(38 + shift, out);
            out.extend_from_slice(b"5;");
            write_number(index, out);
        }
        Paint::Rgb(rgb) => {
            write_number(38 + shift, out);
            out.extend_from_slice(b"2;");
            for channel in rgb {
                write_number(channel, out);
            }
        }
    }
}

fn write_number(number: u8, out: &mut Vec<u8>) {
    write_decimal(usize::from(number), out);
    out.push(b';');
}

/// Writes a number without the machinery of formatting: this runs for every change of style.
pub(super) fn write_decimal(mut number: usize, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn paint(colour: Color) -> Paint {
    match colour {
        Color::Named(name) => u8::try_from(name as usize).ok().filter(|i| *i < 16).map_or(Paint::Default, Paint::Index),
        Color::Indexed(index) => Paint::Index(index),
        Color::Spec(rgb) => Paint::Rgb([rgb.r, rgb.g, rgb.b]),
    }
}

/// A colour as red, green and blue, by the default palette; `None` for the terminal's own.
pub(super) fn rgb(colour: Color) -> Option<Rgb> {
    match paint(colour) {
        Paint::Default => None,
        Paint::Index(index) => Some(palette::default_indexed(index)),
        Paint::Rgb(rgb) => Some(rgb),
    }
}

/// Whether a colour is the terminal's own ground.
pub(super) fn is_plain_ground(colour: Color) -> bool {
    colour == Color::Named(NamedColor::Background)
}
