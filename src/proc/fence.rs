//! Ends, by identity, all that a dead terminal left: whatever carries its mark, is in its session or process group, or
//! descends from such a process. SIGTERM first, then SIGKILL, and a look again until nothing is left.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::domain::launch::ProcIdentity;
use crate::proc::error::{Error, Result};
use crate::proc::pidfd::{PidFd, Signal};
use crate::proc::table::Stat;
use crate::proc::{identity, marks, table};

/// Most rounds of looking and killing: each ends what a dying process started while we looked.
const ROUNDS: u32 = 20;
/// How long one round waits for what it killed by SIGKILL. Only a process in an uninterruptible system call takes
/// longer than some milliseconds.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// What to end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fence {
    /// Values of `RELIGHT_TERMINAL` (terminal ids).
    pub marks: Vec<String>,
    /// Recorded leaders of sessions or process groups (a terminal's own process is both). They need not live any more.
    pub leaders: Vec<ProcIdentity>,
    /// Time between SIGTERM and SIGKILL. Zero: SIGKILL at once.
    pub grace: Duration,
}

/// What the fence did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FenceReport {
    /// How many processes were found, and have ended.
    pub ended: u32,
    /// Those that live on in spite of SIGKILL (another user's, or in an uninterruptible system call).
    pub left: Vec<ProcIdentity>,
}

/// Ends everything that `fence` names, waits for the ends and looks again until nothing new appears. Never touches this
/// process or its ancestors.
///
/// # Errors
/// When `/proc` cannot be read or a process cannot be held. Nothing is known then of what is left.
pub async fn fence(fence: Fence) -> Result<FenceReport> {
    let mut ended = BTreeSet::new();
    let mut left = Vec::new();
    let grace = fence.grace;
    for round in 0..ROUNDS {
        let held = look(fence.clone()).await?;
        if held.is_empty() {
            return Ok(FenceReport { ended: count(&ended), left: Vec::new() });
        }
        // Those that a dying process started get no grace of their own.
        if round == 0 && !grace.is_zero() {
            for process in &held {
                send(process, Signal::TERM);
                send(process, Signal::CONT); // A stopped process gets its SIGTERM only when it goes on.
            }
            wait(&held, grace).await?;
        }
        for process in &held {
            send(process, Signal::KILL);
        }
        wait(&held, KILL_WAIT).await?;
        left.clear();
        for process in held {
            if process.has_exited()? {
                ended.insert((process.identity().pid, process.identity().start_time));
            } else {
                left.push(process.identity().clone());
            }
        }
        if !left.is_empty() {
            break; // SIGKILL did not help within its time: another round would not either.
        }
    }
    let remaining = look(fence).await?.into_iter().map(|process| process.identity().clone()).collect();
    Ok(FenceReport { ended: count(&ended), left: remaining })
}

fn count(ended: &BTreeSet<(i32, u64)>) -> u32 {
    u32::try_from(ended.len()).unwrap_or(u32::MAX)
}

/// What cannot be signalled shows up as left at the end, so the error itself says nothing more.
fn send(process: &PidFd, signal: Signal) {
    if let Err(error) = process.signal(signal) {
        tracing::warn!(%error, "fence");
    }
}

async fn wait(held: &[PidFd], limit: Duration) -> Result<()> {
    let deadline = Instant::now() + limit;
    for process in held {
        match timeout_at(deadline, process.exited()).await {
            Ok(end) => end?,
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

async fn look(fence: Fence) -> Result<Vec<PidFd>> {
    // Reading every environment takes some milliseconds on a busy machine: not on the runtime's thread.
    tokio::task::spawn_blocking(move || {
        targets(&fence)?
            .iter()
            .filter_map(|who| match PidFd::open(who) {
                // A zombie is dead; its parent waits for it.
                Ok(Some(held)) => match held.has_exited() {
                    Ok(false) => Some(Ok(held)),
                    Ok(true) => None,
                    Err(error) => Some(Err(error)),
                },
                Ok(None) => None,
                Err(error) => Some(Err(error)),
            })
            .collect()
    })
    .await
    .map_err(|_| Error::CutOff { what: "the search for left processes" })?
}

/// What of `fence` lives now.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn targets(fence: &Fence) -> Result<Vec<ProcIdentity>> {
    let boot_id = identity::boot_id()?;
    let living = table::living()?;
    let marks: Vec<&str> = fence.marks.iter().map(String::as_str).collect();
    let leaders: Vec<&ProcIdentity> =
        fence.leaders.iter().filter(|leader| leader.boot_id == boot_id && leader.pid > 1).collect();
    let spared = own_line(&living);
    let found = closure(&living, &spared, |stat| {
        belongs(stat, &living, &leaders) || (!marks.is_empty() && marks::carries(stat.pid, &marks))
    });
    Ok(living
        .iter()
        .filter(|stat| found.contains(&stat.pid))
        .map(|stat| ProcIdentity { boot_id: boot_id.clone(), pid: stat.pid, start_time: stat.start_time })
        .collect())
}

/// Whether `stat` is a recorded leader or in its session or group. While any member lives the kernel gives the leader's
/// number to nobody else; so a living process of that number with another start time means that the old session is
/// empty and the members are strangers. So is one that began before the leader did.
fn belongs(stat: &Stat, living: &[Stat], leaders: &[&ProcIdentity]) -> bool {
    leaders.iter().any(|leader| {
        let number_reused = living.iter().any(|other| other.pid == leader.pid && other.start_time != leader.start_time);
        !number_reused
            && (stat.pid == leader.pid || stat.sid == leader.pid || stat.pgid == leader.pid)
            && stat.start_time >= leader.start_time
    })
}

/// Pids of those for which `is_target` holds and of all their descendants, without those to spare and what descends
/// only through them.
fn closure(living: &[Stat], spared: &BTreeSet<i32>, is_target: impl Fn(&Stat) -> bool) -> BTreeSet<i32> {
    let others: Vec<&Stat> = living.iter().filter(|stat| !spared.contains(&stat.pid)).collect();
    let mut found: BTreeSet<i32> = others.iter().filter(|stat| is_target(stat)).map(|stat| stat.pid).collect();
    loop {
        let more: Vec<i32> = others
            .iter()
            .filter(|stat| found.contains(&stat.ppid) && !found.contains(&stat.pid))
            .map(|stat| stat.pid)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// This process and its ancestors.
fn own_line(living: &[Stat]) -> BTreeSet<i32> {
    let mut line = BTreeSet::from([1]);
    let mut pid = rustix::process::getpid().as_raw_nonzero().get();
    while line.insert(pid) {
        match living.iter().find(|stat| stat.pid == pid) {
            Some(stat) => pid = stat.ppid,
            None => break,
        }
    }
    line
}

#[cfg(test)]
mod tests;
