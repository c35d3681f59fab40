//! A conversation that ran elsewhere becomes a session: seeded once, resumed once, and never beside a living one.

use serde_json::Value;

use crate::demo::harness::{Demo, Dir, End};
use crate::support::Home;
use crate::support::home::text;
use crate::support::kill;
use crate::support::told::Told;

const TOKEN: &str = "5e0f9a52-7c39-4f0e-8d38-adopted";

#[test]
fn a_conversation_from_elsewhere_is_seeded_once_and_resumed_once() {
    let home = Home::new();
    let kept = home.path().join("home/.relight-demo");
    let dir = Dir::new();
    let kept = kept.to_str().unwrap();
    let mut outside = Demo::start_with(&dir, &["--session-id", TOKEN], &[("RELIGHT_DEMO_HOME", kept)]);
    outside.ready();
    outside.say("remember kiwi");
    outside.wait_text("I will remember kiwi.");

    let project = home.project();
    let adopt = ["adopt", "--agent", "demo", "--token", TOKEN, "--cwd", project.to_str().unwrap(), "--json"];
    let refused = home.run(&adopt).exits(4).error();
    assert_eq!(refused["code"], "alive_elsewhere", "{refused}");
    let place = format!("process {}", outside.pid().as_raw_nonzero());
    assert!(text(&refused, "message").contains(&place), "{refused}");
    assert_eq!(home.ls(), Vec::<Value>::new(), "nothing was made");
    assert_eq!(home.rows("SELECT id FROM tasks"), Vec::<Vec<String>>::new());

    outside.say("/quit");
    assert_eq!(outside.end(), End::Code(0));
    let seeded = home.run(&adopt).ok().json();
    assert_eq!(seeded["outcome"], "seeded", "{seeded}");
    // At once, on its way back or back already: it is bound to that session.
    let bound = |again: &Value| {
        assert_eq!(again["outcome"], "already_bound", "{again}");
        assert_eq!(again["session_id"], seeded["session_id"]);
        assert_eq!(again["task_id"], seeded["task_id"]);
    };
    bound(&home.run(&adopt).ok().json());
    let told = Told::adopted(text(&seeded, "session_id"), text(&seeded, "task_id"), TOKEN, "kiwi");
    told.back_once(&home, 2);
    bound(&home.run(&adopt).ok().json());
    assert_eq!(home.rows("SELECT count(*) FROM tasks"), [["1"]]);

    // From here on it is a session like any other.
    kill::kill(&home.agent(&told.id));
    told.back_once(&home, 3);
}

#[test]
fn what_cannot_be_adopted_is_refused_with_words() {
    let home = Home::new();
    let cwd = home.project();
    let cwd = cwd.to_str().unwrap();
    let code = |agent: &str, cwd: &str, exit: i32| {
        let reply = home.run(&["adopt", "--agent", agent, "--token", "some-token", "--cwd", cwd, "--json"]).exits(exit);
        text(&reply.error(), "code")
    };
    assert_eq!(code("nobody", cwd, 3), "agent_unknown");
    assert_eq!(code("shell", cwd, 4), "resume_unsupported");
    assert!(home.ls().is_empty());
}
