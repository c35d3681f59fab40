//! Waits for children that nobody else waits for: orphans that a subreaper or a container's pid 1 inherits.
//!
//! Peeks first, and leaves alone what is registered as waited for. An unregistered child is reaped only when it has been
//! a zombie for a while, so that code which waits for its own short-lived children need not register them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, getpid, waitid};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use crate::proc::error::{Error, Result};
use crate::proc::table;

/// How long a zombie stays before it counts as nobody's. Whoever started it has had the time to wait for it.
const NOBODYS_AFTER: Duration = Duration::from_secs(1);

static WAITED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// While this lives the child is left to whoever holds it.
#[derive(Debug)]
pub struct Waited(i32);

/// Registers a child that the caller waits for.
pub fn waited(pid: i32) -> Waited {
    WAITED.lock().unwrap_or_else(PoisonError::into_inner).insert(pid);
    Waited(pid)
}

impl Drop for Waited {
    fn drop(&mut self) {
        WAITED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// A zombie child, so that a reused pid is another one.
type Zombie = (i32, u64);

/// Reaps until it is dropped. No wake-ups while no child ends.
///
/// # Errors
/// When SIGCHLD cannot be listened to or `/proc` cannot be read.
pub async fn run() -> Result<()> {
    let mut ends =
        signal(SignalKind::child()).map_err(|source| Error::Setting { what: "listen to ends of children", source })?;
    let mut since: BTreeMap<Zombie, Instant> = BTreeMap::new();
    loop {
        let zombies = if any_zombie() { nobodys_zombies()? } else { BTreeSet::new() };
        let now = Instant::now();
        since.retain(|zombie, _| zombies.contains(zombie));
        for zombie in zombies {
            since.entry(zombie).or_insert(now);
        }
        since.retain(|(pid, _), first| *first + NOBODYS_AFTER > now || !reap(*pid));
        match since.values().min() {
            Some(first) => {
                let due = (*first + NOBODYS_AFTER).max(now);
                tokio::select! { _ = ends.recv() => {} () = sleep_until(due) => {} }
            }
            None => {
                ends.recv().await;
            }
        }
    }
}

/// Whether any child at all is a zombie: one cheap call, and it stays one.
fn any_zombie() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::All, options) {
            Err(Errno::INTR) => {}
            answer => return matches!(answer, Ok(Some(_))),
        }
    }
}

fn nobodys_zombies() -> Result<BTreeSet<Zombie>> {
    let me = getpid().as_raw_nonzero().get();
    let all = table::all()?;
    let waited = WAITED.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(all
        .into_iter()
        .filter(|stat| stat.ppid == me && stat.dead() && !waited.contains(&stat.pid))
        .map(|stat| (stat.pid, stat.start_time))
        .collect())
}

/// Whether it is gone now, by us or by another.
fn reap(pid: i32) -> bool {
    let waited = WAITED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(raw) = Pid::from_raw(pid).filter(|_| !waited.contains(&pid)) else { return true };
    match waitid(WaitId::Pid(raw), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
        Ok(Some(_)) | Err(Errno::CHILD) => true,
        Ok(None) | Err(_) => false,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "real processes are what is tested")]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn ended_child() -> std::process::Child {
        Command::new("true").stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    }

    /// Set in the process of its own in which the reaper runs: in this one it would take other tests' children.
    const ALONE: &str = "RELIGHT_TEST_REAPER";

    async fn until(what: &str, mut holds: impl FnMut() -> bool) {
        let wait = async {
            let mut tick = tokio::time::interval(Duration::from_millis(20));
            while !holds() {
                tick.tick().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait).await.expect(what);
    }

    #[tokio::test]
    async fn it_reaps_orphans_and_leaves_what_is_waited_for() {
        if std::env::var_os(ALONE).is_none() {
            let name = "proc::reap::tests::it_reaps_orphans_and_leaves_what_is_waited_for";
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", name, "--nocapture"])
                .env(ALONE, "1")
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
            return;
        }
        crate::proc::detach::become_subreaper().unwrap();
        let reaper = tokio::spawn(run());
        let mut ours = ended_child();
        let guard = waited(ours.id() as i32);
        let nobodys = ended_child().id() as i32;
        // A grandchild that outlives its parent becomes ours, and ends.
        let dir = tempfile::tempdir().unwrap();
        let pid_file = dir.path().join("pid");
        let script = format!("sleep 0.2 & echo $! > {}", pid_file.display());
        assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
        let orphan: i32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
        let parent = table::stat(orphan).unwrap().expect("it is not reaped before a second has gone").ppid;
        assert_eq!(parent, getpid().as_raw_nonzero().get(), "the orphan is ours");
        until("the child is reaped", || table::stat(nobodys).unwrap().is_none()).await;
        until("the orphan is reaped", || table::stat(orphan).unwrap().is_none()).await;
        assert!(ours.wait().unwrap().success(), "the registered one was left to us");
        assert!(!reaper.is_finished());
        drop(guard);
    }
}
