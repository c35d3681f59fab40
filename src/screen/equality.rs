//! Tests: whatever the model shows, a view fed with frames shows the same.

use alacritty_terminal::term::cell::{Cell, Flags};
use proptest::prelude::*;

use crate::domain::launch::Size;
use crate::wire::frame::OverlayKind;

use super::cell::{self, Shown};
use super::frames::Framer;
use super::generated::{Random, stream};
use super::model::Model;
use super::recordings;
use super::style::{Paint, Style};
use super::view::View;

/// One model with a prompt viewer and one that only takes every third frame.
struct Rig {
    model: Model,
    framer: Framer,
    prompt: View,
    slow: View,
    frames: u32,
}

impl Rig {
    fn new(size: Size) -> Self {
        let size = Size::clamped(size.cols, size.rows);
        Self {
            model: Model::new(size, 100),
            framer: Framer::new(),
            prompt: View::new(size),
            slow: View::new(size),
            frames: 0,
        }
    }

    /// Takes a frame and compares; `late`: also for somebody who joins now.
    fn step(&mut self, late: bool, what: &str) {
        if !self.framer.update(&mut self.model) {
            return;
        }
        self.frames += 1;
        let size = self.model.size();
        take(&mut self.prompt, &self.framer);
        compare(&self.model, &self.prompt, &format!("{what}: prompt, frame {}", self.frames));
        if self.frames.is_multiple_of(3) {
            take(&mut self.slow, &self.framer);
            compare(&self.model, &self.slow, &format!("{what}: slow, frame {}", self.frames));
        }
        if late {
            let mut view = View::new(size);
            take(&mut view, &self.framer);
            compare(&self.model, &view, &format!("{what}: late, frame {}", self.frames));
        }
    }
}

fn take(view: &mut View, framer: &Framer) {
    if let Some(frame) = framer.frame_since(view.state()) {
        view.apply(&frame).expect("the framer builds on what the view has");
    }
    assert_eq!(framer.frame_since(view.state()), None);
}

fn colour(paint: Paint) -> vt100::Color {
    match paint {
        Paint::Default => vt100::Color::Default,
        Paint::Index(index) => vt100::Color::Idx(index),
        Paint::Rgb([r, g, b]) => vt100::Color::Rgb(r, g, b),
    }
}

fn compare(model: &Model, view: &View, what: &str) {
    let (strange, screen) = view.inside();
    assert_eq!(strange, 0, "{what}: the parser met what it does not know");
    let (size, cursor) = (model.size(), model.cursor());
    assert_eq!((view.size(), view.cursor(), view.modes()), (size, cursor, model.screen_modes()), "{what}");
    assert_eq!(screen.cursor_position(), (cursor.row, cursor.col), "{what}");
    assert_eq!(screen.hide_cursor(), !cursor.visible, "{what}");
    for row in 0..size.rows {
        let cells = model.row(row);
        for col in 0..size.cols {
            let got = screen.cell(row, col).expect("same size");
            check_cell(cells, usize::from(col), got, &format!("{what}, row {row}, column {col}"));
        }
        let overlay = view.overlay(row);
        let has = |flag: Flags| cells.iter().any(|cell| cell.flags.contains(flag));
        let shows = |what: &OverlayKind| overlay.iter().any(|range| range.what == *what);
        assert_eq!(has(Flags::STRIKEOUT), shows(&OverlayKind::Strike), "{what}, row {row}");
        assert_eq!(has(Flags::DIM_BOLD), shows(&OverlayKind::Dim), "{what}, row {row}");
        assert_eq!(has(Flags::HIDDEN), shows(&OverlayKind::Hidden), "{what}, row {row}");
    }
}

fn check_cell(cells: &[Cell], col: usize, got: &vt100::Cell, what: &str) {
    let shown = Shown::of(cells, col);
    let after_blank = col > 0 && Shown::of(cells, col - 1) == Shown::WideBlank;
    if shown == Shown::Spacer && !after_blank {
        assert!(got.is_wide_continuation(), "{what}");
        return;
    }
    let cell = if after_blank { &cells[col - 1] } else { &cells[col] };
    let mut text = match shown {
        Shown::Narrow(c) | Shown::Wide(c) => c.to_string(),
        _ => String::from(" "),
    };
    if !after_blank {
        text.extend(cell::marks(cell, shown));
    }
    let contents = if got.contents().is_empty() { " " } else { got.contents() };
    assert_eq!(contents, text, "{what}");
    assert_eq!(got.is_wide(), matches!(shown, Shown::Wide(_)), "{what}");
    let style = Style::whole(cell);
    let flag = |flag: Flags| cell.flags.intersects(flag);
    assert_eq!((got.fgcolor(), got.bgcolor()), (colour(style.fg), colour(style.bg)), "{what}");
    assert_eq!(got.bold(), flag(Flags::BOLD), "{what}: bold");
    assert_eq!(got.dim(), flag(Flags::DIM) && !flag(Flags::BOLD), "{what}: dim");
    assert_eq!(got.italic(), flag(Flags::ITALIC), "{what}: italic");
    assert_eq!(got.underline(), flag(Flags::ALL_UNDERLINES), "{what}: underline");
    assert_eq!(got.inverse(), flag(Flags::INVERSE), "{what}: inverse");
}

fn replay(recording: &recordings::Recording, seed: u64) -> u32 {
    let (size, resizes) = recording.sizes();
    let mut random = Random::new(seed);
    let mut rig = Rig::new(size);
    let mut resizes = resizes.into_iter().peekable();
    let mut at = 0;
    while at < recording.bytes.len() {
        if let Some((_, size)) = resizes.next_if(|(offset, _)| *offset <= at) {
            rig.model.resize(size);
            rig.step(true, recording.name);
            continue;
        }
        let until = resizes.peek().map_or(recording.bytes.len(), |(offset, _)| *offset);
        let end = until.min(at + 1 + random.below(4096));
        while at < end {
            at += rig.model.feed_part(&recording.bytes[at..end]).used;
            let late = random.below(8) == 0;
            rig.step(late, recording.name);
        }
    }
    rig.model.end_sync();
    rig.step(true, recording.name);
    rig.model.reset_after_death();
    rig.step(true, recording.name);
    rig.frames
}

#[test]
fn views_of_recordings_equal_the_model_after_every_frame() {
    let frames: u32 = recordings::ALL.iter().map(|recording| replay(recording, 7)).sum();
    assert!(frames > 500, "only {frames} frames were compared");
}

/// With other cuts, for a sample.
#[test]
fn cuts_do_not_matter() {
    for (recording, seed) in recordings::ALL.iter().step_by(8).zip([11, 12, 13, 14]) {
        replay(recording, seed);
    }
}

#[test]
fn byte_by_byte_is_the_same_as_at_once() {
    for recording in recordings::ALL.iter().filter(|r| r.bytes.len() < 13_000) {
        let (size, _) = recording.sizes();
        let (mut whole, mut bytes) = (Model::new(size, 100), Model::new(size, 100));
        let mut events = whole.feed(recording.bytes);
        let mut single = Vec::new();
        for byte in recording.bytes {
            single.extend(bytes.feed(std::slice::from_ref(byte)));
        }
        let join = |events: &mut Vec<super::event::ModelEvent>| {
            use super::event::ModelEvent;
            let replies: Vec<u8> = events
                .iter()
                .filter_map(|e| if let ModelEvent::Reply(bytes) = e { Some(bytes.clone()) } else { None })
                .flatten()
                .collect();
            events.retain(|e| !matches!(e, ModelEvent::Reply(_)));
            replies
        };
        assert_eq!(join(&mut events), join(&mut single), "{}", recording.name);
        assert_eq!(events, single, "{}", recording.name);
        assert_eq!(whole.lines(100, true), bytes.lines(100, true), "{}", recording.name);
        assert_eq!(whole.input_modes(), bytes.input_modes(), "{}", recording.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn views_of_any_output_equal_the_model(seed: u64, cols in 1_u16..=80, rows in 1_u16..=24) {
        let mut random = Random::new(seed);
        let mut rig = Rig::new(Size { cols, rows });
        for _ in 0..12 {
            if random.below(4) == 0 {
                let size = Size { cols: 1 + random.below(80) as u16, rows: 1 + random.below(24) as u16 };
                rig.model.resize(size);
                if random.below(2) == 0 {
                    rig.step(false, "after a resize");
                }
            }
            let bytes = stream(&mut random);
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(1 + random.below(rest.len()));
                rest = later;
                let mut at = 0;
                while at < now.len() {
                    at += rig.model.feed_part(&now[at..]).used;
                    rig.step(random.below(8) == 0, "generated");
                }
            }
        }
        rig.model.end_sync();
        rig.step(true, "at the end");
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), cols in 0_u16..30, rows in 0_u16..9) {
        let mut rig = Rig::new(Size { cols, rows });
        rig.model.feed(&bytes);
        rig.model.resize(Size { cols: rows, rows: cols });
        rig.model.feed(&bytes);
        rig.model.end_sync();
        rig.step(true, "noise");
        rig.model.reset_after_death();
        rig.step(true, "noise, after death");
    }
}
