//! The agent dies.

use crate::support::Home;
use crate::support::kill::{self, Signal};
use crate::support::tui::Tui;

use super::check::{Case, check_one};

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
