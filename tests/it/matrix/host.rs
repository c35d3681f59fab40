//! The host dies. Its agents do not notice.

use std::fs;

use crate::support::Home;
use crate::support::kill;
use crate::support::tui::Tui;

use super::check::{Case, arm, armed, check_one};

#[test]
fn a_host() {
    let home = Home::new();
    let case = Case::begin(&home, "finch", &[]);
    let mut tui = Tui::attach(&home, &case.id);
    tui.until_text(&home, "I will remember finch.");
    let (agent, agentctl) = (home.agent(&case.id), home.agentctl(&case.id));
    home.kill_host();
    check_one(&home, &case, 1);
    assert_eq!((home.agent(&case.id), home.agentctl(&case.id)), (agent, agentctl));
    tui.until_text(&home, "The code word is finch.");
}

#[test]
fn a_host_while_an_agent_answers() {
    const LINES: usize = 60;
    let home = Home::new();
    let case = Case::begin(&home, "swift", &[]);
    home.ask(&case.id, &format!("count {LINES} every 20"), &format!("line 3 of {LINES}"));
    home.kill_host();
    home.until_screen(&case.id, &format!("I counted to {LINES}."));
    let shown = home.screen(&case.id);
    let missing: Vec<usize> = (1..=LINES)
        .filter(|n| shown.lines().filter(|row| row.trim_end() == format!("line {n} of {LINES}")).count() != 1)
        .collect();
    assert!(missing.is_empty(), "lines {missing:?} are not there once:\n{shown}");
    check_one(&home, &case, 1);
}

/// An agentctl that misses its host starts one.
#[test]
fn a_host_with_no_client_and_no_service_manager() {
    let home = Home::new();
    let case = Case::begin(&home, "snipe", &[]);
    let dead = home.host().expect("a host runs");
    home.kill_host();
    home.until("a host that nobody called", || home.host().is_some_and(|host| host != dead));
    check_one(&home, &case, 1);
}

#[test]
fn a_host_and_an_agentctl_together() {
    let home = Home::new();
    let case = Case::begin(&home, "egret", &[]);
    let both = [home.host().expect("a host runs"), home.agentctl(&case.id)];
    for process in &both {
        kill::signal(process, kill::Signal::KILL);
    }
    both.iter().for_each(kill::kill);
    check_one(&home, &case, 2);
}

#[track_caller]
fn in_the_middle_of_a_resume(point: &str) {
    let home = armed(point);
    let case = Case::begin(&home, "quail", &[]);
    let host = home.host().expect("a host runs");
    let marker = arm(&home);
    kill::kill(&home.agent(&case.id));
    home.until(&format!("the host's end at {point}"), || !marker.exists() && home.host().as_ref() != Some(&host));
    check_one(&home, &case, 2);
    let rows = home.rows("SELECT generation FROM agent_bindings");
    assert_eq!(rows.len(), 2, "one start for one death: {rows:?}");
}

#[test]
fn a_host_before_the_claim() {
    in_the_middle_of_a_resume("host.before_claim");
}

#[test]
fn a_host_after_the_claim() {
    in_the_middle_of_a_resume("host.after_claim");
}

#[test]
fn a_host_after_the_launch() {
    in_the_middle_of_a_resume("host.after_launch");
}

#[test]
fn a_host_before_the_confirm() {
    in_the_middle_of_a_resume("host.before_confirm");
}

/// That it could not be resumed says nothing about an agent that lives.
#[test]
fn a_host_whose_agent_cannot_resume_but_lives() {
    let home = Home::new();
    home.write_config("[agents.mute]\nextends = \"demo\"\n[agents.mute.resume]\nargs = []\n");
    let case = Case::begin_as(&home, "mute", "wren", &[]);
    let agent = home.agent(&case.id);
    home.kill_host();
    check_one(&home, &case, 1);
    assert_eq!(home.agent(&case.id), agent);
    let line = home.session(&case.id);
    assert_eq!((&line["state"], &line["end_reason"]), (&"WAITING_FOR_INPUT".into(), &serde_json::Value::Null));
    assert!(home.status(&case.id)["error_message"].is_null());
}

#[test]
fn sockets_that_vanish_under_the_living_are_bound_again() {
    let home = Home::new();
    let case = Case::begin(&home, "grebe", &[]);
    let host = home.host();
    let sockets =
        [home.path().join("state/host.sock"), home.path().join(format!("state/sessions/{}/agentctl.sock", case.id))];
    for socket in &sockets {
        fs::remove_file(socket).unwrap_or_else(|error| panic!("{}: {error}", socket.display()));
    }
    home.until("both sockets", || sockets.iter().all(|socket| socket.exists()));
    check_one(&home, &case, 1);
    kill::kill(&home.agent(&case.id));
    check_one(&home, &case, 2);
    assert_eq!(home.host(), host);
}
