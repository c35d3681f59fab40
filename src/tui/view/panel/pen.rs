//! What everything in a panel is drawn with: styles, and texts from outside made safe and short.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::domain::plain::strip;
use crate::tui::edit::{cut_to, wrap};
use crate::tui::palette::Palette;
use crate::tui::tabbar::mark;
use crate::tui::view::ink::{cells, line, plain};
use crate::wire::input::KeyCode;

/// A key that does something, what it does, and what a click on it presses.
pub type Hint = (&'static str, &'static str, Option<KeyCode>);

/// What everything in a panel is drawn with.
pub struct Pen<'a> {
    /// Styles.
    pub palette: &'a Palette,
    /// Only ASCII in what relight itself draws.
    pub ascii: bool,
    /// The panel has the focus.
    pub focused: bool,
}

impl Pen<'_> {
    /// The style of a row, and the sign before it.
    pub fn row(&self, chosen: bool, style: Style) -> (Style, &'static str) {
        let reversed = if chosen && self.focused { style.patch(self.palette.chosen) } else { style };
        (reversed, if chosen { ">" } else { " " })
    }

    /// Text from outside, safe to show and of at most `width` cells; what does not fit is cut at its end.
    pub fn text(&self, text: &str, width: usize) -> String {
        cut_to(&plain(&strip(text), self.ascii), width, mark(self.ascii))
    }

    /// A path, the same way; its end is what tells it from others.
    pub fn path(&self, text: &str, width: usize) -> String {
        let text = plain(&strip(text), self.ascii);
        let sign = mark(self.ascii);
        let all = usize::from(cells(&text));
        if all <= width {
            return text;
        }
        let mut rest = text.as_str();
        while usize::from(cells(rest)) + usize::from(cells(sign)) > width {
            let mut chars = rest.chars();
            if chars.next().is_none() {
                return String::new();
            }
            rest = chars.as_str();
        }
        format!("{sign}{rest}")
    }

    /// A sentence at the top of an area that has nothing else to show.
    pub fn say(&self, text: &str, style: Style, area: Rect, buf: &mut Buffer) {
        let width = usize::from(area.width.saturating_sub(2)).max(1);
        for (row, text) in (0..).zip(wrap(&plain(text, self.ascii), width)) {
            line(buf, area, row, &[(" ", style), (&text, style)]);
        }
    }
}
