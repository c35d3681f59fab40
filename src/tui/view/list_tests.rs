//! Pictures of lists, forms and panes.

use super::pictures::check;
use super::tests::{shop, write};
use crate::domain::words::Activity;
use crate::screen::decode::Outer;
use crate::tui::chord::Chord;
use crate::tui::msg::Msg;
use crate::tui::samples::{after_prefix, line, listed, press};
use crate::tui::state::State;
use crate::tui::update::update;
use crate::wire::host::SessionLine;
use crate::wire::input::KeyCode;

fn two_tasks(size: (u16, u16)) -> State {
    let mut lines = vec![
        line("api", Activity::NeedsPermission, "wants to run `cargo test`", 1),
        line("docs", Activity::Working, "a turn is running", 2),
        line("web", Activity::Ready, "waiting for your next prompt", 3),
    ];
    lines[1].task_id = crate::domain::ids::TaskId::new("manual").unwrap();
    lines[1].task_title = "A manual for people".into();
    let mut state = listed(size, &lines);
    state.tabs[0].unseen = true;
    state
}

#[test]
fn tasks_and_sessions_at_the_side() {
    check("sidebar", |size| {
        let mut state = two_tasks(size);
        after_prefix(&mut state, 's');
        press(&mut state, Chord::key(KeyCode::Up));
        state
    });
}

#[test]
fn what_is_known_of_a_session() {
    check("explain", |size| {
        let mut state = two_tasks(size);
        after_prefix(&mut state, '1');
        after_prefix(&mut state, 'e');
        state
    });
}

#[test]
fn closed_sessions_can_be_brought_back() {
    check("reopen", |size| {
        let mut state = two_tasks(size);
        let closed = |name: &str, at| SessionLine {
            state: crate::domain::words::SessionState::Cancelled,
            ended_at: Some(at),
            name: name.into(),
            ..line("closed", Activity::Ended, "ended by you", at)
        };
        state.closed = vec![closed("shop-search", 9), closed("a very long name of a session that was closed", 8)];
        after_prefix(&mut state, 'u');
        press(&mut state, Chord::key(KeyCode::Down));
        state
    });
}

#[test]
fn what_was_announced() {
    check("messages", |size| {
        let mut state = two_tasks(size);
        after_prefix(&mut state, '9');
        after_prefix(&mut state, 'm');
        state
    });
}

#[test]
fn two_panes_side_by_side_and_one_above_the_other() {
    for (name, key) in [("split-right", '%'), ("split-down", '"')] {
        check(name, |size| {
            let mut state = two_tasks(size);
            write(&mut state, b"* Welcome to the agent\r\n\r\n> fix the shop\r\n");
            after_prefix(&mut state, key);
            let shell = crate::domain::ids::TerminalId::new("shell").unwrap();
            state.tabs[0].desk.open(crate::tui::desk::Shows::Shell(shell));
            after_prefix(&mut state, 'o');
            state.said = None;
            state
        });
    }
}

#[test]
fn the_form_for_a_new_session() {
    check("new", |size| {
        let mut state = shop(size);
        after_prefix(&mut state, 'c');
        press(&mut state, Chord::key(KeyCode::Tab));
        update(&mut state, Msg::Outer(Outer::Text("fix the search".into())));
        press(&mut state, Chord { alt: true, ..Chord::key(KeyCode::Enter) });
        update(&mut state, Msg::Outer(Outer::Text("of the shop, and add a test".into())));
        state
    });
    check("new-directory", |size| {
        let mut state = shop(size);
        after_prefix(&mut state, 'c');
        press(&mut state, Chord::key(KeyCode::Tab));
        press(&mut state, Chord::key(KeyCode::Tab));
        update(&mut state, Msg::Outer(Outer::Text("/s".into())));
        let found = ["search", "server", "static"].map(|dir| format!("/home/anna/src/shop/{dir}/"));
        update(&mut state, Msg::Completed("/home/anna/src/shop/s".into(), found.to_vec()));
        state
    });
}

#[test]
fn of_two_panes_one_alone_says_which_it_is() {
    check("zoom", |size| {
        let mut state = two_tasks(size);
        let shell = crate::domain::ids::TerminalId::new("shell").unwrap();
        state.tabs[0].desk.open(crate::tui::desk::Shows::Shell(shell));
        after_prefix(&mut state, 'z');
        state
    });
}
