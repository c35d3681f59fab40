//! The view's parser as tui-term wants to see it.

use ratatui::buffer::Cell as BufferCell;
use ratatui::style::{Color, Modifier, Style};
use ref_cast::RefCast;
use tui_term::widget;
use unicode_width::UnicodeWidthStr;

/// Screen of the view's parser.
#[derive(RefCast)]
#[repr(transparent)]
pub struct PaneScreen(vt100::Screen);

/// Cell of the view's parser.
#[derive(RefCast)]
#[repr(transparent)]
pub struct PaneCell(vt100::Cell);

impl widget::Screen for PaneScreen {
    type C = PaneCell;

    fn cell(&self, row: u16, col: u16) -> Option<&PaneCell> {
        self.0.cell(row, col).map(PaneCell::ref_cast)
    }

    fn hide_cursor(&self) -> bool {
        self.0.hide_cursor()
    }

    fn cursor_position(&self) -> (u16, u16) {
        self.0.cursor_position()
    }
}

impl widget::Cell for PaneCell {
    fn has_contents(&self) -> bool {
        self.0.has_contents()
    }

    fn apply(&self, cell: &mut BufferCell) {
        let contents = self.0.contents();
        if !contents.is_empty() {
            let columns = if self.0.is_wide() { 2 } else { 1 };
            if contents.is_ascii() || contents.width() == columns {
                cell.set_symbol(contents);
            } else if let Some(base) = contents.chars().next() {
                // Together they would be drawn on another number of columns than the program counts.
                cell.set_char(base);
            }
        }
        let mut modifier = Modifier::empty();
        modifier.set(Modifier::BOLD, self.0.bold());
        modifier.set(Modifier::DIM, self.0.dim());
        modifier.set(Modifier::ITALIC, self.0.italic());
        modifier.set(Modifier::UNDERLINED, self.0.underline());
        modifier.set(Modifier::REVERSED, self.0.inverse());
        cell.set_style(Style::reset().fg(colour(self.0.fgcolor())).bg(colour(self.0.bgcolor())).add_modifier(modifier));
    }
}

fn colour(colour: vt100::Color) -> Color {
    match colour {
        vt100::Color::Default => Color::Reset,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
    }
}
