//! What is remembered beyond the states of sessions: their badges, and the last client's environment.

use std::collections::BTreeMap;
use std::fs;

use crate::support::Home;
use crate::support::kill;
use crate::support::tui::Tui;

/// The badge as it was last, also after a host that was told to end before its ten seconds were over.
#[test]
fn the_last_badge_and_title_are_kept() {
    let home = Home::new();
    let id = home.demo(Some("remember fig"), &[]);
    home.until_screen(&id, "I will remember fig.");
    home.until_session(&id, "an agent that waits", |line| line["state"] == "WAITING_FOR_INPUT");
    let line = home.until_session(&id, "a title", |line| !line["title"].as_str().unwrap_or_default().is_empty());
    let host = home.host().expect("a host");
    kill::signal(&host, kill::Signal::TERM);
    home.until("the host to end", || home.host().is_none());
    let rows = home.rows("SELECT session_id, activity, title, last_seen_at > 0 FROM session_transient");
    let text = |key: &str| line[key].as_str().unwrap().to_owned();
    assert_eq!(rows, [[id, text("activity"), text("title"), "1".into()]]);
}

/// Environment of the session's agent.
#[track_caller]
fn environ(home: &Home, id: &str) -> BTreeMap<String, String> {
    let bytes = fs::read(format!("/proc/{}/environ", home.agent(id).pid)).expect("a living agent");
    let pairs = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    pairs.filter_map(|pair| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

#[test]
fn a_resumed_agent_has_what_goes_stale_from_the_last_client_and_the_rest_from_its_first_start() {
    let mut home = Home::new().env("DISPLAY", ":1").env("SSH_AUTH_SOCK", "/nowhere/agent.1").env("KEY", "first");
    let link = home.path().join("state/ssh-agent.sock");
    let id = home.demo(Some("remember fig"), &[]);
    home.until_screen(&id, "I will remember fig.");
    home.until_session(&id, "an agent that waits", |line| line["state"] == "WAITING_FOR_INPUT");
    let check = |home: &Home, display: Option<&str>, socket: &str| {
        let env = environ(home, &id);
        assert_eq!(env.get("DISPLAY").map(String::as_str), display, "{env:?}");
        assert_eq!(env["SSH_AUTH_SOCK"], link.to_str().expect("a path"), "{env:?}");
        assert_eq!(env["KEY"], "first", "{env:?}");
        assert_eq!(fs::read_link(&link).expect("a link"), std::path::Path::new(socket));
    };
    check(&home, Some(":1"), "/nowhere/agent.1");

    for (name, value) in [("DISPLAY", ":2"), ("SSH_AUTH_SOCK", "/nowhere/agent.2"), ("KEY", "second")] {
        home.set_env(name, Some(value));
    }
    let mut tui = Tui::attach(&home, &id);
    tui.until_text(&home, "I will remember fig.");
    kill::kill(&home.agent(&id));
    home.until_alive(&id, 2);
    check(&home, Some(":2"), "/nowhere/agent.2");
    drop(tui);

    // A host that a client starts has the client's before it recovers anything.
    home.until_session(&id, "an agent that waits", |line| line["state"] == "WAITING_FOR_INPUT");
    home.set_env("DISPLAY", None);
    let (host, agent, agentctl) = (home.host().expect("a host"), home.agent(&id), home.agentctl(&id));
    for process in [host, agentctl, agent] {
        kill::kill(&process);
    }
    home.until_alive(&id, 3);
    check(&home, None, "/nowhere/agent.2");
}
