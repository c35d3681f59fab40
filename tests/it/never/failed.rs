//! A resume that fails keeps the token, says why, does not loop, and works once its cause is mended.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::support::Home;
use crate::support::home::RELIGHT;
use crate::support::kill;
use crate::support::told::Told;

/// It is down for `hold`, tells why, has its token, and stays so over two restarts of the host.
#[track_caller]
fn held(home: &Home, told: &Told, hold: &str, words: &str) {
    home.until(&format!("hold {hold}"), || home.status(&told.id)["hold"] == hold);
    let before = home.status(&told.id);
    let starts = told.starts(home).len();
    let attempts = home.rows("SELECT count(*) FROM resume_attempts");
    for restart in 0..3 {
        if restart > 0 {
            home.next_host();
        }
        let status = home.status(&told.id);
        assert_eq!((&status["hold"], &status["state"]), (&hold.into(), &"ERROR".into()), "{status}");
        assert_eq!((&status["resume_reason"], &status["automatic"]), (&hold.into(), &false.into()), "{status}");
        assert!(status["error_message"].as_str().is_some_and(|m| m.contains(words)), "{status}");
        assert_eq!((&status["executor_status"], &status["end_reason"]), (&"ready".into(), &"terminal-exited".into()));
        assert_eq!(status["generation"], before["generation"]);
        told.token_is_kept(home);
        assert_eq!(told.starts(home).len(), starts, "no further start");
        assert_eq!(home.rows("SELECT count(*) FROM resume_attempts"), attempts, "no further attempt");
        assert_eq!(home.agents_with(&told.token), []);
    }
}

/// The only generation that is live; all before it were consumed, and all have the one conversation.
#[track_caller]
fn back(home: &Home, told: &Told) {
    home.until_session(&told.id, "a live agent", |line| line["pid"].is_number());
    home.ask(&told.id, "what is the code word?", "The code word is kiwi.");
    assert_eq!(home.agents_with(&told.token).len(), 1);
    told.token_is_kept(home);
    let status = home.status(&told.id);
    assert_eq!((&status["hold"], &status["is_agent_running"]), (&Value::Null, &true.into()), "{status}");
    let bindings = told.bindings(home);
    let (last, before) = bindings.split_last().unwrap();
    assert_eq!(last.1, "NULL");
    assert!(before.iter().all(|(_, reason, token)| reason == "resumed" && *token == told.token), "{bindings:?}");
}

#[test]
fn a_login_that_expired() {
    let home = Home::new();
    let cause = home.path().join("cause");
    fs::write(&cause, "").unwrap();
    let switch = format!("resume:login-expired@{}", cause.display());
    let told = Told::with(&home, "kiwi", &["--agent", "demo"], &["--misbehave", &switch]);
    kill::kill(&home.agent(&told.id));
    held(&home, &told, "login_expired", "login has expired");
    fs::remove_file(&cause).unwrap();
    assert_eq!(home.json(&["resume", &told.id])["resumed"], true);
    back(&home, &told);
}

#[test]
fn a_conversation_that_the_agent_forgot() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let file = home.path().join(format!("home/.relight-demo/{}.jsonl", told.token));
    let away = home.path().join("away");
    fs::rename(&file, &away).unwrap();
    kill::kill(&home.agent(&told.id));
    held(&home, &told, "unknown_conversation", "does not know this conversation");
    fs::rename(&away, &file).unwrap();
    assert_eq!(home.json(&["resume", &told.id])["resumed"], true);
    back(&home, &told);
}

#[test]
fn a_directory_that_is_gone() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let away = home.path().join("away");
    let home_of_calls = home.project();
    let agent = home.agent(&told.id);
    fs::rename(home.project(), &away).unwrap();
    kill::kill(&agent);
    // The calls of this test start in the directory that is gone: the database is looked at instead.
    home.until("a failed attempt", || home.rows("SELECT outcome FROM resume_attempts") == [["failed"]]);
    told.token_is_kept(&home);
    fs::rename(&away, &home_of_calls).unwrap();
    held(&home, &told, "launch_failed", "project");
    assert_eq!(home.json(&["resume", &told.id])["resumed"], true);
    back(&home, &told);
}

#[test]
fn a_program_that_is_gone() {
    let home = Home::new();
    let program = home.path().join("my-agent");
    symlink(RELIGHT, &program).unwrap();
    home.write_config(&format!("[agents.mine]\nextends = \"demo\"\nprogram = \"{}\"\n", program.display()));
    let told = Told::with(&home, "kiwi", &["--agent", "mine"], &[]);
    fs::remove_file(&program).unwrap();
    kill::kill(&home.agent(&told.id));
    held(&home, &told, "config_gone", "my-agent");
    let answer = home.run(&["resume", &told.id, "--json"]).exits(4).json();
    assert_eq!((&answer["resumed"], &answer["reason"]), (&false.into(), &"config_gone".into()), "{answer}");
    told.token_is_kept(&home);
    symlink(RELIGHT, &program).unwrap();
    assert_eq!(home.json(&["resume", &told.id])["resumed"], true);
    back(&home, &told);
}

/// The profile's table is changed while no host runs, and its agent killed then.
fn profile_changes(home: &Home, told: &Told, config: &str) {
    kill::kill(&home.host().expect("a host"));
    kill::kill(&home.agents_with(&told.token)[0]);
    home.write_config(config);
    home.next_host();
}

const MINE: &str = "[agents.mine]\nextends = \"demo\"\n";

#[test]
fn a_profile_that_is_gone() {
    let home = Home::new();
    home.write_config(MINE);
    let told = Told::with(&home, "kiwi", &["--agent", "mine"], &[]);
    profile_changes(&home, &told, "");
    for _ in 0..2 {
        home.until("its state", || home.status(&told.id)["state"] == "ERROR");
        let status = home.status(&told.id);
        assert_eq!((&status["resume_reason"], &status["executor_status"]), (&"config_gone".into(), &"ready".into()));
        let answer = home.run(&["resume", &told.id, "--json"]).exits(4).json();
        assert_eq!((&answer["resumed"], &answer["reason"]), (&false.into(), &"config_gone".into()), "{answer}");
        told.token_is_kept(&home);
        assert_eq!(told.starts(&home).len(), 1);
        home.next_host();
    }
    // Mended, it comes back by itself.
    home.write_config(MINE);
    home.next_host();
    told.back_once(&home, 2);
}

#[test]
fn a_profile_that_cannot_resume_any_more() {
    let home = Home::new();
    home.write_config(MINE);
    let told = Told::with(&home, "kiwi", &["--agent", "mine"], &[]);
    profile_changes(&home, &told, &format!("{MINE}[agents.mine.resume]\nargs = []\n"));
    for _ in 0..2 {
        home.until("its state", || home.status(&told.id)["state"] == "ERROR");
        let status = home.status(&told.id);
        assert_eq!((&status["resume_reason"], &status["executor_status"]), (&"not_resumable".into(), &"ready".into()));
        assert_eq!((&status["is_resumable"], &status["requires_new_session"]), (&false.into(), &true.into()));
        let answer = home.run(&["resume", &told.id, "--json"]).exits(4).json();
        assert_eq!((&answer["resumed"], &answer["reason"]), (&false.into(), &"not_resumable".into()), "{answer}");
        told.token_is_kept(&home);
        assert_eq!(told.starts(&home).len(), 1);
        home.next_host();
    }
    home.write_config(MINE);
    home.next_host();
    told.back_once(&home, 2);
}

#[test]
fn a_crash_loop() {
    let home = Home::new();
    let cause = home.path().join("cause");
    fs::write(&cause, "").unwrap();
    let switch = format!("resume:die@{}", cause.display());
    let told = Told::with(&home, "kiwi", &["--agent", "demo"], &["--misbehave", &switch]);
    kill::kill(&home.agent(&told.id));
    held(&home, &told, "crash_loop", "died 3 times in a row");
    let resumes = told.bindings(&home).len() - 1;
    assert_eq!(resumes, 3, "three attempts, then it waits");
    fs::remove_file(&cause).unwrap();
    assert_eq!(home.json(&["resume", &told.id])["resumed"], true);
    back(&home, &told);
}
