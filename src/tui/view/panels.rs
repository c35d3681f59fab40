//! What lies over the pane while keys are for something else: forms and questions.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::ink::{boxed, cells, clear, line, middle, plain};
use crate::tui::edit::wrap;
use crate::tui::form::{Form, Question, Value};
use crate::tui::palette::Palette;
use crate::tui::picture::Picture;
use crate::tui::state::State;

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
