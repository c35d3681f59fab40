//! The agent dies.

use relight::proc::identity;

use crate::support::Home;
use crate::support::kill::{self, Signal};
use crate::support::tui::Tui;

use super::check::{Case, check, check_one};

#[test]
fn an_agent() {
    let home = Home::new();
    let case = Case::begin(&home, "heron", &[]);
    let mut tui = Tui::attach(&home, &case.id);
    tui.until_text(&home, "I will remember heron.");
    kill::kill(&home.agent(&case.id));
    check_one(&home, &case, 2);
    // The client was shown the successor without doing anything.
    tui.until_text(&home, "The code word is heron.");
}

#[test]
fn an_agent_twice_with_no_prompt_between_then_the_host() {
    let home = Home::new();
    let case = Case::begin(&home, "crane", &[]);
    for generation in [2, 3] {
        kill::kill(&home.agent(&case.id));
        case.until_ready(&home, generation);
    }
    home.kill_host();
    check_one(&home, &case, 3);
}

#[test]
fn a_terminal_that_hangs_up_with_a_death_gasp() {
    let home = Home::new();
    let case = Case::begin(&home, "stork", &[]);
    kill::signal(&home.agent(&case.id), Signal::HUP);
    check_one(&home, &case, 2);
}

/// Its agentctl dies, and with it the terminal: the kernel hangs up. What the agent makes of that changes nothing: it says
/// goodbye and exits 0, as after a person's quit, or late, while the next agentctl begins, or not at all.
#[test]
fn a_terminal_that_closes_under_its_agent() {
    let home = Home::new();
    let gasps: [(&str, &[&str]); 3] = [
        ("heron", &["--exit0-on-sigterm"]),
        ("egret", &["--exit0-on-sigterm", "--misbehave", "late-goodbye=300"]),
        ("bittern", &["--ignore-sighup"]),
    ];
    let cases = gasps.map(|(word, args)| Case::begin(&home, word, args));
    let agents = cases.each_ref().map(|case| home.agent(&case.id));
    for case in &cases {
        kill::signal(&home.agentctl(&case.id), Signal::KILL);
    }
    check(&home, &cases.each_ref(), 2);
    assert!(agents.iter().all(|agent| !identity::alive(agent)), "{agents:?}");
}

/// An orderly end of the agentctl alone: it tells its agent, which leaves with exit 0, says goodbye late, or is deaf.
#[test]
fn an_agentctl_that_is_told_to_end_takes_its_agent_along() {
    let home = Home::new();
    let gasps: [(&str, &[&str]); 3] = [
        ("avocet", &["--exit0-on-sigterm"]),
        ("godwit", &["--exit0-on-sigterm", "--misbehave", "late-goodbye=300"]),
        ("knot", &["--ignore-sighup"]),
    ];
    let cases = gasps.map(|(word, args)| Case::begin(&home, word, args));
    for case in &cases {
        kill::signal(&home.agentctl(&case.id), Signal::TERM);
    }
    check(&home, &cases.each_ref(), 2);
    for case in &cases {
        let ends =
            format!("SELECT goodbye_reason FROM agent_bindings WHERE session_id = '{}' AND generation = 1", case.id);
        assert_eq!(home.rows(&ends), [["other"]], "it heard of it and said so");
    }
}

/// The login from which it was once started goes: that is nothing to an agentctl.
#[test]
fn an_agentctl_that_is_hung_up_goes_on() {
    let home = Home::new();
    let case = Case::begin(&home, "ruff", &[]);
    let (agent, agentctl) = (home.agent(&case.id), home.agentctl(&case.id));
    kill::signal(&agentctl, Signal::HUP);
    check_one(&home, &case, 1);
    assert_eq!((home.agent(&case.id), home.agentctl(&case.id)), (agent, agentctl));
}
