//! Forms.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::ink::{boxed, cells, line, middle, plain};
use crate::tui::edit::{Line, wrap};
use crate::tui::form::{Field, Form, Value};
use crate::tui::palette::Palette;
use crate::tui::picture::Picture;
use crate::tui::spot::{Spot, Target};
use crate::tui::state::State;

/// Rows that a text of many lines has at most.
const MAX_ROWS: usize = 8;

/// A form; the cursor stands in the focused field. On a screen that is too low for all fields those around it are shown.
pub fn form(state: &State, form: &Form, palette: &Palette, area: Rect, buf: &mut Buffer) -> (Picture, Vec<Spot>) {
    let ascii = state.setup.ascii;
    let width = area.width.min(72);
    let label_width = form.fields.iter().map(|field| cells(field.label)).max().unwrap_or(0) + 3;
    let room = width.saturating_sub(label_width + 3);
    let heights: Vec<u16> = form.fields.iter().map(|field| rows(field, room)).collect();
    let fields: u16 = heights.iter().sum();
    let (text, style) = foot(form, palette);
    let foot = wrap(&plain(&text, ascii), usize::from(width.saturating_sub(4)).max(1));
    let foot_rows = u16::try_from(foot.len()).unwrap_or(u16::MAX);
    let inside = boxed(buf, middle(area, width, fields + foot_rows + 3), form.title, palette.panel, ascii);
    let free = inside.height.saturating_sub(foot_rows.min(inside.height / 3));
    let mut skip = 0;
    while skip < form.at && heights.iter().skip(skip).take(form.at - skip + 1).sum::<u16>() > free {
        skip += 1;
    }
    let mut picture = Picture::default();
    let mut spots = vec![];
    let mut top = inside.y;
    for (i, field) in form.fields.iter().enumerate().skip(skip) {
        let height = heights.get(i).copied().unwrap_or(1).min((inside.y + free).saturating_sub(top));
        if height == 0 {
            break;
        }
        let focused = i == form.at;
        let style = if focused { palette.key } else { palette.bar };
        let row = Rect { y: top, height, ..inside };
        spots.push(Spot::new(row, Target::Row(i)));
        line(buf, row, 0, &[(if focused { ">" } else { " " }, palette.key), (field.label, style)]);
        let at = label_width.min(row.width);
        let place = Rect { x: row.x + at, width: row.width.saturating_sub(at + 1), ..row };
        if let Some(cursor) = self::field(field, focused, ascii, palette, place, buf) {
            picture.cursor = Some(cursor);
        }
        top += height;
    }
    let first = if inside.bottom().saturating_sub(top) > foot_rows { top + 1 } else { top };
    for (i, text) in foot.iter().enumerate() {
        let row = first.saturating_sub(inside.y) + u16::try_from(i).unwrap_or(u16::MAX);
        line(buf, inside, row, &[(" ", style), (text, style)]);
    }
    (picture, spots)
}

fn foot(form: &Form, palette: &Palette) -> (String, ratatui::style::Style) {
    let field = form.fields.get(form.at);
    let many = field.is_some_and(|field| matches!(&field.value, Value::Text(text) if text.keeps_breaks()));
    let others = field.map_or(0, |field| field.found.len());
    match (&form.error, form.busy) {
        (Some(error), _) => (error.clone(), palette.bad),
        (None, true) => ("Working…".into(), palette.busy),
        (None, false) if many => ("Tab: next, Enter: go, Esc: back, Alt-Enter: new line".into(), palette.faint),
        (None, false) if form.touched && others > 1 => {
            let name = |text: &String| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            let names: Vec<String> = field.map_or(vec![], |f| f.found.iter().take(8).map(name).collect());
            (format!("Tab: complete ({})", names.join(", ")), palette.faint)
        }
        (None, false) => ("Tab: next, Enter: go, Esc: back".into(), palette.faint),
    }
}

fn rows(field: &Field, width: u16) -> u16 {
    match &field.value {
        Value::Text(text) if text.keeps_breaks() => {
            u16::try_from(text.block(width).0.len().min(MAX_ROWS)).unwrap_or(u16::MAX)
        }
        _ => 1,
    }
}

/// Draws the value of a field; the place of the cursor if it has it.
fn field(field: &Field, focused: bool, ascii: bool, palette: &Palette, at: Rect, buf: &mut Buffer) -> Option<Position> {
    let style = if focused { palette.bar } else { palette.faint };
    match &field.value {
        Value::Text(text) if text.text().is_empty() && !focused => {
            line(buf, at, 0, &[(field.empty, palette.faint)]);
            None
        }
        Value::Text(text) if text.keeps_breaks() => block(text, ascii, style, at, buf).filter(|_| focused),
        Value::Text(text) => {
            let (shown, column) = text.window(at.width, ascii);
            let ghost = field.ghost().filter(|_| focused).unwrap_or_default();
            let shown = plain(&shown, ascii && !shown.is_ascii());
            line(buf, at, 0, &[(&shown, style), (&plain(ghost, ascii && !ghost.is_ascii()), palette.faint)]);
            (focused && column < at.width).then(|| Position::new(at.x + column, at.y))
        }
        Value::Choice { of, at: chosen } => {
            let style = if focused { palette.chosen } else { palette.bar };
            match of.get(*chosen).map(|choice| choice.label.as_str()) {
                Some(label) if focused => line(buf, at, 0, &[("< ", palette.key), (label, style), (" >", palette.key)]),
                Some(label) => line(buf, at, 0, &[(label, style)]),
                None => line(buf, at, 0, &[(field.empty, palette.faint)]),
            };
            None
        }
    }
}

fn block(text: &Line, ascii: bool, style: ratatui::style::Style, at: Rect, buf: &mut Buffer) -> Option<Position> {
    let (rows, (column, row)) = text.block(at.width);
    let height = usize::from(at.height).max(1);
    let first = (row + 1).saturating_sub(height);
    for (i, text) in rows.iter().skip(first).take(height).enumerate() {
        let text = plain(text, ascii && !text.is_ascii());
        line(buf, at, u16::try_from(i).unwrap_or(u16::MAX), &[(&text, style)]);
    }
    let row = u16::try_from(row - first).ok()?;
    (column < at.width && row < at.height).then(|| Position::new(at.x + column, at.y + row))
}
