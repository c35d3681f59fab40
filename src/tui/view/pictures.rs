//! Pictures of the screen as text: the characters, and a letter for how each is drawn, with colour and without.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::view;
use crate::tui::state::State;

const SIZES: [(u16, u16); 3] = [(30, 8), (80, 24), (200, 50)];

/// The characters, and where the cursor is.
pub fn picture(state: &State) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, state.size.0, state.size.1));
    let picture = view(state, &mut buf);
    let mut out = String::new();
    for y in 0..buf.area.height {
        let mut row = String::new();
        let mut skip = 0;
        for x in 0..buf.area.width {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buf.cell((x, y)).map_or(" ", |cell| cell.symbol());
            skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
            row.push_str(symbol);
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    let cursor = picture.cursor.map_or("hidden".to_owned(), |at| format!("column {}, row {}", at.x, at.y));
    format!("{out}cursor: {cursor}\n")
}

/// A letter for a cell: g(reen), r(ed), b(lue), c(yan), y(ellow), d(ark grey), in upper case where it is reversed; without a
/// colour `#` reversed, `+` bold, `_` underlined; `?` something else; `.` plain.
fn letter(cell: &Cell) -> char {
    let reversed = cell.modifier.contains(Modifier::REVERSED);
    let letter = match cell.fg {
        Color::Green => 'g',
        Color::Red => 'r',
        Color::Blue => 'b',
        Color::Cyan => 'c',
        Color::Yellow => 'y',
        Color::DarkGray => 'd',
        Color::Reset if reversed => '#',
        Color::Reset if cell.modifier.contains(Modifier::BOLD) => '+',
        Color::Reset if cell.modifier.contains(Modifier::UNDERLINED) => '_',
        Color::Reset if cell.bg == Color::Reset => '.',
        _ => '?',
    };
    if reversed { letter.to_ascii_uppercase() } else { letter }
}

/// How the screen is drawn, by rows with their number from 0; rows of one kind that follow each other stand once, plain ones
/// not at all.
pub fn styles(state: &State) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, state.size.0, state.size.1));
    view(state, &mut buf);
    let rows: Vec<String> = buf
        .content
        .chunks(usize::from(buf.area.width))
        .map(|row| row.iter().map(letter).collect::<String>().trim_end_matches('.').to_owned())
        .collect();
    let mut out = String::new();
    let mut at = 0;
    for alike in rows.chunk_by(|a, b| a == b) {
        let last = at + alike.len() - 1;
        let number = if at == last { at.to_string() } else { format!("{at}-{last}") };
        if !alike[0].is_empty() {
            writeln!(out, "{number:>5} {}", alike[0]).unwrap();
        }
        at = last + 1;
    }
    out
}

/// Holds the screen that `make` gives for each size against its picture under `snapshots/tui`, with colour and without: the
/// characters are the same.
pub fn check(name: &str, make: impl Fn((u16, u16)) -> State) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/tui"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for size in SIZES {
        let mut state = make(size);
        let shown = picture(&state);
        let made_plain = !state.setup.colour;
        let colours = styles(&state);
        state.setup.colour = false;
        assert_eq!(picture(&state), shown, "colours say nothing that the signs do not");
        let plain = styles(&state);
        let all = if made_plain {
            format!("{shown}\nwithout colour:\n{plain}")
        } else {
            format!("{shown}\nwith colour:\n{colours}\nwithout colour:\n{plain}")
        };
        settings.bind(|| insta::assert_snapshot!(format!("{name}-{}x{}", size.0, size.1), all));
    }
}
