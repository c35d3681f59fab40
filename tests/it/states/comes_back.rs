//! States that end by themselves, or as soon as a person says so.

use relight::proc::testpoint::STOP_AT;

use super::{after_prefix, answers, screen, shows};
use crate::support::Home;
use crate::support::kill::{self, Signal};
use crate::support::told::Told;
use crate::support::tui::{TERM, Tui};

#[test]
fn a_session_that_is_being_resumed_says_so_and_asks_nothing() {
    let home = Home::new().with_point(STOP_AT, "agentctl.after_intent");
    let told = Told::new(&home, "kiwi");
    let mut tui = screen(&home, &told);
    let agentctl = home.agentctl(&told.id);
    home.arm("agentctl.after_intent");
    kill::kill(&home.agent(&told.id));
    home.until("an agentctl that stands in the middle of the launch", || kill::is_stopped(&agentctl));
    shows(&home, &mut tui, &["Resuming…", "resuming: the agent died and is being resumed"]);
    assert!(!tui.text().contains("[r]"), "{}", tui.text());
    kill::signal(&agentctl, Signal::CONT);
    answers(&home, &mut tui);
    told.back_once(&home, 2);
}

#[test]
fn a_session_whose_executor_starts_says_so() {
    let home = Home::new().with_point(STOP_AT, "agentctl.locked");
    home.arm("agentctl.locked");
    let new = home.start(&["new", "--agent", "demo", "--detach", "--prompt", "remember kiwi"]);
    let starting =
        || home.living().into_iter().find(|(p, line)| line.contains("agentctl serve") && kill::is_stopped(p));
    home.until("an agentctl that stands in the middle of its start", || starting().is_some());
    let (agentctl, _) = starting().unwrap();
    let mut tui = Tui::on(&home, "demo", TERM, (80, 24));
    shows(&home, &mut tui, &["1 ◌ demo starting", "Starting"]);
    kill::signal(&agentctl, Signal::CONT);
    assert!(new.wait_with_output().unwrap().status.success());
    tui.until_text(&home, "I will remember kiwi.");
    answers(&home, &mut tui);
}

#[test]
fn a_turn_that_was_cut_off_is_marked_until_something_is_said() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let mut tui = screen(&home, &told);
    tui.keys(b"count 3000 every 100\r");
    tui.until_text(&home, "ine 3");
    home.until_session(&told.id, "a turn", |line| line["state"] == "RUNNING");
    kill::kill(&home.agent(&told.id));
    shows(&home, &mut tui, &["1 ◇ demo interrupted", "Interrupted", "its turn was cut off"]);
    tui.keys(b"what is the code word?\r");
    tui.until_text(&home, "The code word is kiwi.");
    tui.until(&home, "no mark", |shown| !shown.contains("Interrupted"));
    told.back_once(&home, 2);
}

#[test]
fn an_agent_that_does_not_come_back_by_itself_is_offered() {
    let home = Home::new();
    home.write_config("[resume]\nauto = \"never\"\n");
    let told = Told::new(&home, "kiwi");
    let mut tui = screen(&home, &told);
    kill::kill(&home.agent(&told.id));
    shows(&home, &mut tui, &["its conversation can be resumed", "[r] Resume session"]);
    assert_eq!(home.agents_with(&told.token), []);
    after_prefix(&mut tui, "r");
    answers(&home, &mut tui);
    told.back_once(&home, 2);
}

#[test]
fn an_executor_that_does_not_answer_is_told_with_since_when_and_comes_back_by_itself() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let mut tui = screen(&home, &told);
    let agentctl = home.agentctl(&told.id);
    kill::signal(&agentctl, Signal::STOP);
    home.kill_host();
    home.run(&["ls"]).ok();
    shows(&home, &mut tui, &["Its executor has not answered for", "[r] Try now"]);
    let status = home.status(&told.id);
    assert_eq!(
        (&status["activity"], &status["state"]),
        (&"unreachable".into(), &"WAITING_FOR_INPUT".into()),
        "{status}"
    );
    kill::signal(&agentctl, Signal::CONT);
    answers(&home, &mut tui);
    told.back_once(&home, 1);
}
