//! Calls to the host that are well-formed and mean harm: refused with a code, on a connection that goes on.

use serde_json::{Value, json};

use crate::support::Home;
use crate::support::client::Client;
use crate::support::told::Told;

use super::support::Unharmed;

/// Names and ids that might be taken for something else.
fn hostile() -> Vec<String> {
    let plain =
        ["", " ", "../../etc", "/", "..", "%", "_", "*", "' OR 1=1 --", "\"", "--help", "$(id)", "\u{1b}[31m", "a\0b"];
    let mut all: Vec<String> = plain.map(String::from).into();
    all.extend(["x".repeat(100_000), "\u{1f600}".repeat(40), "\u{202e}x".into(), "\n\r\t".into()]);
    all
}

/// The host refuses this call with one of these codes, in words that are fit to be printed.
#[track_caller]
fn refuses(client: &Client, method: &str, params: Value, codes: &[&str]) {
    let shown = params.to_string().chars().take(120).collect::<String>();
    match client.call(method, params) {
        Ok(value) => panic!("{method} {shown} was answered with {value}"),
        Err(error) => {
            assert!(
                codes.contains(&error.code.as_str()),
                "{method} {shown}: {} ({})",
                error.code.as_str(),
                error.message
            );
            assert!(
                !error.message.is_empty() && error.message.chars().count() < 1_200,
                "{method} {shown}: {}",
                error.message
            );
            assert!(!error.message.contains(['\u{1b}', '\0']), "{method} {shown}: {:?}", error.message);
        }
    }
}

#[test]
fn hostile_calls_are_refused_and_the_connection_goes_on() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let client = Client::connect(&home);
    let refused = |method: &str, params: Value, codes: &[&str]| refuses(&client, method, params, codes);
    let (unknown, bad) = (&["unknown_method"][..], &["bad_request"][..]);
    for method in hostile().into_iter().chain(["session".into(), "session.list ".into(), "SESSION.LIST".into()]) {
        refused(&method, json!({}), unknown);
    }
    let of_session = [
        "task.session.status",
        "session.snapshot",
        "session.kill",
        "session.dismiss",
        "session.shell",
        "session.resume",
    ];
    for method in of_session {
        for wrong in [json!(null), json!([]), json!(5), json!({}), json!({"session": 5}), json!({"session": null})] {
            refused(method, wrong, bad);
        }
        for name in hostile() {
            refused(method, json!({"session": name}), &["session_not_found", "bad_request"]);
        }
        refused(method, json!({"session": told.id, "task_id": "../x"}), bad);
        refused(method, json!({"session": told.id, "task_id": "another"}), &["session_not_in_task"]);
    }
    // Two of them could be ids; nothing has them.
    for id in hostile().into_iter().filter(|id| !["_", "--help"].contains(&id.as_str())) {
        refused("terminal.attach", json!({"terminal": id}), bad);
        refused("session.resume", json!({"session": told.id, "terminal_id": id}), bad);
        refused("events.subscribe", json!({"session_id": id}), bad);
        refused(
            "session.workspace",
            json!({"session": told.id, "path": format!("/shutdown{id}")}),
            &["bad_request", "internal"],
        );
    }
    for path in ["/workspace/../shutdown", "/workspace/%2e%2e/shutdown", "/workspace/file?path=../../../../etc/passwd"]
    {
        let said = client.call("session.workspace", json!({"session": told.id, "path": path}));
        assert!(said.is_err(), "{path}: {said:?}");
    }
    assert!(client.call("session.capture", json!({"session": told.id, "history": u32::MAX})).is_ok());
    assert!(client.call("events.subscribe", json!({"since": u64::MAX})).is_ok());
    assert_eq!(home.ls().len(), 1, "{:?}", home.ls());
    drop(client);
    unharmed.check();
}

#[test]
fn values_out_of_range_are_refused_and_the_connection_goes_on() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let client = Client::connect(&home);
    let refused = |method: &str, params: Value, codes: &[&str]| refuses(&client, method, params, codes);
    let bad = &["bad_request"][..];
    refused("terminal.input", json!({"stream": 1}), bad);
    refused("terminal.input", json!({"stream": u32::MAX, "input": "keyframe"}), &["terminal_not_found"]);
    refused("terminal.input", json!({"stream": u64::MAX, "input": "keyframe"}), bad);
    refused("events.subscribe", json!({"since": -1}), bad);
    refused("session.capture", json!({"session": told.id, "history": -1}), bad);
    refused("session.create", json!({"agent": "demo", "cwd": "relative"}), &["directory_missing", "bad_request"]);
    refused("session.create", json!({"agent": "demo", "cwd": "/no/such/directory"}), &["directory_missing"]);
    refused("session.create", json!({"agent": "demo", "cwd": "/a\u{0}b"}), &["directory_missing", "bad_request"]);
    refused("session.create", json!({"agent": "../demo", "cwd": "/"}), &["agent_unknown"]);
    refused(
        "session.create",
        json!({"agent": "demo", "cwd": "/", "executor": "../x"}),
        &["executor_unsupported", "bad_request"],
    );
    refused("session.create", json!({"agent": "demo", "cwd": "/", "size": {"cols": -1, "rows": 1}}), bad);
    assert_eq!(home.ls().len(), 1, "{:?}", home.ls());
    drop(client);
    unharmed.check();
}

/// What a session is started with may be odd without anybody's harm: either it is refused, or it runs and ends.
#[test]
fn odd_sessions_are_refused_or_run() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let client = Client::connect(&home);
    let cwd = home.project();
    let mut count = 1;
    for odd in [
        json!({"size": {"cols": 0, "rows": 0}}),
        json!({"size": {"cols": 65535, "rows": 65535}}),
        json!({"args": ["a\u{0}b"]}),
        json!({"env": [["A=B", "x"], ["", "y"], ["N\u{0}", "z"]]}),
        json!({"env": [["V", "a\u{0}b"]]}),
        json!({"prompt": "a\u{0}b"}),
        json!({"prompt": "x".repeat(1_000_000)}),
        json!({"name": "n".repeat(100_000)}),
        json!({"name": "\u{1b}]0;x\u{7}"}),
    ] {
        let mut params = json!({"agent": "demo", "cwd": cwd});
        for (key, value) in odd.as_object().unwrap() {
            params[key] = value.clone();
        }
        let shown = odd.to_string().chars().take(80).collect::<String>();
        let before = home.ls().len();
        match client.call("session.create", params) {
            Ok(created) => {
                count += 1;
                let id = created["session_id"].as_str().unwrap();
                home.run(&["kill", id]).ok();
            }
            Err(error) => {
                assert!(error.message.chars().count() < 1_200, "{shown}: {}", error.message);
                let left = home.ls().len() - before;
                // One that is left says why it does not run.
                count += left;
                assert!(
                    left == 0 || home.ls().iter().any(|line| line["state"] == "ERROR"),
                    "{shown}: {}",
                    home.report()
                );
            }
        }
    }
    let lines = home.ls();
    assert_eq!(lines.len(), count);
    for line in &lines {
        let name = line["name"].as_str().unwrap();
        assert!(name.len() < 1_000 && !name.contains(char::is_control), "{name:?}");
    }
    told.back_once(&home, 1);
}
