//! The keys on screen: the hint after the prefix, and the help.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::ink::{boxed, cells, clear, line, middle};
use crate::tui::help::{self, Line};
use crate::tui::keymap::Command;
use crate::tui::palette::Palette;
use crate::tui::spot::{self, Spot, Target};
use crate::tui::state::State;

/// Most columns of the hint: more are not found faster.
const MAX_COLUMNS: usize = 6;

/// Most columns that the keys of a command get in the help; longer ones push their text to the right.
const MAX_KEYS: usize = 16;

/// The keys that work now, most wanted first, after the prefix was pressed. What does not fit is behind the key of help.
pub fn after_prefix(state: &State, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    let keys = &state.setup.keys;
    let all: Vec<(String, &str)> =
        keys.hints().into_iter().filter(|row| help::works(state, row)).map(|row| (row.first, row.hint)).collect();
    let more = keys.first(Command::Help).map(|key| (key.to_string(), "all"));
    let hint = Command::Help.entry().hint;
    let (shown, widths, gap) = fit(&all, more.as_ref(), hint, area);
    let rows = u16::try_from(shown.len().div_ceil(widths.len().max(1))).unwrap_or(u16::MAX);
    let rule = u16::from(area.height > rows + 2);
    let height = (rows + rule).min(area.height);
    let at = Rect::new(area.x, area.bottom() - height, area.width, height);
    clear(buf, at, palette.panel);
    let mut spots = vec![Spot::new(at, Target::Nothing)];
    if rule == 1 {
        let across = if state.setup.ascii { "-" } else { "─" }.repeat(usize::from(area.width));
        line(buf, at, 0, &[(&across, palette.faint)]);
    }
    for (row, entries) in shown.chunks(widths.len().max(1)).enumerate() {
        let row = rule + u16::try_from(row).unwrap_or(u16::MAX);
        let mut left = 0;
        for ((key, hint), (key_width, hint_width)) in entries.iter().zip(&widths) {
            let rest = Rect::new(at.x + left.min(at.width), at.y, at.width.saturating_sub(left), at.height);
            let key = format!("{key:<width$}", width = usize::from(*key_width));
            let used = line(
                buf,
                rest,
                row,
                &[(" ", palette.panel), (&key, palette.key), (" ", palette.panel), (hint, palette.panel)],
            );
            left += key_width + hint_width + gap;
            if let Some(command) = command(state, hint) {
                let here = Rect { y: rest.y + row, width: used, height: 1, ..rest };
                spots.push(Spot::new(here, Target::Command(command)));
            }
        }
    }
    spots
}

/// What a hint stands for, if it is one command.
fn command(state: &State, hint: &str) -> Option<Command> {
    let row = state.setup.keys.hints().into_iter().find(|row| row.hint == hint);
    match row {
        Some(row) if row.commands.len() == 1 => row.commands.first().copied(),
        Some(_) => None,
        // What does not fit is behind it.
        None => Some(Command::Help),
    }
}

type Hint<'a> = (String, &'a str);

/// As many entries as fit, in as many columns as fit; the widths of key and hint in each column; and how many blanks there
/// are for each column: one before the key, one behind it, and one behind the hint unless room is short. When not all
/// fit, the last entry is `more`, and the one whose hint is `help` is not shown twice.
fn fit<'a>(all: &[Hint<'a>], more: Option<&Hint<'a>>, help: &str, area: Rect) -> (Vec<Hint<'a>>, Vec<(u16, u16)>, u16) {
    let most = usize::from(area.height).max(1);
    let mut last = (vec![], vec![], 2);
    for count in (1..=MAX_COLUMNS.min(all.len().max(1))).rev() {
        let room = count * most;
        let mut shown: Vec<Hint<'a>> = all.to_vec();
        let cut = shown.len() > room;
        if cut {
            shown.retain(|(_, hint)| *hint != help || more.is_none());
            shown.truncate(room - usize::from(more.is_some()));
            shown.extend(more.cloned());
        }
        let mut widths = vec![(0, 0); count];
        for (i, (key, hint)) in shown.iter().enumerate() {
            let (key_width, hint_width) = &mut widths[i % count];
            *key_width = cells(key).max(*key_width);
            *hint_width = cells(hint).max(*hint_width);
        }
        let gap = if cut { 2 } else { 3 };
        // Behind the last column there is nothing to keep apart.
        let needed = widths.iter().map(|(key, hint)| key + hint + gap).sum::<u16>().saturating_sub(gap - 2);
        last = (shown, widths, gap);
        if needed <= area.width {
            break;
        }
    }
    last
}

/// All keys, from line `from` on.
pub fn all(state: &State, from: usize, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    let lines = help::lines(state, help::room(area.width));
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let at = middle(area, help::WIDTH, height);
    let title = format!("Keys, after {}", state.setup.keys.prefix());
    let inside = boxed(buf, at, &title, palette.panel, state.setup.ascii);
    let from = from.min(lines.len().saturating_sub(usize::from(inside.height)));
    let below = lines.len() - from - usize::from(inside.height).min(lines.len() - from);
    if inside.height < at.height {
        let foot = match (below, from) {
            (0, 0) => " Esc: back ".to_owned(),
            (0, above) => format!(" Esc: back  Up: {above} more "),
            (below, _) => format!(" Esc: back  Down: {below} more "),
        };
        let room = Rect::new(at.x + 2, at.bottom() - 1, at.width.saturating_sub(4), 1);
        line(buf, room, 0, &[(&foot, palette.faint)]);
    }
    let longest = |line: &Line| if let Line::Keys { keys, .. } = line { usize::from(cells(keys)) } else { 0 };
    let width = lines.iter().map(longest).max().unwrap_or(0).min(MAX_KEYS);
    // Where there is little room, only the prefix itself is as long.
    let width = if inside.width < 40 { width.min(6) } else { width };
    for (row, shown) in lines.iter().skip(from).enumerate() {
        let row = u16::try_from(row).unwrap_or(u16::MAX);
        match shown {
            Line::Blank => {}
            Line::Heading(text) => _ = line(buf, inside, row, &[(text, palette.wants)]),
            Line::Keys { keys, text, works } => {
                let (key, style, off) = match works {
                    true => (palette.key, palette.panel, ""),
                    false => (palette.faint, palette.faint, " (not now)"),
                };
                let keys = format!("{keys:<width$}");
                line(buf, inside, row, &[(&keys, key), (" ", style), (text, style), (off, style)]);
            }
        }
    }
    spot::over(area, at)
}
