//! Lists and texts: tasks and sessions at the side, closed sessions, what is known of a session, announcements.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::ink::{boxed, cells, clear, line, plain};
use crate::tui::badge;
use crate::tui::edit::cut_to;
use crate::tui::keymap::Command;
use crate::tui::palette::Palette;
use crate::tui::sidebar::{self, Row};
use crate::tui::spot::{self, Spot, Target};
use crate::tui::state::{Mode, State, Tab};
use crate::tui::tabbar::mark;
use crate::tui::{explain, layout};

/// Tasks and sessions; a line at their right where they stand beside the panes.
pub fn sidebar(state: &State, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    let ascii = state.setup.ascii;
    let mut spots = vec![Spot::new(area, Target::Nothing)];
    clear(buf, area, palette.bar);
    let beside = area.width < state.size.0;
    if beside {
        let upright = if ascii { "|" } else { "│" };
        let edge = Rect { x: area.right().saturating_sub(1), width: area.width.min(1), ..area };
        for row in 0..area.height {
            line(buf, edge, row, &[(upright, palette.faint)]);
        }
    }
    let area = Rect { width: area.width.saturating_sub(u16::from(beside)), ..area };
    let rows = sidebar::rows(state);
    let keys = matches!(state.mode, Mode::Sidebar(_));
    let at = if let Mode::Sidebar(at) = state.mode { at } else { sidebar::place(&rows, state.current.as_ref()) };
    let first = sidebar::first_shown(at, rows.len(), usize::from(area.height));
    for (i, row) in rows.iter().enumerate().skip(first) {
        let y = u16::try_from(i - first).unwrap_or(u16::MAX);
        if y >= area.height {
            break;
        }
        match row {
            Row::Task(title, word) => {
                let word = if area.width >= 24 { format!("{word} ") } else { String::new() };
                let room = usize::from(area.width.saturating_sub(cells(&word) + 2));
                let title = cut_to(&plain(title, ascii && !title.is_ascii()), room, mark(ascii));
                line(buf, area, y, &[(" ", palette.key), (&title, palette.key)]);
                right(buf, area, y, &word, palette.faint);
            }
            Row::Session(id) => {
                if let Some(tab) = state.tab(id) {
                    let here = Rect { y: area.y + y, height: 1, ..area };
                    session(state, tab, keys && i == at, palette, here, buf);
                    spots.push(Spot::new(here, Target::Session(id.clone())));
                }
            }
        }
    }
    spots
}

fn session(state: &State, tab: &Tab, marked: bool, palette: &Palette, area: Rect, buf: &mut Buffer) {
    let ascii = state.setup.ascii;
    let chosen = state.current.as_ref() == Some(tab.id());
    let activity = tab.line.activity;
    let tone = palette.tone(badge::tone(activity));
    let style = if marked { tone.patch(palette.chosen) } else { tone };
    clear(buf, area, style);
    let word = format!("{} ", badge::word(activity));
    let unseen = if tab.unseen { "*" } else { "" };
    let name = plain(&tab.line.name, ascii && !tab.line.name.is_ascii());
    // Sign, glyph and blanks before the name, the mark behind it, a blank before the word.
    let room = area.width.saturating_sub(6);
    let word = if cells(&name) + cells(&word) <= room { word } else { String::new() };
    let name = cut_to(&name, usize::from(room.saturating_sub(cells(&word))), mark(ascii));
    let here = match (chosen, ascii) {
        (true, false) => "▸",
        (true, true) => ">",
        (false, _) => " ",
    };
    let glyph = badge::glyph(activity, ascii);
    line(buf, area, 0, &[(" ", style), (here, style), (glyph, style), (" ", style), (&name, style), (unseen, style)]);
    right(buf, area, 0, &word, style);
}

fn right(buf: &mut Buffer, area: Rect, row: u16, text: &str, style: ratatui::style::Style) {
    let width = cells(text).min(area.width);
    let at = Rect { x: area.right() - width, width, ..area };
    line(buf, at, row, &[(text, style)]);
}

/// Sessions that ended, to bring one back.
pub fn reopen(state: &State, at: usize, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    let ascii = state.setup.ascii;
    let place = fitted(area, state.closed.len().max(1) + 2);
    let mut spots = spot::over(area, place);
    let inside = boxed(buf, place, "Bring a closed session back", palette.panel, ascii);
    if state.closed.is_empty() {
        line(buf, inside, 0, &[(" No session was closed.", palette.faint)]);
        return spots;
    }
    let height = usize::from(inside.height.saturating_sub(1)).max(1);
    let first = sidebar::first_shown(at, state.closed.len(), height);
    for (i, session) in state.closed.iter().enumerate().skip(first).take(height) {
        let row = u16::try_from(i - first).unwrap_or(u16::MAX);
        let style = if i == at { palette.chosen } else { palette.panel };
        let here = Rect { y: inside.y + row, height: 1, ..inside };
        clear(buf, here, style);
        let agent = plain(&format!("{} ", session.agent_label), ascii && !session.agent_label.is_ascii());
        let room = usize::from(inside.width.saturating_sub(cells(&agent) + 3));
        let text = format!("{}  {}", session.name, session.cwd);
        let text = cut_to(&plain(&text, ascii && !text.is_ascii()), room, mark(ascii));
        let sign = if i == at { ">" } else { " " };
        line(buf, here, 0, &[(sign, style), (&text, style)]);
        right(buf, here, 0, &agent, style);
        spots.push(Spot::new(here, Target::Row(i)));
    }
    foot(inside, "Enter: bring it back  Esc: leave it", palette, buf);
    spots
}

/// What is known of the chosen session.
pub fn explain(state: &State, from: usize, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    let Some(tab) = state.chosen() else { return vec![] };
    let ascii = state.setup.ascii;
    let (width, _) = layout::text_panel(state.size.0, state.size.1);
    let lines = explain::shown(tab, width);
    let place = fitted(area, lines.len());
    let inside = boxed(buf, place, "This session", palette.panel, ascii);
    for (i, (label, text)) in lines.iter().enumerate().skip(from) {
        let row = u16::try_from(i - from).unwrap_or(u16::MAX);
        let text = plain(text, ascii && !text.is_ascii());
        let label = format!("{label:<gap$}", gap = explain::LABEL);
        line(buf, inside, row, &[(" ", palette.panel), (&label, palette.key), (&text, palette.panel)]);
    }
    spot::over(area, place)
}

/// What was announced.
pub fn messages(state: &State, from: usize, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    let ascii = state.setup.ascii;
    let (width, _) = layout::text_panel(state.size.0, state.size.1);
    let lines = state.messages(width);
    let place = fitted(area, lines.len().max(1));
    let inside = boxed(buf, place, "Messages", palette.panel, ascii);
    if lines.is_empty() {
        let hint = state.setup.keys.spoken(Command::Explain);
        let hint = hint.map(|keys| format!(" {keys} explains this session.")).unwrap_or_default();
        line(buf, inside, 0, &[(" Nothing was announced yet.", palette.faint), (&hint, palette.faint)]);
    }
    for (i, text) in lines.iter().enumerate().skip(from) {
        let row = u16::try_from(i - from).unwrap_or(u16::MAX);
        line(buf, inside, row, &[(" ", palette.panel), (&plain(text, ascii && !text.is_ascii()), palette.panel)]);
    }
    spot::over(area, place)
}

/// The place of a list of `lines` lines and its frame.
fn fitted(area: Rect, lines: usize) -> Rect {
    let over = layout::over(area);
    Rect { height: u16::try_from(lines + 2).unwrap_or(u16::MAX).min(over.height), ..over }
}

fn foot(inside: Rect, text: &str, palette: &Palette, buf: &mut Buffer) {
    if inside.height > 2 {
        line(buf, inside, inside.height - 1, &[(" ", palette.faint), (text, palette.faint)]);
    }
}
