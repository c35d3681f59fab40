//! A cell of the model, made safe: text that takes exactly its columns, and nothing that a simpler parser reads differently.

use alacritty_terminal::Grid;
use alacritty_terminal::term::cell::{Cell, Flags};
use unicode_width::UnicodeWidthChar;

/// Longest text of a cell that still takes a mark, in bytes: the view's parser refuses more.
const MAX_CELL_BYTES: usize = 18;

/// Entries of a cell's list of marks that are looked at.
const MAX_MARKS: usize = 16;

/// Asks for emoji presentation, which makes a narrow character wide in some parsers and not in others.
const EMOJI_PRESENTATION: char = '\u{fe0f}';

/// What to draw for a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// One blank column.
    Blank,
    /// This character on one column.
    Narrow(char),
    /// This character on this column and the next.
    Wide(char),
    /// Two blank columns.
    WideBlank,
    /// The right half of a wide character: nothing.
    Spacer,
}

impl Shown {
    /// What the cell at `col` of a row shows. Halves of wide characters that lost the other half are blank.
    pub(super) fn of(row: &[Cell], col: usize) -> Self {
        let Some(cell) = row.get(col) else { return Self::Blank };
        let hidden = cell.flags.contains(Flags::HIDDEN);
        if cell.flags.contains(Flags::WIDE_CHAR) {
            return match (is_pair(row, col), hidden || cell.c.width() != Some(2)) {
                (false, _) => Self::Blank,
                (true, true) => Self::WideBlank,
                (true, false) => Self::Wide(cell.c),
            };
        }
        if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            return if col > 0 && is_pair(row, col - 1) { Self::Spacer } else { Self::Blank };
        }
        match cell.c {
            _ if hidden => Self::Blank,
            ' ' => Self::Blank,
            '\u{fffd}' => Self::Narrow('?'),
            c if c < ' ' || c.width() != Some(1) => Self::Blank,
            c => Self::Narrow(c),
        }
    }
}

/// Whether the cells at `col` and behind it are the two halves of one wide character.
fn is_pair(row: &[Cell], col: usize) -> bool {
    let both = row.get(col).zip(row.get(col + 1));
    both.is_some_and(|(base, next)| {
        base.flags.contains(Flags::WIDE_CHAR) && next.flags.contains(Flags::WIDE_CHAR_SPACER)
    })
}

/// The marks of a cell that may be drawn over `base`. Only characters and blanks have any, never the halves of a pair.
pub(super) fn marks(cell: &Cell, shown: Shown) -> impl Iterator<Item = char> {
    let base = match shown {
        Shown::Narrow(c) | Shown::Wide(c) => Some(c),
        Shown::Blank if !cell.flags.intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER | Flags::HIDDEN) => Some(' '),
        _ => None,
    };
    let mut len = base.map_or(MAX_CELL_BYTES, char::len_utf8);
    cell.zerowidth().unwrap_or_default().iter().copied().take(MAX_MARKS).filter(move |mark| {
        let fits = len < MAX_CELL_BYTES && *mark != EMOJI_PRESENTATION && mark.width() == Some(0);
        if fits {
            len += mark.len_utf8();
        }
        fits
    })
}

/// Whether a cell has marks at all; most have not.
pub(super) fn has_marks(cell: &Cell) -> bool {
    cell.extra.is_some() && cell.zerowidth().is_some_and(|marks| !marks.is_empty())
}

/// How many marks the cell has that the next mark would join.
pub(super) fn marks_at_cursor(grid: &Grid<Cell>) -> usize {
    let cursor = &grid.cursor;
    let row = &grid[cursor.point.line];
    let mut column = cursor.point.column;
    if !cursor.input_needs_wrap {
        column.0 = column.0.saturating_sub(1);
    }
    if row[column].flags.contains(Flags::WIDE_CHAR_SPACER) {
        column.0 = column.0.saturating_sub(1);
    }
    row[column].zerowidth().map_or(0, <[char]>::len)
}
