//! The mouse: clicks on what relight draws, and in panes what their programs want of it.

use ratatui::layout::Rect;

use crate::tui::desk::Shows;
use crate::tui::form::Value;
use crate::tui::msg::Effect;
use crate::tui::pane::Pane;
use crate::tui::spot::{self, Target};
use crate::tui::state::{Held, Mode, State};
use crate::wire::input::{Key, KeyCode, KeyKind, Mods, Mouse, MouseKind, StreamInput};

use super::{commands, keys, lists, orders, panels, shells, tabs};

/// Lines that a text moves with one step of the wheel.
const WHEEL_LINES: usize = 3;

/// Takes what the mouse did.
pub fn mouse(state: &mut State, mouse: Mouse, out: &mut Vec<Effect>) {
    match mouse.kind {
        MouseKind::Down(0) => press(state, mouse, out),
        MouseKind::Down(_) => {
            if state.mode == Mode::Normal && spot::at(&state.spots, mouse.col, mouse.row).is_none() {
                into_pane(state, mouse, out);
            }
        }
        MouseKind::Drag(_) | MouseKind::Up(_) => held(state, mouse, out),
        MouseKind::ScrollUp | MouseKind::ScrollDown => wheel(state, mouse, out),
        MouseKind::Moved => {}
    }
}

fn press(state: &mut State, mouse: Mouse, out: &mut Vec<Effect>) {
    if let Some(target) = spot::at(&state.spots, mouse.col, mouse.row).cloned() {
        return click(state, target, out);
    }
    match state.mode {
        Mode::Normal => {}
        // A click in a pane is for the panes.
        Mode::Prefix | Mode::Sidebar(_) => state.mode = Mode::Normal,
        _ => return,
    }
    let Some((_, beside)) = state.layout().at(mouse.col, mouse.row) else { return };
    let had_focus = state.desk().away == beside;
    if !had_focus {
        shells::focus_next(state, out);
    }
    if beside && state.panel().is_some() {
        panels::click(state, mouse, had_focus, out);
    } else {
        into_pane(state, mouse, out);
    }
}

fn click(state: &mut State, target: Target, out: &mut Vec<Effect>) {
    match target {
        Target::Nothing => {}
        Target::Session(session) => {
            tabs::choose(state, &session, out);
            match state.mode {
                Mode::Sidebar(_) => lists::leave_sidebar(state, false, out),
                _ => state.mode = Mode::Normal,
            }
        }
        Target::Command(command) => commands::run(state, command, out),
        Target::Key(code) => press_key(state, code, out),
        Target::Row(row) => match &mut state.mode {
            Mode::Reopen(at) if *at != row => *at = row,
            Mode::Reopen(_) => press_key(state, KeyCode::Enter, out),
            Mode::Form(form) if form.busy => {}
            Mode::Form(form) if form.at != row => form.go(row),
            Mode::Form(form) => {
                if let Some(Value::Choice { .. }) = form.fields.get(row).map(|field| &field.value) {
                    press_key(state, KeyCode::Right, out);
                }
            }
            _ => {}
        },
    }
}

fn press_key(state: &mut State, code: KeyCode, out: &mut Vec<Effect>) {
    keys::key(state, &Key { code, mods: Mods(0), kind: KeyKind::Press }, out);
}

/// A button went down in the pane with the focus: its program gets it, and what follows of the button, if it wants to.
fn into_pane(state: &mut State, mouse: Mouse, out: &mut Vec<Effect>) {
    let Some((space, beside)) = state.layout().at(mouse.col, mouse.row) else { return };
    let area = space.inside;
    if state.desk().away != beside || mouse.row < area.y {
        return;
    }
    let pane = state.focused();
    let stream = pane.filter(|pane| pane.view.modes().mouse).and_then(|pane| pane.stream);
    state.held = pane.is_some().then_some(Held { stream, area, from: (mouse.col, mouse.row) });
    if let Some(stream) = stream {
        send(state, stream, area, mouse, out);
    }
}

/// What a button that is held does belongs to where it went down.
fn held(state: &mut State, mouse: Mouse, out: &mut Vec<Effect>) {
    let Some(Held { stream, area, from }) = state.held else { return };
    if let MouseKind::Up(_) = mouse.kind {
        state.held = None;
    }
    match stream {
        Some(stream) => send(state, stream, area, mouse, out),
        None if matches!(mouse.kind, MouseKind::Up(0)) && from != (mouse.col, mouse.row) => {
            orders::say(state, "Hold Shift while you drag to select text; `ui.mouse` says who has the mouse.", out);
        }
        None => {}
    }
}

fn wheel(state: &mut State, mouse: Mouse, out: &mut Vec<Effect>) {
    let up = mouse.kind == MouseKind::ScrollUp;
    let key = if up { KeyCode::Up } else { KeyCode::Down };
    match state.mode {
        Mode::Help(_) | Mode::Explain(_) | Mode::Messages(_) => {
            (0..WHEEL_LINES).for_each(|_| press_key(state, key, out));
        }
        Mode::Reopen(_) => press_key(state, key, out),
        Mode::Sidebar(_) => match spot::at(&state.spots, mouse.col, mouse.row) {
            Some(_) => press_key(state, key, out),
            None => wheel_in_pane(state, mouse, out),
        },
        Mode::Normal | Mode::Prefix if state.layout().tabs.is_some_and(|bar| bar.y == mouse.row) => {
            tabs::step(state, if up { -1 } else { 1 }, out);
        }
        Mode::Normal => wheel_in_pane(state, mouse, out),
        Mode::Prefix | Mode::Form(_) | Mode::Ask(_) => {}
    }
}

/// To the panel under the mouse; to the program there if it takes the mouse, or the arrows that a wheel becomes on the alternate screen.
fn wheel_in_pane(state: &mut State, mouse: Mouse, out: &mut Vec<Effect>) {
    let Some((space, beside)) = state.layout().at(mouse.col, mouse.row) else { return };
    if beside && panels::wheel(state, mouse.kind == MouseKind::ScrollDown) {
        return;
    }
    let shows = if beside { state.desk().beside } else { Some(Shows::Agent) };
    let takes = |pane: &&Pane| {
        let modes = pane.view.modes();
        modes.mouse || (modes.alt && modes.alternate_scroll)
    };
    let pane = shows.as_ref().and_then(|shows| state.pane(shows)).filter(takes);
    if let Some(stream) = pane.and_then(|pane| pane.stream).filter(|_| mouse.row >= space.inside.y) {
        send(state, stream, space.inside, mouse, out);
    }
}

/// Sends it in cells of the terminal; what is outside of the pane counts as its edge.
fn send(state: &State, stream: u32, area: Rect, mouse: Mouse, out: &mut Vec<Effect>) {
    let Some(pane) = state.panes.iter().find(|pane| pane.stream == Some(stream)) else { return };
    if state.setup.read_only || !state.up() || area.is_empty() {
        return;
    }
    let (left, top) = pane.offset(area.width, area.height);
    let size = pane.view.size();
    let col = (mouse.col.clamp(area.x, area.right() - 1) - area.x + left).min(size.cols - 1);
    let row = (mouse.row.clamp(area.y, area.bottom() - 1) - area.y + top).min(size.rows - 1);
    out.push(Effect::Send(stream, StreamInput::Mouse(Mouse { col, row, ..mouse })));
}
