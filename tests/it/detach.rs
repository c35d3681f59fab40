//! Processes in the background, started through the built program.

use std::fs;
use std::path::Path;

use relight::proc::detach::{Detached, spawn_detached};
use relight::proc::table;

use crate::support::home::{PATIENCE, RELIGHT};
use crate::support::kill;
use crate::support::wait::wait_for;

fn detached(dir: &Path, script: &str) -> Detached {
    Detached {
        relight: RELIGHT.into(),
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("PLACE".into(), dir.into())],
        log: dir.join("logs/x.log"),
    }
}

#[test]
fn a_detached_process_is_nobodys_child_in_a_session_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo words >&2; echo $$ > \"$PLACE/new\"; mv \"$PLACE/new\" \"$PLACE/pid\"; exec sleep 1000";
    spawn_detached(&detached(dir.path(), script)).unwrap();
    let log = || fs::read_to_string(dir.path().join("logs/x.log")).unwrap_or_default();
    let said = || {
        let pid = fs::read_to_string(dir.path().join("pid")).ok()?.trim().parse().ok()?;
        kill::identify(pid)
    };
    let who = wait_for("the process to say its pid", PATIENCE, said, log);
    let theirs = table::stat(who.pid).unwrap().unwrap();
    let ours = table::stat(std::process::id() as i32).unwrap().unwrap();
    let link = |fd: u32| fs::read_link(format!("/proc/{}/fd/{fd}", who.pid)).unwrap();
    let (stdin, stdout, cwd) = (link(0), link(1), fs::read_link(format!("/proc/{}/cwd", who.pid)).unwrap());
    kill::kill(&who);
    assert_ne!(theirs.ppid, ours.pid);
    assert_ne!(theirs.sid, ours.sid);
    assert_ne!(theirs.pgid, ours.pgid);
    assert_eq!((stdin.as_path(), stdout.as_path()), (Path::new("/dev/null"), Path::new("/dev/null")));
    assert_eq!(cwd, Path::new("/"));
    assert_eq!(fs::read_to_string(dir.path().join("logs/x.log")).unwrap(), "words\n");
}

#[test]
fn a_start_that_fails_is_told_and_its_words_are_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let what = Detached { program: "/no/such/program".into(), ..detached(dir.path(), "") };
    let error = spawn_detached(&what).unwrap_err().to_string();
    assert!(error.contains("/no/such/program") && error.contains("logs/x.log"), "{error}");
    let words = fs::read_to_string(dir.path().join("logs/x.log")).unwrap();
    assert!(words.contains("/no/such/program"), "{words}");
}
