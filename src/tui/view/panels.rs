//! What lies over the pane while keys are for something else: forms and questions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::ink::{clear, line};
use crate::tui::edit::wrap;
use crate::tui::form::Question;
use crate::tui::palette::Palette;

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
