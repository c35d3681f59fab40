//! Model → frames.

use crate::wire::frame::Frame;

use super::model::Model;

/// Keeps the encoded rows of one model; many viewers take what each of them lacks.
#[derive(Default)]
pub struct Framer {
    state: u64,
}

impl Framer {
    /// Without any state yet; the first [`Framer::update`] makes state 1.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over what changed in the model; whether anything did. Nothing while a synchronized update is open.
    pub fn update(&mut self, _model: &mut Model) -> bool {
        false
    }

    /// The frame that leads from `state` to the newest one; `None` when `state` is the newest. A keyframe when `state` is 0 or
    /// unknown, and across a change of size or of the alternate screen.
    pub fn frame_since(&self, _state: u64) -> Option<Frame> {
        None
    }

    /// Number of the newest state; 0 before the first update.
    pub fn state(&self) -> u64 {
        self.state
    }
}
