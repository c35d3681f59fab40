//! What all sessions of a host share: the database, the ways to executors, the profiles, the policy, the bus, and the table of
//! running session actors.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{broadcast, mpsc, watch};

use crate::config::profiles::Profiles;
use crate::domain::ids::SessionId;
use crate::domain::rows::Millis;
use crate::domain::rules::ResumePolicy;
use crate::domain::status::{self, Facts, Status};
use crate::executor::Executors;
use crate::proc::clock;
use crate::store::{Bundle, Store};
use crate::wire::host::{Hello, Push};

use super::gate::Gate;
use super::latest::Latest;
use super::orders::Command;
use super::seen::Seen;
use super::volatile::Volatile;

/// Pushes that a subscriber may lag behind before it is told to subscribe again: a burst of a few hundred sessions'
/// recovery fits.
pub const BUS_CAPACITY: usize = 8_192;

/// Shared by every actor and every call.
pub struct Shared {
    /// Database.
    pub store: Store,
    /// Ways to executors.
    pub executors: Executors,
    /// Agent profiles.
    pub profiles: Profiles,
    /// Policy of automatic resume.
    pub policy: ResumePolicy,
    /// Bound of launches at the same time.
    pub gate: Gate,
    /// Everything published.
    pub bus: broadcast::Sender<Push>,
    /// Who this host is.
    pub hello: Hello,
    /// Database file, for people.
    pub database: PathBuf,
    /// Shell for shell terminals.
    pub shell: String,
    /// Agent of a session that names none.
    pub started_at: Millis,
    /// What agents have of the last client's environment.
    pub volatile: Volatile,
    /// What is known of sessions beyond their rows, on its way there.
    pub latest: Latest,
    /// Sessions that are still being recovered at start.
    pub recovering: AtomicU32,
    /// Connected clients.
    pub clients: AtomicU32,
    /// Tells the process to end.
    pub stop: watch::Sender<Option<crate::wire::host::Stop>>,
    sessions: Mutex<HashMap<SessionId, Handle>>,
}

/// The way to one session's actor.
#[derive(Debug, Clone)]
pub struct Handle {
    /// Orders.
    pub orders: mpsc::Sender<Command>,
    /// What the actor sees.
    pub seen: watch::Receiver<Seen>,
}

/// What [`Shared::new`] needs.
pub struct Parts {
    /// Database.
    pub store: Store,
    /// Ways to executors.
    pub executors: Executors,
    /// Profiles.
    pub profiles: Profiles,
    /// Policy.
    pub policy: ResumePolicy,
    /// Names of the variables that come from the last client.
    pub refresh_env: Vec<String>,
    /// The bus that the store's committed events go to.
    pub bus: broadcast::Sender<Push>,
    /// Who this host is.
    pub hello: Hello,
    /// Database file.
    pub database: PathBuf,
    /// Shell.
    pub shell: String,
}

impl Shared {
    /// Puts the parts together.
    #[must_use]
    pub fn new(parts: Parts) -> Arc<Self> {
        let gate = Gate::new(parts.policy.parallel);
        let volatile = Volatile::new(parts.refresh_env, parts.executors.state());
        Arc::new(Self {
            store: parts.store,
            executors: parts.executors,
            profiles: parts.profiles,
            policy: parts.policy,
            gate,
            bus: parts.bus,
            hello: parts.hello,
            database: parts.database,
            shell: parts.shell,
            started_at: clock::now_ms(),
            volatile,
            latest: Latest::default(),
            recovering: AtomicU32::new(0),
            clients: AtomicU32::new(0),
            stop: watch::channel(None).0,
            sessions: Mutex::new(HashMap::new()),
        })
    }

    /// The actor of a session, if it has one.
    #[must_use]
    pub fn handle(&self, session: &SessionId) -> Option<Handle> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }

    /// All actors.
    #[must_use]
    pub fn handles(&self) -> Vec<(SessionId, Handle)> {
        self.sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .map(|(id, handle)| (id.clone(), handle.clone()))
            .collect()
    }

    /// Enters an actor.
    pub fn enter(&self, session: SessionId, handle: Handle) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(session, handle);
    }

    /// Whether the profile of a session can resume; `None` when the profile is gone.
    #[must_use]
    pub fn profile_resumes(&self, profile: &str) -> Option<bool> {
        self.profiles.get(profile).map(crate::domain::profile::Profile::can_resume)
    }

    /// The status of a session, from its rows and what its actor sees.
    #[must_use]
    pub fn status(&self, bundle: &Bundle, seen: &Seen) -> Status {
        status::derive(&Facts {
            session: &bundle.session,
            executor: bundle.executor.as_ref(),
            newest: bundle.newest.as_ref(),
            terminal: bundle.terminal.as_ref().map(|t| t.status),
            liveness: seen.liveness(bundle),
            resuming: bundle.session.pending.as_ref().is_some_and(|p| p.dead.is_some()),
            profile_resumes: self.profile_resumes(&bundle.session.agent_profile_id),
            viewed: seen.viewers > 0,
            policy: &self.policy,
            activity: seen.activity_of(bundle),
            now: clock::now_ms(),
        })
    }

    /// Whether this host was told to end.
    #[must_use]
    pub fn ends(&self) -> bool {
        self.stop.borrow().is_some()
    }

    /// Counts one recovered session.
    pub fn recovered_one(&self) {
        let _ = self.recovering.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
    }

    /// Publishes something transient. That nobody listens is no error.
    pub fn publish(&self, push: Push) {
        let _ = self.bus.send(push);
    }
}
