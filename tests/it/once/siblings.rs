//! One task, two sessions, one dead: each status and each subscription shows only its own.

use serde_json::json;

use crate::support::Home;
use crate::support::client::Client;
use crate::support::kill;
use crate::support::told::Told;

#[test]
fn a_dead_session_shows_nothing_in_its_sibling() {
    let home = Home::new();
    home.write_config("[resume]\nauto = \"never\"\n");
    let one = Told::with(&home, "kiwi", &["--agent", "demo", "--task", "both", "--name", "one"], &[]);
    let two = Told::with(&home, "plum", &["--agent", "demo", "--task", "both", "--name", "two"], &[]);
    assert_eq!(one.task, two.task);
    let before = home.status(&two.id);

    let (mut of_one, mut of_two) = (Client::connect(&home), Client::connect(&home));
    for (client, told) in [(&of_one, &one), (&of_two, &two)] {
        let subscribe = json!({"session_id": told.id, "since": null, "activity": false});
        client.call("events.subscribe", subscribe).unwrap();
    }
    kill::kill(&home.agent(&one.id));
    home.until_session(&one.id, "a dead agent", |line| line["end_reason"] == "terminal-exited");
    let dead = home.status(&one.id);
    assert_eq!(dead["is_agent_running"], false, "{dead}");
    assert_eq!((&dead["is_resumable"], &dead["needs_resume"]), (&true.into(), &true.into()), "{dead}");
    assert_eq!(dead["agent_execution_id"], json!(null), "{dead}");
    assert_eq!(dead["end_reason"], "terminal-exited");
    assert_eq!(home.status(&two.id), before, "nothing of it in its sibling");
    assert_eq!((&before["is_agent_running"], &before["needs_resume"]), (&true.into(), &false.into()), "{before}");

    assert_eq!(home.json(&["resume", &one.id])["resumed"], true);
    one.back_once(&home, 2);
    assert_eq!(home.status(&two.id), before);
    // What each hears until it is renamed is its own, and the dead one's whole story is told.
    home.run(&["rename", &one.id, "first"]).ok();
    home.run(&["rename", &two.id, "second"]).ok();
    let heard = |client: &mut Client, told: &Told| {
        let mut kinds = Vec::new();
        loop {
            let event = client.event();
            assert_eq!(event.session_id.as_str(), told.id, "{event:?}");
            if event.kind == "session.renamed" {
                return kinds;
            }
            kinds.push(event.kind);
        }
    };
    let story = heard(&mut of_one, &one);
    let at = |kind: &str| story.iter().position(|k| k == kind).unwrap_or_else(|| panic!("no {kind} in {story:?}"));
    assert!(at("terminal.exited") < at("session.resuming"), "{story:?}");
    assert!(at("session.resuming") < at("session.resumed"), "{story:?}");
    assert_eq!(heard(&mut of_two, &two), Vec::<String>::new());
}
