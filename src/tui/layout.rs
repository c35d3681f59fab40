//! Where things stand on a screen of a given size.

use ratatui::layout::Rect;

use crate::domain::launch::Size;

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Everything.
    pub whole: Rect,
    /// Tab bar; missing below three rows.
    pub tabs: Option<Rect>,
    /// The session's terminal.
    pub pane: Rect,
    /// Status line; missing below two rows.
    pub status: Option<Rect>,
}

/// Divides a screen of `cols` by `rows` cells.
#[must_use]
pub fn divide(cols: u16, rows: u16) -> Layout {
    let whole = Rect::new(0, 0, cols, rows);
    let line = |y| Rect::new(0, y, cols, 1);
    match rows {
        0 | 1 => Layout { whole, tabs: None, pane: whole, status: None },
        2 => Layout { whole, tabs: None, pane: line(0), status: Some(line(1)) },
        _ => Layout { whole, tabs: Some(line(0)), pane: Rect::new(0, 1, cols, rows - 2), status: Some(line(rows - 1)) },
    }
}

/// Size of the pane's terminal on a screen of `cols` by `rows` cells.
#[must_use]
pub fn pane_size(cols: u16, rows: u16) -> Size {
    let pane = divide(cols, rows).pane;
    Size::clamped(pane.width, pane.height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fill_the_screen_without_overlap() {
        for (cols, rows) in [(0, 0), (1, 1), (2, 2), (3, 3), (30, 8), (80, 24), (500, 200)] {
            let layout = divide(cols, rows);
            let height =
                [layout.tabs, Some(layout.pane), layout.status].iter().flatten().map(|r| r.height).sum::<u16>();
            assert_eq!(height, rows, "{cols}x{rows}");
        }
        assert_eq!(pane_size(80, 24), Size { cols: 80, rows: 22 });
        assert_eq!(pane_size(1, 1), Size { cols: 2, rows: 1 });
    }
}
