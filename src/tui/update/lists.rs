//! Lists that lie over the panes or stand beside them: tasks and sessions, closed sessions, announcements, explanations.

use crate::tui::msg::{Call, Effect};
use crate::tui::sidebar::{self, Row};
use crate::tui::state::{Mode, State};
use crate::tui::{explain, layout};
use crate::wire::input::{Key, KeyCode};

use super::{orders, panes, tabs};

/// Shows the list at the side and gives it the keys.
pub fn sidebar(state: &mut State, out: &mut Vec<Effect>) {
    state.sidebar = true;
    state.mode = Mode::Sidebar(sidebar::place(&sidebar::rows(state), state.current.as_ref()));
    panes::arrange(state, out);
}

/// A key for the list at the side.
pub fn sidebar_key(state: &mut State, at: usize, key: &Key, out: &mut Vec<Effect>) {
    let rows = sidebar::rows(state);
    let page = isize::try_from(state.layout().body.height).unwrap_or(1);
    let step = match key.code {
        KeyCode::Up | KeyCode::Char('k') => -1,
        KeyCode::Down | KeyCode::Char('j') => 1,
        KeyCode::PageUp => -page,
        KeyCode::PageDown => page,
        KeyCode::Home => -isize::MAX,
        KeyCode::End => isize::MAX,
        KeyCode::Enter | KeyCode::Right => {
            if let Some(Row::Session(session)) = rows.get(at) {
                tabs::choose(state, &session.clone(), out);
            }
            leave_sidebar(state, false, out);
            return;
        }
        KeyCode::Char('s' | 'w' | 'q') => return leave_sidebar(state, true, out),
        KeyCode::Esc => return leave_sidebar(state, false, out),
        _ => return,
    };
    state.mode = Mode::Sidebar(sidebar::step(&rows, at, step));
}

/// Where it lies over the panes it goes as soon as it has no keys.
pub fn leave_sidebar(state: &mut State, hide: bool, out: &mut Vec<Effect>) {
    state.mode = Mode::Normal;
    if hide || state.layout().sidebar.is_none() {
        state.sidebar = false;
    }
    panes::arrange(state, out);
}

/// A key for the list of closed sessions.
pub fn reopen_key(state: &mut State, at: usize, key: &Key, out: &mut Vec<Effect>) {
    let last = state.closed.len().saturating_sub(1);
    let to = match key.code {
        KeyCode::Up | KeyCode::Char('k') => at.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => at + 1,
        KeyCode::Home => 0,
        KeyCode::End => last,
        KeyCode::Enter | KeyCode::Char('u' | 'r') => {
            state.mode = Mode::Normal;
            if let Some(line) = state.closed.get(at.min(last)) {
                let (session, name) = (line.session_id.clone(), line.name.clone());
                orders::say(state, format!("Bringing {name} back…"), out);
                state.wish = Some(session.clone());
                out.push(Effect::Call(Call::Resume { session, reopen: true }));
            }
            return;
        }
        KeyCode::Esc | KeyCode::Char('q') => {
            state.mode = Mode::Normal;
            return;
        }
        _ => at,
    };
    state.mode = Mode::Reopen(to.min(last));
}

/// Where a key scrolls to, in `count` lines of which `fits` are seen; `None`: back to the panes.
#[must_use]
pub fn scroll(from: usize, key: &Key, count: usize, fits: usize) -> Option<usize> {
    let fits = fits.max(1);
    let most = count.saturating_sub(fits);
    let to = match key.code {
        KeyCode::Up | KeyCode::Char('k') => from.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => from + 1,
        KeyCode::PageUp => from.saturating_sub(fits),
        KeyCode::PageDown | KeyCode::Char(' ') => from + fits,
        KeyCode::Home => 0,
        KeyCode::End => most,
        _ => return None,
    };
    Some(to.min(most))
}

/// A key for the explanation of the chosen session.
pub fn explain_key(state: &mut State, from: usize, key: &Key) {
    let (width, fits) = layout::text_panel(state.size.0, state.size.1);
    let count = state.chosen().map_or(0, |tab| explain::shown(tab, width).len());
    state.mode = scroll(from, key, count, fits).map_or(Mode::Normal, Mode::Explain);
}

/// A key for the announcements.
pub fn messages_key(state: &mut State, from: usize, key: &Key) {
    let (width, fits) = layout::text_panel(state.size.0, state.size.1);
    let count = state.messages(width).len();
    state.mode = scroll(from, key, count, fits).map_or(Mode::Normal, Mode::Messages);
}

/// Shows the announcements, the newest in sight.
pub fn messages(state: &mut State) {
    let (width, fits) = layout::text_panel(state.size.0, state.size.1);
    state.mode = Mode::Messages(state.messages(width).len().saturating_sub(fits));
}
