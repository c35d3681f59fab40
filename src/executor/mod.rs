//! Launches, recovers and stops an agentctl, wherever it runs. One trait, a file per runtime.

mod local;

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::settings::{ExecutorConfig, Log};
use crate::domain::ids::SessionId;
use crate::domain::rows::ExecutorRunning;
use crate::domain::words::{ErrorCode, Runtime};
use crate::link::agentctl::AgentctlClient;
use crate::link::endpoint::Endpoint;
use crate::wire::agentctl::Health;

pub use local::Local;

/// Why an executor did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This version does not have the runtime.
    #[error("an executor of runtime {runtime} is not supported by this version; use `local`")]
    Unsupported {
        /// Runtime.
        runtime: Runtime,
    },
    /// Its agentctl could not be started.
    #[error("cannot start the agentctl of session {session}: {why}; its log is {log}", log = .log.display())]
    Start {
        /// Session.
        session: SessionId,
        /// Cause.
        why: String,
        /// Its log.
        log: PathBuf,
    },
    /// Its directory takes no file for want of space.
    #[error("the agentctl of session {session} cannot start: no space left in {place}; free some space", place = .place.display())]
    NoSpace {
        /// Session.
        session: SessionId,
        /// State directory.
        place: PathBuf,
    },
    /// It still runs after the time it was given.
    #[error("the agentctl of session {session} still runs {seconds} s after it was told to end", seconds = .after.as_secs())]
    StillRuns {
        /// Session.
        session: SessionId,
        /// Time given.
        after: Duration,
    },
    /// Its lock cannot be asked.
    #[error("cannot tell whether the agentctl of session {session} runs: {why}")]
    Lock {
        /// Session.
        session: SessionId,
        /// Cause.
        why: String,
    },
}

impl Error {
    /// Its code on every interface.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unsupported { .. } => ErrorCode::ExecutorUnsupported,
            Self::Start { .. } => ErrorCode::ExecutorError,
            Self::NoSpace { .. } => ErrorCode::DiskFull,
            Self::StillRuns { .. } | Self::Lock { .. } => ErrorCode::ExecutorUnreachable,
        }
    }
}

/// What asking after an executor found: liveness has three values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// It holds its lock and answers.
    Alive(Box<Health>),
    /// It holds its lock, or may, and does not answer; in words.
    Silent(String),
    /// Nobody holds its lock.
    Free,
    /// The place answers that the executor is gone for good; in words.
    Gone(String),
    /// This version cannot reach it; in words.
    Unsupported(String),
}

/// Places to run an agentctl.
pub trait Executor: Sync {
    /// Asks after an instance, within a bound of its own. Changes nothing.
    fn probe(&self, row: &ExecutorRunning) -> impl Future<Output = Probe> + Send;
    /// Starts the instance's agentctl and waits until it answers.
    ///
    /// # Errors
    /// [`Error::Start`], or [`Error::NoSpace`] when that is why. An agentctl that took its lock and does not answer may still run then: ask again by `probe`.
    fn start(&self, row: &ExecutorRunning) -> impl Future<Output = Result<Health, Error>> + Send;
    /// Waits until the instance's agentctl has ended.
    ///
    /// # Errors
    /// [`Error::StillRuns`] after `within`.
    fn ended(&self, row: &ExecutorRunning, within: Duration) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The configured executors.
#[derive(Debug, Clone)]
pub struct Executors {
    local: Local,
    configured: BTreeMap<String, Runtime>,
}

impl Executors {
    /// Executors as configured. `relight` is our own program, `state` the state directory, `logs` where agentctls log.
    #[must_use]
    pub fn new(relight: PathBuf, state: PathBuf, logs: PathBuf, configured: &BTreeMap<String, ExecutorConfig>) -> Self {
        let configured = configured.iter().map(|(name, config)| (name.clone(), config.runtime)).collect();
        Self { local: Local::new(relight, state, logs), configured }
    }

    /// The same, with terminals that keep this many lines above their screen in memory.
    #[must_use]
    pub fn with_history(self, history_lines: u32) -> Self {
        Self { local: self.local.with_history(history_lines), ..self }
    }

    /// The same, with agentctls that log this; one that runs already goes on as it was started.
    #[must_use]
    pub fn with_log(self, log: Log) -> Self {
        Self { local: self.local.with_log(log), ..self }
    }

    /// The runtime of the executor of this name; `None`: it is not configured.
    #[must_use]
    pub fn runtime(&self, name: &str) -> Option<Runtime> {
        self.configured.get(name).copied()
    }

    /// Where a new local session's agentctl will answer.
    #[must_use]
    pub fn url(&self, session: &SessionId) -> String {
        self.local.url(session)
    }

    /// A client of an instance's agentctl; it connects at each call.
    #[must_use]
    pub fn client(&self, row: &ExecutorRunning) -> AgentctlClient {
        let endpoint = Endpoint::Unix(self.local.socket(&row.session_id));
        AgentctlClient::new(endpoint, row.auth_token.as_deref())
    }

    /// See [`Executor::probe`].
    pub async fn probe(&self, row: &ExecutorRunning) -> Probe {
        match row.runtime {
            Runtime::Local => self.local.probe(row).await,
            runtime => Probe::Unsupported(Error::Unsupported { runtime }.to_string()),
        }
    }

    /// See [`Executor::start`].
    ///
    /// # Errors
    /// [`Error::Start`], [`Error::NoSpace`] or [`Error::Unsupported`].
    pub async fn start(&self, row: &ExecutorRunning) -> Result<Health, Error> {
        match row.runtime {
            Runtime::Local => self.local.start(row).await,
            runtime => Err(Error::Unsupported { runtime }),
        }
    }

    /// See [`Executor::ended`].
    ///
    /// # Errors
    /// [`Error::StillRuns`] or [`Error::Unsupported`].
    pub async fn ended(&self, row: &ExecutorRunning, within: Duration) -> Result<(), Error> {
        match row.runtime {
            Runtime::Local => self.local.ended(row, within).await,
            runtime => Err(Error::Unsupported { runtime }),
        }
    }

    /// The state directory that all local instances share.
    #[must_use]
    pub fn state(&self) -> &Path {
        self.local.state()
    }
}
