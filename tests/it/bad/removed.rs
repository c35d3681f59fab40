//! The directories of running processes are removed: whoever lost its lock and its journal with them ends, gently, and starts
//! nothing anywhere.

use std::fs;

use relight::proc::identity;

use crate::support::Home;
use crate::support::told::Told;

use super::support::logs;

#[test]
fn an_agentctl_whose_directory_was_removed_ends_its_agent_and_the_session_comes_back() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let (host, agentctl, agent) = (home.host(), home.agentctl(&told.id), home.agent(&told.id));
    fs::remove_dir_all(home.path().join("state/sessions").join(&told.id)).unwrap();
    home.until("the end of the agentctl and its agent", || !identity::alive(&agentctl) && !identity::alive(&agent));
    let log = logs(&home);
    assert!(log.contains("the removal of the session's directory or lock"), "{log}");
    told.back_once(&home, 2);
    assert_eq!(home.host(), host, "the host has nothing to do with it");
}

#[test]
fn everything_ends_whose_state_directory_was_removed() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let state = home.path().join("state");
    // A hook of the agent may be making its spool anew at this very moment.
    home.until("the state directory to be gone", || fs::remove_dir_all(&state).is_ok() || !state.exists());
    home.until("the end of everything", || home.living().is_empty());
    let log = logs(&home);
    assert!(log.contains("was removed while the host ran"), "{log}");
    assert!(!log.contains("starting one"), "{log}");
    // The database was elsewhere: what it knows comes back.
    home.run(&["host", "start"]).ok();
    told.back_once(&home, 2);
}

#[test]
fn nothing_lives_on_in_a_home_that_was_removed() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let agent = home.agent(&told.id);
    home.kill_host();
    for name in ["config", "data", "logs", "state"] {
        let dir = home.path().join(name);
        home.until("the directory to be gone", || fs::remove_dir_all(&dir).is_ok() || !dir.exists());
    }
    home.until("the end of everything", || home.living().is_empty());
    assert!(!identity::alive(&agent));
    assert!(!home.path().join("state/host.lock").exists() && !home.path().join("data/relight.db").exists());
}

/// Whoever comes next would find the lock free.
#[test]
fn a_host_whose_lock_was_removed_ends_and_the_next_one_adopts() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let (host, agentctl, agent) = (home.host().expect("a host"), home.agentctl(&told.id), home.agent(&told.id));
    fs::remove_file(home.path().join("state/host.lock")).unwrap();
    home.until("the end of the host", || !identity::alive(&host));
    assert!(logs(&home).contains("the host's lock in it, was removed"), "{}", home.report());
    home.run(&["ls"]).ok();
    told.back_once(&home, 1);
    assert_eq!((home.agentctl(&told.id), home.agent(&told.id)), (agentctl, agent));
}
