//! State → picture. Only reads the state.

mod bars;
mod ink;
mod notices;
mod pane;
mod panels;

use ratatui::buffer::Buffer;

use super::layout;
use super::palette::Palette;
use super::picture::Picture;
use super::state::{Mode, State};

/// Draws everything into `buf`, whose area is the whole outer terminal.
pub fn view(state: &State, buf: &mut Buffer) -> Picture {
    let palette = if state.setup.colour { Palette::colour() } else { Palette::plain() };
    let layout = layout::divide(buf.area.width, buf.area.height);
    let mut picture = Picture::default();
    if buf.area.is_empty() {
        return picture;
    }
    if let Some(area) = layout.tabs {
        bars::tabs(state, &palette, area, buf);
    }
    if let Some(area) = layout.status {
        bars::status(state, &palette, area, buf);
    }
    match &state.pane {
        Some(pane) if state.chosen().is_some() => {
            picture = pane::terminal(pane, layout.pane, buf);
            notices::draw(state, &palette, layout.pane, buf);
            if state.notice().takes_keys() {
                picture.cursor = None;
            }
        }
        _ => notices::nothing(state, &palette, layout.pane, buf),
    }
    match &state.mode {
        Mode::Normal => {}
        Mode::Prefix => panels::keys_after_prefix(state, &palette, layout.pane, buf),
        Mode::Help(from) => {
            picture.cursor = None;
            panels::help(state, *from, &palette, layout.whole, buf);
        }
        Mode::Form(form) => picture = panels::form(state, form, &palette, layout.whole, buf),
        Mode::Ask(question) => {
            picture.cursor = None;
            panels::question(question, &palette, layout.pane, buf);
        }
    }
    picture
}

#[cfg(test)]
mod tests;
