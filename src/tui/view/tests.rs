//! Pictures of every screen, in three sizes, through the real chain from bytes of a program to cells.

use super::pictures::{check, picture};
use crate::domain::launch::Size;
use crate::domain::words::Activity;
use crate::screen::decode::Outer;
use crate::screen::frames::Framer;
use crate::screen::model::Model;
use crate::tui::chord::Chord;
use crate::tui::keymap::{DEFAULT_PREFIX, Keymap};
use crate::tui::msg::Msg;
use crate::tui::samples::{after_prefix, answer_attach, failed, line, listed, press, running, take_status};
use crate::tui::state::State;
use crate::tui::update::update;
use crate::wire::host::SessionLine;
use crate::wire::input::KeyCode;

/// Lets the program in the chosen terminal write something.
pub fn write(state: &mut State, bytes: &[u8]) {
    write_to(state, 7, state.new_size(), bytes);
}

/// The same in the terminal with this stream and size.
pub fn write_to(state: &mut State, stream: u32, size: Size, bytes: &[u8]) {
    let mut model = Model::new(size, 100);
    let mut framer = Framer::new();
    model.feed(bytes);
    assert!(framer.update(&mut model));
    update(state, Msg::Frame(stream, framer.frame_since(0).unwrap()));
}

pub fn three() -> Vec<SessionLine> {
    vec![
        line("api", Activity::NeedsPermission, "it wants to run `rm -r build`", 1),
        line("docs", Activity::Working, "a turn is running", 2),
        line("web", Activity::Ready, "waiting for your next prompt", 3),
    ]
}

pub fn shop(size: (u16, u16)) -> State {
    let mut state = listed(size, &three());
    let effects = press(&mut state, Chord::alt('3'));
    answer_attach(&mut state, &effects, 7);
    take_status(&mut state, running(&three()[2]));
    write(
        &mut state,
        b"\x1b[1m* Welcome\x1b[m to the agent\r\n\r\n> fix the shop\r\n\x1b[32m\xe2\x97\x8f\x1b[m Done: \xe6\xbc\xa2\xe5\xad\x97 and e\xcc\x81.\r\n\r\n> ",
    );
    state
}

#[test]
fn nothing_yet() {
    check("empty", |size| listed(size, &[]));
}

#[test]
fn before_the_host_answers() {
    check("connecting", |size| State::new(crate::tui::samples::setup(), size, None));
}

#[test]
fn three_tabs() {
    check("tabs", shop);
}

#[test]
fn many_tabs_keep_the_urgent_one_in_sight() {
    check("many-tabs", |size| {
        let mut lines: Vec<_> =
            (0..30).map(|i| line(&format!("session-{i}"), Activity::Working, "a turn is running", i)).collect();
        lines[2].activity = Activity::NeedsInput;
        let mut state = listed(size, &lines);
        press(&mut state, Chord::alt('9'));
        state
    });
}

#[test]
fn the_keys_after_the_prefix() {
    check("prefix", |size| {
        let mut state = shop(size);
        press(&mut state, DEFAULT_PREFIX);
        state
    });
}

#[test]
fn all_keys() {
    check("help", |size| {
        let mut state = shop(size);
        after_prefix(&mut state, '?');
        state
    });
}

#[test]
fn the_end_of_all_keys() {
    check("help-end", |size| {
        let mut state = shop(size);
        after_prefix(&mut state, '?');
        press(&mut state, Chord::key(KeyCode::End));
        state
    });
}

#[test]
fn keys_without_colour_with_a_persons_own() {
    let own = |size| {
        let mut state = shop(size);
        let text = "prefix = \"ctrl-b\"\n[after_prefix]\nzoom = [\"f11\"]\nsidebar = []\nfocus-up = [\"K\"]\n[direct]\nnext = [\"alt-n\"]";
        state.setup.keys = Keymap::with(&toml::from_str(text).unwrap()).unwrap();
        state.setup.ascii = true;
        state.setup.colour = false;
        press(&mut state, Chord::ctrl('b'));
        state
    };
    check("prefix-own", own);
    check("help-own", |size| {
        let mut state = own(size);
        press(&mut state, Chord::char('?'));
        state
    });
}

#[test]
fn a_question_before_a_kill() {
    check("kill", |size| {
        let mut state = shop(size);
        after_prefix(&mut state, 'X');
        state
    });
}

#[test]
fn ascii_without_colour() {
    check("ascii", |size| {
        let mut state = shop(size);
        state.setup.ascii = true;
        state.setup.colour = false;
        take_status(&mut state, failed(&three()[2]));
        state
    });
}

#[test]
fn a_terminal_larger_than_the_pane_shows_the_part_with_the_cursor() {
    let mut state = listed((30, 8), &three());
    let mut model = Model::new(Size { cols: 100, rows: 40 }, 10);
    let mut framer = Framer::new();
    model.feed(b"top\x1b[40;90Hbottom");
    framer.update(&mut model);
    update(&mut state, Msg::Frame(7, framer.frame_since(0).unwrap()));
    let shown = picture(&state);
    assert!(shown.contains("bottom") && !shown.contains("top\n"), "{shown}");
    assert!(shown.contains("cursor: column 29, row 6"), "{shown}");
}

#[test]
fn every_screen_fits_every_size_without_panic() {
    for size in [(0, 0), (1, 1), (2, 2), (1, 8), (30, 1), (5, 3), (80, 2), (500, 200)] {
        let mut state = shop(size);
        picture(&state);
        for c in ['?', 'c', 'X', ',', 'q'] {
            after_prefix(&mut state, c);
            picture(&state);
            update(&mut state, Msg::Outer(Outer::Text("words".into())));
            picture(&state);
            press(&mut state, Chord::key(KeyCode::Esc));
        }
        press(&mut state, DEFAULT_PREFIX);
        picture(&state);
        press(&mut state, Chord::key(KeyCode::Esc));
        take_status(&mut state, failed(&three()[2]));
        picture(&state);
        update(&mut state, Msg::Lost("gone".into()));
        picture(&state);
        state.setup.ascii = true;
        picture(&state);
        picture(&listed(size, &[]));
    }
}
