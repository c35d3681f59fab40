//! A row of the model as a frame carries it.
//!
//! `CSI row;1H CSI m CSI 2K`, then runs of an SGR change and text, then for a tail of blanks in one style that style and
//! `CSI K`. A row starts from a known state and stands alone. No other sequence occurs, so the view's parser needs to
//! know few of them. What they cannot say goes into the overlay.

use alacritty_terminal::term::cell::{Cell, Flags};

use crate::wire::frame::{Overlay, OverlayKind};

use super::cell::{self, Shown};
use super::style::{self, Style};

/// Flags that the text of a frame cannot carry.
const BESIDE: Flags = Flags::STRIKEOUT
    .union(Flags::HIDDEN)
    .union(Flags::DOUBLE_UNDERLINE)
    .union(Flags::UNDERCURL)
    .union(Flags::DOTTED_UNDERLINE)
    .union(Flags::DASHED_UNDERLINE);

/// Appends the row's text to `out` and what stands beside it to `overlay`.
pub(super) fn encode(cells: &[Cell], row: u16, out: &mut Vec<u8>, overlay: &mut Vec<Overlay>) {
    out.extend_from_slice(b"\x1b[");
    style::write_decimal(usize::from(row) + 1, out);
    out.extend_from_slice(b";1H\x1b[m\x1b[2K");
    let (end, tail) = tail(cells);
    let mut style = Style::default();
    for col in 0..end {
        let cell = &cells[col];
        let shown = Shown::of(cells, col);
        if shown == Shown::Spacer {
            continue;
        }
        let next = Style::framed(cell);
        style.write_change(next, out);
        style = next;
        match shown {
            Shown::Narrow(c) | Shown::Wide(c) => push(c, out),
            Shown::WideBlank => out.extend_from_slice(b"  "),
            _ => out.push(b' '),
        }
        if cell::has_marks(cell) {
            cell::marks(cell, shown).for_each(|mark| push(mark, out));
        }
    }
    if tail != Style::default() && end < cells.len() {
        style.write_change(tail, out);
        out.extend_from_slice(b"\x1b[K");
    }
    beside(cells, row, overlay);
}

/// Where the blanks at the end begin that have one style, and that style.
fn tail(cells: &[Cell]) -> (usize, Style) {
    let Some(last) = cells.last() else { return (0, Style::default()) };
    let style = Style::framed(last);
    let is_tail = |col: usize| {
        let cell = &cells[col];
        Shown::of(cells, col) == Shown::Blank && !cell::has_marks(cell) && Style::framed(cell) == style
    };
    let end = (0..cells.len()).rev().find(|col| !is_tail(*col)).map_or(0, |col| col + 1);
    (end, style)
}

fn push(c: char, out: &mut Vec<u8>) {
    if c.is_ascii() {
        out.push(c as u8);
    } else {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn beside(cells: &[Cell], row: u16, overlay: &mut Vec<Overlay>) {
    let first = overlay.len();
    for (col, cell) in cells.iter().enumerate() {
        let flags = cell.flags;
        if cell.extra.is_none() && !flags.intersects(BESIDE) && !flags.contains(Flags::DIM_BOLD) {
            continue;
        }
        let mut add = |what: OverlayKind| extend(overlay, first, row, col, what);
        if flags.contains(Flags::STRIKEOUT) {
            add(OverlayKind::Strike);
        }
        if flags.contains(Flags::DIM_BOLD) {
            add(OverlayKind::Dim);
        }
        if flags.contains(Flags::HIDDEN) {
            add(OverlayKind::Hidden);
        }
        let line = [Flags::DOUBLE_UNDERLINE, Flags::UNDERCURL, Flags::DOTTED_UNDERLINE, Flags::DASHED_UNDERLINE];
        if let Some(at) = line.iter().position(|line| flags.contains(*line)) {
            add(OverlayKind::Underline(u8::try_from(at).unwrap_or(0) + 2));
        }
        if cell.extra.is_some() {
            if let Some(rgb) = cell.underline_color().and_then(style::rgb)
                && flags.intersects(Flags::ALL_UNDERLINES)
            {
                add(OverlayKind::UnderlineColor(rgb));
            }
            if let Some(link) = cell.hyperlink() {
                add(OverlayKind::Link(link.uri().to_owned()));
            }
        }
    }
}

/// Adds a column to the range of the same kind that ends there, or begins one.
fn extend(overlay: &mut Vec<Overlay>, first: usize, row: u16, col: usize, what: OverlayKind) {
    let col = u16::try_from(col).unwrap_or(u16::MAX);
    // Each kind of a column adds at most one range, so the one to extend is near.
    let open = overlay[first..].iter_mut().rev().take(12).find(|range| range.to == col && range.what == what);
    match open {
        Some(range) => range.to = col + 1,
        None => overlay.push(Overlay { row, from: col, to: col + 1, what }),
    }
}
