//! Orders that several parts of `update` give: timers, announcements, questions to the host.

use std::time::Duration;

use crate::domain::ids::SessionId;
use crate::domain::plain::plain;
use crate::tui::msg::{Call, Effect, Refusal, Timer};
use crate::tui::state::{MAX_ANNOUNCED, State};

/// How long an announcement stands: long enough to read a line.
pub const SAID_STANDS: Duration = Duration::from_secs(6);
/// A person who types pauses less than this between keys; after it a single key is meant for a banner.
pub const QUIET: Duration = Duration::from_millis(700);
/// A window being dragged sends many sizes; the last one counts.
pub const RESIZE_SETTLES: Duration = Duration::from_millis(60);
/// The event of a resume and the move of the stream travel apart; the move is seldom later than this.
pub const FOLLOW: Duration = Duration::from_millis(300);
/// Pause before attaching again to a terminal that is not there yet.
pub const ATTACH_AGAIN: Duration = Duration::from_secs(1);

/// Announcements that one change may come as.
const SAME_CHANGE: usize = 3;

/// Starts a timer's new life.
pub fn start(state: &mut State, timer: Timer, after: Duration, out: &mut Vec<Effect>) {
    let life = state.timers.entry(timer).or_default();
    *life += 1;
    out.push(Effect::Start(timer, *life, after));
}

/// Announces a sentence.
pub fn say(state: &mut State, text: impl Into<String>, out: &mut Vec<Effect>) {
    let text = plain(&text.into());
    if state.announced.len() >= MAX_ANNOUNCED {
        state.announced.pop_front();
    }
    state.announced.push_back(text.clone());
    state.said = Some(text);
    start(state, Timer::Said, SAID_STANDS, out);
}

/// Announces `text`, whose cause is `why`, unless that stands among the newest announcements: one change may come as an
/// event, as another that follows from it, and as the answer to whoever asked.
pub fn say_once(state: &mut State, text: impl Into<String>, why: &str, out: &mut Vec<Effect>) {
    let why = plain(why.trim_end_matches('.'));
    let said = |before: &String| !why.is_empty() && before.contains(&why);
    if !state.announced.iter().rev().take(SAME_CHANGE).any(said) {
        say(state, text, out);
    }
}

/// Says what a key came to: it stands like an announcement, and is not kept, since nothing happened.
pub fn hint(state: &mut State, text: impl Into<String>, out: &mut Vec<Effect>) {
    let text = plain(&text.into());
    if state.said.as_ref() != Some(&text) {
        state.said = Some(text);
        start(state, Timer::Said, SAID_STANDS, out);
    }
}

/// Asks for a session's status, once at a time.
pub fn ask_status(state: &mut State, session: &SessionId, out: &mut Vec<Effect>) {
    let up = state.up();
    if let Some(tab) = state.tab_mut(session).filter(|_| up) {
        if tab.asked {
            tab.stale = true;
        } else {
            tab.asked = true;
            out.push(Effect::Call(Call::Status(session.clone())));
        }
    }
}

/// Asks for the list of sessions, once at a time.
pub fn ask_list(state: &mut State, out: &mut Vec<Effect>) {
    if state.listing.0 {
        state.listing.1 = true;
    } else if state.up() {
        state.listing = (true, false);
        out.push(Effect::Call(Call::List));
    }
}

/// A refusal as one line.
#[must_use]
pub fn words(refusal: &Refusal) -> String {
    match &refusal.hint {
        Some(hint) => format!("{} ({hint})", refusal.message),
        None => refusal.message.clone(),
    }
}
