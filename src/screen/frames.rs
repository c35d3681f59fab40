//! Model → frames: the encoded rows of one model with the number of the state that each changed in.

use bytes::Bytes;

use crate::domain::launch::Size;
use crate::wire::frame::{CursorState, Frame, FrameHead, Overlay, ScreenModes};

use super::model::Model;
use super::row;
use super::style::write_decimal;

/// Keeps the encoded rows of one model; many viewers take what each of them lacks. One framer per model: taking what
/// changed also forgets it there.
#[derive(Debug, Default)]
pub struct Framer {
    /// Newest state.
    state: u64,
    /// State of the last change of size or screen; nothing older can be built upon.
    epoch: u64,
    size: Option<Size>,
    cursor: CursorState,
    modes: ScreenModes,
    history: u64,
    rows: Vec<Row>,
    /// Room for the row being encoded, kept between rows.
    bytes: Vec<u8>,
    overlay: Vec<Overlay>,
}

/// One row.
#[derive(Debug, Default)]
struct Row {
    /// State in which it changed last.
    state: u64,
    bytes: Vec<u8>,
    overlay: Vec<Overlay>,
}

impl Framer {
    /// Without any state yet; the first [`Framer::update`] makes state 1.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over what changed in the model; whether anything did. Nothing while a synchronized update is open.
    pub fn update(&mut self, model: &mut Model) -> bool {
        if model.sync_deadline().is_some() {
            return false;
        }
        let (size, cursor, modes) = (model.size(), model.cursor(), model.screen_modes());
        let history = model.history_len() as u64;
        let next = self.state + 1;
        let anew = self.size != Some(size) || self.modes.alt != modes.alt;
        let damage = model.take_damage().filter(|_| !anew);
        if anew {
            self.size = Some(size);
            self.rows = std::iter::repeat_with(Row::default).take(usize::from(size.rows)).collect();
        }
        let mut changed = anew || (self.cursor, self.modes, self.history) != (cursor, modes, history);
        match damage {
            None => (0..size.rows).for_each(|row| changed |= self.encode(model, row, next)),
            Some(rows) => rows.into_iter().for_each(|row| changed |= self.encode(model, row, next)),
        }
        if changed {
            self.state = next;
            (self.cursor, self.modes, self.history) = (cursor, modes, history);
            if anew {
                self.epoch = next;
            }
        }
        changed
    }

    /// The frame that leads from `state` to the newest one; `None` when `state` is the newest. A keyframe when `state` is 0
    /// or unknown, and across a change of size or of the alternate screen.
    pub fn frame_since(&self, state: u64) -> Option<Frame> {
        if state == self.state {
            return None;
        }
        let size = self.size?;
        let base = if state < self.epoch || state > self.state { 0 } else { state };
        let mut head = FrameHead {
            state: self.state,
            base,
            cols: size.cols,
            rows: size.rows,
            cursor: self.cursor,
            modes: self.modes,
            history: self.history,
            ..FrameHead::default()
        };
        let mut vt = Vec::new();
        if base == 0 {
            vt.reserve(self.rows.iter().map(|row| row.bytes.len()).sum::<usize>() + 64);
            vt.extend_from_slice(b"\x1b[m\x1b[H\x1b[2J");
        }
        for (at, row) in (0..).zip(&self.rows).filter(|(_, row)| row.state > base) {
            vt.extend_from_slice(&row.bytes);
            head.overlay.extend_from_slice(&row.overlay);
            head.sent.push(at);
        }
        vt.extend_from_slice(b"\x1b[");
        write_decimal(usize::from(self.cursor.row) + 1, &mut vt);
        vt.push(b';');
        write_decimal(usize::from(self.cursor.col) + 1, &mut vt);
        vt.extend_from_slice(if self.cursor.visible { b"H\x1b[?25h" } else { b"H\x1b[?25l" });
        Some(Frame { head, vt: Bytes::from(vt) })
    }

    /// Number of the newest state; 0 before the first update.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// Encodes a row; whether it differs from what was there.
    fn encode(&mut self, model: &Model, at: u16, state: u64) -> bool {
        let Some(row) = self.rows.get_mut(usize::from(at)) else { return false };
        self.bytes.clear();
        self.overlay.clear();
        row::encode(model.row(at), at, &mut self.bytes, &mut self.overlay);
        if row.bytes == self.bytes && row.overlay == self.overlay {
            return false;
        }
        std::mem::swap(&mut row.bytes, &mut self.bytes);
        std::mem::swap(&mut row.overlay, &mut self.overlay);
        row.state = state;
        true
    }
}
