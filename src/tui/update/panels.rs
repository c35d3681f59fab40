//! The panels beside the agent: their keys, their questions, and when these are asked again.

use std::time::Duration;

use crate::domain::ids::SessionId;
use crate::domain::words::{Activity, ErrorCode};
use crate::tui::desk::Shows;
use crate::tui::layout::Parts;
use crate::tui::msg::{Answer, Call, Effect, Refusal, Timer};
use crate::tui::panel::Panels;
use crate::tui::panel::ask::{Ask, Failure};
use crate::tui::panel::key::{Did, Room};
use crate::tui::state::{State, Tab};
use crate::wire::input::{Key, KeyCode, KeyKind, Mods, Mouse};

use super::{orders, panes};

/// While the agent works, its directory changes: what is in sight is at most so old. Nothing is asked while it rests.
const AGAIN: Duration = Duration::from_secs(5);

/// Sends the questions of the panel that is in sight, and sees to it that they are asked again.
pub fn tend(state: &mut State, out: &mut Vec<Effect>) {
    let Some((shows, _)) = state.panel() else { return };
    if state.workspace().is_err() {
        return;
    }
    let Some(tab) = chosen(state) else { return };
    let session = tab.id().clone();
    let due = tab.panels.due(&shows);
    let changes = changes(tab, &shows);
    out.extend(due.into_iter().map(|ask| Effect::Call(Call::Workspace { session: session.clone(), ask })));
    if changes && state.pacing.is_none() {
        state.pacing = Some(shows);
        orders::start(state, Timer::Panel, AGAIN, out);
    }
}

/// Some time went by.
pub fn pace(state: &mut State) {
    state.pacing = None;
    let Some((shows, _)) = state.panel() else { return };
    if let Some(tab) = chosen(state).filter(|tab| changes(tab, &shows)) {
        tab.panels.refresh();
    }
}

/// Whether what a panel shows becomes old by itself.
fn changes(tab: &Tab, shows: &Shows) -> bool {
    let works = matches!(tab.line.activity, Activity::Working | Activity::Background);
    works || tab.panels.failure(shows).is_some_and(Failure::passes)
}

/// Takes the answer to a panel's question.
pub fn answered(state: &mut State, session: &SessionId, ask: &Ask, outcome: Result<Answer, Refusal>) {
    let Some(tab) = state.tab_mut(session) else { return };
    let outcome = match outcome {
        Ok(Answer::Workspace(found)) => Ok(found),
        Ok(_) => return,
        Err(refusal) => Err(Failure { code: refusal.code, words: words(&refusal) }),
    };
    tab.panels.answered(ask, outcome);
}

/// Why there is no answer. Of an executor that is away, a person who looks at the screen is told as everywhere else there.
fn words(refusal: &Refusal) -> String {
    match refusal.code {
        Some(ErrorCode::ExecutorUnreachable) => "its executor does not answer".into(),
        Some(ErrorCode::ExecutorStarting) => "its executor is starting".into(),
        _ => orders::words(refusal),
    }
}

/// Takes a key, if a panel has the focus: nothing that is typed there reaches a terminal.
pub fn key(state: &mut State, key: &Key, out: &mut Vec<Effect>) -> bool {
    let Some((shows, parts)) = focused(state) else { return false };
    if key.kind != KeyKind::Release {
        act(state, |panels| panels.key(&shows, key, room(&parts)), out);
    }
    true
}

/// Takes text, if a panel has the focus.
pub fn text(state: &mut State, text: &str, out: &mut Vec<Effect>) -> bool {
    if focused(state).is_none() {
        return false;
    }
    if !insert(state, text) {
        for c in text.chars() {
            if !key(state, &Key { code: KeyCode::Char(c), mods: Mods(0), kind: KeyKind::Press }, out) {
                break;
            }
        }
    }
    true
}

/// Whether a panel has the focus in which text is being typed.
#[must_use]
pub fn types(state: &State) -> bool {
    let typing = |tab: &Tab| tab.panels.files.types();
    *state.desk().focused() == Shows::Files && state.chosen().is_some_and(typing)
}

/// Text that a panel takes as such; `false` when none is being typed there.
pub fn insert(state: &mut State, text: &str) -> bool {
    types(state) && chosen(state).is_some_and(|tab| tab.panels.files.insert(text))
}

/// A row of the panel was clicked; `had_focus`: the panel had the focus before.
pub fn click(state: &mut State, mouse: Mouse, had_focus: bool, out: &mut Vec<Effect>) {
    let Some((shows, parts)) = state.panel() else { return };
    if let Some(row) = mouse.row.checked_sub(parts.body.y).filter(|row| *row < parts.body.height) {
        act(state, |panels| panels.click(&shows, usize::from(row), had_focus, room(&parts)), out);
    }
}

/// The wheel turned over the panel; `false` when there is none.
pub fn wheel(state: &mut State, down: bool) -> bool {
    let Some((shows, parts)) = state.panel() else { return false };
    if let Some(tab) = chosen(state) {
        tab.panels.wheel(&shows, down, room(&parts));
    }
    true
}

fn act(state: &mut State, take: impl FnOnce(&mut Panels) -> Did, out: &mut Vec<Effect>) {
    let Some(tab) = chosen(state) else { return };
    match take(&mut tab.panels) {
        Did::Stay => return,
        Did::Leave => tab.desk.away = false,
        Did::Close => tab.desk.close(),
        Did::Look(dir) => {
            tab.panels.open(&Shows::Files);
            tab.panels.files.look(&dir);
            tab.desk.open(Shows::Files);
        }
        Did::Say(words) => return orders::say(state, words, out),
    }
    panes::arrange(state, out);
}

fn focused(state: &State) -> Option<(Shows, Parts)> {
    state.panel().filter(|(shows, _)| state.desk().focused() == shows)
}

fn room(parts: &Parts) -> Room {
    Room { width: usize::from(parts.body.width), height: usize::from(parts.body.height) }
}

fn chosen(state: &mut State) -> Option<&mut Tab> {
    let session = state.current.clone()?;
    state.tab_mut(&session)
}
