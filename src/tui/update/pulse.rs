//! What goes on with time: the sign that turns while something goes on by itself, what is told in seconds, and whether the
//! host still answers. Nothing here runs while nothing goes on and nobody types.

use std::time::Duration;

use crate::domain::words::ResumeReason;
use crate::tui::msg::{Call, Effect, Msg, Timer};
use crate::tui::notice::Notice;
use crate::tui::state::{State, Voice};

use super::orders;

/// Turns of the sign: a quarter each.
const TURN: Duration = Duration::from_millis(250);
/// What is told in seconds is asked for as often.
const LOOK: Duration = Duration::from_secs(1);
/// A host that is well answers sooner, also on a busy machine.
const SILENT: Duration = Duration::from_secs(3);

/// The host said something.
pub fn heard(state: &mut State, msg: &Msg) {
    let said = match msg {
        Msg::Push(_) | Msg::Frame(..) | Msg::Connected | Msg::Lost(_) => true,
        Msg::Answered(_, outcome) => outcome.as_ref().err().is_none_or(|refusal| refusal.code.is_some()),
        _ => false,
    };
    if said {
        state.voice = Voice::Spoke;
    }
}

/// Starts what has to run, after everything else of an update.
pub fn tend(state: &mut State, out: &mut Vec<Effect>) {
    let up = state.up();
    if up && matches!(state.notice(), Notice::Pill(_)) {
        steady(state, Timer::Turn, TURN, out);
    }
    let timed = |reason| matches!(reason, ResumeReason::BackingOff | ResumeReason::ExecutorUnreachable);
    let status = state.chosen().and_then(|tab| tab.status.as_ref());
    if up && status.is_some_and(|status| timed(status.resume_reason)) {
        steady(state, Timer::Look, LOOK, out);
    }
    let asks = |effect: &Effect| matches!(effect, Effect::Call(_) | Effect::Send(..));
    if up && out.iter().any(asks) && !state.steady.contains(&Timer::Silent) {
        if state.voice == Voice::Spoke {
            state.voice = Voice::Awaited;
        }
        steady(state, Timer::Silent, SILENT, out);
    }
}

/// A timer that is not started anew while it runs.
fn steady(state: &mut State, timer: Timer, after: Duration, out: &mut Vec<Effect>) {
    if state.steady.insert(timer) {
        orders::start(state, timer, after, out);
    }
}

/// One of the timers ran out.
pub fn ran_out(state: &mut State, timer: Timer, out: &mut Vec<Effect>) {
    state.steady.remove(&timer);
    match timer {
        Timer::Turn => state.turn = state.turn.wrapping_add(1),
        Timer::Look => {
            if let Some(session) = state.current.clone() {
                orders::ask_status(state, &session, out);
            }
        }
        Timer::Silent if state.up() => match state.voice {
            Voice::Awaited => {
                state.voice = Voice::Asked;
                out.push(Effect::Call(Call::Ping));
            }
            Voice::Asked => state.voice = Voice::Silent,
            Voice::Spoke | Voice::Silent => {}
        },
        _ => {}
    }
}
