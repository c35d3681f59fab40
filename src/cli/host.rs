//! `relight host start|stop|restart|status`.

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::config::dirs::Dirs;
use crate::domain::words::ErrorCode;
use crate::proc::lock;
use crate::proc::pidfd::{PidFd, Signal};
use crate::wire::host::{HostStatus, Stop};

use super::failure::{Failure, Result};
use super::output;
use super::reach;

/// How long a host may take to end: with `--agents` it waits for every agent's goodbye.
const STOP_DEADLINE: Duration = Duration::from_mins(1);
/// Pause between two looks at the lock.
const POLL: Duration = Duration::from_millis(10);

/// Starts a host if none runs.
pub async fn start(dirs: &Dirs, json: bool) -> Result<ExitCode> {
    let (client, _events) = reach::host(dirs).await?;
    let status: HostStatus = client.call("host.status", json!({})).await?;
    output::either(json, &status, || format!("the host runs (pid {})", status.hello.identity.pid))
}

/// Ends the host and leaves the mark that keeps agentctls from starting another.
pub async fn stop(dirs: &Dirs, agents: bool, json: bool) -> Result<ExitCode> {
    let stopped = end(dirs, Stop { agents, restart: false }).await?;
    mark(dirs)?;
    output::either(json, &json!({ "stopped": stopped }), || match (stopped, agents) {
        (false, _) => "no host ran".into(),
        (true, false) => "the host has ended; the agents go on".into(),
        (true, true) => "the host and the agents have ended".into(),
    })
}

/// A host was told to end for good: waits until it has, and leaves the mark.
pub async fn stopped(dirs: &Dirs) -> Result<()> {
    until_free(dirs).await?;
    mark(dirs)
}

/// The mark that keeps agentctls from starting another host.
fn mark(dirs: &Dirs) -> Result<()> {
    dirs.create()?;
    let mark = dirs.host_stopped();
    fs::write(&mark, "").map_err(|error| Failure::config(format!("cannot write {}: {error}", mark.display())))
}

/// Ends the host, if one runs, and starts one.
pub async fn restart(dirs: &Dirs, json: bool) -> Result<ExitCode> {
    end(dirs, Stop { agents: false, restart: true }).await?;
    start(dirs, json).await
}

/// Says who the host is; none is started.
pub async fn status(dirs: &Dirs, json: bool) -> Result<ExitCode> {
    let Some((client, _events)) = reach::running(dirs).await? else {
        if json {
            output::json(&json!({ "running": false }))?;
        }
        return Err(
            Failure::coded(ErrorCode::ExecutorUnreachable, "no host runs").hint("`relight host start` starts one")
        );
    };
    let status: HostStatus = client.call("host.status", json!({})).await?;
    let mut value = serde_json::to_value(&status).map_err(|error| Failure::new(error.to_string()))?;
    value["running"] = json!(true);
    output::either(json, &value, || {
        let recovering = if status.recovering { "; it is still recovering sessions" } else { "" };
        format!(
            "the host runs (pid {}, relight {}, protocol {}): {} sessions, {} live agents, {} clients{recovering}\ndatabase {}",
            status.hello.identity.pid,
            status.hello.version,
            status.hello.protocol,
            status.sessions,
            status.agents,
            status.clients,
            status.database
        )
    })
}

/// Ends the host and waits until its lock is free; `false` when none ran.
pub async fn end(dirs: &Dirs, how: Stop) -> Result<bool> {
    let holder = lock::holder_info(&dirs.host_lock());
    let told = match reach::running(dirs).await {
        Ok(None) => return Ok(false),
        Ok(Some((client, _events))) => match client.call::<_, ()>("host.stop", how).await {
            // The connection may end before the answer comes: what counts is the lock.
            Ok(()) | Err(crate::link::Error::Closed { .. }) => true,
            Err(error) => return Err(error.into()),
        },
        // It speaks another version of the protocol: a signal to the holder of our own lock says the same.
        Err(failure) if failure.word == ErrorCode::VersionMismatch.as_str() => false,
        Err(failure) => return Err(failure),
    };
    if !told && let Some(held) = holder.map(|identity| PidFd::open(&identity)).transpose()?.flatten() {
        held.signal(Signal::TERM)?;
    }
    until_free(dirs).await?;
    Ok(true)
}

async fn until_free(dirs: &Dirs) -> Result<()> {
    let begin = Instant::now();
    while lock::is_held(&dirs.host_lock())? {
        if begin.elapsed() > STOP_DEADLINE {
            let message = format!("the host has not ended within {} s", STOP_DEADLINE.as_secs());
            return Err(Failure::coded(ErrorCode::Timeout, message));
        }
        sleep(POLL).await;
    }
    Ok(())
}
