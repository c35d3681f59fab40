//! Starts a host when none has been here for a while: a crashed host comes back without a person or a service manager.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::proc::detach::{self, Detached};

use super::shared::{Phase, Shared};

/// A host that restarts is back sooner than this.
const AWAY: Duration = Duration::from_secs(10);
/// Longest pause between two tries, also while `host stop` stands.
const PAUSE_MAX: Duration = Duration::from_mins(5);

/// How a host is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostStart {
    /// Arguments of the relight program.
    pub args: Vec<OsString>,
    /// Environment on top of our own.
    pub env: Vec<(OsString, OsString)>,
    /// Where its early errors go.
    pub log: PathBuf,
    /// A person stopped the host as long as this file exists.
    pub stopped: PathBuf,
}

impl HostStart {
    /// A host is started only for a state directory that is there: one that was removed is not made anew, and of one that
    /// cannot be asked nothing is known.
    fn place_is_there(&self) -> bool {
        self.stopped.parent().is_some_and(Path::is_dir)
    }
}

/// Watches over the host until this agentctl ends. Wakes up only while no host is connected.
pub async fn run(shared: Arc<Shared>, start: HostStart) {
    let mut phase = shared.phase();
    tokio::select! {
        _ = phase.wait_for(|phase| *phase != Phase::Serving) => {}
        () = watch(&shared, &start) => {}
    }
}

async fn watch(shared: &Shared, start: &HostStart) {
    let mut feeds = shared.feeds();
    let mut pause = AWAY;
    loop {
        if feeds.wait_for(|count| *count == 0).await.is_err() {
            return;
        }
        if let Ok(connected) = timeout(pause, feeds.wait_for(|count| *count > 0)).await {
            if connected.is_err() {
                return;
            }
            pause = AWAY;
            continue;
        }
        pause = (pause * 2).min(PAUSE_MAX);
        if start.stopped.exists() || !start.place_is_there() {
            continue;
        }
        tracing::info!("no host for a while; starting one");
        let what = Detached {
            relight: shared.relight.clone(),
            program: shared.relight.clone(),
            args: start.args.clone(),
            env: start.env.clone(),
            log: start.log.clone(),
        };
        match tokio::task::spawn_blocking(move || detach::spawn_detached(&what)).await {
            Ok(Err(error)) => tracing::warn!(%error, "the host cannot be started"),
            Err(error) => tracing::warn!(%error, "the host cannot be started"),
            Ok(Ok(())) => {}
        }
    }
}
