//! The demo agent as a process in a real PTY: conversations, goodbyes, each misbehaviour.

pub mod harness;
mod misbehaviour;

use harness::{Demo, Dir, End};
use rustix::process::Signal;
use serde_json::Value;

const ID: &str = "6f1c2c1e-0000-4000-8000-000000000001";

#[test]
fn a_killed_conversation_comes_back_and_knows_the_word() {
    for extra in [&[][..], &["--fullscreen"]] {
        let dir = Dir::new();
        let mut demo = Demo::start(&dir, &[&["--session-id", ID], extra].concat());
        demo.ready();
        demo.say("remember heron");
        demo.wait_text("I will remember heron.");
        dir.wait_hook(&mut demo, "Stop");
        demo.signal(Signal::KILL);
        assert_eq!(demo.end(), End::Signal(9));
        assert!(dir.hooks("SessionEnd").is_empty(), "SIGKILL leaves no goodbye");

        let mut demo = Demo::start(&dir, &[&["--resume", ID], extra].concat());
        demo.ready();
        demo.wait_text(&format!("resumed {ID}, 2 messages"));
        demo.say("what is the code word?");
        demo.wait_text("The code word is heron.");
        let start = dir.hooks("SessionStart").pop().unwrap();
        assert_eq!((start["session_id"].as_str(), start["source"].as_str()), (Some(ID), Some("resume")));
    }
}

#[test]
fn what_was_never_prompted_or_never_there_is_not_resumed() {
    let dir = Dir::new();
    let mut demo = Demo::start(&dir, &["--resume", ID]);
    demo.wait_text(&format!("No conversation found with session ID: {ID}"));
    assert_eq!(demo.end(), End::Code(1));

    let mut demo = Demo::start(&dir, &["--session-id", ID]);
    demo.ready();
    demo.signal(Signal::KILL);
    assert_eq!(demo.end(), End::Signal(9));
    let mut demo = Demo::start(&dir, &["--resume", ID]);
    assert_eq!(demo.end(), End::Code(1));

    // It may be begun again under the same id; once it was prompted it may not.
    let mut demo = Demo::start(&dir, &["--session-id", ID, "hello"]);
    demo.wait_text("This was prompt 1");
    demo.signal(Signal::KILL);
    demo.end();
    let mut demo = Demo::start(&dir, &["--session-id", ID]);
    demo.wait_text("is already in use.");
    assert_eq!(demo.end(), End::Code(1));
}

#[test]
fn a_goodbye_is_said_on_every_end_but_sigkill() {
    let reason = |dir: &Dir| dir.hooks("SessionEnd").pop().map(|hook| hook["reason"].as_str().unwrap().to_owned());
    let check = |name: &str, act: &dyn Fn(&mut Demo), end: End, want: Option<&str>| {
        let dir = Dir::new();
        let mut demo = Demo::start(&dir, &["--session-id", ID]);
        demo.ready();
        act(&mut demo);
        assert_eq!(demo.end(), end, "{name}");
        assert_eq!(reason(&dir).as_deref(), want, "{name}");
    };
    let person = Some("prompt_input_exit");
    check("SIGHUP", &|d| d.signal(Signal::HUP), End::Code(129), Some("other"));
    check("SIGTERM", &|d| d.signal(Signal::TERM), End::Code(143), Some("other"));
    check("SIGINT", &|d| d.signal(Signal::INT), End::Code(130), Some("other"));
    check("SIGKILL", &|d| d.signal(Signal::KILL), End::Signal(9), None);
    check("terminal gone", &|d| d.hang_up(), End::Code(129), Some("other"));
    check("/quit", &|d| d.say("/quit"), End::Code(0), person);
    check("/exit", &|d| d.say("/exit"), End::Code(0), person);
    check("ctrl-d", &|d| d.keys(b"\x04"), End::Code(0), person);
    check(
        "ctrl-c twice",
        &|d| {
            d.keys(b"\x03");
            d.wait_text("press Ctrl-C again");
            d.keys(b"\x03");
        },
        End::Code(0),
        person,
    );
}

#[test]
fn a_turn_is_told_by_hooks_title_and_reports() {
    let dir = Dir::new();
    let mut demo = Demo::start(&dir, &["--session-id", ID]);
    demo.ready();
    demo.say("say hello");
    dir.wait_hook(&mut demo, "Stop");
    demo.wait_bytes("\x1b]9;Demo agent: it has answered\x07");
    let raw = demo.raw();
    for part in [
        "\x1b]7501;?\x1b\\",
        "\x1b]7501;state=idle:app=relight-demo\x1b\\",
        "\x1b]7501;state=working:app=relight-demo\x1b\\",
        "\x1b]7501;state=done:app=relight-demo\x1b\\",
        "\x1b]0;◐ demo\x07",
        "\x1b]0;○ demo\x07",
    ] {
        assert!(raw.contains(part), "{part:?} is missing in {raw:?}");
    }
    let all = dir.all_hooks();
    let names: Vec<&str> = all.iter().filter_map(|hook| hook["hook_event_name"].as_str()).collect();
    assert_eq!(names, ["SessionStart", "UserPromptSubmit", "Message", "Message", "Stop"]);
    assert!(all.iter().all(|hook| hook["session_id"] == ID));
    let messages: Vec<(&Value, &Value)> = all[2..4].iter().map(|m| (&m["role"], &m["text"])).collect();
    assert_eq!(messages, [(&"user".into(), &"say hello".into()), (&"assistant".into(), &"hello".into())]);
    assert_ne!(all[2]["message_id"], all[3]["message_id"]);
}

#[test]
fn a_tool_runs_after_a_yes_and_not_after_a_no() {
    let dir = Dir::new();
    let mut demo = Demo::start(&dir, &[]);
    demo.ready();
    demo.say("tool echo $((6*7))");
    demo.wait_text("Allow running `echo $((6*7))`? (y/n)");
    assert_eq!(dir.hooks("PermissionRequest").len(), 1);
    demo.wait_bytes("state=blocked:kind=permission:msg=");
    demo.keys(b"y");
    demo.wait_text("\n42");
    dir.wait_hook(&mut demo, "Stop");
    demo.say("tool touch no");
    demo.wait_text("Allow running `touch no`?");
    demo.keys(b"n");
    demo.wait_text("I did not run it.");
}

#[test]
fn clear_goes_on_under_another_id() {
    let dir = Dir::new();
    let mut demo = Demo::start(&dir, &["--session-id", ID]);
    demo.ready();
    demo.say("remember heron");
    dir.wait_hook(&mut demo, "Stop");
    demo.say("/clear");
    demo.say("code word?");
    demo.wait_text("I do not know a code word.");
    let starts = dir.hooks("SessionStart");
    let new = starts[1]["session_id"].as_str().unwrap();
    assert_ne!(new, ID);
    assert_eq!(dir.hooks("SessionEnd")[0]["reason"], "clear");
    dir.wait_hook(&mut demo, "Stop");
    demo.signal(Signal::KILL);
    demo.end();
    let mut demo = Demo::start(&dir, &["--resume", new]);
    demo.wait_text("resumed");
}

#[test]
fn a_paste_of_a_megabyte_arrives_whole() {
    let dir = Dir::new();
    let mut demo = Demo::start(&dir, &[]);
    demo.ready();
    let words: Vec<String> = (0..1_000_000u32 / 8).map(|n| format!("{n:07}")).collect();
    let text = words.join(" ");
    demo.keys(format!("\x1b[200~{text}\x1b[201~\r").as_bytes());
    let sum = crc32fast::hash(text.as_bytes());
    demo.wait_text(&format!("I received {} bytes with the CRC-32 {sum:08x}.", text.len()));
}

#[test]
fn a_resize_is_followed() {
    let dir = Dir::new();
    let mut demo = Demo::start(&dir, &["--fullscreen"]);
    demo.ready();
    demo.resize(40, 10);
    demo.say("say small");
    demo.wait_screen("the prompt in the tenth row", |rows| rows.len() == 10 && rows[9].starts_with("> "));
    demo.wait_text("small");
}
