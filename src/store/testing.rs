//! Shared by this room's tests: a store on a real file, and short ways to bring a session into a state.
#![expect(clippy::disallowed_methods, reason = "the claim itself is what is tested")]

use std::path::PathBuf;

use tempfile::TempDir;

use crate::domain::ids::{ExecutorId, SessionId, TaskId, TerminalId};
use crate::domain::journal::{Body, Record, Signal};
use crate::domain::launch::{Exit, Launch, ProcIdentity, Size};
use crate::domain::rows::{Binding, Millis, Session, Task};
use crate::domain::words::{EndReason, ErrorCode, Runtime, TaskState, TerminalKind, Trigger};

use super::apply::{Applied, ApplyRules, Change};
use super::bundles::Bundle;
use super::claim::{ClaimBy, ClaimOutcome, ClaimRequest, FirstStart};
use super::confirm::{Confirm, ConfirmOutcome};
use super::sessions::NewSession;
use super::tx::Committed;
use super::unclaim::{Unclaim, UnclaimOutcome};
use super::worker::Store;

/// A session id.
pub(super) fn sid(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

/// A terminal id.
pub(super) fn tid(text: &str) -> TerminalId {
    TerminalId::new(text).unwrap()
}

/// A task id.
pub(super) fn task_id() -> TaskId {
    TaskId::new("task-1").unwrap()
}

/// Deaths that make a crash loop, in tests.
pub(super) const MAX_ATTEMPTS: u32 = 3;

/// A store on a file, with a clock and a journal that the test moves.
pub(super) struct Bench {
    pub(super) store: Store,
    pub(super) dir: TempDir,
    pub(super) now: Millis,
    pub(super) boot: &'static str,
    pub(super) incarnation: u32,
    pub(super) seqs: std::collections::BTreeMap<SessionId, u64>,
}

impl Bench {
    /// An empty database with one task.
    pub(super) async fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let store = Store::open(&dir.path().join("relight.db"), &dir.path().join("backups"), 1).unwrap();
        let task = Task {
            id: task_id(),
            title: "a task".into(),
            state: TaskState::Todo,
            repository_path: None,
            created_at: 1,
            updated_at: 1,
        };
        store.create_task(task).await.unwrap();
        let (now, seqs) = (1_000_000, std::collections::BTreeMap::new());
        Self { store, dir, now, boot: "boot-1", incarnation: 1, seqs }
    }

    /// Its file.
    pub(super) fn path(&self) -> PathBuf {
        self.dir.path().join("relight.db")
    }

    /// A second handle with a connection of its own.
    pub(super) fn second(&self) -> Store {
        Store::open(&self.path(), &self.dir.path().join("backups"), 2).unwrap()
    }

    /// What makes a session of this id.
    pub(super) fn new_session(&self, id: &str) -> NewSession {
        NewSession {
            id: sid(id),
            task_id: task_id(),
            name: id.to_owned(),
            agent: "demo".into(),
            executor: "local".into(),
            executor_running_id: ExecutorId::new(format!("x-{id}")).unwrap(),
            runtime: Runtime::Local,
            agentctl_url: format!("unix:/tmp/{id}.sock"),
            workspace_path: "/tmp".into(),
            worktree: None,
            auth_token: None,
            supports_session_resume: true,
            auto_resume: None,
            launch: Launch { cwd: "/tmp".into(), prompt: Some("hello".into()), ..Launch::default() },
            now: self.now,
        }
    }

    /// A session with a live first agent in terminal `ID-1`, not prompted, without token.
    pub(super) async fn started(&mut self, id: &str) -> SessionId {
        self.store.create_session(self.new_session(id)).await.unwrap();
        let terminal = tid(&format!("{id}-1"));
        let first = FirstStart {
            session: sid(id),
            terminal: terminal.clone(),
            token: None,
            trigger: Trigger::User,
            now: self.now,
        };
        let ClaimOutcome::Claimed(pending) = self.store.begin_first(first).await.unwrap().value else { panic!() };
        self.spawned(id, &terminal, 1).await;
        assert_eq!(self.confirm(id, &terminal, pending.epoch).await.value, ConfirmOutcome::Confirmed);
        sid(id)
    }

    /// The same, prompted, with token `tok-ID`, waiting for input.
    pub(super) async fn prompted(&mut self, id: &str) -> SessionId {
        let session = self.started(id).await;
        let terminal = tid(&format!("{id}-1"));
        let token = format!("tok-{id}");
        let source = "hook".to_owned();
        self.tell(id, Body::Token { terminal: terminal.clone(), generation: 1, token, source }).await;
        self.tell(id, Body::Prompted { terminal: terminal.clone(), generation: 1 }).await;
        self.signal(id, &terminal, 1, Signal::Ready).await;
        session
    }

    /// The same, its agent killed: a candidate.
    pub(super) async fn dead(&mut self, id: &str) -> SessionId {
        let session = self.prompted(id).await;
        self.exit(id, &tid(&format!("{id}-1")), 1, Exit::Signal(9)).await;
        session
    }

    /// The next record of the session's journal.
    pub(super) fn record(&mut self, id: &str, body: Body) -> Record {
        let seq = self.seqs.entry(sid(id)).or_default();
        *seq += 1;
        Record {
            journal: format!("j-{id}"),
            incarnation: self.incarnation,
            seq: *seq,
            boot_ms: self.now.unsigned_abs(),
            boot_id: self.boot.to_owned(),
            at: self.now,
            body,
        }
    }

    /// Applies it; it must be applied.
    pub(super) async fn tell(&mut self, id: &str, body: Body) -> Change {
        let record = self.record(id, body);
        match self.apply(id, record).await.value {
            Applied::Applied(change) => change,
            other => panic!("not applied: {other:?}"),
        }
    }

    /// Applies a record.
    pub(super) async fn apply(&self, id: &str, record: Record) -> Committed<Applied> {
        let rules = ApplyRules { max_attempts: MAX_ATTEMPTS, now: self.now };
        self.store.apply(sid(id), record, rules).await.unwrap()
    }

    /// A signal of an agent.
    pub(super) async fn signal(&mut self, id: &str, terminal: &TerminalId, generation: u32, signal: Signal) -> Change {
        self.tell(id, Body::Signal { terminal: terminal.clone(), generation, signal, spool: None }).await
    }

    /// An exit.
    pub(super) fn exit_body(terminal: &TerminalId, generation: u32, exit: Exit) -> Body {
        Body::Exit {
            terminal: terminal.clone(),
            generation,
            exit,
            quit_input: false,
            failure: None,
            last_line: String::new(),
        }
    }

    /// An exit of an agent, told.
    pub(super) async fn exit(&mut self, id: &str, terminal: &TerminalId, generation: u32, exit: Exit) -> Change {
        self.tell(id, Self::exit_body(terminal, generation, exit)).await
    }

    /// The journal tells of a launch.
    pub(super) async fn spawned(&mut self, id: &str, terminal: &TerminalId, generation: u32) {
        let body = Body::Spawned {
            terminal: terminal.clone(),
            terminal_kind: TerminalKind::Agent,
            generation,
            identity: identity(generation),
            token: None,
        };
        self.tell(id, body).await;
    }

    /// Confirms a launch.
    pub(super) async fn confirm(&self, id: &str, terminal: &TerminalId, epoch: u64) -> Committed<ConfirmOutcome> {
        let confirm = Confirm {
            session: sid(id),
            terminal: terminal.clone(),
            epoch,
            identity: identity(epoch as u32),
            token: None,
            size: Size::DEFAULT,
            now: self.now,
        };
        self.store.confirm(confirm).await.unwrap()
    }

    /// A claim.
    pub(super) fn request(&self, id: &str, successor: &str, by: ClaimBy) -> ClaimRequest {
        ClaimRequest {
            session: sid(id),
            dead: None,
            successor: tid(successor),
            new_token: None,
            by,
            trigger: Trigger::Crash,
            now: self.now,
        }
    }

    /// Claims.
    pub(super) async fn claim(&self, id: &str, successor: &str, by: ClaimBy) -> ClaimOutcome {
        self.store.claim(self.request(id, successor, by)).await.unwrap().value
    }

    /// Claims, spawns and confirms; the generation of the successor.
    pub(super) async fn resume(&mut self, id: &str, successor: &str) -> u32 {
        let outcome = self.claim(id, successor, ClaimBy::Automatic).await;
        let ClaimOutcome::Claimed(pending) = outcome else { panic!("not claimed: {outcome:?}") };
        self.spawned(id, &pending.terminal_id, pending.generation).await;
        assert_eq!(self.confirm(id, &pending.terminal_id, pending.epoch).await.value, ConfirmOutcome::Confirmed);
        pending.generation
    }

    /// Takes a claim back.
    pub(super) async fn unclaim(&self, id: &str, successor: &str, epoch: u64) -> Committed<UnclaimOutcome> {
        let unclaim = Unclaim {
            session: sid(id),
            successor: tid(successor),
            epoch,
            code: ErrorCode::LaunchFailed,
            message: "it was\nnot there".into(),
            hold: None,
            not_before: None,
            now: self.now,
        };
        self.store.unclaim(unclaim).await.unwrap()
    }

    /// Session, newest binding and the rest.
    pub(super) async fn bundle(&self, id: &str) -> Bundle {
        self.store.bundle(sid(id)).await.unwrap()
    }

    /// The session.
    pub(super) async fn session(&self, id: &str) -> Session {
        self.bundle(id).await.session
    }

    /// The newest binding.
    pub(super) async fn newest(&self, id: &str) -> Binding {
        self.bundle(id).await.newest.unwrap()
    }

    /// Reason of the newest binding.
    pub(super) async fn reason(&self, id: &str) -> Option<EndReason> {
        self.newest(id).await.end_reason
    }

    /// Changes the file behind the store's back.
    pub(super) fn sql(&self, sql: &str) {
        let conn = rusqlite::Connection::open(self.path()).unwrap();
        conn.execute_batch(sql).unwrap();
    }

    /// Reads one text, or none, from the file behind the store's back.
    pub(super) fn text(&self, sql: &str) -> Option<String> {
        let conn = rusqlite::Connection::open(self.path()).unwrap();
        conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

/// A process.
pub(super) fn identity(number: u32) -> ProcIdentity {
    ProcIdentity { boot_id: "boot-1".into(), pid: 1000 + number as i32, start_time: u64::from(number) }
}
