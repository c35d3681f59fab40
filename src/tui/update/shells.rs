//! The pane beside the agent's: open, show another shell, close.

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::tui::desk::{Direction, Shows, Split};
use crate::tui::form::Question;
use crate::tui::msg::{Answer, Call, Effect, Refusal};
use crate::tui::state::{Mode, State, Tab};
use crate::wire::agentctl::TerminalInfo;

use super::{orders, panes};

/// Puts a pane beside the agent's terminal, or moves the one that is there: a shell that runs already, else a new one.
pub fn split(state: &mut State, split: Split, out: &mut Vec<Effect>) {
    let Some(tab) = chosen(state) else { return };
    let (session, open) = (tab.id().clone(), tab.desk.beside.is_some());
    tab.desk.split = split;
    tab.desk.zoom = false;
    if open {
        panes::arrange(state, out);
    } else {
        state.opening = Some(session.clone());
        out.push(Effect::Call(Call::Terminals(session)));
    }
}

/// Another shell, always a new one.
pub fn another(state: &mut State, out: &mut Vec<Effect>) {
    let Some(session) = state.current.clone() else { return };
    state.opening = Some(session.clone());
    let size = Some(panes::size_beside(state));
    orders::say(state, "Opening a shell…", out);
    out.push(Effect::Call(Call::Shell { session, size }));
}

/// The next of the session's shells, around the end.
pub fn next(state: &mut State, out: &mut Vec<Effect>) {
    if let Some(session) = state.current.clone() {
        state.opening = Some(session.clone());
        out.push(Effect::Call(Call::Terminals(session)));
    }
}

/// The terminals that a session has: shows the shell that comes after the one that is shown, or a new one.
pub fn terminals(state: &mut State, session: &SessionId, outcome: Result<Answer, Refusal>, out: &mut Vec<Effect>) {
    let Some(_wanted) = state.opening.take_if(|opening| opening == session) else { return };
    match outcome {
        Ok(Answer::Terminals(terminals)) => {
            let shell = |info: &TerminalInfo| info.kind == TerminalKind::Shell && info.exit.is_none();
            let shells: Vec<TerminalId> = terminals.into_iter().filter(shell).map(|info| info.id).collect();
            let shown = state.tab(session).and_then(|tab| match &tab.desk.beside {
                Some(Shows::Shell(id)) => shells.iter().position(|shell| shell == id),
                _ => None,
            });
            let next = shells.get(shown.map_or(0, |at| (at + 1) % shells.len().max(1)));
            match next.cloned() {
                Some(next) => show(state, session, Shows::Shell(next), out),
                None if state.current.as_ref() == Some(session) => another(state, out),
                None => {}
            }
        }
        Ok(_) => {}
        Err(refusal) => orders::say(state, orders::words(&refusal), out),
    }
}

/// A shell was opened, or could not be.
pub fn opened(state: &mut State, session: &SessionId, outcome: Result<Answer, Refusal>, out: &mut Vec<Effect>) {
    let wanted = state.opening.take_if(|opening| opening == session).is_some();
    match outcome {
        Ok(Answer::Terminal(id)) if wanted => {
            state.said = None;
            show(state, session, Shows::Shell(id), out);
        }
        Ok(_) => {}
        Err(refusal) => orders::say(state, orders::words(&refusal), out),
    }
}

/// Shows something beside a session's agent.
pub fn show(state: &mut State, session: &SessionId, shows: Shows, out: &mut Vec<Effect>) {
    if let Some(tab) = state.tab_mut(session) {
        tab.desk.open(shows);
        panes::arrange(state, out);
    }
}

/// Shows a panel, or closes it when it has the focus.
pub fn panel(state: &mut State, shows: Shows, out: &mut Vec<Effect>) {
    let Some(tab) = chosen(state) else { return };
    if *tab.desk.focused() == shows {
        tab.desk.close();
    } else {
        tab.panels.open(&shows);
        tab.desk.open(shows);
    }
    panes::arrange(state, out);
}

/// Closes the pane beside the agent's.
pub fn close(state: &mut State, out: &mut Vec<Effect>) {
    let Some(session) = state.current.clone() else { return };
    match state.desk().focused().clone() {
        Shows::Agent => {}
        Shows::Shell(terminal) => out.push(Effect::Call(Call::Close { session, terminal, force: false })),
        Shows::Git | Shows::Files => {
            if let Some(tab) = chosen(state) {
                tab.desk.close();
            }
            panes::arrange(state, out);
        }
    }
}

/// A shell was closed, or something runs in it.
pub fn closed(
    state: &mut State,
    (session, terminal): (SessionId, TerminalId),
    outcome: Result<Answer, Refusal>,
    out: &mut Vec<Effect>,
) {
    match outcome {
        Ok(_) => panes::gone(state, &terminal, "", out),
        Err(refusal) if refusal.code == Some(ErrorCode::TerminalBusy) => {
            state.mode = Mode::Ask(Question::Close { session, terminal, what: refusal.message });
        }
        Err(refusal) => orders::say(state, orders::words(&refusal), out),
    }
}

/// Moves the focus.
pub fn focus(state: &mut State, to: Direction, out: &mut Vec<Effect>) {
    let moved = chosen(state).is_some_and(|tab| tab.desk.focus(to));
    if moved {
        panes::arrange(state, out);
    } else {
        orders::say(state, "There is no pane in that direction.", out);
    }
}

/// Gives the focus to the other pane.
pub fn focus_next(state: &mut State, out: &mut Vec<Effect>) {
    if let Some(tab) = chosen(state) {
        tab.desk.away = !tab.desk.away;
        panes::arrange(state, out);
    }
}

/// Shows only the pane with the focus, or both again.
pub fn zoom(state: &mut State, out: &mut Vec<Effect>) {
    if let Some(tab) = chosen(state) {
        tab.desk.zoom = !tab.desk.zoom;
        panes::arrange(state, out);
    }
}

fn chosen(state: &mut State) -> Option<&mut Tab> {
    let session = state.current.clone()?;
    state.tab_mut(&session)
}
