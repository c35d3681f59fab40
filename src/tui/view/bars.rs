//! Tab bar and status line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::ink::{cells, clear, line, plain};
use crate::tui::badge;
use crate::tui::desk::Shows;
use crate::tui::edit::cut_to;
use crate::tui::keymap::Command;
use crate::tui::palette::Palette;
use crate::tui::spot::{Spot, Target};
use crate::tui::state::{Link, Mode, State, Tab, Voice};
use crate::tui::tabbar;

/// Draws the tab bar.
pub fn tabs(state: &State, palette: &Palette, area: Rect, buf: &mut Buffer) -> Vec<Spot> {
    clear(buf, area, palette.bar);
    if state.tabs.is_empty() {
        line(buf, area, 0, &[(" relight", palette.faint)]);
        return vec![];
    }
    let mut spots = vec![];
    for piece in tabbar::arrange(state, area.width) {
        let style = palette.tone(piece.tone);
        let style = if piece.chosen { style.patch(palette.chosen) } else { style };
        let at = Rect::new(area.x + piece.from, area.y, area.width.saturating_sub(piece.from), 1);
        let used = line(buf, at, 0, &[(&plain(&piece.text, state.setup.ascii && !piece.text.is_ascii()), style)]);
        let target = piece.session.map_or(Target::Nothing, Target::Session);
        spots.push(Spot::new(Rect { width: used, ..at }, target));
    }
    spots
}

/// Draws the status line: an announcement or how the chosen session is, then where it runs and the key to know.
pub fn status(state: &State, palette: &Palette, area: Rect, buf: &mut Buffer) -> Option<Spot> {
    clear(buf, area, palette.bar);
    let ascii = state.setup.ascii;
    let right = plain(&right_side(state, area.width / 2), ascii);
    let right_width = cells(&right);
    let room = usize::from(area.width.saturating_sub(right_width + u16::from(right_width > 0)));
    let (text, style) = left_side(state, palette);
    let text = cut_to(&plain(&text, ascii), room, tabbar::mark(ascii));
    line(buf, area, 0, &[(&text, style)]);
    if right_width == 0 {
        return None;
    }
    let at = Rect::new(area.right() - right_width, area.y, right_width, 1);
    line(buf, at, 0, &[(&right, palette.faint)]);
    (state.mode == Mode::Normal).then(|| Spot::new(at, Target::Command(Command::Help)))
}

fn left_side(state: &State, palette: &Palette) -> (String, ratatui::style::Style) {
    if let Link::Away { why, goodbye, .. } = &state.link {
        let text = if *goodbye {
            let again = state.setup.keys.spoken(Command::Resume).map(|keys| format!("; {keys} starts it again"));
            format!(" Host stopped ({why}){}", again.unwrap_or_default())
        } else {
            format!(" Host away, retrying ({why})")
        };
        return (text, palette.bad);
    }
    if state.voice == Voice::Silent {
        return (" The host does not answer; keys wait until it does".into(), palette.bad);
    }
    if let Some(said) = &state.said {
        return (format!(" {said}"), palette.bar);
    }
    match (&state.link, state.chosen()) {
        (Link::Connecting, _) => (" Connecting to the host…".into(), palette.faint),
        (_, Some(tab)) => {
            let activity = tab.line.activity;
            let glyph = badge::glyph(activity, state.setup.ascii);
            let word = badge::word(activity);
            let cut_off = if tab.interrupted() && !tab.line.why.contains("cut off") {
                " (interrupted: its last turn was cut off)"
            } else {
                ""
            };
            let why = if tab.line.why.is_empty() { String::new() } else { format!(": {}", tab.line.why) };
            (format!(" {glyph} {word}{why}{cut_off}"), palette.tone(badge::tone(activity)))
        }
        (_, None) => (" No session".into(), palette.faint),
    }
}

/// What is shown of a session with two panes, when that is only one of them.
fn one_of_two(state: &State, tab: &Tab) -> Option<&'static str> {
    let hidden = tab.desk.beside.is_some() && (state.layout().agent.is_none() || state.layout().beside.is_none());
    hidden.then(|| match tab.desk.focused() {
        Shows::Agent => "agent 1/2",
        Shows::Shell(_) => "shell 2/2",
        Shows::Git => "git 2/2",
        Shows::Files => "files 2/2",
    })
}

/// Parts of the right side in at most `width` cells; of little room first what matters least goes, then how to get help.
fn right_side(state: &State, width: u16) -> String {
    let keys = &state.setup.keys;
    let mut parts: Vec<(u8, String)> = vec![];
    if state.setup.read_only {
        parts.push((3, "read-only".to_owned()));
    }
    if let Some(tab) = state.chosen() {
        parts.extend(one_of_two(state, tab).map(|one| (3, one.to_owned())));
        parts.extend(tab.line.progress.map(|percent| (1, format!("{percent}%"))));
        let runtime = tab.line.runtime.map_or("local", crate::domain::words::Runtime::as_str);
        parts.push((0, runtime.to_owned()));
    }
    match state.mode {
        Mode::Normal => parts.extend(keys.spoken(Command::Help).map(|keys| (2, format!("{keys} help")))),
        Mode::Prefix => parts.push((2, format!("{} …", keys.prefix()))),
        _ => parts.push((2, "Esc back".into())),
    }
    let all = parts.clone();
    for least in 0..4 {
        parts.retain(|(rank, _)| *rank >= least);
        let texts: Vec<&str> = parts.iter().map(|(_, text)| text.as_str()).collect();
        let text = format!("{} ", texts.join(" | "));
        if !parts.is_empty() && cells(&text) <= width {
            return text;
        }
    }
    let short = all.iter().find(|(rank, _)| *rank == 2).and_then(|(_, text)| text.strip_suffix(" help"));
    short.map(|text| format!("{text} ")).filter(|text| cells(text) <= width).unwrap_or_default()
}
