//! The terminals that are shown: attach, follow, frames, size, input.

use crate::domain::ids::TerminalId;
use crate::domain::launch::{Exit, Size};
use crate::domain::words::ErrorCode;
use crate::tui::desk::Shows;
use crate::tui::msg::{Call, Effect, Refusal, Timer};
use crate::tui::pane::{MAX_EARLY_FRAMES, MAX_EARLY_KEYS, Pane};
use crate::tui::state::{State, Tab};
use crate::wire::agentctl::StreamEvent;
use crate::wire::frame::Frame;
use crate::wire::host::Attached;
use crate::wire::input::{KeyKind, StreamInput};

use super::orders;

/// Makes the attached terminals those that are to be shown, in the sizes of their panes.
pub fn arrange(state: &mut State, out: &mut Vec<Effect>) {
    let wanted = if state.chosen().is_some() { state.wanted_panes() } else { vec![] };
    let current = state.current.clone();
    let (keep, gone): (Vec<Pane>, Vec<Pane>) = std::mem::take(&mut state.panes).into_iter().partition(|pane| {
        Some(&pane.session) == current.as_ref() && wanted.iter().any(|(shows, _)| *shows == pane.shows)
    });
    state.panes = keep;
    for pane in gone.iter().filter(|pane| !pane.typed.is_empty()) {
        let name = state.tab(&pane.session).map_or("the session", |tab| tab.line.name.as_str()).to_owned();
        orders::hint(state, format!("What was typed for {name} did not arrive: its terminal had not answered."), out);
    }
    out.extend(gone.iter().filter_map(|pane| pane.stream).map(|stream| Effect::Call(Call::Detach(stream))));
    for (shows, _) in &wanted {
        if state.pane(shows).is_none() {
            attach(state, shows, out);
        }
    }
    resize(state, out);
}

/// Attaches to a terminal of the chosen session. What was shown of it stays until its first frame.
fn attach(state: &mut State, shows: &Shows, out: &mut Vec<Effect>) {
    let Some(session) = state.current.clone() else { return };
    let Some((_, size)) = state.wanted_panes().into_iter().find(|(wanted, _)| wanted == shows) else { return };
    let (up, read_only) = (state.up(), state.setup.read_only);
    state.tickets += 1;
    let ticket = state.tickets;
    let at = state.panes.iter().position(|pane| pane.session == session && pane.shows == *shows);
    let at = at.unwrap_or_else(|| {
        state.panes.push(Pane::new(session.clone(), shows.clone(), ticket, size));
        state.panes.len() - 1
    });
    let Some(pane) = state.panes.get_mut(at) else { return };
    if let Some(stream) = pane.stream.take() {
        out.push(Effect::Call(Call::Detach(stream)));
    }
    pane.ticket = ticket;
    pane.early.clear();
    pane.undrawn = false;
    pane.size = size;
    pane.asked = up;
    if up {
        let size = (!read_only).then_some(size);
        out.push(Effect::Call(Call::Attach { session, shows: shows.clone(), size, ticket }));
    }
}

/// The link to the host is new: attaches all anew.
pub fn attach_all(state: &mut State, out: &mut Vec<Effect>) {
    arrange(state, out);
    attach_again(state, out);
}

/// The answer to an attach.
pub fn attached(state: &mut State, ticket: u64, outcome: Result<Attached, Refusal>, out: &mut Vec<Effect>) {
    let Some(pane) = state.panes.iter_mut().find(|pane| pane.ticket == ticket) else {
        if let Ok(attached) = outcome {
            out.push(Effect::Call(Call::Detach(attached.stream)));
        }
        return;
    };
    pane.asked = false;
    let typed = std::mem::take(&mut pane.typed);
    match outcome {
        Ok(attached) => {
            pane.stream = Some(attached.stream);
            pane.terminal = attached.terminal_id;
            pane.lost = None;
            pane.exited = None;
            out.extend(typed.into_iter().map(|input| Effect::Send(attached.stream, input)));
            let early = std::mem::take(&mut pane.early);
            for (stream, frame) in early {
                if stream == attached.stream {
                    self::frame(state, stream, &frame, out);
                }
            }
            resize(state, out);
        }
        Err(refusal) => {
            let shell = match &pane.shows {
                Shows::Shell(id) if refusal.code == Some(ErrorCode::TerminalNotFound) => Some(id.clone()),
                _ => None,
            };
            pane.lost = Some(refusal.message);
            if let Some(id) = shell {
                gone(state, &id, "The shell is gone.", out);
            } else if state.chosen().is_some_and(|tab| !tab.ended()) {
                orders::start(state, Timer::Attach, orders::ATTACH_AGAIN, out);
            }
        }
    }
}

/// Attaches again where nothing is attached and no attach is on its way.
pub fn attach_again(state: &mut State, out: &mut Vec<Effect>) {
    if state.up() {
        let idle = state.panes.iter().filter(|pane| pane.stream.is_none() && !pane.asked);
        for shows in idle.map(|pane| pane.shows.clone()).collect::<Vec<_>>() {
            attach(state, &shows, out);
        }
    }
}

/// The chosen session's agent goes on in `terminal`; the stream should say so itself.
pub fn expect(state: &mut State, terminal: Option<&TerminalId>, out: &mut Vec<Effect>) {
    match state.pane(&Shows::Agent) {
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
    if newest.is_some() && state.pane(&Shows::Agent).is_some_and(|pane| pane.terminal != newest) {
        attach(state, &Shows::Agent, out);
    }
}

/// Takes a frame.
pub fn frame(state: &mut State, stream: u32, frame: &Frame, out: &mut Vec<Effect>) {
    if let Some(pane) = of_stream(state, stream) {
        pane.lost = None;
        match pane.view.apply(frame) {
            Ok(()) => pane.undrawn = true,
            Err(_) => out.push(Effect::Send(stream, StreamInput::Keyframe)),
        }
        return;
    }
    // The answer that says whose stream this is comes after it.
    for pane in state.panes.iter_mut().filter(|pane| pane.asked && pane.early.len() < MAX_EARLY_FRAMES) {
        pane.early.push((stream, frame.clone()));
    }
}

fn of_stream(state: &mut State, stream: u32) -> Option<&mut Pane> {
    state.panes.iter_mut().find(|pane| pane.stream == Some(stream))
}

/// What is shown is the newest: the host may send more.
pub fn drawn(state: &mut State, out: &mut Vec<Effect>) {
    for pane in &mut state.panes {
        // Not told by the number: each terminal counts its own states, and a successor's may be the one shown last.
        if let Some(stream) = pane.stream.filter(|_| std::mem::take(&mut pane.undrawn)) {
            out.push(Effect::Send(stream, StreamInput::Ack { state: pane.view.state() }));
        }
    }
}

/// Asks for everything anew.
pub fn keyframe(state: &State, out: &mut Vec<Effect>) {
    let streams = state.panes.iter().filter_map(|pane| pane.stream);
    out.extend(streams.map(|stream| Effect::Send(stream, StreamInput::Keyframe)));
}

/// Tells the sizes of the panes, where they changed.
pub fn resize(state: &mut State, out: &mut Vec<Effect>) {
    if state.setup.read_only {
        return;
    }
    for (shows, size) in state.wanted_panes() {
        let mut shown = state.panes.iter_mut().filter(|pane| pane.shows == shows && pane.size != size);
        if let Some((pane, stream)) = shown.next().and_then(|pane| pane.stream.map(|stream| (pane, stream))) {
            pane.size = size;
            out.push(Effect::Send(stream, StreamInput::Resize(size)));
        }
    }
}

/// Sends input into the terminal that has the focus. What is typed while its attach is on its way is sent after it; of what
/// is typed and reaches nobody, the person is told.
pub fn input(state: &mut State, input: StreamInput, out: &mut Vec<Effect>) {
    let typed = match &input {
        StreamInput::Key(key) => key.kind != KeyKind::Release,
        StreamInput::Text { .. } => true,
        _ => false,
    };
    if state.setup.read_only {
        if typed {
            orders::hint(state, "This client is read-only: keys are not sent.", out);
        }
        return;
    }
    // While the host is away, that stands on the screen.
    if !state.up() {
        return;
    }
    let shows = state.desk().focused().clone();
    let Some(pane) = state.panes.iter_mut().find(|pane| pane.shows == shows) else { return };
    let nobody = match (&pane.lost, pane.exited) {
        (Some(why), _) => Some(format!("Keys do not arrive: {}.", why.trim_end_matches('.'))),
        (None, Some(_)) => Some("Keys do not arrive: its agent is not running.".to_owned()),
        (None, None) => None,
    };
    match (pane.stream, nobody) {
        (Some(stream), None) => out.push(Effect::Send(stream, input)),
        _ if !typed => {}
        (None, None) if pane.asked && pane.typed.len() < MAX_EARLY_KEYS => pane.typed.push(input),
        (_, nobody) => {
            let why = nobody.unwrap_or_else(|| "Keys do not arrive: the terminal does not answer.".into());
            orders::hint(state, why, out);
        }
    }
}

/// Whether a stream of this number is still shown.
#[must_use]
pub fn has(state: &State, stream: u32) -> bool {
    state.panes.iter().any(|pane| pane.stream == Some(stream))
}

/// Something of a stream besides frames.
pub fn event(state: &mut State, stream: u32, event: StreamEvent, out: &mut Vec<Effect>) {
    let Some(pane) = of_stream(state, stream) else { return };
    let (session, shows) = (pane.session.clone(), pane.shows.clone());
    match event {
        StreamEvent::Attached { terminal, .. } => begin(pane, terminal),
        StreamEvent::Moved { terminal, .. } => {
            begin(pane, terminal);
            if let Some(tab) = state.tab_mut(&session) {
                tab.line.title.clear();
                tab.line.progress = None;
            }
            orders::ask_status(state, &session, out);
        }
        StreamEvent::Title { text } => {
            if let Some(tab) = state.tab_mut(&session).filter(|_| shows == Shows::Agent) {
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
            match shows {
                Shows::Shell(id) => ended(state, &id, exit, out),
                _ => orders::ask_status(state, &session, out),
            }
        }
        StreamEvent::Lost { why } => {
            pane.lost = Some(why);
            orders::ask_status(state, &session, out);
        }
    }
}

fn begin(pane: &mut Pane, terminal: TerminalId) {
    pane.terminal = Some(terminal);
    pane.exited = None;
    pane.lost = None;
}

/// The size for a terminal that is not shown yet.
#[must_use]
pub fn size_beside(state: &State) -> Size {
    let mut desk = state.desk();
    desk.open(Shows::Git);
    let layout = crate::tui::layout::divide(state.size.0, state.size.1, state.sidebar, &desk);
    layout.beside.map_or(Size::DEFAULT, crate::tui::layout::size)
}

/// A shell ended by itself: its pane goes with it.
pub fn ended(state: &mut State, terminal: &TerminalId, exit: Exit, out: &mut Vec<Effect>) {
    if let Some(session) = holder(state, terminal).map(|tab| tab.id().clone()) {
        out.push(Effect::Call(Call::Close { session, terminal: terminal.clone(), force: true }));
    }
    let said = if exit == Exit::Code(0) { "The shell ended.".to_owned() } else { format!("The shell ended: {exit}.") };
    gone(state, terminal, &said, out);
}

/// A shell is not there any more.
pub fn gone(state: &mut State, terminal: &TerminalId, said: &str, out: &mut Vec<Effect>) {
    let Some(tab) = holder(state, terminal) else { return };
    tab.desk.close();
    if !said.is_empty() {
        orders::say(state, said, out);
    }
    arrange(state, out);
}

fn holder<'a>(state: &'a mut State, terminal: &TerminalId) -> Option<&'a mut Tab> {
    let shows = Some(Shows::Shell(terminal.clone()));
    state.tabs.iter_mut().find(|tab| tab.desk.beside == shows)
}
