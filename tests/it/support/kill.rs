//! Ends processes by identity, never by a name.

use std::path::Path;
use std::time::Duration;

use relight::domain::launch::ProcIdentity;
use relight::proc::pidfd::PidFd;
pub use relight::proc::pidfd::Signal;
use relight::proc::{identity, table};

use super::wait::wait_until;

/// The living process with this pid.
pub fn identify(pid: i32) -> Option<ProcIdentity> {
    identity::of(pid).ok().flatten().filter(identity::alive)
}

/// Sends a signal; nothing happens when the process is gone.
pub fn signal(process: &ProcIdentity, signal: Signal) {
    if let Some(held) = PidFd::open(process).expect("a pidfd") {
        held.signal(signal).expect("a signal");
    }
}

/// SIGKILL, and waits until it is dead.
pub fn kill(process: &ProcIdentity) {
    signal(process, Signal::KILL);
    let what = format!("the end of process {}", process.pid);
    wait_until(&what, Duration::from_secs(10), || !identity::alive(process));
}

/// Every living process whose environment at its start said `RELIGHT_HOME=home`, with the start of its command line.
/// Its file is never read by name: the pid list is, and each pid is then named with its start time.
pub fn living_of(home: &Path) -> Vec<(ProcIdentity, String)> {
    let mut mark = b"RELIGHT_HOME=".to_vec();
    mark.extend_from_slice(home.as_os_str().as_encoded_bytes());
    let me = i32::try_from(std::process::id()).expect("a pid");
    let mut out = Vec::new();
    for pid in table::pids().expect("/proc").into_iter().filter(|pid| *pid != me) {
        let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { continue };
        if environment.split(|byte| *byte == 0).any(|entry| entry == mark)
            && let Some(process) = identify(pid)
        {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            out.push((process, line.trim().chars().take(2_000).collect()));
        }
    }
    out
}

/// Whether a signal has stopped it.
pub fn is_stopped(process: &ProcIdentity) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap_or_default();
    // The state follows the name, which stands in brackets.
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

/// The parent of a process.
pub fn parent(process: &ProcIdentity) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
