//! What lies over the pane while keys are for something else: hint, help, forms, questions.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::ink::{boxed, cells, clear, line, middle, plain};
use crate::tui::edit::wrap;
use crate::tui::form::{Form, Question, Value};
use crate::tui::keymap::Row;
use crate::tui::palette::Palette;
use crate::tui::picture::Picture;
use crate::tui::state::State;

/// Width of one column of the hint: a key and up to twelve letters.
const HINT_COLUMN: u16 = 18;

/// The keys that work now, after the prefix was pressed.
pub fn keys_after_prefix(state: &State, palette: &Palette, area: Rect, buf: &mut Buffer) {
    let works = |row: &Row| row.commands.iter().any(|command| state.can(*command).is_ok());
    let entries: Vec<_> = state.setup.keys.hints().into_iter().filter(works).collect();
    let columns = (area.width / HINT_COLUMN).max(1);
    let rows = u16::try_from(entries.len()).unwrap_or(u16::MAX).div_ceil(columns).min(area.height);
    let at = Rect::new(area.x, area.bottom() - rows, area.width, rows);
    clear(buf, at, palette.panel);
    for (i, entry) in entries.iter().enumerate() {
        let i = u16::try_from(i).unwrap_or(u16::MAX);
        let (row, column) = (i / columns, i % columns);
        let left = column * HINT_COLUMN;
        let cell = Rect::new(at.x + left.min(at.width), at.y, at.width.saturating_sub(left).min(HINT_COLUMN), rows);
        line(
            buf,
            cell,
            row,
            &[(" ", palette.panel), (&entry.first, palette.key), (" ", palette.panel), (entry.hint, palette.panel)],
        );
    }
}

/// All keys, from line `from` on.
pub fn help(state: &State, from: usize, palette: &Palette, area: Rect, buf: &mut Buffer) {
    let ascii = state.setup.ascii;
    let prefix = state.setup.keys.prefix().to_string();
    let rows = state.setup.keys.rows();
    let height = u16::try_from(rows.len() + 4).unwrap_or(u16::MAX);
    let at = middle(area, 72, height);
    let inside = boxed(buf, at, &format!("Keys, after {prefix}"), palette.panel, ascii);
    let narrow = inside.width < 60;
    let mut lines: Vec<(String, String, bool)> = rows
        .into_iter()
        .map(|row| {
            let help = if narrow { row.hint } else { row.help };
            (row.first, help.to_owned(), row.commands.iter().any(|command| state.can(*command).is_ok()))
        })
        .collect();
    let itself = if narrow { "send itself".to_owned() } else { format!("Send {prefix} itself to the terminal") };
    lines.push((prefix.clone(), itself, true));
    let how = if narrow { "Esc: back" } else { "Faint: does not work now. Up, Down scroll; Esc goes back" };
    lines.push((String::new(), how.into(), false));
    for (row, (key, text, works)) in lines.iter().skip(from).enumerate() {
        let row = u16::try_from(row).unwrap_or(u16::MAX);
        let (key_style, style) = if *works { (palette.key, palette.panel) } else { (palette.faint, palette.faint) };
        let off = if *works || key.is_empty() || state.setup.colour { "" } else { " (not now)" };
        line(
            buf,
            inside,
            row,
            &[(" ", style), (&format!("{key:<10}"), key_style), (" ", style), (text, style), (off, style)],
        );
    }
}

/// A form; the cursor stands in the focused field.
pub fn form(state: &State, form: &Form, palette: &Palette, area: Rect, buf: &mut Buffer) -> Picture {
    let ascii = state.setup.ascii;
    let fields = u16::try_from(form.fields.len()).unwrap_or(u16::MAX);
    let at = middle(area, 70, fields + 4);
    let inside = boxed(buf, at, form.title, palette.panel, ascii);
    let label_width = form.fields.iter().map(|field| cells(field.label)).max().unwrap_or(0) + 3;
    let mut picture = Picture::default();
    for (i, field) in form.fields.iter().enumerate() {
        let row = u16::try_from(i).unwrap_or(u16::MAX);
        let focused = i == form.at;
        let mark = if focused { ">" } else { " " };
        line(buf, inside, row, &[(mark, palette.key), (field.label, if focused { palette.key } else { palette.bar })]);
        let room = Rect::new(
            inside.x + label_width.min(inside.width),
            inside.y,
            inside.width.saturating_sub(label_width + 1),
            inside.height,
        );
        match &field.value {
            Value::Text(text) if text.text().is_empty() && !focused => {
                line(buf, room, row, &[(field.empty, palette.faint)]);
            }
            Value::Text(text) => {
                let (shown, column) = text.window(room.width, ascii);
                let underlined = if focused { palette.bar } else { palette.faint };
                line(buf, room, row, &[(&plain(&shown, ascii && !shown.is_ascii()), underlined)]);
                if focused && row < room.height && column < room.width {
                    picture.cursor = Some(Position::new(room.x + column, room.y + row));
                }
            }
            Value::Choice { of, at } => {
                let label = of.get(*at).map(|c| c.label.as_str());
                choice(label, field.empty, focused, palette, room, row, buf);
            }
        }
    }
    let (text, style) = match (&form.error, form.busy) {
        (Some(error), _) => (error.as_str(), palette.bad),
        (None, true) => ("Working…", palette.busy),
        (None, false) => ("Tab: next  Enter: go  Esc: back", palette.faint),
    };
    let room = usize::from(inside.width.saturating_sub(2)).max(1);
    let spare = inside.height.saturating_sub(fields);
    let lines = wrap(&plain(text, ascii), room);
    let first = fields + u16::from(usize::from(spare) > lines.len());
    for (i, text) in lines.iter().enumerate() {
        line(buf, inside, first + u16::try_from(i).unwrap_or(u16::MAX), &[(" ", style), (text, style)]);
    }
    picture
}

fn choice(label: Option<&str>, empty: &str, focused: bool, palette: &Palette, room: Rect, row: u16, buf: &mut Buffer) {
    let style: Style = if focused { palette.chosen } else { palette.bar };
    match label {
        Some(label) if focused => line(buf, room, row, &[("< ", palette.key), (label, style), (" >", palette.key)]),
        Some(label) => line(buf, room, row, &[(label, style)]),
        None => line(buf, room, row, &[(empty, palette.faint)]),
    };
}

/// A question, with the keys that answer it.
pub fn question(question: &Question, palette: &Palette, area: Rect, buf: &mut Buffer) {
    let lines = wrap(&question.text(), usize::from(area.width.saturating_sub(2)).max(1));
    let height = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX).min(area.height);
    let at = Rect::new(area.x, area.bottom() - height, area.width, height);
    clear(buf, at, palette.panel);
    for (row, text) in lines.iter().enumerate() {
        line(buf, at, u16::try_from(row).unwrap_or(u16::MAX), &[(" ", palette.wants), (text, palette.wants)]);
    }
    let keys = [(" [y]", palette.key), (" yes ", palette.bar), (" [n]", palette.key), (" no", palette.bar)];
    line(buf, at, height.saturating_sub(1), &keys);
}
