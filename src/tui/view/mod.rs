//! State → picture. Only reads the state.

mod bars;
mod forms;
mod heads;
mod ink;
mod keys;
mod lists;
mod notices;
mod pane;
mod panel;
mod question;

use ratatui::buffer::Buffer;

use super::desk::Shows;
use super::palette::Palette;
use super::picture::Picture;
use super::spot::{Spot, Target};
use super::state::{Mode, State};

/// Draws everything into `buf`, whose area is the whole outer terminal.
pub fn view(state: &State, buf: &mut Buffer) -> Picture {
    draw(state, buf).0
}

/// The same; also what of it can be clicked.
pub fn draw(state: &State, buf: &mut Buffer) -> (Picture, Vec<Spot>) {
    let mut spots = vec![];
    let picture = all(state, buf, &mut spots);
    (picture, spots)
}

fn all(state: &State, buf: &mut Buffer, spots: &mut Vec<Spot>) -> Picture {
    let palette = if state.setup.colour { Palette::colour() } else { Palette::plain() };
    let layout = state.layout();
    let mut picture = Picture::default();
    if buf.area.is_empty() {
        return picture;
    }
    if let Some(area) = layout.tabs {
        spots.extend(bars::tabs(state, &palette, area, buf));
    }
    if let Some(area) = layout.status {
        spots.extend(bars::status(state, &palette, area, buf));
    }
    if let Some(area) = layout.sidebar {
        spots.extend(lists::sidebar(state, &palette, area, buf));
    }
    if state.chosen().is_some() && !(state.panes.is_empty() && state.panel().is_none()) {
        picture = panes(state, &palette, buf, spots);
    } else {
        spots.extend(notices::nothing(state, &palette, layout.body, buf));
    }
    match &state.mode {
        Mode::Normal => {}
        Mode::Prefix => spots.extend(keys::after_prefix(state, &palette, layout.body, buf)),
        Mode::Help(from) => {
            picture.cursor = None;
            spots.extend(keys::all(state, *from, &palette, layout.whole, buf));
        }
        Mode::Sidebar(_) if layout.sidebar.is_some() => picture.cursor = None,
        Mode::Sidebar(_) => {
            picture.cursor = None;
            spots.extend(lists::sidebar(state, &palette, layout.body, buf));
        }
        Mode::Reopen(at) => {
            picture.cursor = None;
            spots.extend(lists::reopen(state, *at, &palette, layout.whole, buf));
        }
        Mode::Explain(from) => {
            picture.cursor = None;
            spots.extend(lists::explain(state, *from, &palette, layout.whole, buf));
        }
        Mode::Messages(from) => {
            picture.cursor = None;
            spots.extend(lists::messages(state, *from, &palette, layout.whole, buf));
        }
        Mode::Form(form) => {
            spots.push(Spot::new(layout.whole, Target::Nothing));
            let (drawn, fields) = forms::form(state, form, &palette, layout.whole, buf);
            picture = drawn;
            spots.extend(fields);
        }
        Mode::Ask(question) => {
            picture.cursor = None;
            spots.push(Spot::new(layout.whole, Target::Nothing));
            spots.extend(question::question(question, &palette, layout.body, buf));
        }
    }
    picture
}

/// The panes of the chosen session; the cursor is that of the one with the focus.
fn panes(state: &State, palette: &Palette, buf: &mut Buffer, spots: &mut Vec<Spot>) -> Picture {
    let (layout, desk) = (state.layout(), state.desk());
    let mut picture = Picture::default();
    for shows in std::iter::once(&Shows::Agent).chain(&desk.beside) {
        let Some(space) = layout.space(shows) else { continue };
        let focused = desk.focused() == shows;
        if let Some(pane) = state.pane(shows) {
            let drawn = pane::terminal(pane, space.inside, buf);
            if focused {
                picture = drawn;
            }
        }
        if !shows.terminal() {
            let (drawn, keys) = panel::draw(state, shows, space, focused, palette, buf);
            spots.extend(keys);
            if focused {
                picture = drawn;
            }
        }
        if *shows == Shows::Agent {
            spots.extend(notices::draw(state, palette, space.inside, buf));
        }
        if let Some(head) = space.head {
            heads::head(state, shows, focused, palette, head, buf);
        }
    }
    if let Some(area) = layout.divider {
        heads::divider(state, palette, area, buf);
    }
    if state.banner_takes_keys() {
        picture.cursor = None;
    }
    picture
}

#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod panel_tests;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod readme_tests;
#[cfg(test)]
mod state_tests;
#[cfg(test)]
mod tests;
