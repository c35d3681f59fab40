//! A row of the model as text, for people and pipes.

use alacritty_terminal::term::cell::{Cell, Flags};

use super::cell::{self, Shown};
use super::style::{self, Style};

/// The row without its trailing blanks; with SGR sequences when `ansi`, ending in the default style.
pub(super) fn line(row: &[Cell], ansi: bool) -> String {
    let end = row.iter().rposition(|cell| !is_blank(cell, ansi)).map_or(0, |at| at + 1);
    let mut out = String::with_capacity(end);
    let mut style = Style::default();
    for col in 0..end {
        let (cell, shown) = (&row[col], Shown::of(row, col));
        // The column left free because a wide character did not fit is no blank of the text.
        if shown == Shown::Spacer || cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
            continue;
        }
        if ansi {
            change(&mut style, Style::whole(cell), &mut out);
        }
        match shown {
            Shown::Narrow(c) | Shown::Wide(c) => out.push(c),
            Shown::WideBlank => out.push_str("  "),
            _ => out.push(' '),
        }
        if cell::has_marks(cell) && !cell.flags.contains(Flags::HIDDEN) {
            out.extend(cell.zerowidth().unwrap_or_default());
        }
    }
    if ansi {
        change(&mut style, Style::default(), &mut out);
    } else {
        out.truncate(out.trim_end_matches(' ').len());
    }
    out
}

fn change(style: &mut Style, to: Style, out: &mut String) {
    let mut bytes = Vec::new();
    style.write_change(to, &mut bytes);
    out.push_str(&String::from_utf8_lossy(&bytes));
    *style = to;
}

/// Nothing to see: no text, and with styles also no ground, line or inversion.
fn is_blank(cell: &Cell, ansi: bool) -> bool {
    let bare = matches!(cell.c, ' ' | '\t') && !cell::has_marks(cell) && !cell.flags.contains(Flags::WIDE_CHAR_SPACER);
    let lines = Flags::ALL_UNDERLINES | Flags::STRIKEOUT | Flags::INVERSE;
    bare && (!ansi || (style::is_plain_ground(cell.bg) && !cell.flags.intersects(lines)))
}

/// Whether whole sequences and text have any character that takes a column.
pub(super) fn prints(bytes: &[u8]) -> bool {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            0x1b => {
                let csi = bytes.get(at) == Some(&b'[');
                let from = at + usize::from(csi);
                let is_last = |b: &u8| if csi { (0x40..=0x7e).contains(b) } else { (0x30..=0x7e).contains(b) };
                at = bytes[from.min(bytes.len())..].iter().position(is_last).map_or(bytes.len(), |end| from + end + 1);
            }
            0x20..=0x7e | 0xa0.. => return true,
            _ => {}
        }
    }
    false
}
