//! The panels beside the agent's terminal: the line that names what is shown, the rows, the line with the keys.

mod files;
mod git;
mod lines;
mod pen;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use pen::Pen;

use super::ink::{cells, clear, line, plain};
use crate::domain::plain::strip;
use crate::tui::desk::Shows;
use crate::tui::edit::wrap;
use crate::tui::layout::{Parts, Space};
use crate::tui::palette::Palette;
use crate::tui::panel::Panels;
use crate::tui::panel::ask::{Ask, Failure};
use crate::tui::picture::Picture;
use crate::tui::spot::{Spot, Target};
use crate::tui::state::{State, Tab};

/// A message covers at most so many rows of a panel that shows something.
const MAX_MESSAGE_ROWS: usize = 3;

/// What a panel shows, in a few words: the line over it.
pub fn name(state: &State, shows: &Shows) -> String {
    let Some(tab) = state.chosen() else { return String::new() };
    let (what, wanted) = match shows {
        Shows::Git => (git::name(&tab.panels.git), tab.panels.git.wanted.as_ref()),
        Shows::Files => (files::name(&tab.panels.files, &tab.line.cwd), tab.panels.files.wanted.as_ref()),
        Shows::Agent | Shows::Shell(_) => return String::new(),
    };
    let reading = wanted.map(Ask::path).map(|path| format!(" (reading {})", path.rsplit('/').next().unwrap_or(path)));
    strip(&format!("{what}{}", reading.unwrap_or_default()))
}

/// Draws a panel; also what of its keys can be clicked.
pub fn draw(
    state: &State,
    shows: &Shows,
    space: Space,
    focused: bool,
    palette: &Palette,
    buf: &mut Buffer,
) -> (Picture, Vec<Spot>) {
    let (mut picture, mut spots) = (Picture::default(), vec![]);
    clear(buf, space.inside, palette.bar);
    let (Some(tab), Some((_, parts))) = (state.chosen(), state.panel()) else { return (picture, spots) };
    let pen = Pen { palette, ascii: state.setup.ascii, focused };
    if let Some(area) = parts.place {
        let style = if focused { palette.key } else { palette.faint };
        let width = usize::from(area.width.saturating_sub(2));
        line(buf, area, 0, &[(" ", style), (&pen.text(&name(state, shows), width), style)]);
    }
    if tab.panels.filled(shows) {
        match shows {
            Shows::Git => git::draw(&tab.panels.git, &pen, parts.body, buf),
            _ => files::draw(&tab.panels.files, &pen, parts.body, buf),
        }
    }
    if let Some((text, style)) = message(state, tab, shows, palette) {
        let (around, rows) =
            if tab.panels.filled(shows) { (foot_of(&parts), MAX_MESSAGE_ROWS) } else { (parts.body, 99) };
        tell(&text, style, around, &parts, rows.min(usize::from(parts.body.height)), &pen, buf);
    } else if let Some(filter) = filter(&tab.panels, shows) {
        let area = foot_of(&parts);
        clear(buf, area, palette.bar);
        line(buf, area, 0, &[(" / ", palette.key)]);
        let room = Rect { x: area.x + 3.min(area.width), width: area.width.saturating_sub(4), ..area };
        let (typed, column) = filter.window(room.width, pen.ascii);
        line(buf, room, 0, &[(&plain(&typed, pen.ascii), palette.bar)]);
        if focused && column < room.width {
            picture.cursor = Some((room.x + column, room.y).into());
        }
    } else if let Some(area) = parts.foot {
        spots = foot(&tab.panels, shows, &pen, area, usize::from(parts.body.height), buf);
    }
    (picture, spots)
}

/// The last line of a panel.
fn foot_of(parts: &Parts) -> Rect {
    parts.foot.unwrap_or(Rect {
        y: parts.body.bottom().saturating_sub(1),
        height: parts.body.height.min(1),
        ..parts.body
    })
}

/// The filter that is being typed.
fn filter<'a>(panels: &'a Panels, shows: &Shows) -> Option<&'a crate::tui::edit::Line> {
    panels.files.filter.as_ref().filter(|_| *shows == Shows::Files && panels.files.types())
}

/// What is to be said of the panel itself: why it shows nothing, or nothing new.
fn message(state: &State, tab: &Tab, shows: &Shows, palette: &Palette) -> Option<(String, Style)> {
    let filled = tab.panels.filled(shows);
    if let Err(why) = state.workspace() {
        let then = if filled { "What you see is from before." } else { "This is read when it is ready." };
        return Some((format!("{why} {then}"), palette.bad));
    }
    match tab.panels.failure(shows) {
        Some(failure) => Some((said(failure), palette.bad)),
        None if !filled => Some(("Reading…".into(), palette.faint)),
        None => None,
    }
}

fn said(failure: &Failure) -> String {
    let mut words = failure.words.trim_end_matches('.').to_owned();
    if let Some(first) = words.get(..1).map(str::to_uppercase) {
        words.replace_range(..1, &first);
    }
    let then = if failure.passes() { "It is asked again." } else { "R asks again." };
    format!("{words}. {then}")
}

/// Draws a message: from the top of a panel that has nothing else, over the last rows of one that has.
fn tell(text: &str, style: Style, at: Rect, parts: &Parts, rows: usize, pen: &Pen<'_>, buf: &mut Buffer) {
    let width = usize::from(at.width.saturating_sub(2)).max(1);
    let mut lines = wrap(&plain(&strip(text), pen.ascii), width);
    lines.truncate(rows.max(1));
    let count = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let area = if at == parts.body {
        at
    } else {
        let top = at.bottom().saturating_sub(count).max(parts.body.y);
        Rect { y: top, height: at.bottom() - top, ..at }
    };
    clear(buf, area, pen.palette.bar);
    for (row, text) in (0..).zip(&lines) {
        line(buf, area, row, &[(" ", style), (text, style)]);
    }
}

/// The keys of a panel that has the focus, and how much of a text is in sight.
fn foot(panels: &Panels, shows: &Shows, pen: &Pen<'_>, area: Rect, height: usize, buf: &mut Buffer) -> Vec<Spot> {
    let (text, keys) = match shows {
        Shows::Git => (panels.git.text.as_ref(), git::keys(&panels.git)),
        _ => (panels.files.text.as_ref(), files::keys(&panels.files)),
    };
    let faint = pen.palette.faint;
    let place = text.filter(|text| text.rows() > height).map(|text| {
        let first = text.first(height);
        format!("{}-{} of {} ", first + 1, (first + height).min(text.rows()), text.rows())
    });
    let place = place.unwrap_or_default();
    let room = area.width.saturating_sub(cells(&place));
    line(buf, Rect { x: area.x + room, width: area.width - room, ..area }, 0, &[(&place, faint)]);
    let (mut x, mut spots) = (area.x, vec![]);
    for (key, what, code) in keys.iter().filter(|_| pen.focused) {
        if x + cells(key) + cells(what) + 3 > area.x + room {
            break;
        }
        let at = Rect { x, width: area.x + room - x, ..area };
        let used = line(buf, at, 0, &[(" ", faint), (key, pen.palette.key), (" ", faint), (what, faint), (" ", faint)]);
        spots.extend(code.map(|code| Spot::new(Rect { width: used, ..at }, Target::Key(code))));
        x += used;
    }
    spots
}
