//! `relight host run`: lock, machine, log, database, host, socket, signals — the wiring of the host process, in order.

use std::fs;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use crate::config;
use crate::config::Config;
use crate::config::dirs::Dirs;
use crate::proc::limits;
use crate::proc::lock::{self, LockFile};
use crate::wire::host::Stop;

use super::failure::{Exit, Failure, Result};
use super::{logging, reach};

/// Is the host until it is told to stop. Who started it in the background reads a failure from the failure file.
pub async fn run(dirs: &Dirs) -> Result<ExitCode> {
    dirs.create()?;
    let Some(lock) = LockFile::try_take(&dirs.host_lock())? else {
        let who = lock::holder_info(&dirs.host_lock()).map(|id| format!(" (pid {})", id.pid)).unwrap_or_default();
        let failure = Failure::new(format!("a host runs already{who}"));
        return Err(Failure { code: Exit::Refused, word: "host_running".into(), ..failure });
    };
    let result = start(dirs).await;
    if let Err(failure) = &result {
        tracing::error!(code = failure.word, "the host ends: {}", failure.message);
        // Whoever waits for this host reads the words from here, once the lock is free.
        if let Ok(text) = serde_json::to_vec(failure) {
            let _ = fs::write(reach::failure_file(dirs), text);
        }
    }
    drop(lock);
    result
}

async fn start(dirs: &Dirs) -> Result<ExitCode> {
    config::machine::check(&dirs.state)?;
    let config = config::load(dirs)?;
    logging::start(&dirs.logs, "host", &config.log)?;
    limits::raise_nofile()?;
    reach::remove(&dirs.host_stopped())?;
    let stop = tokio::select! {
        stop = serve(dirs, config) => stop?,
        () = told_by_signal() => Stop { agents: false, restart: true },
    };
    if !stop.restart {
        let mark = dirs.host_stopped();
        fs::write(&mark, "").map_err(|error| Failure::config(format!("cannot write {}: {error}", mark.display())))?;
    }
    tracing::info!("the host has ended");
    Ok(ExitCode::SUCCESS)
}

/// SIGTERM or SIGINT: an end without the mark, so that an agentctl may start another host.
async fn told_by_signal() {
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        tracing::error!("signals cannot be watched");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => tracing::info!("told to end by SIGTERM"),
        _ = int.recv() => tracing::info!("told to end by SIGINT"),
    }
}

/// The one call site of store, host and serve: opens `dirs.database()`, recovers, serves on `dirs.host_socket()`, and
/// returns once a client tells the host to stop.
async fn serve(_dirs: &Dirs, _config: Config) -> Result<Stop> {
    tokio::task::yield_now().await;
    Err(Failure::new("this build has no host"))
}
