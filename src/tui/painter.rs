//! Pictures → bytes for the outer terminal: only what changed since the last one.

use std::fmt::Write as _;

use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::crossterm::style::force_color_output;
use ratatui::layout::{Position, Rect};
use ratatui::style::Color;

use super::picture::Picture;
use super::reports::{Reports, reports};
use super::spot::Spot;
use super::state::State;
use super::view::draw;

/// How many colours the outer terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// 24 bits.
    True,
    /// 256.
    Indexed,
    /// 16.
    Basic,
}

/// Keeps what stands on the outer terminal.
pub struct Painter {
    shown: Buffer,
    picture: Option<Picture>,
    spots: Vec<Spot>,
    mouse: Reports,
    depth: Depth,
    shapes: bool,
}

impl Painter {
    /// Of a terminal on which nothing stands. `shapes`: its cursor has several.
    #[must_use]
    pub fn new(depth: Depth, shapes: bool) -> Self {
        // What a program draws in colour stays so: NO_COLOR is for what relight itself adds, and the program reads it too.
        force_color_output(true);
        Self { shown: Buffer::empty(Rect::ZERO), picture: None, spots: vec![], mouse: Reports::Off, depth, shapes }
    }

    /// What stands on the terminal is not known any more.
    pub fn forget(&mut self) {
        self.shown = Buffer::empty(Rect::ZERO);
        self.picture = None;
        self.mouse = Reports::Off;
    }

    /// The bytes that make the terminal show `state`; empty when it does already.
    pub fn paint(&mut self, state: &State) -> Vec<u8> {
        let area = Rect::new(0, 0, state.size.0, state.size.1);
        let mut next = Buffer::empty(area);
        let (picture, spots) = draw(state, &mut next);
        self.spots = spots;
        self.fit_colours(&mut next);
        let mut body = vec![];
        if self.shown.area != area {
            body.extend_from_slice(b"\x1b[m\x1b[2J");
            self.shown = Buffer::empty(area);
            self.picture = None;
        }
        let cells = self.shown.diff(&next);
        if !cells.is_empty() {
            // Writing to a vector does not fail.
            let _never = CrosstermBackend::new(&mut body).draw(cells.into_iter());
        }
        let changed = !body.is_empty();
        self.shown = next;
        let mut tail = String::new();
        self.cursor(picture, changed, &mut tail);
        self.mouse(state, &mut tail);
        if !changed && tail.is_empty() {
            return vec![];
        }
        let mut bytes = Vec::with_capacity(body.len() + tail.len() + 32);
        if changed {
            bytes.extend_from_slice(b"\x1b[?2026h\x1b[?25l");
            bytes.extend_from_slice(&body);
        }
        bytes.extend_from_slice(tail.as_bytes());
        if changed {
            bytes.extend_from_slice(b"\x1b[?2026l");
        }
        bytes
    }

    fn cursor(&mut self, picture: Picture, changed: bool, out: &mut String) {
        if !changed && self.picture == Some(picture) {
            return;
        }
        if self.shapes && self.picture.is_none_or(|shown| shown.shape != picture.shape) {
            let _never = write!(out, "\x1b[{} q", picture.shape.min(6));
        }
        let _never = match picture.cursor {
            Some(Position { x, y }) => write!(out, "\x1b[{};{}H\x1b[?25h", u32::from(y) + 1, u32::from(x) + 1),
            None => write!(out, "\x1b[?25l"),
        };
        self.picture = Some(picture);
    }

    /// What of the last picture can be clicked.
    #[must_use]
    pub fn spots(&self) -> Vec<Spot> {
        self.spots.clone()
    }

    fn mouse(&mut self, state: &State, out: &mut String) {
        let wanted = reports(state);
        if wanted == self.mouse {
            return;
        }
        out.push_str(match wanted {
            Reports::Off => "\x1b[?1002l\x1b[?1000l\x1b[?1006l",
            Reports::Clicks => "\x1b[?1002l\x1b[?1000h\x1b[?1006h",
            Reports::Drags => "\x1b[?1000h\x1b[?1002h\x1b[?1006h",
        });
        self.mouse = wanted;
    }

    fn fit_colours(&self, buf: &mut Buffer) {
        if self.depth == Depth::True {
            return;
        }
        for cell in &mut buf.content {
            cell.fg = fit(cell.fg, self.depth);
            cell.bg = fit(cell.bg, self.depth);
            cell.underline_color = Color::Reset;
        }
    }
}

/// The nearest colour that a terminal with fewer of them has.
fn fit(colour: Color, depth: Depth) -> Color {
    let (r, g, b) = match (colour, depth) {
        (Color::Rgb(r, g, b), Depth::Indexed | Depth::Basic) => (r, g, b),
        (Color::Indexed(n @ 16..=231), Depth::Basic) => {
            let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            (level((n - 16) / 36), level((n - 16) / 6 % 6), level((n - 16) % 6))
        }
        (Color::Indexed(n @ 232..=255), Depth::Basic) => (8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232)),
        (other, _) => return other,
    };
    if depth == Depth::Indexed {
        let max = r.max(g).max(b);
        if max - r.min(g).min(b) < 10 && (8..=243).contains(&max) {
            return Color::Indexed(232 + ((max - 8) / 10).min(23));
        }
        let level = |c: u8| {
            if c < 48 {
                0
            } else if c < 115 {
                1
            } else {
                (c - 35) / 40
            }
        };
        return Color::Indexed(16 + 36 * level(r) + 6 * level(g) + level(b));
    }
    let max = r.max(g).max(b);
    let on = |c: u8| u8::from(c > 60 && u16::from(c) * 2 > u16::from(max));
    let bright = if max > 190 { 8 } else { 0 };
    Color::Indexed(on(r) + 2 * on(g) + 4 * on(b) + bright)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_fitted_to_what_the_terminal_has() {
        assert_eq!(fit(Color::Rgb(255, 0, 0), Depth::Indexed), Color::Indexed(196));
        assert_eq!(fit(Color::Rgb(128, 128, 128), Depth::Indexed), Color::Indexed(244));
        assert_eq!(fit(Color::Rgb(255, 0, 0), Depth::Basic), Color::Indexed(9));
        assert_eq!(fit(Color::Indexed(196), Depth::Basic), Color::Indexed(9));
        assert_eq!(fit(Color::Reset, Depth::Basic), Color::Reset);
        assert_eq!(fit(Color::Indexed(3), Depth::Basic), Color::Indexed(3));
        for r in (0..=255).step_by(15) {
            for g in (0..=255).step_by(15) {
                for b in (0..=255).step_by(15) {
                    let _in_range = fit(Color::Rgb(r, g, b), Depth::Indexed);
                    let _in_range = fit(Color::Rgb(r, g, b), Depth::Basic);
                }
            }
        }
    }
}
