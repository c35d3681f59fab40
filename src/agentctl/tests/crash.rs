//! What a new agentctl makes of what a dead one left.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;

use super::bed::{Bed, LONG, id, identity_of, kinds, profile, records};
use crate::agentctl::facts::Fact;
use crate::agentctl::kept::{self, Kept};
use crate::agentctl::launch;
use crate::agentctl::shared::Shared;
use crate::domain::journal::Body;
use crate::domain::launch::{Exit, ProcIdentity};
use crate::domain::rows::StartMode;
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::link::place::SessionDir;
use crate::proc::identity;
use crate::wire::agentctl::LaunchReply;

fn intent(terminal: &str) -> Body {
    Body::Intent { terminal: id(terminal), terminal_kind: TerminalKind::Agent, generation: 1, epoch: 1 }
}

fn spawned(terminal: &str, identity: ProcIdentity) -> Body {
    let terminal = id(terminal);
    Body::Spawned { terminal, terminal_kind: TerminalKind::Agent, generation: 1, identity, token: Some("tok".into()) }
}

fn keep(dir: &SessionDir, terminal: &str) {
    let kept = Kept {
        kind: TerminalKind::Agent,
        generation: 1,
        mode: StartMode::First,
        token: Some("tok".into()),
        prompted: false,
        cwd: "/".into(),
        profile: profile(),
    };
    kept::write(dir, &id(terminal), &kept).unwrap();
}

/// A program such as a dead agentctl leaves: in a session of its own, deaf to SIGHUP and SIGTERM.
#[expect(clippy::disallowed_types, reason = "real processes are what is tested")]
fn left_over(terminal: &str, ready: &Path) -> (std::process::Child, ProcIdentity) {
    let script = format!("trap '' HUP TERM; : > {}; while :; do sleep 0.05; done", ready.display());
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &script]).env("RELIGHT_TERMINAL", id(terminal).as_str()).process_group(0);
    let child = command.spawn().unwrap();
    let until = std::time::Instant::now() + LONG;
    while !ready.exists() {
        assert!(std::time::Instant::now() < until, "the left-over program does not start");
        std::thread::yield_now();
    }
    let identity = identity::of(i32::try_from(child.id()).unwrap()).unwrap().unwrap();
    (child, identity)
}

#[tokio::test]
async fn what_a_dead_agentctl_left_is_ended_and_told() {
    let bed = Bed::new();
    let (mut known, known_as) = left_over("crash-spawned", &bed.home.path().join("a"));
    let (mut unsaid, unsaid_as) = left_over("crash-unsaid", &bed.home.path().join("b"));
    bed.journal(vec![
        intent("crash-spawned"),
        spawned("crash-spawned", known_as.clone()),
        intent("crash-unsaid"),
        intent("crash-never"),
    ]);
    keep(&bed.dir(), "crash-spawned");
    let mut spool = fs::File::options().create(true).append(true).open(bed.dir().spool(&id("crash-spawned"))).unwrap();
    writeln!(spool, r#"{{"hook_event_name":"Prompt","session_id":"tok"}}"#).unwrap();
    let shared = bed.start().await;
    assert!(!identity::alive(&known_as) && !identity::alive(&unsaid_as), "both are ended");
    let lived = |reply| matches!(reply, LaunchReply::Spawned { exit: Some(Exit::Unknown), .. });
    assert!(lived(launch::fate(&shared, &id("crash-spawned")).await));
    let found = launch::fate(&shared, &id("crash-unsaid")).await;
    assert_eq!(identity_of(&found), unsaid_as, "it had been started, so that is what is told");
    assert!(lived(found));
    let never = launch::fate(&shared, &id("crash-never")).await;
    assert!(matches!(never, LaunchReply::Failed { code: ErrorCode::Cancelled, .. }), "{never:?}");
    let told = records(&shared);
    let kinds_told = kinds(&told);
    let at =
        |kind: &str| kinds_told.iter().position(|k| k == kind).unwrap_or_else(|| panic!("{kind} in {kinds_told:?}"));
    assert!(at("prompted") < at("supervisor_lost") && at("supervisor_lost") < at("exit"), "{kinds_told:?}");
    assert!(at("exit") < at("supervisor_started"), "{kinds_told:?}");
    let lost = &told[at("supervisor_lost")];
    assert_eq!(lost.body, Body::SupervisorLost { incarnation: 1, last_boot_ms: 5, rebooted: false });
    assert_eq!(lost.incarnation, 2);
    assert!(told.iter().zip(1..).all(|(record, seq)| record.seq == seq), "without a gap");
    known.wait().unwrap();
    unsaid.wait().unwrap();

    let before = told.len();
    drop(shared);
    let shared = bed.start().await;
    assert_eq!(kinds(&records(&shared)[before..]), ["supervisor_lost", "supervisor_started"], "told once");
}

#[tokio::test]
async fn a_hook_that_nobody_read_is_read_by_the_next_one() {
    let bed = Bed::new();
    let dir = bed.dir();
    let dead = ProcIdentity { boot_id: "another boot".into(), pid: 1, start_time: 1 };
    bed.journal(vec![intent("t1"), spawned("t1", dead)]);
    keep(&dir, "t1");
    let mut spool = fs::File::options().create(true).append(true).open(dir.spool(&id("t1"))).unwrap();
    writeln!(spool, r#"{{"hook_event_name":"Prompt","session_id":"tok"}}"#).unwrap();
    let shared = bed.start().await;
    let fact = |shared: &Shared| -> Fact { shared.ledger.facts(|f| f.terminal(&id("t1")).cloned()).unwrap() };
    assert!(fact(&shared).prompted && fact(&shared).exit == Some(Exit::Unknown));
    let first = kinds(&records(&shared));
    assert_eq!(first.iter().filter(|k| *k == "prompted").count(), 1);
    drop(shared);
    writeln!(spool, r#"{{"hook_event_name":"Bye","session_id":"tok","reason":"late"}}"#).unwrap();
    let shared = bed.start().await;
    let second = kinds(&records(&shared));
    assert_eq!(second.iter().filter(|k| *k == "prompted").count(), 1, "{second:?}");
    assert_eq!(second.iter().filter(|k| *k == "goodbye").count(), 1, "{second:?}");
}

#[tokio::test]
async fn one_session_has_one_agentctl() {
    let bed = Bed::new();
    let _held = crate::proc::lock::LockFile::try_take(&bed.dir().lock()).unwrap().unwrap();
    let error = crate::agentctl::run(bed.options()).await.unwrap_err();
    assert!(matches!(error, crate::agentctl::error::Error::Held { .. }), "{error}");
    assert!(error.to_string().contains(&format!("pid {}", std::process::id())), "{error}");
    assert!(!bed.dir().journal().exists(), "the journal is the holder's");
}
