//! The terminal that is shown: attach, follow, frames, size, input.

use crate::domain::ids::TerminalId;
use crate::domain::launch::Size;
use crate::tui::msg::{Call, Effect, Refusal, Timer};
use crate::tui::state::{MAX_EARLY_FRAMES, Pane, State};
use crate::wire::agentctl::StreamEvent;
use crate::wire::frame::Frame;
use crate::wire::host::Attached;
use crate::wire::input::StreamInput;

use super::orders;

/// Attaches to the chosen session's terminal. What was shown of it stays until its first frame.
pub fn attach(state: &mut State, out: &mut Vec<Effect>) {
    let size = state.pane_size();
    let Some(session) = state.current.clone() else {
        detach(state, out);
        state.pane = None;
        return;
    };
    detach(state, out);
    state.tickets += 1;
    let ticket = state.tickets;
    match &mut state.pane {
        Some(pane) if pane.session == session => {
            pane.ticket = ticket;
            pane.early.clear();
            pane.acked = 0;
            pane.size = size;
        }
        pane => *pane = Some(Pane::new(session.clone(), ticket, size)),
    }
    if state.up() {
        if let Some(pane) = &mut state.pane {
            pane.asked = true;
        }
        out.push(Effect::Call(Call::Attach { session, size: asked_size(state, size), ticket }));
    }
}

fn asked_size(state: &State, size: Size) -> Option<Size> {
    (!state.setup.read_only).then_some(size)
}

/// Lets go of the stream, if there is one.
pub fn detach(state: &mut State, out: &mut Vec<Effect>) {
    if let Some(stream) = state.pane.as_mut().and_then(|pane| pane.stream.take()) {
        out.push(Effect::Call(Call::Detach(stream)));
    }
}

/// The answer to an attach.
pub fn attached(state: &mut State, ticket: u64, outcome: Result<Attached, Refusal>, out: &mut Vec<Effect>) {
    let size = state.pane_size();
    let read_only = state.setup.read_only;
    let Some(pane) = state.pane.as_mut().filter(|pane| pane.ticket == ticket) else {
        if let Ok(attached) = outcome {
            out.push(Effect::Call(Call::Detach(attached.stream)));
        }
        return;
    };
    pane.asked = false;
    match outcome {
        Ok(attached) => {
            pane.stream = Some(attached.stream);
            pane.terminal = attached.terminal_id;
            pane.lost = None;
            pane.exited = None;
            if pane.size != size && !read_only {
                pane.size = size;
                out.push(Effect::Send(attached.stream, StreamInput::Resize(size)));
            }
            let early = std::mem::take(&mut pane.early);
            for (stream, frame) in early {
                if stream == attached.stream {
                    self::frame(state, stream, frame, out);
                }
            }
        }
        Err(refusal) => {
            pane.lost = Some(refusal.message);
            if state.chosen().is_some_and(|tab| !tab.ended()) {
                orders::start(state, Timer::Attach, orders::ATTACH_AGAIN, out);
            }
        }
    }
}

/// Attaches again, if nothing is attached and no attach is on its way.
pub fn attach_again(state: &mut State, out: &mut Vec<Effect>) {
    if state.up() && state.pane.as_ref().is_some_and(|pane| pane.stream.is_none() && !pane.asked) {
        attach(state, out);
    }
}

/// The chosen session's agent goes on in `terminal`; the stream should say so itself.
pub fn expect(state: &mut State, terminal: Option<&TerminalId>, out: &mut Vec<Effect>) {
    match &mut state.pane {
        Some(pane) if pane.stream.is_none() => attach_again(state, out),
        Some(pane) if terminal.is_some() && pane.terminal.as_ref() != terminal => {
            orders::start(state, Timer::Follow, orders::FOLLOW, out);
        }
        _ => {}
    }
}

/// If the stream has not followed its session by now, attaches anew.
pub fn follow(state: &mut State, out: &mut Vec<Effect>) {
    let newest = state.chosen().and_then(|tab| tab.line.terminal_id.clone());
    if newest.is_some() && state.pane.as_ref().is_some_and(|pane| pane.terminal != newest) {
        attach(state, out);
    }
}

/// Takes a frame.
pub fn frame(state: &mut State, stream: u32, frame: Frame, out: &mut Vec<Effect>) {
    let Some(pane) = &mut state.pane else { return };
    match pane.stream {
        Some(own) if own == stream => {
            pane.lost = None;
            if pane.view.apply(&frame).is_err() {
                out.push(Effect::Send(stream, StreamInput::Keyframe));
            }
        }
        None if pane.early.len() < MAX_EARLY_FRAMES => pane.early.push((stream, frame)),
        _ => {}
    }
}

/// What is shown is the newest: the host may send more.
pub fn drawn(state: &mut State, out: &mut Vec<Effect>) {
    if let Some(pane) = &mut state.pane
        && let Some(stream) = pane.stream
        && pane.view.state() != pane.acked
    {
        pane.acked = pane.view.state();
        out.push(Effect::Send(stream, StreamInput::Ack { state: pane.acked }));
    }
}

/// Asks for everything anew.
pub fn keyframe(state: &State, out: &mut Vec<Effect>) {
    if let Some(stream) = state.pane.as_ref().and_then(|pane| pane.stream) {
        out.push(Effect::Send(stream, StreamInput::Keyframe));
    }
}

/// Tells the pane's size, if it changed.
pub fn resize(state: &mut State, out: &mut Vec<Effect>) {
    let size = state.pane_size();
    let read_only = state.setup.read_only;
    if let Some(pane) = &mut state.pane
        && let Some(stream) = pane.stream
        && pane.size != size
        && !read_only
    {
        pane.size = size;
        out.push(Effect::Send(stream, StreamInput::Resize(size)));
    }
}

/// Sends input into the terminal; `false` when nothing took it.
pub fn input(state: &State, input: StreamInput, out: &mut Vec<Effect>) -> bool {
    match state.pane.as_ref().and_then(|pane| pane.stream) {
        Some(stream) if !state.setup.read_only && state.up() => {
            out.push(Effect::Send(stream, input));
            true
        }
        _ => false,
    }
}

/// Something of a stream besides frames.
pub fn event(state: &mut State, stream: u32, event: StreamEvent, out: &mut Vec<Effect>) {
    let Some(pane) = state.pane.as_mut().filter(|pane| pane.stream == Some(stream)) else { return };
    let session = pane.session.clone();
    match event {
        StreamEvent::Attached { terminal, .. } => {
            pane.terminal = Some(terminal);
            pane.exited = None;
            pane.lost = None;
        }
        StreamEvent::Moved { terminal, .. } => {
            pane.terminal = Some(terminal);
            pane.exited = None;
            pane.lost = None;
            if let Some(tab) = state.tab_mut(&session) {
                tab.line.title.clear();
                tab.line.progress = None;
            }
            orders::ask_status(state, &session, out);
        }
        StreamEvent::Title { text } => {
            if let Some(tab) = state.tab_mut(&session) {
                tab.line.title = text;
            }
        }
        StreamEvent::Bell => out.push(Effect::Bell),
        StreamEvent::Notification { title, text } => {
            let name = state.tab(&session).map_or(String::new(), |tab| tab.line.name.clone());
            let text = [title.as_str(), text.as_str()].iter().filter(|t| !t.is_empty()).copied().collect::<Vec<_>>();
            orders::say(state, format!("{name}: {}", text.join(": ")), out);
        }
        StreamEvent::Clipboard { data } => out.push(Effect::Clipboard(data)),
        StreamEvent::Exited { exit } => {
            pane.exited = Some(exit);
            orders::ask_status(state, &session, out);
        }
        StreamEvent::Lost { why } => {
            pane.lost = Some(why);
            orders::ask_status(state, &session, out);
        }
    }
}
