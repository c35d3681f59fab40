//! Each switch does what it says.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::ID;
use super::harness::{Demo, Dir, End};

fn misbehave(list: &str) -> [(&str, &str); 1] {
    [("RELIGHT_DEMO_MISBEHAVE", list)]
}

fn start(dir: &Dir, list: &str) -> Demo {
    Demo::start_with(dir, &["--session-id", ID], &misbehave(list))
}

/// A conversation that was prompted and killed.
fn prompted() -> Dir {
    let dir = Dir::new();
    let mut demo = Demo::start(&dir, &["--session-id", ID, "remember heron"]);
    demo.wait_text("I will remember heron.");
    dir.wait_hook(&mut demo, "Stop");
    demo.signal(Signal::KILL);
    demo.end();
    dir
}

fn resume(dir: &Dir, list: &str) -> Demo {
    Demo::start_with(dir, &["--resume", ID], &misbehave(list))
}

#[test]
fn slow_start_and_deaths() {
    let dir = Dir::new();
    let began = Instant::now();
    start(&dir, "slow-start=300").ready();
    assert!(began.elapsed() >= Duration::from_millis(300));
    let dir = Dir::new();
    assert_eq!(start(&dir, "die").end(), End::Code(1));
    let mut demo = start(&dir, "die-after=300");
    demo.ready();
    assert_eq!(demo.end(), End::Code(1));
    assert!(dir.hooks("SessionEnd").is_empty(), "it dies without a word");
    let mut demo = start(&dir, "login-expired");
    demo.wait_text("401 login expired");
    assert_eq!(demo.end(), End::Code(1));
}

#[test]
fn only_on_a_resume_and_only_while_a_file_is_there() {
    let dir = prompted();
    assert_eq!(resume(&dir, "resume:die").end(), End::Code(1));
    let file = dir.path().join("broken");
    std::fs::write(&file, "").unwrap();
    let list = format!("die@{}", file.display());
    assert_eq!(resume(&dir, &list).end(), End::Code(1));
    std::fs::remove_file(&file).unwrap();
    resume(&dir, &list).ready();
    start(&Dir::new(), "resume:die").ready();
}

#[test]
fn one_that_ignores_sighup_outlives_its_terminal() {
    let dir = Dir::new();
    let mut demo = start(&dir, "ignore-sighup");
    demo.ready();
    demo.hang_up();
    // It still takes other signals, so the first one was ignored and not merely late.
    let pid = demo.pid();
    let mut looks = 0;
    demo.wait("a second without its end", |_| {
        looks += 1;
        looks > 40
    });
    assert!(demo.alive());
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(demo.end(), End::Code(143));
}

#[test]
fn a_child_in_a_session_of_its_own_is_left() {
    let dir = Dir::new();
    let mut demo = Demo::start_with(
        &dir,
        &["--session-id", ID],
        &[("RELIGHT_DEMO_MISBEHAVE", "setsid-child"), ("RELIGHT_TERMINAL", "t-left")],
    );
    demo.ready();
    let raw = demo.raw();
    let pid: i32 = raw.split("left a child ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    let child = Pid::from_raw(pid).unwrap();
    let command = || std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    demo.wait("the child to be what it is", |_| command().starts_with("sleep"));
    demo.signal(Signal::KILL);
    demo.end();
    kill_process(child, Signal::HUP).unwrap();
    let environment = std::fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
    assert!(environment.split('\0').any(|v| v == "RELIGHT_TERMINAL=t-left"), "it carries the mark");
    assert_eq!(rustix::process::getsid(Some(child)).unwrap(), child, "it leads its own session");
    assert!(test_kill_process(child).is_ok() && command().starts_with("sleep"), "it ignores SIGHUP");
    kill_process(child, Signal::KILL).unwrap();
}

#[test]
fn late_and_clean_goodbyes() {
    let dir = Dir::new();
    let mut demo = start(&dir, "late-goodbye=400");
    demo.ready();
    let told = Instant::now();
    demo.signal(Signal::HUP);
    assert_eq!(demo.end(), End::Code(129));
    assert!(told.elapsed() >= Duration::from_millis(400));
    assert_eq!(dir.hooks("SessionEnd").len(), 1);

    for signal in [Signal::TERM, Signal::HUP] {
        let dir = Dir::new();
        let mut demo = start(&dir, "exit0-on-sigterm");
        demo.ready();
        demo.signal(signal);
        assert_eq!(demo.end(), End::Code(0));
        assert_eq!(dir.hooks("SessionEnd")[0]["reason"], "other");
    }
}

#[test]
fn one_that_hangs_and_one_that_floods() {
    let dir = Dir::new();
    let mut demo = start(&dir, "hang");
    demo.ready();
    demo.say("say hello");
    dir.wait_hook(&mut demo, "Message");
    demo.wait_bytes("state=working");
    demo.keys(b"\x03");
    demo.wait_text("(interrupted)");
    assert!(dir.hooks("Stop").is_empty());

    let dir = Dir::new();
    let mut demo = start(&dir, "flood");
    demo.wait("a megabyte", |demo| demo.raw().len() > 1_000_000);
    demo.signal(Signal::TERM);
    assert_eq!(demo.end(), End::Code(143));
}

#[test]
fn resumes_that_fail() {
    let dir = prompted();
    let mut demo = resume(&dir, "no-resume");
    demo.wait_text("unexpected argument '--resume'");
    assert_eq!(demo.end(), End::Code(2));

    let mut demo = resume(&dir, "empty-resume");
    demo.ready();
    demo.wait_text(&format!("Failed to resume session {ID}"));
    let begun = dir.hooks("SessionStart").pop().unwrap();
    assert_ne!(begun["session_id"], ID);
    assert_eq!(begun["source"], "startup");
    demo.say("code word?");
    demo.wait_text("I do not know a code word.");
}

#[test]
fn one_without_hooks_still_reports() {
    let dir = Dir::new();
    let mut demo = start(&dir, "no-hooks");
    demo.ready();
    demo.say("say hello");
    demo.wait_bytes("state=done");
    assert!(dir.all_hooks().is_empty());
}
