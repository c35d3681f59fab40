//! The supervisor dies.

use std::fs;

use crate::support::Home;
use crate::support::kill;
use crate::support::tui::Tui;

use super::check::{Case, arm, armed, check_one, with};

#[test]
fn an_agentctl() {
    let home = Home::new();
    let case = Case::begin(&home, "robin", &[]);
    let mut tui = Tui::attach(&home, &case.id);
    tui.until_text(&home, "I will remember robin.");
    kill::kill(&home.agentctl(&case.id));
    check_one(&home, &case, 2);
    tui.until_text(&home, "The code word is robin.");
}

/// Both outlive it, and both would stand beside the resumed agent.
#[test]
fn an_agentctl_whose_agent_ignores_sighup_and_left_a_child_in_another_session() {
    let home = Home::new();
    let only_first = home.path().join("first");
    fs::write(&only_first, "").expect("a file");
    let misbehave = format!("ignore-sighup,setsid-child@{}", only_first.display());
    let case = Case::begin(&home, "raven", &["--misbehave", &misbehave]);
    fs::remove_file(&only_first).expect("it is there");
    let left = with(&home, "sleep 86400");
    assert_eq!(left.len(), 1, "{:?}", home.living());
    kill::kill(&home.agentctl(&case.id));
    check_one(&home, &case, 2);
}

#[track_caller]
fn in_the_middle_of_a_launch(point: &str, generation: u64) {
    let home = armed(point);
    let case = Case::begin(&home, "eagle", &["--ignore-sighup"]);
    let (agent, agentctl) = (home.agent(&case.id), home.agentctl(&case.id));
    let marker = arm(&home);
    kill::kill(&agent);
    check_one(&home, &case, generation);
    assert!(!marker.exists(), "{point} was never reached");
    assert_ne!(home.agentctl(&case.id), agentctl);
}

#[test]
fn an_agentctl_after_the_intent() {
    in_the_middle_of_a_launch("agentctl.after_intent", 2);
}

#[test]
fn an_agentctl_after_the_exec() {
    in_the_middle_of_a_launch("agentctl.after_exec", 2);
}

#[test]
fn an_agentctl_before_the_reply() {
    in_the_middle_of_a_launch("agentctl.before_reply", 3);
}
