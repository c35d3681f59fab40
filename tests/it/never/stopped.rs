//! Killed or quit sessions stay down, whatever state they were in, at any restart.

use relight::proc::testpoint::{KILL_AT, STOP_AT};

use crate::support::Home;
use crate::support::kill::{self, Signal};
use crate::support::told::Told;

/// Restarts the host twice, the second time with every agentctl killed as well; another session comes back each time,
/// so that there was time and cause. This one is still down then.
#[track_caller]
fn stays_down(home: &Home, down: &Told, state: &str, reason: &str) {
    let other = Told::new(home, "other");
    let before = home.session(&down.id);
    for generation in [2, 3] {
        let host = home.host().expect("a host");
        kill::kill(&host);
        if generation == 3 {
            for (process, _) in home.living().into_iter().filter(|(_, line)| line.contains("agentctl serve")) {
                kill::kill(&process);
            }
        }
        for agent in home.agents_with(&other.token) {
            kill::kill(&agent);
        }
        home.next_host();
        home.until_alive(&other.id, generation);
        let line = home.session(&down.id);
        assert_eq!((&line["state"], &line["end_reason"]), (&state.into(), &reason.into()), "{}", home.report());
        assert_eq!((&line["pid"], &line["generation"]), (&serde_json::Value::Null, &before["generation"]), "{line}");
        assert_eq!(home.agents_with(&down.token), [], "{}", home.report());
    }
    let status = home.status(&down.id);
    assert_eq!((&status["needs_resume"], &status["automatic"]), (&false.into(), &false.into()), "{status}");
}

fn until_nothing_runs(home: &Home, told: &Told) {
    home.until("no agent to be left", || home.agents_with(&told.token).is_empty());
}

#[test]
fn killed() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let agentctl = home.agentctl(&told.id);
    home.run(&["kill", &told.id]).ok();
    assert_eq!(home.agents_with(&told.token), []);
    assert!(!relight::proc::identity::alive(&agentctl), "nobody needs its agentctl");
    home.run(&["kill", &told.id]).ok();
    let refused = home.run(&["resume", &told.id, "--json"]).exits(4).json();
    assert_eq!(refused["reason"], "disposed");
    stays_down(&home, &told, "CANCELLED", "disposed");
    // Only one who overrules gets it back, with what it knew.
    assert_eq!(home.json(&["resume", &told.id, "--reopen"])["resumed"], true);
    told.back_once(&home, 2);
}

#[test]
fn quit_from_inside() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    home.run(&["send", &told.id, "/quit"]).ok();
    home.until_session(&told.id, "its end", |line| line["end_reason"] == "detached");
    stays_down(&home, &told, "COMPLETED", "detached");
    // A person may take it up again.
    assert_eq!(home.json(&["resume", &told.id])["resumed"], true);
    told.back_once(&home, 2);
}

#[test]
fn quit_and_agentctl_killed_a_second_later() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let agentctl = home.agentctl(&told.id);
    home.run(&["send", &told.id, "/quit"]).ok();
    home.until_session(&told.id, "its end", |line| line["end_reason"] == "detached");
    kill::kill(&agentctl);
    home.until("the next agentctl to say what happened", || {
        let next = home.session(&told.id)["agentctl_pid"].as_i64();
        next.is_some_and(|pid| pid != i64::from(agentctl.pid))
    });
    stays_down(&home, &told, "COMPLETED", "detached");
}

#[test]
fn killed_while_dead() {
    let home = Home::new();
    home.write_config("[resume]\nauto = \"never\"\n");
    let told = Told::new(&home, "kiwi");
    kill::kill(&home.agent(&told.id));
    home.until_session(&told.id, "a dead agent", |line| line["end_reason"] == "terminal-exited");
    home.run(&["kill", &told.id]).ok();
    assert_eq!(home.session(&told.id)["end_reason"], "disposed");
    home.write_config("");
    stays_down(&home, &told, "CANCELLED", "disposed");
}

#[test]
fn killed_in_backoff() {
    let home = Home::new();
    home.write_config("[resume]\nmax_attempts = 20\n");
    let told = Told::with(&home, "kiwi", &["--agent", "demo"], &["--misbehave", "resume:die"]);
    kill::kill(&home.agent(&told.id));
    home.until("a pause before the next attempt", || {
        let status = home.status(&told.id);
        status["resume_reason"] == "backing_off" && status["generation"].as_u64() >= Some(3)
    });
    home.run(&["kill", &told.id]).ok();
    assert_eq!(home.status(&told.id)["next_attempt_at"], serde_json::Value::Null);
    stays_down(&home, &told, "CANCELLED", "disposed");
}

#[test]
fn killed_in_a_crash_loop() {
    let home = Home::new();
    home.write_config("[resume]\nmax_attempts = 1\n");
    let told = Told::with(&home, "kiwi", &["--agent", "demo"], &["--misbehave", "resume:die"]);
    kill::kill(&home.agent(&told.id));
    home.until("a crash loop", || home.status(&told.id)["hold"] == "crash_loop");
    home.run(&["kill", &told.id]).ok();
    home.write_config("");
    stays_down(&home, &told, "CANCELLED", "disposed");
}

#[test]
fn killed_between_claim_and_confirm() {
    let home = Home::new().with_point(STOP_AT, "agentctl.after_intent");
    let told = Told::new(&home, "kiwi");
    let agentctl = home.agentctl(&told.id);
    home.arm("agentctl.after_intent");
    kill::kill(&home.agent(&told.id));
    home.until("an agentctl that stands in the middle of the launch", || kill::is_stopped(&agentctl));
    let kill = home.start(&["kill", &told.id]);
    home.until("the wish on record", || home.rows("SELECT wanted FROM task_sessions") == [["stop"]]);
    kill::signal(&agentctl, Signal::CONT);
    let kill = kill.wait_with_output().unwrap();
    assert!(kill.status.success(), "{}", String::from_utf8_lossy(&kill.stderr));
    until_nothing_runs(&home, &told);
    home.until("its claim to be closed", || home.rows("SELECT pending FROM task_sessions") == [["NULL"]]);
    let reasons: Vec<_> = told.bindings(&home).into_iter().map(|(_, reason, _)| reason).collect();
    assert_eq!(reasons, ["resumed", "disposed"]);
    stays_down(&home, &told, "CANCELLED", "disposed");
}

/// The host dies with a claim open; the next one is told to kill before it has settled it.
fn killed_after_the_host_died_at(point: &'static str) {
    let home = Home::new().with_point(KILL_AT, point);
    let told = Told::new(&home, "kiwi");
    home.arm(point);
    kill::kill(&home.agent(&told.id));
    home.until("the host's death", || home.host().is_none());
    home.run(&["kill", &told.id]).ok();
    until_nothing_runs(&home, &told);
    home.until("its claim to be closed", || home.rows("SELECT pending FROM task_sessions") == [["NULL"]]);
    until_nothing_runs(&home, &told);
    stays_down(&home, &told, "CANCELLED", "disposed");
}

#[test]
fn killed_after_the_host_died_with_a_claim() {
    killed_after_the_host_died_at("host.after_claim");
}

#[test]
fn killed_after_the_host_died_with_a_launch() {
    killed_after_the_host_died_at("host.before_confirm");
}

/// An orderly end of everything: no agentctl that ends with it is started again by the host that ends it. Named by the fault.
#[test]
fn the_end_of_host_and_agents_starts_nothing() {
    let home = Home::new();
    let all: Vec<_> = ["kiwi", "plum", "pear", "fig", "lime"].map(|word| Told::new(&home, word)).into();
    home.run(&["host", "stop", "--agents"]).ok();
    home.until("nothing to be left", || home.living().is_empty());
    home.run(&["host", "start"]).ok();
    for told in &all {
        told.back_once(&home, 2);
    }
    // Nor is one missed that a host has just begun to recover.
    kill::kill(&home.host().expect("a host"));
    home.run(&["host", "start"]).ok();
    home.run(&["host", "stop", "--agents"]).ok();
    home.until("nothing to be left", || home.living().is_empty());
}
