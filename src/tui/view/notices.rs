//! Pills and banners over the pane, and what stands there when there is no session.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::ink::{boxed, cells, clear, line, middle, plain};
use crate::tui::badge;
use crate::tui::desk::Shows;
use crate::tui::edit::wrap;
use crate::tui::keymap::Command;
use crate::tui::notice::{Action, Notice};
use crate::tui::palette::Palette;
use crate::tui::spot::{Spot, Target};
use crate::tui::state::{Link, State, Tab};

/// Draws what is to be said of the chosen session over its pane.
pub fn draw(state: &State, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    if let Link::Away { .. } = state.link {
        let all = "Host away: this is from before, and keys do not arrive";
        pill(first_fit(&[all, "Host away: keys do not arrive"], area), palette.bad, state, area, buf);
        return vec![];
    }
    let notice = state.notice();
    let (text, style) = match &notice {
        Notice::None => {
            let lost = state.pane(&Shows::Agent).and_then(|pane| pane.lost.as_deref());
            if let Some(why) = lost {
                pill(why, palette.bad, state, area, buf);
            } else if state.chosen().is_some_and(Tab::interrupted) {
                pill("Interrupted", palette.wants, state, area, buf);
            }
            return vec![];
        }
        Notice::Pill(text) => {
            pill(&format!("{} {text}", badge::turning(state.turn, state.setup.ascii)), palette.busy, state, area, buf);
            return vec![];
        }
        Notice::Unreachable(text) | Notice::Failure(text) | Notice::Executor(text) => (text, palette.bad),
        Notice::Offer(text) | Notice::NewSession(text) => (text, palette.wants),
        Notice::Ended(text) => (text, palette.faint),
    };
    banner(text, style, notice.actions(), state, palette, area, buf)
}

/// The first of these, from long to short, that fits; else the last.
fn first_fit<'a>(texts: &[&'a str], area: Rect) -> &'a str {
    let fits = texts.iter().find(|text| cells(text) + 2 <= area.width);
    fits.or(texts.last()).copied().unwrap_or_default()
}

/// One line in the upper right corner; whatever is shown goes on by itself.
fn pill(text: &str, style: Style, state: &State, area: Rect, buf: &mut Buffer) {
    let text = format!(" {} ", plain(text, state.setup.ascii));
    let width = cells(&text).min(area.width);
    let at = Rect::new(area.right() - width, area.y, width, area.height.min(1));
    let style = style.patch(palette_reverse());
    clear(buf, at, style);
    line(buf, at, 0, &[(&text, style)]);
}

const fn palette_reverse() -> Style {
    Style::new().add_modifier(ratatui::style::Modifier::REVERSED)
}

/// Lines at the lower end of the pane, with what a person can do.
fn banner(
    text: &str,
    style: Style,
    actions: &[Action],
    state: &State,
    palette: &Palette,
    area: Rect,
    buf: &mut Buffer,
) -> Vec<Spot> {
    let ascii = state.setup.ascii;
    let width = usize::from(area.width.saturating_sub(2)).max(1);
    let mut lines = wrap(&plain(text, ascii), width);
    lines.truncate(usize::from(area.height.saturating_sub(1)).max(1));
    let height = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX).min(area.height);
    let rule = area.height > height + 2;
    let top = area.bottom() - height - u16::from(rule);
    let at = Rect::new(area.x, top, area.width, area.bottom() - top);
    clear(buf, at, palette.panel);
    let mut row = 0;
    if rule {
        let across = if ascii { "-" } else { "─" }.repeat(usize::from(area.width));
        line(buf, at, 0, &[(&across, style)]);
        row = 1;
    }
    for text in &lines {
        line(buf, at, row, &[(" ", style), (text, style)]);
        row += 1;
    }
    let offered: Vec<&Action> = actions.iter().filter(|(_, _, command)| state.can(*command).is_ok()).collect();
    let all: u16 = offered.iter().map(|(name, _, _)| cells(name) + 6).sum();
    let mut spots = vec![Spot::new(at, Target::Nothing)];
    let mut rest = at;
    for (name, short, command) in offered {
        // A banner takes the key alone.
        let key = format!(" [{}]", state.setup.keys.banner(*command));
        let name = format!(" {} ", if all <= area.width { name } else { short });
        let used = line(buf, rest, row, &[(&key, palette.key), (&name, palette.bar)]);
        let here = Rect { y: at.y + row, width: used, height: u16::from(row < at.height), ..rest };
        spots.push(Spot::new(here, Target::Command(*command)));
        rest = Rect { x: rest.x + used, width: rest.width - used, ..rest };
    }
    spots
}

/// What stands in the pane when no session is chosen.
pub fn nothing(state: &State, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    clear(buf, area, palette.bar);
    if !state.listed {
        return vec![];
    }
    let rows = [
        (Command::New, "start a session"),
        (Command::Detach, "leave; sessions go on"),
        (Command::Help, "show all keys"),
    ];
    let keys = &state.setup.keys;
    let at = middle(area, 46, 7);
    let inside = if area.height >= 9 && area.width >= 50 {
        boxed(buf, at, "No session yet", palette.bar, state.setup.ascii)
    } else {
        at
    };
    let mut spots = vec![];
    let mut row = 0;
    for (command, what) in rows {
        let Some(key) = keys.first(command).map(|key| key.to_string()) else { continue };
        let blank = ("  ", palette.bar);
        let used = line(buf, inside, row, &[blank, (&key, palette.key), blank, (what, palette.bar)]);
        if row < inside.height {
            let here = Rect { y: inside.y + row, width: used, height: 1, ..inside };
            spots.push(Spot::new(here, Target::Command(command)));
        }
        row += 1;
    }
    let later = format!("  Later: {} first.", keys.prefix());
    line(buf, inside, row + 1, &[(&later, palette.faint)]);
    spots
}
