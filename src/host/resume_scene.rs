//! For tests of a resume: one session of a real database, and terminals that only pretend.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use crate::domain::ids::{ExecutorId, SessionId, TaskId, TerminalId};
use crate::domain::journal::{Body, Record, Signal};
use crate::domain::launch::{Exit, Launch, ProcIdentity, Size};
use crate::domain::rows::{Binding, Pending, Session, StartMode, Task};
use crate::domain::words::{EndReason, ErrorCode, Runtime, SessionState, TaskState, TerminalStatus, Trigger};
use crate::store::{Applied, ApplyRules, ClaimBy, ClaimOutcome, FirstStart, NewSession, Store};
use crate::wire::agentctl::LaunchReply;

use super::resume::{self, Order, Outcome, Terminals, Unknown};

pub(super) const NOW: i64 = 1_000_000;
pub(super) const CONVERSATION: &str = "conversation-1";

/// What pretended terminals do with a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// It happens.
    Works,
    /// It provably does not.
    Fails(ErrorCode),
    /// It happens, and the answer is lost.
    AnswerLost,
    /// Nothing gets there.
    Away,
    /// It happens, and a person kills the session meanwhile.
    Killed,
}

/// Pretends to be an agentctl: launches an id at most once, knows what became of each.
pub(super) struct Fake {
    store: Store,
    mood: Mutex<Mood>,
    known: Mutex<BTreeMap<TerminalId, LaunchReply>>,
    launched: Mutex<Vec<Pending>>,
    log: Mutex<Vec<String>>,
}

impl Fake {
    pub(super) fn says(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    fn note(&self, what: &str, terminal: &TerminalId) -> Mood {
        self.log.lock().unwrap().push(format!("{what} {terminal}"));
        *self.mood.lock().unwrap()
    }

    pub(super) fn log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    pub(super) fn launched(&self) -> Vec<Pending> {
        self.launched.lock().unwrap().clone()
    }

    pub(super) fn of(&self, terminal: &TerminalId) -> Option<LaunchReply> {
        self.known.lock().unwrap().get(terminal).cloned()
    }

    pub(super) fn enter(&self, terminal: &TerminalId, reply: LaunchReply) -> LaunchReply {
        self.known.lock().unwrap().insert(terminal.clone(), reply.clone());
        reply
    }

    fn spawn(&self, pending: &Pending) -> LaunchReply {
        let mut launched = self.launched.lock().unwrap();
        launched.push(pending.clone());
        let pid = 100 + launched.len() as i32;
        let identity = ProcIdentity { boot_id: "boot-1".into(), pid, start_time: 7 };
        self.enter(&pending.terminal_id, LaunchReply::Spawned { identity, token: pending.token.clone(), exit: None })
    }
}

impl Terminals for Fake {
    async fn launch(&self, pending: &Pending) -> Result<LaunchReply, Unknown> {
        let mood = self.note("launch", &pending.terminal_id);
        // Others come meanwhile.
        tokio::task::yield_now().await;
        if mood == Mood::Away {
            return Err(Unknown("it does not answer".into()));
        }
        if let Some(reply) = self.of(&pending.terminal_id) {
            return Ok(reply);
        }
        match mood {
            Mood::Fails(code) => {
                let message = "it was not there".to_owned();
                Ok(self.enter(&pending.terminal_id, LaunchReply::Failed { code, message }))
            }
            Mood::Killed => {
                let session = SessionId::new("s1").unwrap();
                self.store.dispose(session, NOW).await.unwrap();
                Ok(self.spawn(pending))
            }
            Mood::AnswerLost => {
                self.spawn(pending);
                Err(Unknown("the answer was lost".into()))
            }
            Mood::Works | Mood::Away => Ok(self.spawn(pending)),
        }
    }

    async fn fate(&self, terminal: &TerminalId) -> Result<LaunchReply, Unknown> {
        match self.note("fate", terminal) {
            Mood::Away => Err(Unknown("it does not answer".into())),
            _ => Ok(self.of(terminal).unwrap_or(LaunchReply::Unheard)),
        }
    }

    async fn cancel(&self, terminal: &TerminalId) -> Result<LaunchReply, Unknown> {
        match self.note("cancel", terminal) {
            Mood::Away => Err(Unknown("it does not answer".into())),
            _ => Ok(self.of(terminal).unwrap_or_else(|| self.enter(terminal, LaunchReply::Cancelled))),
        }
    }

    fn size(&self) -> Size {
        Size::DEFAULT
    }

    async fn dispose(&self, terminal: &TerminalId) -> Result<(), Unknown> {
        match self.note("dispose", terminal) {
            Mood::Away => Err(Unknown("it does not answer".into())),
            _ => Ok(()),
        }
    }
}

pub(super) fn tid(text: &str) -> TerminalId {
    TerminalId::new(text).unwrap()
}

/// One session of a real database, and its pretended terminals.
pub(super) struct Scene {
    _dir: TempDir,
    pub(super) store: Store,
    pub(super) id: SessionId,
    pub(super) fake: Arc<Fake>,
    seq: AtomicU64,
}

impl Scene {
    /// A session whose prompted agent, in terminal `t1`, waits for input.
    pub(super) async fn alive() -> Self {
        let scene = Self::started().await;
        let (terminal, generation) = (tid("t1"), 1);
        scene.tell(Body::Prompted { terminal: terminal.clone(), generation }).await;
        scene.tell(Body::Signal { terminal, generation, signal: Signal::Ready, spool: None }).await;
        scene
    }

    /// The same, its agent killed.
    pub(super) async fn dead() -> Self {
        let scene = Self::alive().await;
        scene.dies("t1", 1).await;
        scene
    }

    /// A session whose agent was never prompted.
    pub(super) async fn started() -> Self {
        let dir = TempDir::new().unwrap();
        let store = Store::open(&dir.path().join("relight.db"), &dir.path().join("backups"), NOW).unwrap();
        let (id, task_id) = (SessionId::new("s1").unwrap(), TaskId::new("task").unwrap());
        let task = Task {
            id: task_id.clone(),
            title: "a task".into(),
            state: TaskState::Todo,
            repository_path: None,
            created_at: NOW,
            updated_at: NOW,
        };
        store.create_task(task).await.unwrap();
        let new = NewSession {
            id: id.clone(),
            task_id,
            name: "one".into(),
            agent: "demo".into(),
            executor: "local".into(),
            executor_running_id: ExecutorId::new("e1").unwrap(),
            runtime: Runtime::Local,
            agentctl_url: "unix:/nowhere".into(),
            workspace_path: "/".into(),
            worktree: None,
            auth_token: None,
            supports_session_resume: true,
            auto_resume: None,
            launch: Launch { cwd: "/".into(), prompt: Some("hello".into()), ..Launch::default() },
            now: NOW,
        };
        store.create_session(new).await.unwrap();
        let fake = Arc::new(Fake {
            store: store.clone(),
            mood: Mutex::new(Mood::Works),
            known: Mutex::default(),
            launched: Mutex::default(),
            log: Mutex::default(),
        });
        let scene = Self { _dir: dir, store, id, fake, seq: AtomicU64::new(1) };
        let first = FirstStart {
            session: scene.id.clone(),
            terminal: tid("t1"),
            token: Some(CONVERSATION.into()),
            trigger: Trigger::User,
            now: NOW,
        };
        let ClaimOutcome::Claimed(pending) = scene.store.begin_first(first).await.unwrap().value else { panic!() };
        let outcome = resume::carry_out(&scene.store, &*scene.fake, &scene.id, pending, || NOW).await.unwrap();
        assert_eq!(outcome, Outcome::Started { terminal: tid("t1"), dead: None, mode: StartMode::First });
        scene.fake.log();
        scene
    }

    /// Applies the journal's next record.
    async fn tell(&self, body: Body) {
        let record = Record {
            journal: "j".into(),
            incarnation: 1,
            seq: self.seq.fetch_add(1, Ordering::SeqCst),
            boot_ms: NOW.unsigned_abs(),
            boot_id: "boot-1".into(),
            at: NOW,
            body,
        };
        let rules = ApplyRules { max_attempts: 3, now: NOW };
        let applied = self.store.apply(self.id.clone(), record, rules).await.unwrap().value;
        assert!(matches!(applied, Applied::Applied(_)), "{applied:?}");
    }

    pub(super) async fn exits(&self, terminal: &str, generation: u32, exit: Exit, quit_input: bool) {
        let (terminal, last_line) = (tid(terminal), String::new());
        self.tell(Body::Exit { terminal, generation, exit, quit_input, failure: None, last_line }).await;
    }

    async fn dies(&self, terminal: &str, generation: u32) {
        self.exits(terminal, generation, Exit::Signal(9), false).await;
    }

    pub(super) fn order(&self, successor: &str) -> Order {
        Order {
            session: self.id.clone(),
            dead: None,
            successor: tid(successor),
            new_token: Some("conversation-new".into()),
            by: ClaimBy::Automatic,
            trigger: Trigger::Crash,
        }
    }

    pub(super) async fn restart(&self, successor: &str) -> Outcome {
        self.restart_by(self.order(successor)).await
    }

    pub(super) async fn restart_by(&self, order: Order) -> Outcome {
        resume::restart(&self.store, &*self.fake, order, || NOW).await.unwrap()
    }

    /// As the next host does.
    pub(super) async fn settle(&self) -> Outcome {
        let session = self.session().await;
        let pending = session.pending.expect("a claim is open");
        resume::settle(&self.store, &*self.fake, &self.id, session.wanted, pending, || NOW).await.unwrap()
    }

    pub(super) async fn session(&self) -> Session {
        self.store.bundle(self.id.clone()).await.unwrap().session
    }

    pub(super) async fn binding(&self, terminal: &str) -> Binding {
        let all = self.store.bindings(self.id.clone()).await.unwrap();
        all.into_iter().find(|b| b.terminal_id.as_str() == terminal).unwrap_or_else(|| panic!("no {terminal}"))
    }

    pub(super) async fn events(&self, kind: &str) -> usize {
        let events = self.store.events_after(0, None, 1_000).await.unwrap();
        events.iter().filter(|e| e.kind == kind).count()
    }

    /// The candidate is as it was before anything was tried: nothing of it was lost.
    pub(super) async fn still_candidate(&self) {
        let (session, binding) = (self.session().await, self.binding("t1").await);
        assert_eq!(binding.end_reason, Some(EndReason::TerminalExited));
        assert_eq!((binding.successor_terminal_id, binding.claimed_at), (None, None));
        assert_eq!(binding.agent_session_id.as_deref(), Some(CONVERSATION));
        assert_eq!(session.metadata.resume_token.as_deref(), Some(CONVERSATION));
        assert_eq!(session.pending, None);
        assert!(self.store.find_candidate(self.id.clone()).await.unwrap().is_some());
    }

    /// The successor is the session's agent, with the same conversation, and the dead one was consumed.
    pub(super) async fn resumed_as(&self, terminal: &str, generation: u32) {
        let (session, new, old) = (self.session().await, self.binding(terminal).await, self.binding("t1").await);
        assert_eq!(old.end_reason, Some(EndReason::Resumed));
        assert_eq!(old.successor_terminal_id, Some(tid(terminal)));
        assert_eq!((new.end_reason, new.generation), (None, generation));
        assert_eq!(new.agent_session_id.as_deref(), Some(CONVERSATION));
        assert_eq!(new.prompted_at, old.prompted_at);
        assert!(new.prompted_at.is_some());
        assert_eq!(session.agent_execution_id, Some(tid(terminal)));
        assert_eq!((session.state, session.pending), (SessionState::WaitingForInput, None));
        let dead = self.store.terminal(tid("t1")).await.unwrap().unwrap();
        assert_eq!(dead.status, TerminalStatus::Disposed);
        assert_eq!(self.events("session.resumed").await, 1);
    }
}
