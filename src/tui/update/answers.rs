//! Answers of the host.

use crate::domain::ids::SessionId;
use crate::domain::words::ErrorCode;
use crate::tui::form::{Form, Purpose};
use crate::tui::keymap::Command;
use crate::tui::msg::{Answer, Call, Effect, Exit, Refusal};
use crate::tui::state::{Mode, State};

use super::{orders, panels, panes, shells, tabs};

/// Takes the answer to a call.
pub fn answered(state: &mut State, call: Call, outcome: Result<Answer, Refusal>, out: &mut Vec<Effect>) {
    match (call, outcome) {
        (Call::Subscribe(since), outcome) => {
            match outcome {
                Ok(Answer::Subscribed(seq)) if since.is_none() => state.seq = Some(state.seq.unwrap_or(0).max(seq)),
                Ok(_) => {}
                Err(refusal) => orders::say(state, orders::words(&refusal), out),
            }
            orders::ask_list(state, out);
        }
        (Call::List, outcome) => {
            let again = std::mem::take(&mut state.listing).1;
            match outcome {
                Ok(Answer::Sessions(lines)) => tabs::listed(state, lines, out),
                Ok(_) => {}
                Err(refusal) => orders::say(state, orders::words(&refusal), out),
            }
            if again {
                orders::ask_list(state, out);
            }
        }
        (Call::Status(session), outcome) => status(state, &session, outcome, out),
        (Call::Attach { ticket, .. }, outcome) => {
            let outcome = match outcome {
                Ok(Answer::Attached(attached)) => Ok(attached),
                Ok(_) => return,
                Err(refusal) => Err(refusal),
            };
            panes::attached(state, ticket, outcome, out);
        }
        (Call::Find(_), outcome) => found(state, outcome, out),
        (Call::Create(_), Ok(Answer::Session(made))) => {
            close_form(state, |purpose| *purpose == Purpose::New);
            if state.tab(&made.session_id).is_some() {
                tabs::choose(state, &made.session_id, out);
            } else {
                state.wish = Some(made.session_id);
                orders::ask_list(state, out);
            }
        }
        (Call::Create(_), Err(refusal)) => form_failed(state, |purpose| *purpose == Purpose::New, &refusal, out),
        (Call::Rename(session, _), Ok(_)) => {
            close_form(state, |purpose| *purpose == Purpose::Rename(session.clone()));
            orders::ask_status(state, &session, out);
        }
        (Call::Rename(session, _), Err(refusal)) => {
            form_failed(state, |purpose| *purpose == Purpose::Rename(session.clone()), &refusal, out);
        }
        (Call::Resume { session, .. }, outcome) => {
            match outcome {
                Ok(Answer::Resumed { resumed: false, message }) => {
                    orders::say_once(state, message.clone(), &message, out);
                }
                Ok(_) => {}
                Err(refusal) => orders::say_once(state, orders::words(&refusal), &refusal.message, out),
            }
            orders::ask_status(state, &session, out);
            if state.wish.as_ref() == Some(&session) {
                orders::ask_list(state, out);
            }
        }
        (Call::Kill(session), Ok(_)) => killed(state, &session, out),
        (Call::Dismiss(session), Ok(_)) => orders::ask_status(state, &session, out),
        (Call::Terminals(session), outcome) => shells::terminals(state, &session, outcome, out),
        (Call::Shell { session, .. }, outcome) => shells::opened(state, &session, outcome, out),
        (Call::Close { session, terminal, .. }, outcome) => shells::closed(state, (session, terminal), outcome, out),
        (Call::Workspace { session, ask }, outcome) => panels::answered(state, &session, &ask, outcome),
        (Call::StopHost, Ok(_)) => out.push(Effect::Leave(Exit::Quit)),
        (Call::Kill(_) | Call::Dismiss(_) | Call::StopHost, Err(refusal)) => {
            orders::say(state, orders::words(&refusal), out);
        }
        (Call::Detach(_) | Call::Create(_) | Call::Ping, _) => {}
    }
}

fn status(state: &mut State, session: &SessionId, outcome: Result<Answer, Refusal>, out: &mut Vec<Effect>) {
    let ask_again = state.tab_mut(session).is_some_and(|tab| {
        tab.asked = false;
        std::mem::take(&mut tab.stale)
    });
    match outcome {
        Ok(Answer::Status(status)) => tabs::status(state, *status, out),
        Err(Refusal { code: Some(ErrorCode::SessionNotFound), .. }) => tabs::leave(state, session, out),
        Ok(_) | Err(_) => {}
    }
    if ask_again {
        orders::ask_status(state, session, out);
    }
}

fn killed(state: &mut State, session: &SessionId, out: &mut Vec<Effect>) {
    let name = state.tab(session).map(|tab| tab.line.name.clone());
    tabs::leave(state, session, out);
    if let (Some(name), Some(keys)) = (name, state.setup.keys.spoken(Command::Reopen)) {
        orders::say(state, format!("Ended {name}; {keys} brings it back."), out);
    }
}

/// The session that the person named at the start.
fn found(state: &mut State, outcome: Result<Answer, Refusal>, out: &mut Vec<Effect>) {
    match outcome {
        Ok(Answer::Session(found)) => {
            state.named = None;
            if state.tab(&found.session_id).is_some() {
                tabs::choose(state, &found.session_id, out);
            } else {
                state.wish = Some(found.session_id);
                orders::ask_list(state, out);
            }
        }
        Err(refusal) if refusal.code.is_some() => out.push(Effect::Leave(Exit::Refused(orders::words(&refusal)))),
        Ok(_) | Err(_) => {}
    }
}

fn close_form(state: &mut State, meant: impl Fn(&Purpose) -> bool) {
    if matches!(&state.mode, Mode::Form(form) if meant(&form.purpose)) {
        state.mode = Mode::Normal;
    }
}

fn form_failed(state: &mut State, meant: impl Fn(&Purpose) -> bool, refusal: &Refusal, out: &mut Vec<Effect>) {
    match &mut state.mode {
        Mode::Form(Form { purpose, busy, error, .. }) if meant(purpose) => {
            *busy = false;
            *error = Some(orders::words(refusal));
        }
        _ => orders::say(state, orders::words(refusal), out),
    }
}
