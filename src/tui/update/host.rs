//! What the host says unasked, and whether it is there at all.

use std::time::Duration;

use crate::domain::rows::Event;
use crate::domain::sentence;
use crate::tui::form::Form;
use crate::tui::msg::{Call, Effect, Exit};
use crate::tui::state::{Link, Mode, State};
use crate::wire::host::Push;

use super::{orders, panes, tabs};

/// First pause before connecting again; it doubles with every try.
const AGAIN_FIRST: Duration = Duration::from_millis(100);
/// Longest such pause: somebody looks at the screen and waits.
const AGAIN_MAX: Duration = Duration::from_secs(2);

/// The host answers.
pub fn connected(state: &mut State, out: &mut Vec<Effect>) {
    let was_away = matches!(state.link, Link::Away { .. });
    state.link = Link::Up;
    // The list is asked for once the subscription stands: what happens in between is then not missed.
    out.push(Effect::Call(Call::Subscribe(state.seq)));
    if let Some(named) = &state.named {
        out.push(Effect::Call(Call::Find(named.clone())));
    }
    for tab in &mut state.tabs {
        tab.panels.refresh();
    }
    panes::attach_all(state, out);
    if was_away {
        orders::say(state, "The host is back.", out);
    }
}

/// The host could not be reached.
pub fn absent(state: &mut State, why: String, refused: bool, out: &mut Vec<Effect>) {
    if refused {
        out.push(Effect::Leave(Exit::Refused(why)));
        return;
    }
    let (tries, goodbye) = match &state.link {
        Link::Away { tries, goodbye, .. } => (tries.saturating_add(1), *goodbye),
        Link::Connecting | Link::Up => (1, false),
    };
    state.link = Link::Away { why, tries, goodbye };
    let doubled = AGAIN_FIRST.saturating_mul(1 << tries.min(10));
    out.push(Effect::Connect { after: doubled.min(AGAIN_MAX), start: !goodbye });
}

/// The link broke. What is shown stays.
pub fn lost(state: &mut State, why: &str, out: &mut Vec<Effect>) {
    let goodbye = matches!(state.link, Link::Away { goodbye: true, .. });
    if !goodbye {
        state.link = Link::Away { why: why.to_owned(), tries: 0, goodbye };
    }
    state.opening = None;
    for pane in &mut state.panes {
        pane.stream = None;
        pane.asked = false;
        pane.early.clear();
    }
    for tab in &mut state.tabs {
        tab.asked = false;
        tab.stale = false;
        tab.panels.lost();
    }
    state.listing = (false, false);
    if let Mode::Form(Form { busy, error, .. }) = &mut state.mode
        && *busy
    {
        *busy = false;
        *error = Some("The host went away before it answered; look before you try again.".into());
    }
    out.push(Effect::Connect { after: AGAIN_FIRST, start: !goodbye });
}

/// Something from the host.
pub fn push(state: &mut State, push: Push, out: &mut Vec<Effect>) {
    match push {
        Push::Event(event) => self::event(state, &event, out),
        Push::Activity { session_id, activity, why, title, progress, .. } => {
            let chosen = state.current.as_ref() == Some(&session_id);
            match state.tab_mut(&session_id) {
                Some(tab) => {
                    let before = tab.line.activity;
                    tabs::active(tab, activity, &why, chosen);
                    tab.line.title = title;
                    tab.line.progress = progress;
                    if before != activity && chosen {
                        orders::ask_status(state, &session_id, out);
                    }
                }
                None => orders::ask_list(state, out),
            }
        }
        Push::Resync { .. } => {
            out.push(Effect::Call(Call::Subscribe(state.seq)));
        }
        Push::Stream { stream, event } => panes::event(state, stream, event, out),
        Push::Detached { why } => out.push(Effect::Leave(Exit::SentAway(why))),
        Push::Goodbye { why } => state.link = Link::Away { why, tries: 0, goodbye: true },
    }
}

fn event(state: &mut State, event: &Event, out: &mut Vec<Effect>) {
    if state.seq.is_some_and(|seen| event.seq <= seen) {
        return;
    }
    state.seq = Some(event.seq);
    let session = &event.session_id;
    let chosen = state.current.as_ref() == Some(session);
    let known = state.tab(session).map(|tab| tab.line.name.clone());
    if known.is_some() {
        orders::ask_status(state, session, out);
    } else {
        orders::ask_list(state, out);
    }
    let name = known.or_else(|| event.data.get("name").and_then(|n| n.as_str()).map(str::to_owned));
    // Of a session that is not on the list yet there is nothing to point at; the list comes.
    if let Some(text) = name.and_then(|name| sentence::of(event, &name)) {
        let why = event.data.get("error_message").and_then(|why| why.as_str()).unwrap_or_default();
        orders::say_once(state, text, why, out);
    }
    let terminal = event.data.get("terminal_id").and_then(|id| id.as_str()).and_then(|id| id.parse().ok());
    match event.kind.as_str() {
        "session.resumed" if chosen => {
            if let Some(tab) = state.tab_mut(session) {
                tab.line.terminal_id.clone_from(&terminal);
                tab.line.title.clear();
                tab.line.progress = None;
            }
            panes::expect(state, terminal.as_ref(), out);
        }
        "session.agentctl_ready" => {
            if let Some(tab) = state.tab_mut(session) {
                tab.panels.refresh();
            }
            if chosen {
                panes::attach_again(state, out);
            }
        }
        _ => {}
    }
}
