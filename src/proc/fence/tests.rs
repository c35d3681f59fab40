//! The fence against real processes that are killed for real.
#![expect(clippy::disallowed_types, reason = "real processes are what is tested")]

use std::process::{Child, Command, Stdio};
use std::time::Instant as Clock;

use super::*;

/// Deadline of every wait: far above what a loaded machine needs.
const LIMIT: Duration = Duration::from_secs(20);

fn mark(name: &str) -> String {
    format!("fence-{name}-{}", std::process::id())
}

fn shell(mark: &str, script: &str) -> Child {
    Command::new("setsid")
        .args(["sh", "-c", script])
        .env(marks::TERMINAL, mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Clock::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Clock::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn found(mark: &str, count: usize) -> Vec<ProcIdentity> {
    until(&format!("{count} processes of {mark}"), || {
        let found = marks::find(mark).unwrap();
        (found.len() == count).then_some(found)
    })
}

#[tokio::test]
async fn what_ignores_hangups_and_a_tool_in_its_own_session_both_end() {
    let mark = mark("stubborn");
    // A parent (the "supervisor") that is killed; a child that ignores SIGHUP and SIGTERM; its tool with setsid.
    let mut parent =
        shell(&mark, "sh -c 'trap \"\" HUP TERM; setsid sleep 1000 & while :; do sleep 1000; done' & wait");
    let before = found(&mark, 4);
    parent.kill().unwrap();
    parent.wait().unwrap();
    let after = found(&mark, 3);
    assert!(after.iter().all(|who| before.contains(who)), "they outlive their parent");
    let report = fence(Fence { marks: vec![mark.clone()], leaders: Vec::new(), grace: Duration::from_millis(200) })
        .await
        .unwrap();
    assert!(report.ended >= 3, "{report:?}");
    assert!(report.left.is_empty(), "{report:?}");
    assert!(marks::find(&mark).unwrap().is_empty());
    assert!(!after.iter().any(identity::alive));
}

#[tokio::test]
async fn grace_lets_a_process_say_goodbye_even_when_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let (ready, goodbye) = (dir.path().join("ready"), dir.path().join("goodbye"));
    let script = format!(
        "trap 'echo bye > {}; exit 0' TERM; echo > {}; while :; do sleep 0.05; done",
        goodbye.display(),
        ready.display()
    );
    let mark = mark("goodbye");
    let mut child = shell(&mark, &script);
    until("the trap", || ready.exists().then_some(()));
    let leader = identity::of(child.id() as i32).unwrap().unwrap();
    PidFd::open(&leader).unwrap().unwrap().signal(Signal::STOP).unwrap();
    let report = fence(Fence { marks: vec![mark], leaders: vec![leader], grace: LIMIT }).await.unwrap();
    assert!(report.left.is_empty(), "{report:?}");
    assert!(goodbye.exists(), "SIGTERM and SIGCONT reached it, and it had its time");
    child.wait().unwrap();
}

#[tokio::test]
async fn a_session_is_ended_by_its_leaders_identity_without_any_mark() {
    let mut child = Command::new("setsid")
        .args(["sh", "-c", "sleep 1000 & sleep 1000 & wait"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let leader = identity::of(child.id() as i32).unwrap().unwrap();
    let order = |leader: &ProcIdentity| Fence { leaders: vec![leader.clone()], ..Fence::default() };
    until("the whole session", || (targets(&order(&leader)).unwrap().len() == 3).then_some(()));
    // The leader dies, its members stay.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(targets(&order(&leader)).unwrap().len(), 2);
    let other_boot = ProcIdentity { boot_id: "another".into(), ..leader.clone() };
    assert!(targets(&order(&other_boot)).unwrap().is_empty());
    let report = fence(order(&leader)).await.unwrap();
    assert_eq!(report, FenceReport { ended: 2, left: Vec::new() });
}

#[tokio::test]
async fn a_reused_number_is_a_stranger() {
    let mark = mark("reused");
    let mut child = shell("somebody-else", "sleep 1000");
    let real = identity::of(child.id() as i32).unwrap().unwrap();
    let old = ProcIdentity { start_time: real.start_time - 1, ..real.clone() };
    let report = fence(Fence { marks: vec![mark], leaders: vec![old], grace: Duration::ZERO }).await.unwrap();
    assert_eq!(report, FenceReport::default());
    assert!(identity::alive(&real));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn we_and_our_ancestors_are_spared() {
    let me = identity::me().unwrap();
    let parent = identity::of(rustix::process::getppid().unwrap().as_raw_nonzero().get()).unwrap().unwrap();
    let found = targets(&Fence { leaders: vec![me.clone(), parent.clone()], ..Fence::default() }).unwrap();
    assert!(!found.contains(&me) && !found.contains(&parent));
}

#[tokio::test]
async fn what_forks_while_it_is_killed_is_ended_too() {
    let mark = mark("forks");
    let mut child = shell(&mark, "trap '(trap \"\" TERM; exec setsid sleep 1000) & exit 0' TERM; sleep 1000 & wait");
    found(&mark, 2);
    let report = fence(Fence { marks: vec![mark.clone()], leaders: Vec::new(), grace: Duration::from_millis(500) })
        .await
        .unwrap();
    assert!(report.left.is_empty(), "{report:?}");
    assert!(marks::find(&mark).unwrap().is_empty());
    child.wait().unwrap();
}
