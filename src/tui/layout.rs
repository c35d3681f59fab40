//! Where things stand on a screen of a given size.

use ratatui::layout::{Position, Rect};

use super::desk::{Desk, Shows, Split};
use crate::domain::launch::Size;

/// A pane beside another one has at least so many columns.
const MIN_COLS: u16 = 20;
/// And so many rows.
const MIN_ROWS: u16 = 3;
/// The sidebar has at least so many columns.
const SIDEBAR_COLS: u16 = 24;
/// The sidebar stands beside the panes on a screen of at least so many columns; on a smaller one it lies over them.
const SIDEBAR_FROM: u16 = 60;

/// A panel of so many rows has one for its keys.
const FOOT_FROM: u16 = 8;

/// Where a pane stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// The line that names it; only where two are shown.
    pub head: Option<Rect>,
    /// What it shows.
    pub inside: Rect,
}

/// Where the parts of a panel stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// The line that says what it shows, where no head over it does.
    pub place: Option<Rect>,
    /// Its rows.
    pub body: Rect,
    /// The line with its keys, or in which something is typed; missing where rows are few.
    pub foot: Option<Rect>,
}

impl Space {
    /// Divides it for a panel; `typing`: a line in which something is typed is needed.
    #[must_use]
    pub fn parts(&self, typing: bool) -> Parts {
        let Rect { y, height, .. } = self.inside;
        let line = |y| Rect { y, height: 1, ..self.inside };
        let place = (self.head.is_none() && height > 1).then(|| line(y));
        let foot = (height >= FOOT_FROM || typing && height > 2).then(|| line(y + height - 1));
        let (above, below) = (u16::from(place.is_some()), u16::from(foot.is_some()));
        Parts { place, body: Rect { y: y + above, height: height - above - below, ..self.inside }, foot }
    }
}

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Everything.
    pub whole: Rect,
    /// Tab bar; missing below three rows.
    pub tabs: Option<Rect>,
    /// Tasks and sessions, with the line to the right of them.
    pub sidebar: Option<Rect>,
    /// All panes.
    pub body: Rect,
    /// The agent's terminal.
    pub agent: Option<Space>,
    /// What stands beside it.
    pub beside: Option<Space>,
    /// The line between two panes that stand side by side.
    pub divider: Option<Rect>,
    /// Status line; missing below two rows.
    pub status: Option<Rect>,
}

impl Layout {
    /// The pane at a position, and whether it is the one beside.
    #[must_use]
    pub fn at(&self, col: u16, row: u16) -> Option<(Space, bool)> {
        let inside = |space: &Space| {
            let here = Position::new(col, row);
            space.inside.contains(here) || space.head.is_some_and(|head| head.contains(here))
        };
        let agent = self.agent.filter(inside).map(|space| (space, false));
        agent.or_else(|| self.beside.filter(inside).map(|space| (space, true)))
    }

    /// Where the pane stands that shows this, if it is shown.
    #[must_use]
    pub fn space(&self, shows: &Shows) -> Option<Space> {
        if *shows == Shows::Agent { self.agent } else { self.beside }
    }
}

/// Divides a screen of `cols` by `rows` cells.
#[must_use]
pub fn divide(cols: u16, rows: u16, sidebar: bool, desk: &Desk) -> Layout {
    let whole = Rect::new(0, 0, cols, rows);
    let line = |y| Rect::new(0, y, cols, 1);
    let (tabs, body, status) = match rows {
        0 | 1 => (None, whole, None),
        2 => (None, line(0), Some(line(1))),
        _ => (Some(line(0)), Rect::new(0, 1, cols, rows - 2), Some(line(rows - 1))),
    };
    let (sidebar, body) = if sidebar && cols >= SIDEBAR_FROM {
        let width = (cols / 4).clamp(SIDEBAR_COLS, 36);
        let side = Rect { width, ..body };
        (Some(side), Rect { x: body.x + width, width: body.width - width, ..body })
    } else {
        (None, body)
    };
    let (agent, beside, divider) = panes(body, desk);
    Layout { whole, tabs, sidebar, body, agent, beside, divider, status }
}

fn panes(body: Rect, desk: &Desk) -> (Option<Space>, Option<Space>, Option<Rect>) {
    let headed = |area: Rect| Space {
        head: Some(Rect { height: 1, ..area }),
        inside: Rect { y: area.y + 1, height: area.height - 1, ..area },
    };
    let wide = body.width > 2 * MIN_COLS && body.height > MIN_ROWS;
    let high = body.height >= 2 * (MIN_ROWS + 1);
    match desk.split {
        Split::Right if desk.two() && wide => {
            let first = body.width / 2;
            let left = Rect { width: first, ..body };
            let divider = Rect { x: body.x + first, width: 1, ..body };
            let right = Rect { x: body.x + first + 1, width: body.width - first - 1, ..body };
            (Some(headed(left)), Some(headed(right)), Some(divider))
        }
        Split::Down if desk.two() && high => {
            let first = body.height.div_ceil(2);
            let upper = Rect { height: first, ..body };
            let lower = Rect { y: body.y + first, height: body.height - first, ..body };
            (Some(headed(upper)), Some(headed(lower)), None)
        }
        _ => {
            let only = Some(Space { head: None, inside: body });
            if *desk.focused() == Shows::Agent { (only, None, None) } else { (None, only, None) }
        }
    }
}

/// Where a list or a text lies over everything.
#[must_use]
pub fn over(whole: Rect) -> Rect {
    let width = whole.width.min(78);
    let height = if whole.height > 12 { whole.height - 4 } else { whole.height };
    Rect::new(whole.x + (whole.width - width) / 2, whole.y + (whole.height - height) / 2, width, height)
}

/// Columns and lines of a text that lies over everything, inside its frame.
#[must_use]
pub fn text_panel(cols: u16, rows: u16) -> (usize, usize) {
    let area = over(Rect::new(0, 0, cols, rows));
    let framed = area.width >= 4 && area.height >= 3;
    let (width, height) = if framed { (area.width - 4, area.height - 2) } else { (area.width, area.height) };
    (usize::from(width), usize::from(height))
}

/// Size of the terminal of a pane.
#[must_use]
pub fn size(space: Space) -> Size {
    Size::clamped(space.inside.width, space.inside.height)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [(u16, u16); 9] = [(0, 0), (1, 1), (2, 2), (3, 3), (30, 8), (41, 6), (80, 24), (200, 50), (500, 200)];

    fn desks() -> Vec<Desk> {
        let mut desks = vec![];
        for split in [Split::Right, Split::Down] {
            for (beside, away, zoom) in [(None, false, false), (Some(Shows::Git), false, false)]
                .into_iter()
                .chain([(Some(Shows::Git), true, false), (Some(Shows::Git), true, true)])
            {
                desks.push(Desk { beside, split, away, zoom });
            }
        }
        desks
    }

    #[test]
    fn the_parts_fill_the_screen_without_overlap() {
        for (cols, rows) in SIZES {
            for desk in desks() {
                for sidebar in [false, true] {
                    let layout = divide(cols, rows, sidebar, &desk);
                    let spaces = [layout.agent, layout.beside].into_iter().flatten();
                    let parts = spaces
                        .flat_map(|space| [space.head, Some(space.inside)])
                        .chain([layout.tabs, layout.sidebar, layout.divider, layout.status])
                        .flatten();
                    let mut covered = std::collections::HashSet::new();
                    for part in parts {
                        for position in part.positions() {
                            assert!(covered.insert(position), "{cols}x{rows} {desk:?}: {position} twice");
                        }
                    }
                    let all = usize::from(cols) * usize::from(rows);
                    assert_eq!(covered.len(), all, "{cols}x{rows} {desk:?} sidebar {sidebar}");
                }
            }
        }
    }

    #[test]
    fn the_pane_with_the_focus_is_always_shown() {
        for (cols, rows) in SIZES {
            for desk in desks() {
                assert!(divide(cols, rows, false, &desk).space(desk.focused()).is_some(), "{cols}x{rows} {desk:?}");
            }
        }
        let small = divide(30, 8, false, &Desk { beside: Some(Shows::Git), away: true, ..Desk::default() });
        assert!(small.agent.is_none(), "no room for two");
        let (space, beside) = divide(80, 24, false, &desks()[1]).at(60, 5).unwrap();
        assert_eq!((space.inside.x, beside), (41, true));
    }

    #[test]
    fn a_terminal_has_the_size_of_its_pane() {
        let one = divide(80, 24, false, &Desk::default());
        assert_eq!(size(one.agent.unwrap()), Size { cols: 80, rows: 22 });
        let tiny = divide(1, 1, false, &Desk::default());
        assert_eq!(size(tiny.agent.unwrap()), Size { cols: 2, rows: 1 });
    }
}
