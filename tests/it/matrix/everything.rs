//! Everything dies at once.

use std::fs;
use std::path::Path;

use relight::domain::launch::ProcIdentity;

use crate::support::Home;
use crate::support::kill::{self, Signal};

use super::check::{Case, check, check_one, home_is_dead, kill_everything};

/// An orderly shutdown: agents say goodbye and exit 0, which from inside looks like a person's quit.
#[test]
fn told_to_end_by_sigterm_with_agents_that_say_goodbye_and_exit_0() {
    let home = Home::new();
    let cases = ["plover", "curlew"].map(|word| Case::begin(&home, word, &["--exit0-on-sigterm"]));
    let all: Vec<ProcIdentity> = home.living().into_iter().map(|(process, _)| process).collect();
    for process in &all {
        kill::signal(process, Signal::TERM);
    }
    home_is_dead(&home, &all);
    check(&home, &cases.each_ref(), 2);
}

/// The same in the order that looks most like a quit: the agent is gone before anything else is told.
#[test]
fn an_agent_that_says_goodbye_and_exits_0_before_everything_else_dies() {
    let home = Home::new();
    let case = Case::begin(&home, "dunlin", &["--exit0-on-sigterm"]);
    kill::signal(&home.agent(&case.id), Signal::TERM);
    home.until_session(&case.id, "an end that looks like a quit", |line| line["end_reason"] == "detached");
    kill_everything(&home);
    check_one(&home, &case, 2);
}

/// Another boot finds neither locks nor sockets.
#[test]
fn a_reboot() {
    let mut home = Home::new();
    let case = Case::begin(&home, "puffin", &[]);
    kill_everything(&home);
    let session = home.path().join("state/sessions").join(&case.id);
    for gone in ["agentctl.sock", "agentctl.lock"] {
        remove(&session.join(gone));
    }
    for gone in ["host.sock", "host.lock"] {
        remove(&home.path().join("state").join(gone));
    }
    home.set_env("RELIGHT_TEST_BOOT_ID", Some("another-boot"));
    check_one(&home, &case, 2);
    let told = home.rows("SELECT DISTINCT boot_id FROM terminals WHERE status = 'active'");
    assert_eq!(told, [["another-boot"]]);
}

/// Another boot finds no state directory at all: the journals are lost, the database is not.
#[test]
fn a_reboot_that_loses_the_state_directory() {
    let mut home = Home::new();
    let case = Case::begin(&home, "auk", &[]);
    kill_everything(&home);
    fs::remove_dir_all(home.path().join("state")).expect("it is there");
    home.set_env("RELIGHT_TEST_BOOT_ID", Some("another-boot"));
    check_one(&home, &case, 2);
}

fn remove(path: &Path) {
    fs::remove_file(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
