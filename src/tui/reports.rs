//! What the outer terminal is asked to tell of its mouse.

use super::state::State;
use crate::config::settings::MouseUse;

/// What the outer terminal is to tell of its mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reports {
    /// Nothing: it does with it what it does by itself.
    #[default]
    Off,
    /// Buttons and wheel.
    Clicks,
    /// Also moves with a button held.
    Drags,
}

/// What of the mouse is wanted now.
#[must_use]
pub fn reports(state: &State) -> Reports {
    let modes = state.focused().map(|pane| pane.view.modes()).unwrap_or_default();
    match (state.setup.mouse, modes.mouse, modes.mouse_motion) {
        (MouseUse::Never, ..) | (MouseUse::Program, false, _) => Reports::Off,
        (_, true, true) => Reports::Drags,
        _ => Reports::Clicks,
    }
}
