//! What the tests stand on: a session's directory, launches of small shell programs, and the records that come of them.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::agentctl::journal::{Journal, Stamp};
use crate::agentctl::run::{Options, take_over};
use crate::agentctl::shared::Shared;
use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::journal::{Body, Record};
use crate::domain::launch::{Exit, ProcIdentity, Size};
use crate::domain::profile::{Profile, StatusSource};
use crate::domain::rows::StartMode;
use crate::domain::words::TerminalKind;
use crate::link::place::SessionDir;
use crate::proc::identity;
use crate::wire::agentctl::{LaunchReply, LaunchRequest};

/// Far above what anything here takes, on a machine that does much else.
pub const LONG: Duration = Duration::from_secs(30);

pub struct Bed {
    pub home: tempfile::TempDir,
}

impl Bed {
    pub fn new() -> Self {
        let bed = Self { home: tempfile::tempdir().unwrap() };
        fs::create_dir_all(bed.dir().spool_dir()).unwrap();
        bed
    }

    pub fn dir(&self) -> SessionDir {
        SessionDir::new(self.home.path(), &SessionId::new("s1").unwrap())
    }

    pub fn options(&self) -> Options {
        Options {
            session: SessionId::new("s1").unwrap(),
            dir: self.dir(),
            relight: "/nonexistent/relight".into(),
            directory: None,
            history_lines: 100,
            host: None,
        }
    }

    pub async fn start(&self) -> Arc<Shared> {
        take_over(&self.options()).await.unwrap()
    }

    /// A journal as an agentctl that died left it.
    pub fn journal(&self, bodies: Vec<Body>) {
        let (mut journal, _) = Journal::open(&self.dir().journal(), &mut |_| ()).unwrap();
        for body in bodies {
            journal.append(&Stamp { boot_ms: 5, boot_id: identity::boot_id().unwrap(), at: 0 }, body).unwrap();
        }
    }
}

/// A terminal of this test alone: tests run side by side, and a fence ends whatever carries a terminal's id.
pub fn id(text: &str) -> TerminalId {
    let thread: String = format!("{:?}", std::thread::current().id()).chars().filter(char::is_ascii_digit).collect();
    TerminalId::new(format!("{text}-{}-{thread}", std::process::id())).unwrap()
}

pub fn profile() -> Profile {
    let mut profile = Profile { name: "test".into(), agent: true, program: "/bin/sh".into(), ..Profile::default() };
    profile.status.sources = vec![StatusSource::Hook, StatusSource::Output];
    for (name, word) in [("Start", "session_start"), ("Prompt", "prompt"), ("Bye", "goodbye")] {
        profile.hooks.events.insert(name.into(), word.into());
    }
    profile.failures.login_expired = vec!["login expired".into()];
    profile
}

pub fn request(terminal: &str, epoch: u64, script: &str) -> LaunchRequest {
    LaunchRequest {
        terminal: id(terminal),
        kind: TerminalKind::Agent,
        generation: u32::try_from(epoch).unwrap(),
        epoch,
        mode: StartMode::First,
        profile: profile(),
        token: None,
        prompted: false,
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), std::env::var("PATH").unwrap()), ("HOME".into(), "/".into())],
        cwd: "/".into(),
        prompt: None,
        size: Size::DEFAULT,
        fence: vec![],
    }
}

pub fn identity_of(reply: &LaunchReply) -> ProcIdentity {
    match reply {
        LaunchReply::Spawned { identity, .. } => identity.clone(),
        other => panic!("not spawned: {other:?}"),
    }
}

pub fn records(shared: &Shared) -> Vec<Record> {
    shared.ledger.settle().unwrap();
    shared.ledger.read(0, 10_000).unwrap()
}

pub fn kinds(records: &[Record]) -> Vec<String> {
    let kind = |r: &Record| serde_json::to_value(r).unwrap()["kind"].as_str().unwrap().to_owned();
    records.iter().map(kind).collect()
}

pub async fn exit_of(shared: &Shared, terminal: &str) -> Exit {
    timeout(LONG, shared.terminal(&id(terminal)).unwrap().ended()).await.expect("its exit").unwrap()
}
