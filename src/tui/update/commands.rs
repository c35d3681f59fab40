//! Commands, forms and questions: what a person asked for.

use std::time::Duration;

use crate::domain::words::{EndReason, SessionState};
use crate::tui::desk::{Direction, Shows, Split};
use crate::tui::form::{Form, Question};
use crate::tui::keymap::Command;
use crate::tui::msg::{Call, Effect, Exit};
use crate::tui::state::{Link, Mode, State};
use crate::wire::input::{Key, KeyCode};

use super::{forms, lists, orders, panes, shells, tabs};

/// Does what a command says, or says why not.
pub fn run(state: &mut State, command: Command, out: &mut Vec<Effect>) {
    state.mode = Mode::Normal;
    if let Err(why) = state.can(command) {
        orders::say(state, why, out);
        return;
    }
    match command {
        Command::New => forms::open(state, out),
        Command::Next => tabs::step(state, 1, out),
        Command::Previous => tabs::step(state, -1, out),
        Command::Last => {
            if let Some(session) = state.last.clone() {
                tabs::choose(state, &session, out);
            }
        }
        Command::Waiting => match tabs::waiting(state) {
            Some(session) => tabs::choose(state, &session, out),
            None => orders::say(state, "No other session waits for you.", out),
        },
        Command::Jump(number) => {
            if let Some(tab) = state.tabs.get(usize::from(number).saturating_sub(1)) {
                let session = tab.id().clone();
                tabs::choose(state, &session, out);
            }
        }
        Command::Resume => resume(state, out),
        Command::Dismiss => of_chosen(state, Call::Dismiss, out),
        Command::Rename => {
            if let Some(tab) = state.chosen() {
                state.mode = Mode::Form(Form::rename(tab.id().clone(), &tab.line.name));
            }
        }
        Command::Kill => kill(state, out),
        Command::Detach => out.push(Effect::Leave(Exit::Detached)),
        Command::Quit => {
            let lives = |s: SessionState| {
                matches!(s, SessionState::Starting | SessionState::Running | SessionState::WaitingForInput)
            };
            let agents = state.tabs.iter().filter(|tab| lives(tab.line.state)).count();
            state.mode = Mode::Ask(Question::Quit { agents });
        }
        Command::Redraw => {
            out.push(Effect::Redraw);
            panes::keyframe(state, out);
        }
        Command::Help => state.mode = Mode::Help(0),
        Command::SplitRight => shells::split(state, Split::Right, out),
        Command::SplitDown => shells::split(state, Split::Down, out),
        Command::FocusLeft => shells::focus(state, Direction::Left, out),
        Command::FocusRight => shells::focus(state, Direction::Right, out),
        Command::FocusUp => shells::focus(state, Direction::Up, out),
        Command::FocusDown => shells::focus(state, Direction::Down, out),
        Command::FocusNext => shells::focus_next(state, out),
        Command::Zoom => shells::zoom(state, out),
        Command::Shell => shells::another(state, out),
        Command::NextShell => shells::next(state, out),
        Command::Close if *state.desk().focused() == Shows::Agent => kill(state, out),
        Command::Close => shells::close(state, out),
        Command::Git => shells::panel(state, Shows::Git, out),
        Command::Files => shells::panel(state, Shows::Files, out),
        Command::Explain => {
            // Pids and the conversation are in the list only.
            orders::ask_list(state, out);
            state.mode = Mode::Explain(0);
        }
        Command::Reopen => {
            orders::ask_list(state, out);
            state.mode = Mode::Reopen(0);
        }
        Command::Messages => lists::messages(state),
        Command::Sidebar => lists::sidebar(state, out),
    }
}

fn of_chosen(state: &State, call: impl Fn(crate::domain::ids::SessionId) -> Call, out: &mut Vec<Effect>) {
    if let Some(session) = state.current.clone() {
        out.push(Effect::Call(call(session)));
    }
}

fn resume(state: &mut State, out: &mut Vec<Effect>) {
    if !state.up() {
        state.link = Link::Away { why: "asked again".into(), tries: 0, goodbye: false };
        out.push(Effect::Connect { after: Duration::ZERO, start: true });
        return;
    }
    let Some(tab) = state.chosen() else { return };
    let (session, name) = (tab.id().clone(), tab.line.name.clone());
    let reopen = tab.line.end_reason == Some(EndReason::Disposed);
    orders::say(state, format!("Resuming {name}…"), out);
    out.push(Effect::Call(Call::Resume { session, reopen }));
}

/// Asks before something that lives is ended; a session that a person ended before only leaves the tab bar.
fn kill(state: &mut State, out: &mut Vec<Effect>) {
    let Some(tab) = state.chosen() else { return };
    let session = tab.id().clone();
    if tab.ended() {
        tabs::leave(state, &session, out);
    } else {
        let name = tab.line.name.clone();
        state.mode = Mode::Ask(Question::Kill { session, name });
    }
}

/// A key for a question.
pub fn answer(state: &mut State, key: &Key, out: &mut Vec<Effect>) {
    let Mode::Ask(question) = &state.mode else { return };
    match key.code {
        KeyCode::Char('y' | 'Y') => {
            out.push(Effect::Call(match question {
                Question::Kill { session, .. } => Call::Kill(session.clone()),
                Question::Close { session, terminal, .. } => {
                    Call::Close { session: session.clone(), terminal: terminal.clone(), force: true }
                }
                Question::Quit { .. } => Call::StopHost,
            }));
            state.mode = Mode::Normal;
        }
        KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => state.mode = Mode::Normal,
        _ => {}
    }
}
