//! What the database remembers of a session beyond its states.

use crate::support::Home;
use crate::support::kill;

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
