//! What stands between two panes: the line that names each, and the line between them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::ink::{clear, line, plain};
use super::panel;
use crate::tui::desk::Shows;
use crate::tui::edit::cut_to;
use crate::tui::palette::Palette;
use crate::tui::state::State;
use crate::tui::tabbar::mark;

/// The line over a pane; the one with the focus is marked, also without colour.
pub fn head(state: &State, shows: &Shows, focused: bool, palette: &Palette, area: Rect, buf: &mut Buffer) {
    let ascii = state.setup.ascii;
    let flat = if ascii { "-" } else { "─" };
    let style = if focused { palette.key } else { palette.faint };
    clear(buf, area, style);
    let name = plain(&name(state, shows), ascii);
    let room = usize::from(area.width.saturating_sub(5));
    let name = cut_to(&name, room, mark(ascii));
    let open = match (focused, ascii) {
        (true, false) => "▶ ",
        (true, true) => "> ",
        (false, _) => "",
    };
    let used = line(buf, area, 0, &[(flat, style), (" ", style), (open, style), (&name, style), (" ", style)]);
    let rest = flat.repeat(usize::from(area.width.saturating_sub(used)));
    let at = Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area };
    line(buf, at, 0, &[(&rest, style)]);
}

fn name(state: &State, shows: &Shows) -> String {
    match shows {
        Shows::Agent => {
            let Some(tab) = state.chosen() else { return String::new() };
            if tab.line.title.is_empty() { tab.line.agent_label.clone() } else { tab.line.title.clone() }
        }
        Shows::Shell(_) => "shell".into(),
        Shows::Git | Shows::Files => panel::name(state, shows),
    }
}

/// The line between two panes that stand side by side.
pub fn divider(state: &State, palette: &Palette, area: Rect, buf: &mut Buffer) {
    let (head, upright) = if state.setup.ascii { ("+", "|") } else { ("┬", "│") };
    clear(buf, area, palette.faint);
    for row in 0..area.height {
        let sign = if row == 0 { head } else { upright };
        line(buf, area, row, &[(sign, palette.faint)]);
    }
}
