//! State and what happened → state and orders. The whole behaviour of the screen, without doing anything.

mod answers;
mod commands;
mod forms;
mod host;
mod keys;
mod lists;
mod mouse;
mod orders;
mod panels;
mod panes;
mod pulse;
mod shells;
mod tabs;

use super::msg::{Effect, Msg, Timer};
use super::state::State;
use crate::screen::decode::Outer;

/// Orders at the very start.
#[must_use]
pub fn begin() -> Vec<Effect> {
    vec![Effect::Connect { after: std::time::Duration::ZERO, start: true }]
}

/// Takes what happened; returns what is to be done, in order.
pub fn update(state: &mut State, msg: Msg) -> Vec<Effect> {
    let mut out = vec![];
    pulse::heard(state, &msg);
    let took_keys = state.banner_takes_keys();
    match msg {
        Msg::Outer(Outer::Mouse(mouse)) => mouse::mouse(state, mouse, &mut out),
        Msg::Outer(outer) => keys::outer(state, outer, &mut out),
        Msg::Resized(cols, rows) => {
            state.size = (cols, rows);
            orders::start(state, Timer::Resize, orders::RESIZE_SETTLES, &mut out);
        }
        Msg::Timer(timer, life) => {
            if state.timers.get(&timer) == Some(&life) {
                ran_out(state, timer, &mut out);
            }
        }
        Msg::Connected => host::connected(state, &mut out),
        Msg::NoHost { why, refused } => host::absent(state, why, refused, &mut out),
        Msg::Lost(why) => host::lost(state, &why, &mut out),
        Msg::Push(push) => host::push(state, push, &mut out),
        Msg::Frame(stream, frame) => panes::frame(state, stream, &frame, &mut out),
        Msg::Answered(call, outcome) => answers::answered(state, call, outcome, &mut out),
        Msg::Completed(text, found) => forms::completed(state, &text, found),
        Msg::Drawn(spots) => {
            state.spots = spots;
            panes::drawn(state, &mut out);
        }
        Msg::Awoke => {
            out.push(Effect::Redraw);
            panes::keyframe(state, &mut out);
        }
    }
    panels::tend(state, &mut out);
    if !took_keys && state.banner_takes_keys() {
        state.quiet = false;
        orders::start(state, Timer::Quiet, orders::QUIET, &mut out);
    }
    pulse::tend(state, &mut out);
    out
}

fn ran_out(state: &mut State, timer: Timer, out: &mut Vec<Effect>) {
    match timer {
        Timer::Said => state.said = None,
        Timer::Quiet => state.quiet = true,
        Timer::Resize => panes::arrange(state, out),
        Timer::Follow => panes::follow(state, out),
        Timer::Attach => panes::attach_again(state, out),
        Timer::Panel => panels::pace(state),
        Timer::Turn | Timer::Look | Timer::Silent => pulse::ran_out(state, timer, out),
    }
}

#[cfg(test)]
mod key_tests;
#[cfg(test)]
mod mouse_tests;
#[cfg(test)]
mod pane_tests;
#[cfg(test)]
mod panel_tests;
#[cfg(test)]
mod pulse_tests;
#[cfg(test)]
mod tests;
