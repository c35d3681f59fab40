//! Executors on this machine: an agentctl of our own, detached. Whether it lives is its lock, not a probe.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::config::settings::Log;
use crate::domain::ids::SessionId;
use crate::domain::rows::ExecutorRunning;
use crate::link;
use crate::link::agentctl::AgentctlClient;
use crate::link::endpoint::Endpoint;
use crate::link::place::SessionDir;
use crate::proc::detach::{self, Detached};
use crate::proc::lock;
use crate::wire::agentctl::Health;

use super::{Error, Executor, Probe};

/// A new agentctl reads its journal and fences what the last one left before it answers; ten seconds are for a fence that has
/// to kill.
const START_DEADLINE: Duration = Duration::from_secs(30);
/// A started agentctl that holds no lock after this time has failed.
const LOCK_DEADLINE: Duration = Duration::from_secs(5);
/// Lines above the screen that a terminal keeps in memory when nothing else is said.
const HISTORY_LINES: u32 = 2_000;
/// Written to see whether there is space: more than what an inode holds by itself.
const PROBE_BYTES: usize = 4096;
/// How often a start or an end is looked at: well below what a person notices.
const LOOK: Duration = Duration::from_millis(5);

/// Executors on this machine.
#[derive(Debug, Clone)]
pub struct Local {
    relight: PathBuf,
    state: PathBuf,
    logs: PathBuf,
    history_lines: u32,
    log: Log,
}

impl Local {
    /// See [`super::Executors::new`].
    #[must_use]
    pub fn new(relight: PathBuf, state: PathBuf, logs: PathBuf) -> Self {
        Self { relight, state, logs, history_lines: HISTORY_LINES, log: Log::default() }
    }

    /// The same, with terminals that keep this many lines above their screen in memory.
    #[must_use]
    pub fn with_history(self, history_lines: u32) -> Self {
        Self { history_lines, ..self }
    }

    /// The same, with agentctls that log this.
    #[must_use]
    pub fn with_log(self, log: Log) -> Self {
        Self { log, ..self }
    }

    /// The socket of a session's agentctl.
    #[must_use]
    pub fn socket(&self, session: &SessionId) -> PathBuf {
        SessionDir::new(&self.state, session).socket()
    }

    /// The same as an address.
    #[must_use]
    pub fn url(&self, session: &SessionId) -> String {
        Endpoint::Unix(self.socket(session)).to_string()
    }

    /// The state directory.
    #[must_use]
    pub fn state(&self) -> &Path {
        &self.state
    }

    fn client(&self, row: &ExecutorRunning) -> AgentctlClient {
        AgentctlClient::new(Endpoint::Unix(self.socket(&row.session_id)), row.auth_token.as_deref())
    }

    fn held(&self, session: &SessionId) -> Result<bool, Error> {
        let path = SessionDir::new(&self.state, session).lock();
        lock::is_held(&path).map_err(|e| Error::Lock { session: session.clone(), why: e.to_string() })
    }

    fn spawn(&self, row: &ExecutorRunning) -> Result<(), Error> {
        let session = &row.session_id;
        let workspace = row.worktree_path.as_ref().unwrap_or(&row.workspace_path);
        let log = self.logs.join("agentctl.stderr");
        let what = Detached {
            relight: self.relight.clone(),
            program: self.relight.clone(),
            args: ["agentctl", "serve", "--session", session.as_str(), "--state"]
                .into_iter()
                .map(Into::into)
                .chain([self.state.clone().into_os_string(), "--logs".into(), self.logs.clone().into_os_string()])
                .chain(["--history".into(), self.history_lines.to_string().into()])
                .chain(["--workspace".into(), workspace.into()])
                .chain(["--log-level".into(), self.log.level.as_str().into()])
                .chain(["--log-keep".into(), self.log.keep.to_string().into()])
                .collect(),
            env: Vec::new(),
            log: log.clone(),
        };
        detach::spawn_detached(&what).map_err(|e| Error::Start { session: session.clone(), why: e.to_string(), log })
    }

    /// Whether the session's directory takes no file for want of space: asked by writing one.
    fn is_full(&self, session: &SessionId) -> bool {
        let probe = SessionDir::new(&self.state, session).path().join("space");
        let written = std::fs::write(&probe, [0_u8; PROBE_BYTES]);
        // What is left of it is overwritten by the next one.
        let _ = std::fs::remove_file(&probe);
        written.is_err_and(|e| matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
    }

    /// Waits until it answers. The lock tells a slow start from a failed one.
    async fn answers(&self, row: &ExecutorRunning) -> Result<Health, Error> {
        let started = Instant::now();
        let session = &row.session_id;
        let mut seen = false;
        loop {
            let error = match self.client(row).health().await {
                Ok(health) => return Ok(health),
                Err(error) => error,
            };
            let held = self.held(session)?;
            let spent = started.elapsed();
            let why = if final_answer(&error) || spent > START_DEADLINE {
                error.to_string()
            } else if seen && !held {
                "it ended at once".to_owned()
            } else if !held && spent > LOCK_DEADLINE {
                "it never took its lock".to_owned()
            } else {
                seen |= held;
                sleep(LOOK).await;
                continue;
            };
            let log = self.logs.join("agentctl.stderr");
            return Err(Error::Start { session: session.clone(), why, log });
        }
    }
}

/// Whether the same would be answered for as long as one asks.
fn final_answer(error: &link::Error) -> bool {
    matches!(error, link::Error::VersionMismatch { .. } | link::Error::OtherOwner { .. })
}

impl Executor for Local {
    async fn probe(&self, row: &ExecutorRunning) -> Probe {
        match self.held(&row.session_id) {
            Ok(false) => Probe::Free,
            Err(error) => Probe::Silent(error.to_string()),
            Ok(true) => match self.client(row).health().await {
                Ok(health) => Probe::Alive(Box::new(health)),
                // It may have ended while it was asked.
                Err(error) => match self.held(&row.session_id) {
                    Ok(false) => Probe::Free,
                    _ => Probe::Silent(error.to_string()),
                },
            },
        }
    }

    async fn start(&self, row: &ExecutorRunning) -> Result<Health, Error> {
        let (this, of) = (self.clone(), row.clone());
        let spawned = tokio::task::spawn_blocking(move || this.spawn(&of)).await;
        let spawned = spawned.unwrap_or_else(|e| {
            let log = self.logs.join("agentctl.stderr");
            Err(Error::Start { session: row.session_id.clone(), why: e.to_string(), log })
        });
        let answer = match spawned {
            Ok(()) => self.answers(row).await,
            Err(error) => Err(error),
        };
        match answer {
            Err(Error::Start { session, .. }) if self.is_full(&session) => {
                Err(Error::NoSpace { session, place: self.state.clone() })
            }
            other => other,
        }
    }

    async fn ended(&self, row: &ExecutorRunning, within: Duration) -> Result<(), Error> {
        let started = Instant::now();
        while self.held(&row.session_id)? {
            if started.elapsed() > within {
                return Err(Error::StillRuns { session: row.session_id.clone(), after: within });
            }
            sleep(LOOK).await;
        }
        Ok(())
    }
}
