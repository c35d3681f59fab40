//! The host itself: loads every session, starts their actors, answers clients, and ends when it is told to.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::domain::rows::Task;
use crate::domain::words::{ErrorCode, TaskState};
use crate::proc::clock;
use crate::store;
use crate::wire::host as msg;
use crate::wire::host::{Hello, Push, WireError};

use super::api::{Api, AttachedStream, ClientId, Subscription};
use super::calls::{self, params, reply};
use super::common;
use super::core::Link;
use super::create;
use super::recovery;
use super::session;
use super::shared::{Parts, Shared};
use super::shells;
use super::streams::{self, Target};

/// Events replayed to one subscriber at once; more than are kept.
const REPLAY: u32 = 200_000;

/// How long the end of everything waits for the recovery of everything, in milliseconds.
const RECOVERED_MS: u64 = 10_000;
/// How often it looks.
const RECOVERED_LOOK: Duration = Duration::from_millis(10);

/// A running host.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
}

impl Host {
    /// Puts the host together; nothing is recovered yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self { shared: Shared::new(parts) }
    }

    /// Starts the recovery of every session; answers at once, while it goes on.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn recover(&self) -> Result<(), store::Error> {
        let shared = &self.shared;
        let writer = Arc::clone(shared);
        tokio::spawn(async move { writer.latest.run(&writer.store).await });
        shared.store.repair_tokens(clock::now_ms()).await?;
        let bundles = shared.store.bundles().await?;
        let due: Vec<_> = bundles
            .into_iter()
            .filter(|b| {
                b.session.pending.is_some()
                    || b.executor.as_ref().is_some_and(|row| recovery::is_due(row, b.session.wanted))
            })
            .collect();
        shared.recovering.store(u32::try_from(due.len()).unwrap_or(u32::MAX), Ordering::SeqCst);
        for bundle in due {
            session::spawn(shared, bundle, true);
        }
        Ok(())
    }

    /// Waits until a client tells the host to stop.
    pub async fn stopped(&self) -> msg::Stop {
        let mut told = self.shared.stop.subscribe();
        loop {
            if let Some(stop) = *told.borrow_and_update() {
                return stop;
            }
            if told.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// A client came with this environment; of it only what `resume.refresh_env` names is taken.
    pub fn note_environment(&self, env: &[(String, String)]) {
        self.shared.volatile.note(env);
    }

    /// Writes what waits to be written; nothing comes after it but the end.
    pub async fn settle(&self) {
        self.shared.latest.write(&self.shared.store).await;
    }

    /// Waits until every session was recovered, so that none is missed by what ends them all; at most ten seconds, since one
    /// that does not answer may never.
    async fn recovered(&self) {
        let begin = clock::boot_ms();
        while self.shared.recovering.load(Ordering::SeqCst) > 0 && clock::boot_ms() - begin < RECOVERED_MS {
            tokio::time::sleep(RECOVERED_LOOK).await;
        }
    }

    /// Ends every agentctl, as an orderly shutdown does: the agents come back at the next start.
    pub async fn end_agents(&self, deadline: Duration) {
        let mut tasks = tokio::task::JoinSet::new();
        for (id, handle) in self.shared.handles() {
            let client = handle.seen.borrow().client.clone();
            if let Some(client) = client {
                tasks.spawn(async move {
                    if let Err(error) = client.shutdown().await {
                        tracing::warn!(session = %id, %error, "cannot end its agentctl");
                    }
                });
            }
        }
        let _ = tokio::time::timeout(deadline, async { while tasks.join_next().await.is_some() {} }).await;
    }

    async fn task_create(&self, p: msg::TaskCreate) -> Result<Value, WireError> {
        let now = clock::now_ms();
        let task = Task {
            id: super::ids::task(),
            title: p.title,
            state: TaskState::Todo,
            repository_path: p.repository_path,
            created_at: now,
            updated_at: now,
        };
        self.shared.store.create_task(task.clone()).await.map_err(|e| common::store_error(&e))?;
        reply(&task)
    }

    async fn attach_to(&self, p: msg::Attach) -> Result<AttachedStream, WireError> {
        let shared = &self.shared;
        let (bundle, target) = match (p.session, p.terminal) {
            (_, Some(terminal)) => {
                let found = shared.store.current_of(terminal.clone()).await.map_err(|e| common::store_error(&e))?;
                let current = found.ok_or_else(|| shells::unknown(&terminal))?;
                let bundle = calls::find(shared, current.session_id.as_str(), None).await?;
                shells::attachable(shared, &bundle, &current).await?;
                (bundle, Target::Terminal(current.id))
            }
            (Some(session), None) => (calls::find(shared, &session, None).await?, Target::Agent),
            (None, None) => {
                return Err(WireError::new(ErrorCode::BadRequest, "`terminal.attach` needs a session or a terminal"));
            }
        };
        let handle = calls::actor(shared, &bundle);
        Ok(streams::attach(bundle.session.id, handle, target, p.size))
    }

    async fn subscribe_to(&self, p: msg::Subscribe) -> Result<Subscription, WireError> {
        // The receiver first, then the rows: what falls between is in both, and told apart by its number.
        let live: broadcast::Receiver<Push> = self.shared.bus.subscribe();
        let store = &self.shared.store;
        let seq = store.newest_seq().await.map_err(|e| common::store_error(&e))?;
        let replay = match p.since {
            Some(since) => {
                store.events_after(since, p.session_id.clone(), REPLAY).await.map_err(|e| common::store_error(&e))?
            }
            None => Vec::new(),
        };
        let seq = replay.last().map_or(seq, |e| e.seq.max(seq));
        Ok(Subscription { seq, replay, live })
    }

    async fn dispatch(&self, method: &str, value: Value) -> Result<Value, WireError> {
        let shared = &self.shared;
        match method {
            "task.create" => self.task_create(params(method, value)?).await,
            "task.list" => reply(&shared.store.tasks().await.map_err(|e| common::store_error(&e))?),
            "session.create" => create::create(shared, params(method, value)?).await,
            "session.adopt" => create::adopt(shared, params(method, value)?).await,
            "session.shell" => shells::open(shared, params(method, value)?).await,
            "session.terminals" => shells::list(shared, params(method, value)?).await,
            "terminal.close" => shells::close(shared, params(method, value)?).await,
            "session.list" => calls::list(shared).await,
            "session.find" => {
                let p: msg::Find = params(method, value)?;
                let bundle = calls::find(shared, &p.session, None).await?;
                reply(&msg::SessionCreated { session_id: bundle.session.id, task_id: bundle.session.task_id })
            }
            "session.snapshot" => calls::snapshot(shared, params(method, value)?).await,
            "task.session.status" => calls::status(shared, params(method, value)?).await,
            "session.resume" => calls::resume(shared, params(method, value)?).await,
            "session.kill" => calls::kill(shared, params(method, value)?).await,
            "session.dismiss" => calls::dismiss(shared, params(method, value)?).await,
            "session.rename" => calls::rename(shared, params(method, value)?).await,
            "session.send" => calls::send(shared, params(method, value)?).await,
            "session.capture" => calls::capture(shared, params(method, value)?).await,
            "session.workspace" => calls::workspace(shared, params(method, value)?).await,
            "client.environment" => {
                let p: msg::ClientEnvironment = params(method, value)?;
                self.note_environment(&p.env);
                Ok(json!({}))
            }
            "host.status" => calls::host_status(shared).await,
            "host.stop" => {
                let stop: msg::Stop = params(method, value)?;
                if stop.agents {
                    self.recovered().await;
                }
                self.shared.stop.send_replace(Some(stop));
                Ok(json!({}))
            }
            other => Err(WireError::new(ErrorCode::UnknownMethod, format!("there is no method `{other}`"))),
        }
    }

    /// Sessions whose link is up, for tests and for `host status`.
    #[must_use]
    pub fn connected(&self) -> usize {
        self.shared.handles().iter().filter(|(_, h)| h.seen.borrow().link == Link::Up).count()
    }
}

impl Api for Host {
    fn hello(&self) -> Hello {
        self.shared.hello.clone()
    }

    async fn call(&self, _client: ClientId, method: &str, params: Value) -> Result<Value, WireError> {
        self.dispatch(method, params).await
    }

    async fn attach(&self, _client: ClientId, p: msg::Attach) -> Result<AttachedStream, WireError> {
        self.attach_to(p).await
    }

    async fn subscribe(&self, p: msg::Subscribe) -> Result<Subscription, WireError> {
        self.subscribe_to(p).await
    }

    fn client_came(&self, _client: ClientId) {
        self.shared.clients.fetch_add(1, Ordering::SeqCst);
    }

    fn client_gone(&self, _client: ClientId) {
        self.shared.clients.fetch_sub(1, Ordering::SeqCst);
    }
}
