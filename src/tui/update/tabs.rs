//! Sessions: the list, their statuses, and which one is chosen.

use std::cmp::Reverse;

use crate::domain::ids::SessionId;
use crate::domain::status::Status;
use crate::domain::words::{Activity, SessionState};
use crate::tui::msg::Effect;
use crate::tui::state::{State, Tab};
use crate::wire::host::SessionLine;

use super::{orders, panes};

/// Shows a session.
pub fn choose(state: &mut State, session: &SessionId, out: &mut Vec<Effect>) {
    if state.current.as_ref() == Some(session) || state.tab(session).is_none() {
        return;
    }
    let before = state.current.replace(session.clone());
    if before.is_some() {
        state.last = before;
    }
    sweep(state);
    if let Some(tab) = state.tab_mut(session) {
        tab.unseen = false;
        tab.panels.refresh();
    }
    panes::arrange(state, out);
    orders::ask_status(state, session, out);
}

/// Shows the tab `step` places on, around the end.
pub fn step(state: &mut State, step: isize, out: &mut Vec<Effect>) {
    let count = isize::try_from(state.tabs.len()).unwrap_or(isize::MAX);
    let Some(at) = state.place().and_then(|at| isize::try_from(at).ok()).filter(|_| count > 0) else { return };
    let to = usize::try_from((at + step).rem_euclid(count)).unwrap_or(0);
    if let Some(session) = state.tabs.get(to).map(|tab| tab.id().clone()) {
        choose(state, &session, out);
    }
}

/// The next tab behind the chosen one that waits for a person; of several the most urgent.
#[must_use]
pub fn waiting(state: &State) -> Option<SessionId> {
    let at = state.place().unwrap_or(0);
    let count = state.tabs.len();
    let behind = (1..count).filter_map(|i| state.tabs.get((at + i) % count));
    let mut best: Option<&Tab> = None;
    for tab in behind.filter(|tab| tab.urgency() > 0) {
        if best.is_none_or(|b| tab.urgency() > b.urgency()) {
            best = Some(tab);
        }
    }
    best.map(|tab| tab.id().clone())
}

/// Takes the list of all sessions.
pub fn listed(state: &mut State, lines: Vec<SessionLine>, out: &mut Vec<Effect>) {
    let before = state.current.clone();
    state.listed = true;
    state.tabs.retain(|tab| lines.iter().any(|line| line.session_id == *tab.id()));
    let ended = |line: &&SessionLine| matches!(line.state, SessionState::Completed | SessionState::Cancelled);
    state.closed = lines.iter().filter(ended).cloned().collect();
    state.closed.sort_by_key(|line| Reverse(line.ended_at.unwrap_or(line.created_at)));
    for line in lines {
        let wished = state.wish.as_ref() == Some(&line.session_id);
        if let Some(tab) = state.tab_mut(&line.session_id) {
            tab.line = line;
        } else {
            let tab = Tab::new(line);
            if !tab.ended() || wished {
                state.tabs.push(tab);
            }
        }
    }
    state.tabs.sort_by(|a, b| (a.line.created_at, a.id()).cmp(&(b.line.created_at, b.id())));
    if let Some(wish) = state.wish.take() {
        if state.tab(&wish).is_some() {
            choose(state, &wish, out);
        } else {
            state.wish = Some(wish);
        }
    }
    sweep(state);
    settle(state, out);
    if let Some(current) = before.filter(|id| state.current.as_ref() == Some(id)) {
        orders::ask_status(state, &current, out);
    }
}

/// Takes a status.
pub fn status(state: &mut State, status: Status, out: &mut Vec<Effect>) {
    let session = status.session_id.clone();
    let chosen = state.current.as_ref() == Some(&session);
    let Some(tab) = state.tab_mut(&session) else { return };
    let line = &mut tab.line;
    let moved = line.terminal_id != status.terminal_id;
    if moved {
        line.title.clear();
        line.progress = None;
    }
    line.name.clone_from(&status.name);
    line.state = status.state;
    line.executor_status = status.executor_status;
    line.runtime = status.runtime;
    line.terminal_id.clone_from(&status.terminal_id);
    line.generation = status.generation;
    line.end_reason = status.end_reason;
    let why = status.why.clone();
    let now = status.activity;
    tab.status = Some(status);
    active(tab, now, &why, chosen);
    if moved && chosen {
        let terminal = tab.line.terminal_id.clone();
        panes::expect(state, terminal.as_ref(), out);
    }
    sweep(state);
    settle(state, out);
}

/// Takes an activity: of a tab that is not looked at, a result is marked as unseen.
pub fn active(tab: &mut Tab, activity: Activity, why: &str, chosen: bool) {
    let busy = |a| matches!(a, Activity::Working | Activity::Background | Activity::RateLimited);
    if busy(tab.line.activity) && !busy(activity) && !chosen {
        tab.unseen = true;
    }
    if busy(tab.line.activity) && !busy(activity) {
        tab.panels.refresh();
    }
    tab.line.activity = activity;
    why.clone_into(&mut tab.line.why);
    if let Some(status) = &mut tab.status {
        status.activity = activity;
        why.clone_into(&mut status.why);
    }
}

/// A session is gone for the person who ended it: shows another one.
pub fn leave(state: &mut State, session: &SessionId, out: &mut Vec<Effect>) {
    if state.current.as_ref() == Some(session) {
        let place = state.place().unwrap_or(0);
        let last = state.last.take().filter(|id| id != session && state.tab(id).is_some());
        let beside = [place + 1, place.wrapping_sub(1)].into_iter().find_map(|i| state.tabs.get(i));
        let next = last.or_else(|| beside.map(|tab| tab.id().clone()));
        state.current = None;
        if let Some(next) = next {
            choose(state, &next, out);
        }
    }
    state.tabs.retain(|tab| tab.id() != session);
    settle(state, out);
}

/// Takes away the tabs of ended sessions that are not looked at.
fn sweep(state: &mut State) {
    let current = state.current.clone();
    state.tabs.retain(|tab| !tab.ended() || Some(tab.id()) == current.as_ref());
}

/// Chooses a session if none is: the most urgent, else the newest. Not while the one that the person named is looked for.
pub fn settle(state: &mut State, out: &mut Vec<Effect>) {
    if state.current.as_ref().is_some_and(|id| state.tab(id).is_none()) {
        state.current = None;
    }
    if state.current.is_none() {
        let best = state.tabs.iter().max_by_key(|tab| (tab.urgency(), tab.line.created_at));
        match best.map(|tab| tab.id().clone()).filter(|_| state.named.is_none()) {
            Some(session) => choose(state, &session, out),
            None => panes::arrange(state, out),
        }
    }
}
