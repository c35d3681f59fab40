//! Reaches the host, and starts one when none runs. The host's lock decides who it is; this only asks.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::config;
use crate::config::dirs::Dirs;
use crate::domain::words::ErrorCode;
use crate::link;
use crate::link::endpoint::Endpoint;
use crate::link::host::{HostClient, HostEvents};
use crate::proc::detach::{self, Detached};
use crate::proc::lock;

use super::failure::{Failure, Result, full};

/// How long a host may take from its start to its first answer: a large database on a slow, busy disk.
const START_DEADLINE: Duration = Duration::from_secs(20);
/// Pause between two looks at a host that is starting.
const POLL: Duration = Duration::from_millis(10);
/// Written to see whether there is space: more than what an inode holds by itself.
const PROBE_BYTES: usize = 4096;
/// How long a started process may be alive without holding the lock before it counts as dead.
const LOCK_DEADLINE: Duration = Duration::from_secs(5);

/// Tells a host who started it: one that a client starts has the client's environment.
pub const STARTED_BY: &str = "RELIGHT_STARTED_BY";
/// The value of [`STARTED_BY`] when a client did.
pub const CLIENT: &str = "client";

/// Where the host is.
pub fn endpoint(dirs: &Dirs) -> Endpoint {
    Endpoint::Unix(dirs.host_socket())
}

/// Nobody serves there, or the one who did ended while it was asked.
fn gone(error: &link::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    if matches!(error, link::Error::NobodyThere { .. } | link::Error::Closed { .. }) {
        return true;
    }
    // What the system said may stand below what an HTTP library made of it.
    let mut causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.any(|cause| {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        matches!(kind, Some(BrokenPipe | ConnectionReset | UnexpectedEof))
    })
}

/// Connects to the host, starting one when none runs; using relight ends what `host stop` asked for.
///
/// # Errors
/// Why there is none: its own words when it could not start.
pub async fn host(dirs: &Dirs) -> Result<(HostClient, HostEvents)> {
    match HostClient::connect(endpoint(dirs)).await {
        Err(error) if gone(&error) => {
            config::machine::refuse_foreign(&dirs.state)?;
            dirs.create()?;
            remove(&dirs.host_stopped())?;
            wait(dirs, true).await
        }
        other => other.map_err(|error| explain(dirs, error)),
    }
}

/// Connects to the host that runs; `None` when none does.
///
/// # Errors
/// When one holds the lock and cannot be spoken to.
pub async fn running(dirs: &Dirs) -> Result<Option<(HostClient, HostEvents)>> {
    match HostClient::connect(endpoint(dirs)).await {
        Err(error) if gone(&error) => {
            config::machine::refuse_foreign(&dirs.state)?;
            if lock::is_held(&dirs.host_lock())? { wait(dirs, false).await.map(Some) } else { Ok(None) }
        }
        other => other.map(Some).map_err(|error| explain(dirs, error)),
    }
}

/// Waits until a host answers, or until it is known that none will. With `may_start` one is started, once, as soon as
/// nobody holds the lock.
async fn wait(dirs: &Dirs, may_start: bool) -> Result<(HostClient, HostEvents)> {
    let begin = Instant::now();
    let mut started: Option<Instant> = None;
    let mut took_lock = false;
    loop {
        match HostClient::connect(endpoint(dirs)).await {
            Err(error) if gone(&error) => {}
            other => return other.map_err(|error| explain(dirs, error)),
        }
        let held = lock::is_held(&dirs.host_lock())?;
        if !held {
            match started {
                None if may_start => {
                    spawn(dirs)?;
                    started = Some(Instant::now());
                }
                None => return Err(no_answer(dirs, held, begin.elapsed())),
                Some(at) => {
                    if let Some(failure) = told_failure(dirs) {
                        return Err(failure);
                    }
                    if took_lock || at.elapsed() > LOCK_DEADLINE {
                        return Err(no_answer(dirs, held, begin.elapsed()));
                    }
                }
            }
        }
        took_lock = held && started.is_some();
        if begin.elapsed() > START_DEADLINE {
            return Err(no_answer(dirs, held, begin.elapsed()));
        }
        sleep(POLL).await;
    }
}

/// Starts a host in the background. Whether it becomes the host, the lock decides.
fn spawn(dirs: &Dirs) -> Result<()> {
    remove(&failure_file(dirs))?;
    let relight = detach::own_program()?;
    let mut env = vec![(STARTED_BY.into(), CLIENT.into())];
    env.extend(dirs.home.as_ref().map(|home| (config::dirs::HOME_VARIABLE.into(), home.into())));
    detach::spawn_detached(&Detached {
        program: relight.clone(),
        relight,
        args: ["host", "run"].map(Into::into).to_vec(),
        env,
        log: dirs.logs.join("host.stderr"),
    })?;
    Ok(())
}

fn no_answer(dirs: &Dirs, holds: bool, waited: Duration) -> Failure {
    let seconds = waited.as_secs();
    let logs = dirs.logs.display();
    if holds {
        let who = lock::holder_info(&dirs.host_lock()).map(|id| format!(" (pid {})", id.pid)).unwrap_or_default();
        let message = format!("the host{who} holds its lock and has not answered for {seconds} s");
        return Failure::coded(ErrorCode::ExecutorUnreachable, message)
            .hint(format!("it may be recovering a large database; its log is in {logs}"));
    }
    if let Some(failure) = no_space(dirs) {
        return failure;
    }
    Failure::coded(
        ErrorCode::ExecutorUnreachable,
        format!("no host answers: one was started or just ended, within {seconds} s"),
    )
    .hint(format!("why is in the newest files of {logs}; `relight host run` shows it here"))
}

/// A connection error with what a person can do about it.
fn explain(dirs: &Dirs, error: link::Error) -> Failure {
    let silent = matches!(error, link::Error::Silent { .. });
    if matches!(&error, link::Error::Io { source, .. } if source.kind() == io::ErrorKind::InvalidFilename) {
        return Failure::config(format!("the directory {} cannot be used: its path is too long", dirs.state.display()))
            .hint("set RELIGHT_HOME to a shorter one");
    }
    if matches!(&error, link::Error::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied) {
        return Failure::coded(ErrorCode::Forbidden, error.to_string())
            .hint("these directories belong to another user: set RELIGHT_HOME to a place of your own");
    }
    let failure = Failure::from(error);
    if silent {
        let who = lock::holder_info(&dirs.host_lock()).map(|id| format!(" (pid {})", id.pid)).unwrap_or_default();
        return failure.hint(format!("the host{who} is alive and silent; nothing is started in its place"));
    }
    failure
}

/// Where a host that could not start leaves its words for whoever started it.
pub fn failure_file(dirs: &Dirs) -> PathBuf {
    dirs.state.join("host.failure")
}

fn told_failure(dirs: &Dirs) -> Option<Failure> {
    let text = fs::read(failure_file(dirs)).ok()?;
    // A host that found no space had none for its words either.
    serde_json::from_slice(&text).ok().or_else(|| no_space(dirs))
}

/// Says so when nothing can be written into the state directory for want of space: asked by writing.
fn no_space(dirs: &Dirs) -> Option<Failure> {
    let probe = dirs.state.join("host.space");
    let written = fs::write(&probe, [0_u8; PROBE_BYTES]);
    let _ = fs::remove_file(&probe);
    let error = written.err().filter(full)?;
    let message = format!("the host could not start: cannot write to {}: {error}", dirs.state.display());
    Some(Failure::coded(ErrorCode::DiskFull, message).hint("free some space and try again"))
}

/// Removes a file; one that is not there is fine.
pub fn remove(path: &std::path::Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::config(format!("cannot remove {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_ended_while_it_was_asked_is_gone_however_deep_the_cause_stands() {
        #[derive(Debug, thiserror::Error)]
        #[error("an HTTP error")]
        struct Wrapped(#[source] io::Error);
        let io_error = |source| link::Error::Io { at: "unix:/x".into(), what: "`GET /ws`".into(), source };
        let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
        assert!(gone(&io_error(reset())));
        assert!(gone(&io_error(io::Error::other(Wrapped(reset())))));
        assert!(!gone(&io_error(io::Error::from(io::ErrorKind::PermissionDenied))));
    }
}
