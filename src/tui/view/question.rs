//! A question that lies over the pane, with the keys that answer it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::ink::{clear, line};
use crate::tui::edit::wrap;
use crate::tui::form::Question;
use crate::tui::palette::Palette;
use crate::tui::spot::{Spot, Target};
use crate::wire::input::KeyCode;

/// A question, with the keys that answer it.
pub fn question(question: &Question, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    let lines = wrap(&question.text(), usize::from(area.width.saturating_sub(2)).max(1));
    let height = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX).min(area.height);
    let at = Rect::new(area.x, area.bottom() - height, area.width, height);
    clear(buf, at, palette.panel);
    for (row, text) in lines.iter().enumerate() {
        line(buf, at, u16::try_from(row).unwrap_or(u16::MAX), &[(" ", palette.wants), (text, palette.wants)]);
    }
    let mut spots = vec![];
    let row = height.saturating_sub(1);
    let mut rest = at;
    for (key, answer, code) in [(" [y]", " yes ", 'y'), (" [n]", " no ", 'n')] {
        let used = line(buf, rest, row, &[(key, palette.key), (answer, palette.bar)]);
        let here = Rect { y: rest.y + row, width: used, height: rest.height.min(1), ..rest };
        spots.push(Spot::new(here, Target::Key(KeyCode::Char(code))));
        rest = Rect { x: rest.x + used, width: rest.width - used, ..rest };
    }
    spots
}
