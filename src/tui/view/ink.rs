//! Writing into a buffer, cut to an area.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

/// Writes pieces of text one after the other into row `row` of `area`; what does not fit is cut. Returns the columns used.
pub fn line(buf: &mut Buffer, area: Rect, row: u16, pieces: &[(&str, Style)]) -> u16 {
    let mut x = area.x;
    if row >= area.height {
        return 0;
    }
    for (text, style) in pieces {
        let room = area.right().saturating_sub(x);
        if room == 0 {
            break;
        }
        (x, _) = buf.set_stringn(x, area.y + row, text, usize::from(room), *style);
    }
    x - area.x
}

/// Blanks an area in a style.
pub fn clear(buf: &mut Buffer, area: Rect, style: Style) {
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buf.cell_mut((x, y)) {
                cell.reset();
                cell.set_style(style);
            }
        }
    }
}

/// A frame with a title on its upper edge; the area inside. Without room for one, the area itself, blanked.
pub fn boxed(buf: &mut Buffer, area: Rect, title: &str, style: Style, ascii: bool) -> Rect {
    clear(buf, area, style);
    if area.width < 4 || area.height < 3 {
        return area;
    }
    let [flat, upright] = if ascii { ["-", "|"] } else { ["─", "│"] };
    let corners = if ascii { ["+"; 4] } else { ["┌", "┐", "└", "┘"] };
    let across = flat.repeat(usize::from(area.width - 2));
    line(buf, area, 0, &[(corners[0], style), (&across, style), (corners[1], style)]);
    line(buf, area, area.height - 1, &[(corners[2], style), (&across, style), (corners[3], style)]);
    for row in 1..area.height - 1 {
        buf.set_string(area.x, area.y + row, upright, style);
        buf.set_string(area.right() - 1, area.y + row, upright, style);
    }
    let inside = Rect::new(area.x + 1, area.y + 1, area.width - 2, area.height - 2);
    if !title.is_empty() {
        let head = Rect::new(area.x + 2, area.y, area.width.saturating_sub(4), 1);
        line(buf, head, 0, &[(" ", style), (title, style), (" ", style)]);
    }
    inside
}

/// An area of `width` by `height` cells in the middle of `area`, cut to it.
pub fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let width = width.min(area.width);
    let height = height.min(area.height);
    Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height)
}

/// Cells that a text takes, as far as a `u16` goes.
pub fn cells(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// `text` without characters that a terminal without UTF-8 cannot show.
pub fn plain(text: &str, ascii: bool) -> String {
    if !ascii {
        return text.to_owned();
    }
    text.replace('…', "...").chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
}
