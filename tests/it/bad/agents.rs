//! Agents, conversations and prompts that cannot be started with: said before anything is made.

use std::os::unix::fs::symlink;

use relight::domain::words::ErrorCode;
use serde_json::json;

use crate::support::Home;
use crate::support::client::Client;
use crate::support::home::{RELIGHT, text};

#[test]
fn an_agent_that_is_unknown_or_not_installed_is_named_and_nothing_is_made() {
    let home = Home::new();
    let gone = home.path().join("gone");
    home.write_config(&format!(
        "[agents.unheard]\nextends = \"demo\"\nprogram = \"no-such-agent-anywhere\"\n\
         [agents.gone]\nextends = \"demo\"\nprogram = \"{}\"\n",
        gone.display()
    ));
    let new = |agent: &str| home.run(&["new", "--detach", "--agent", agent]);
    new("claud").exits(3).says(&["no agent profile `claud`", "did you mean `claude`?", "codex", "[agents]"]);
    new("nobody-at-all").exits(3).says(&["`nobody-at-all`", "known are claude, codex"]);
    new("unheard").exits(4).says(&["`no-such-agent-anywhere` of agent `unheard` is not on PATH", "install it"]);
    let reply = new("gone").exits(4).says(&["does not exist", "of agent `gone`", "install it"]);
    assert!(!reply.err.contains("PATH"), "an absolute path is not searched for: {reply:?}");
    let error = home.run(&["--json", "new", "--detach", "--agent", "unheard"]).exits(4).error();
    assert_eq!((&error["code"], &error["exit_code"]), (&"agent_not_found".into(), &4.into()), "{error}");
    home.run(&["adopt", "--agent", "claud", "--token", "x"]).exits(3).says(&["did you mean `claude`?"]);
    home.run(&["new", "--detach", "--agent", "demo", "--executor", "moon"]).exits(4).says(&["`moon`", "[executors]"]);
    assert!(home.ls().is_empty() && home.rows("SELECT id FROM tasks").is_empty(), "nothing was made");
    // Once it is there, it works.
    symlink(RELIGHT, &gone).unwrap();
    let id = text(&home.json(&["new", "--detach", "--agent", "gone"]), "session_id");
    home.until_alive(&id, 1);
}

/// The program is named by the call, so that only the launch finds out. Named by the faults: it was told as not on PATH, as a
/// resume, and as an error still after its end.
#[test]
fn a_first_start_that_fails_is_told_as_one_and_can_be_ended() {
    let home = Home::new();
    home.run(&["new", "--detach", "--agent", "generic"]).exits(4).says(&["no program", "after `--`"]);
    let reply = home.run(&["new", "--detach", "--agent", "generic", "--name", "mine", "--", "/no/such/program"]);
    let reply = reply.exits(4).says(&["`/no/such/program` does not exist", "install it"]);
    assert!(!reply.err.contains("PATH"), "{reply:?}");
    home.run(&["new", "--detach", "--agent", "generic", "--", "no-such-program"])
        .exits(4)
        .says(&["PATH", "install it"]);
    let told = home.run(&["events"]).ok().out;
    assert!(told.contains("mine could not be started: program"), "{told}");
    assert!(!told.contains("resumed"), "nothing was to be resumed: {told}");
    home.run(&["capture", "mine"]).exits(3).says(&["nothing has run", "`relight status mine`"]);
    home.run(&["send", "mine", "x"]).exits(4).says(&["no agent runs in session `mine`", "`relight resume mine`"]);
    home.run(&["kill", "mine"]).ok();
    let status = home.status("mine");
    assert_eq!((&status["activity"], &status["resume_reason"]), (&"ended".into(), &"disposed".into()), "{status}");
}

#[test]
fn a_conversation_id_that_is_none_is_refused() {
    let home = Home::new();
    let long = "x".repeat(300);
    for (token, why) in [
        ("", "it is empty"),
        ("-rf", "an option"),
        ("a b", "a blank"),
        ("a\x1b[31mb", "a control character"),
        ("a\u{202e}b", "a control character"),
        (long.as_str(), "longer than 256"),
    ] {
        let reply = home.run(&["adopt", "--agent", "demo", &format!("--token={token}")]).exits(2);
        let reply = reply.says(&["cannot be a conversation's id", why, "--token"]);
        assert!(reply.err.len() < 400 && !reply.err.contains('\x1b'), "{reply:?}");
    }
    assert!(home.ls().is_empty());
}

#[test]
fn prompts_of_any_length_and_content_arrive_or_are_refused() {
    let home = Home::new();
    home.run(&["ls"]).ok();
    let client = Client::connect(&home);
    let env: Vec<(String, String)> = ["PATH", "HOME"]
        .map(|name| {
            (
                name.to_owned(),
                if name == "PATH" { "/usr/bin:/bin".into() } else { home.path().join("home").display().to_string() },
            )
        })
        .into();
    let create = |prompt: &str, args: &[&str]| {
        let params = json!({"agent": "demo", "cwd": home.project(), "prompt": prompt, "args": args, "env": env});
        client.call("session.create", params)
    };
    // No program can be given a NUL byte: refused before anything is made.
    for (prompt, args) in [("a\0b", &[][..]), ("a", &["x\0y"])] {
        let error = create(prompt, args).unwrap_err();
        assert_eq!(error.code, ErrorCode::BadRequest, "{error:?}");
        assert!(error.message.contains("NUL") && error.hint.is_some(), "{error:?}");
    }
    assert!(home.ls().is_empty());
    // Longer than the kernel takes as an argument.
    let long = format!("{}the end of it", "word ".repeat(1024 * 1024 / 5));
    let id = text(&create(&long, &[]).unwrap(), "session_id");
    let line = home.until_alive(&id, 1);
    let file = home.path().join(format!("home/.relight-demo/{}.jsonl", text(&line, "agent_session_id")));
    home.until("the whole prompt", || {
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        kept.len() > 1024 * 1024 && kept.contains("the end of it")
    });
    // Control characters reach the agent as an argument, and no screen.
    let id = text(&create("remember \x1b[31mplum\x07 \u{9b}1m", &[]).unwrap(), "session_id");
    home.until_screen(&id, "ready");
    home.until_session(&id, "an answer", |line| line["state"] == "WAITING_FOR_INPUT");
    let shown = home.screen(&id);
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    // A prompt may begin like an option.
    let reply = home.run(&["new", "--detach", "--agent", "demo", "--name", "list", "--prompt", "- remember fig"]).ok();
    assert!(reply.out.contains("started"), "{reply:?}");
    home.until_screen("list", "- remember fig");
    // What is too long for a message is refused before it is sent.
    let too_long = "x".repeat(5 * 1024 * 1024);
    std::fs::write(home.path().join("long"), too_long).unwrap();
    let mut send = home.command(&["send", "list", "-"]);
    send.stdin(std::fs::File::open(home.path().join("long")).unwrap());
    let reply = crate::support::reply::Reply::new("send list -".into(), &send.output().unwrap());
    reply.exits(2).says(&["at most 4194304", "into a file"]);
    std::fs::write(home.path().join("bytes"), [0xFF, 0xFE, b'\n']).unwrap();
    let mut send = home.command(&["send", "list", "-"]);
    send.stdin(std::fs::File::open(home.path().join("bytes")).unwrap());
    let reply = crate::support::reply::Reply::new("send list -".into(), &send.output().unwrap());
    reply.exits(1).says(&["cannot read the text from stdin", "UTF-8"]);
    home.ask("list", "remember lime", "I will remember lime.");
}
