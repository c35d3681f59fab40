//! What the outer terminal sends: to the pane, or to whatever lies over it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::screen::decode::{Outer, Reply};
use crate::tui::chord::Chord;
use crate::tui::edit::MAX_TEXT_BYTES;
use crate::tui::help;
use crate::tui::keymap::Command;
use crate::tui::msg::{Effect, Timer};
use crate::tui::state::{Mode, Pasting, State};
use crate::wire::input::{Key, KeyCode, KeyKind, Mods, StreamInput};

use super::{commands, forms, lists, orders, panels, panes};

/// Takes what the outer terminal sent, but for the mouse.
pub fn outer(state: &mut State, outer: Outer, out: &mut Vec<Effect>) {
    match outer {
        Outer::Key(key) => self::key(state, &key, out),
        Outer::Text(text) => self::text(state, text, out),
        Outer::PasteStart => paste_start(state),
        Outer::PasteChunk(bytes) => paste_chunk(state, &bytes, out),
        Outer::PasteEnd => paste_end(state, out),
        Outer::Focus(gained) => {
            panes::input(state, StreamInput::Focus { gained }, out);
        }
        Outer::Reply(Reply::KittyFlags(_)) => out.push(Effect::KittyKeys),
        Outer::Mouse(_) | Outer::Reply(_) => {}
    }
}

/// Takes a key.
pub fn key(state: &mut State, key: &Key, out: &mut Vec<Effect>) {
    let released = key.kind == KeyKind::Release;
    match &state.mode {
        Mode::Normal if released => {
            if Chord::of(key) != state.setup.keys.prefix() && state.setup.keys.direct(key).is_none() {
                panes::input(state, StreamInput::Key(*key), out);
            }
        }
        _ if released => {}
        Mode::Normal => normal(state, key, out),
        Mode::Prefix => after_prefix(state, key, out),
        Mode::Help(from) => help_key(state, *from, key),
        Mode::Sidebar(at) => lists::sidebar_key(state, *at, key, out),
        Mode::Reopen(at) => lists::reopen_key(state, *at, key, out),
        Mode::Explain(from) => lists::explain_key(state, *from, key),
        Mode::Messages(from) => lists::messages_key(state, *from, key),
        Mode::Form(_) => forms::key(state, key, out),
        Mode::Ask(_) => commands::answer(state, key, out),
    }
}

fn normal(state: &mut State, key: &Key, out: &mut Vec<Effect>) {
    if Chord::of(key) == state.setup.keys.prefix() {
        state.mode = Mode::Prefix;
    } else if let Some(command) = state.setup.keys.direct(key) {
        commands::run(state, command, out);
    } else if state.chosen().is_none() {
        // With no session nothing else could be meant; before they are known, it was meant for one of them.
        let none = state.listed && state.tabs.is_empty();
        if let Some(command) = state.setup.keys.after_prefix(key).filter(|_| none) {
            commands::run(state, command, out);
        }
    } else if state.banner_takes_keys() {
        banner_key(state, key, out);
    } else if !panels::key(state, key, out) {
        panes::input(state, StreamInput::Key(*key), out);
    }
}

/// Single keys for a banner count only when they are not part of something that is being typed.
fn banner_key(state: &mut State, key: &Key, out: &mut Vec<Effect>) {
    let quiet = std::mem::replace(&mut state.quiet, false);
    orders::start(state, Timer::Quiet, orders::QUIET, out);
    let chord = Chord::of(key);
    let notice = state.notice();
    let offered = notice.actions().iter().map(|(name, _, command)| (name, *command));
    let offered: Vec<_> = offered.filter(|(_, command)| state.can(*command).is_ok()).collect();
    let command = offered.iter().find(|(_, command)| state.setup.keys.banner(*command) == chord).map(|(_, c)| *c);
    match command {
        Some(command) if quiet => commands::run(state, command, out),
        Some(_) => orders::hint(state, format!("{chord} came while keys were typed; press it once more."), out),
        None => {
            let keys = offered.iter().map(|(name, c)| format!("{} {name}", state.setup.keys.banner(*c)));
            let keys = keys.collect::<Vec<_>>().join(", ");
            let but = if keys.is_empty() { String::new() } else { format!("; here: {keys}") };
            orders::hint(state, format!("No agent takes keys now{but}."), out);
        }
    }
}

fn after_prefix(state: &mut State, key: &Key, out: &mut Vec<Effect>) {
    state.mode = Mode::Normal;
    let chord = Chord::of(key);
    let prefix = state.setup.keys.prefix();
    if chord == prefix {
        panes::input(state, StreamInput::Key(prefix.to_key()), out);
    } else if let Some(command) = state.setup.keys.after_prefix(key) {
        commands::run(state, command, out);
    } else if key.code != KeyCode::Esc {
        let help = state.setup.keys.spoken(Command::Help);
        let help = help.map(|keys| format!("; {keys} shows all keys")).unwrap_or_default();
        orders::say(state, format!("{chord} does nothing after {prefix}{help}."), out);
    }
}

fn help_key(state: &mut State, from: usize, key: &Key) {
    let (fits, most) = (help::fits(state.size.1), help::most(state));
    state.mode = lists::scroll(from.min(most), key, most + fits, fits).map_or(Mode::Normal, Mode::Help);
}

fn text(state: &mut State, text: String, out: &mut Vec<Effect>) {
    if matches!(state.mode, Mode::Form(_)) {
        forms::insert(state, &text, out);
        return;
    }
    if state.mode == Mode::Normal && panels::text(state, &text, out) {
        return;
    }
    match &state.mode {
        Mode::Normal if state.chosen().is_some() => {
            if state.banner_takes_keys() {
                let mut chars = text.chars();
                if let Some(first) = chars.next() {
                    // Of a run of characters the first one alone is a key that may be meant.
                    let alone = chars.as_str().is_empty();
                    state.quiet &= alone;
                    banner_key(state, &Key { code: KeyCode::Char(first), mods: Mods(0), kind: KeyKind::Press }, out);
                }
            } else {
                panes::input(state, StreamInput::Text { text }, out);
            }
        }
        _ => {
            let mut chars = text.chars();
            if let Some(first) = chars.next() {
                key(state, &Key { code: KeyCode::Char(first), mods: Mods(0), kind: KeyKind::Press }, out);
                match chars.as_str() {
                    "" => {}
                    rest => self::text(state, rest.to_owned(), out),
                }
            }
        }
    }
}

fn paste_start(state: &mut State) {
    state.pastes = state.pastes.wrapping_add(1);
    let stream = state.focused().and_then(|pane| pane.stream);
    state.pasting = match (&state.mode, stream) {
        (Mode::Form(_), _) => Pasting::Form(vec![]),
        (Mode::Normal, None) if panels::types(state) => Pasting::Form(vec![]),
        (Mode::Normal, Some(stream)) if state.up() && !state.setup.read_only => {
            Pasting::Stream(stream, state.pastes, 0)
        }
        _ => Pasting::Dropped,
    };
}

fn paste_chunk(state: &mut State, bytes: &[u8], out: &mut Vec<Effect>) {
    let shown = matches!(state.pasting, Pasting::Stream(stream, ..) if panes::has(state, stream));
    match &mut state.pasting {
        Pasting::Form(text) if text.len() + bytes.len() <= MAX_TEXT_BYTES => text.extend_from_slice(bytes),
        Pasting::Stream(stream, paste, parts) if shown => {
            let input = StreamInput::PasteChunk { paste: *paste, part: *parts, data: STANDARD.encode(bytes) };
            *parts += 1;
            out.push(Effect::Send(*stream, input));
        }
        Pasting::No => {}
        Pasting::Form(_) | Pasting::Stream(..) | Pasting::Dropped => state.pasting = Pasting::Dropped,
    }
}

fn paste_end(state: &mut State, out: &mut Vec<Effect>) {
    match std::mem::replace(&mut state.pasting, Pasting::No) {
        Pasting::Form(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            if state.mode == Mode::Normal {
                panels::insert(state, &text);
            } else {
                forms::insert(state, &text, out);
            }
        }
        Pasting::Stream(stream, paste, parts) if panes::has(state, stream) => {
            out.push(Effect::Send(stream, StreamInput::PasteCommit { paste, parts }));
        }
        Pasting::No => {}
        Pasting::Stream(..) | Pasting::Dropped => {
            orders::say(state, "The paste was not delivered: nothing could take it.", out);
        }
    }
}
