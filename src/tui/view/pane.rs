//! The terminal of the chosen session.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::tui::pane::Pane;
use crate::tui::picture::Picture;

/// Draws the terminal; one that is larger than the area shows the part with the cursor.
pub fn terminal(pane: &Pane, area: Rect, buf: &mut Buffer) -> Picture {
    let size = pane.view.size();
    let cursor = pane.view.cursor();
    let (left, top) = pane.offset(area.width, area.height);
    if left == 0 && top == 0 && size.cols <= area.width && size.rows <= area.height {
        pane.view.render(area, buf);
    } else {
        let whole = Rect::new(0, 0, size.cols, size.rows);
        let mut scratch = Buffer::empty(whole);
        pane.view.render(whole, &mut scratch);
        for y in 0..area.height.min(size.rows - top.min(size.rows)) {
            for x in 0..area.width.min(size.cols - left.min(size.cols)) {
                let from = scratch.cell((left + x, top + y)).cloned();
                if let (Some(from), Some(to)) = (from, buf.cell_mut((area.x + x, area.y + y))) {
                    *to = from;
                }
            }
        }
    }
    let col = cursor.col.checked_sub(left).filter(|col| *col < area.width);
    let row = cursor.row.checked_sub(top).filter(|row| *row < area.height);
    let at = col.zip(row).filter(|_| cursor.visible && pane.exited.is_none());
    Picture { cursor: at.map(|(col, row)| Position::new(area.x + col, area.y + row)), shape: cursor.shape }
}
