//! What keys mean: the person's own, and those of the help.

use super::tests::{SCREEN, calls, sent, three};
use super::update;
use crate::tui::chord::Chord;
use crate::tui::help;
use crate::tui::keymap::{DEFAULT_PREFIX, Keymap};
use crate::tui::msg::{Call, Msg, Timer};
use crate::tui::samples::{after_prefix, answer_attach, failed, id, listed, press, take_status};
use crate::tui::state::{Mode, State};
use crate::wire::input::{KeyCode, StreamInput};

#[test]
fn a_persons_keys_are_the_ones_that_work_and_the_ones_that_are_named() {
    let mut state = listed(SCREEN, &three());
    let own = "prefix = \"ctrl-b\"\n[after_prefix]\nhelp = [\"f1\"]\ndismiss = [\"D\"]\n[direct]\nnext = [\"alt-n\"]";
    state.setup.keys = Keymap::with(&toml::from_str(own).unwrap()).unwrap();
    let effects = press(&mut state, Chord::alt('n'));
    answer_attach(&mut state, &effects, 8);
    assert_eq!(state.current, Some(id("api")));
    assert_eq!(sent(&press(&mut state, DEFAULT_PREFIX)), [StreamInput::Key(DEFAULT_PREFIX.to_key())]);
    press(&mut state, Chord::ctrl('b'));
    press(&mut state, Chord::char('?'));
    assert_eq!(state.said.as_deref(), Some("? does nothing after Ctrl-B; Ctrl-B F1 shows all keys."));
    take_status(&mut state, failed(&three()[0]));
    update(&mut state, Msg::Timer(Timer::Quiet, 1));
    assert!(calls(&press(&mut state, Chord::char('i'))).is_empty());
    update(&mut state, Msg::Timer(Timer::Quiet, 2));
    assert_eq!(calls(&press(&mut state, Chord::char('D'))), [Call::Dismiss(id("api"))]);
}

#[test]
fn help_scrolls_to_its_end_and_back_and_any_other_key_leaves_it() {
    let mut state = listed(SCREEN, &three());
    after_prefix(&mut state, '?');
    let at = |state: &State| if let Mode::Help(from) = state.mode { from } else { panic!("{:?}", state.mode) };
    let table = [
        (KeyCode::Up, 0),
        (KeyCode::Char('j'), 1),
        (KeyCode::Down, 2),
        (KeyCode::Char('k'), 1),
        (KeyCode::PageDown, help::most(&state).min(23)),
        (KeyCode::End, help::most(&state)),
        (KeyCode::Down, help::most(&state)),
        (KeyCode::Home, 0),
    ];
    assert!(help::most(&state) > 2);
    for (code, wanted) in table {
        press(&mut state, Chord::key(code));
        assert_eq!(at(&state), wanted, "{code:?}");
    }
    press(&mut state, Chord::key(KeyCode::End));
    update(&mut state, Msg::Resized(200, 50));
    press(&mut state, Chord::key(KeyCode::Up));
    assert_eq!(at(&state), help::most(&state).saturating_sub(1), "a larger screen shows all of it");
    press(&mut state, Chord::key(KeyCode::Esc));
    assert_eq!(state.mode, Mode::Normal);
}
