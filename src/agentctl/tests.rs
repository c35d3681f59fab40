//! Tests of a whole agentctl inside the test's process: real programs on real PTYs, a real socket, a real journal.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::facts::Fact;
use super::journal::{Journal, Stamp};
use super::kept::{self, Kept};
use super::run::{Options, take_over};
use super::shared::Shared;
use super::{ending, launch, routes};
use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::journal::{Body, Record};
use crate::domain::launch::{Exit, ProcIdentity, Size};
use crate::domain::profile::{Profile, StatusSource};
use crate::domain::rows::StartMode;
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::link;
use crate::link::agentctl::AgentctlClient;
use crate::link::endpoint::Endpoint;
use crate::link::listen::UnixListener;
use crate::link::place::SessionDir;
use crate::proc::identity;
use crate::wire::agentctl::{Feed, LaunchReply, LaunchRequest};

/// Far above what anything here takes, on a machine that does much else.
const LONG: Duration = Duration::from_secs(30);

struct Bed {
    home: tempfile::TempDir,
}

impl Bed {
    fn new() -> Self {
        let bed = Self { home: tempfile::tempdir().unwrap() };
        fs::create_dir_all(bed.dir().spool_dir()).unwrap();
        bed
    }

    fn dir(&self) -> SessionDir {
        SessionDir::new(self.home.path(), &SessionId::new("s1").unwrap())
    }

    fn options(&self) -> Options {
        Options {
            session: SessionId::new("s1").unwrap(),
            dir: self.dir(),
            relight: "/nonexistent/relight".into(),
            directory: None,
            history_lines: 100,
            host: None,
        }
    }

    async fn start(&self) -> Arc<Shared> {
        take_over(&self.options()).await.unwrap()
    }

    /// A journal as an agentctl that died left it.
    fn journal(&self, bodies: Vec<Body>) {
        let (mut journal, _) = Journal::open(&self.dir().journal(), &mut |_| ()).unwrap();
        for body in bodies {
            journal.append(&Stamp { boot_ms: 5, boot_id: identity::boot_id().unwrap(), at: 0 }, body).unwrap();
        }
    }
}

fn id(text: &str) -> TerminalId {
    TerminalId::new(text).unwrap()
}

fn profile() -> Profile {
    let mut profile = Profile { name: "test".into(), agent: true, program: "/bin/sh".into(), ..Profile::default() };
    profile.status.sources = vec![StatusSource::Hook, StatusSource::Output];
    for (name, word) in [("Start", "session_start"), ("Prompt", "prompt"), ("Bye", "goodbye")] {
        profile.hooks.events.insert(name.into(), word.into());
    }
    profile.failures.login_expired = vec!["login expired".into()];
    profile
}

fn request(terminal: &str, epoch: u64, script: &str) -> LaunchRequest {
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

fn identity_of(reply: &LaunchReply) -> ProcIdentity {
    match reply {
        LaunchReply::Spawned { identity, .. } => identity.clone(),
        other => panic!("not spawned: {other:?}"),
    }
}

fn records(shared: &Shared) -> Vec<Record> {
    shared.ledger.settle().unwrap();
    shared.ledger.read(0, 10_000).unwrap()
}

fn kinds(records: &[Record]) -> Vec<String> {
    let kind = |r: &Record| serde_json::to_value(r).unwrap()["kind"].as_str().unwrap().to_owned();
    records.iter().map(kind).collect()
}

async fn exit_of(shared: &Shared, terminal: &str) -> Exit {
    timeout(LONG, shared.terminal(&id(terminal)).unwrap().ended()).await.expect("its exit").unwrap()
}

#[tokio::test]
async fn a_launch_happens_once_and_a_second_agent_is_refused() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let first = launch::launch(&shared, request("t1", 1, "exec sleep 1000")).await.unwrap();
    let again = launch::launch(&shared, request("t1", 1, "exec sleep 1000")).await.unwrap();
    assert_eq!(identity_of(&first), identity_of(&again));
    assert_eq!(kinds(&records(&shared)).iter().filter(|k| *k == "intent").count(), 1);
    let refused = launch::launch(&shared, request("t2", 2, "exec sleep 1000")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::AgentRunning);

    let closed = ending::close(&shared, &id("t1")).await.unwrap();
    assert_eq!((closed.exit, closed.ended), (Some(Exit::Signal(15)), 1));
    assert!(!identity::alive(&identity_of(&first)));
    let stale = launch::launch(&shared, request("t2", 1, "exec sleep 1000")).await.unwrap_err();
    assert_eq!(stale.code, ErrorCode::StaleEpoch);
    let dead = launch::fate(&shared, &id("t1")).await;
    assert!(matches!(dead, LaunchReply::Spawned { exit: Some(Exit::Signal(15)), .. }), "{dead:?}");

    assert_eq!(launch::cancel(&shared, &id("t3")).await.unwrap(), LaunchReply::Cancelled);
    let buried = launch::launch(&shared, request("t3", 3, "exec sleep 1000")).await.unwrap();
    assert_eq!(buried, LaunchReply::Cancelled);
    assert_eq!(launch::fate(&shared, &id("t4")).await, LaunchReply::Unheard);

    let second = launch::launch(&shared, request("t2", 2, "exec sleep 1000")).await.unwrap();
    assert_eq!(launch::cancel(&shared, &id("t2")).await.unwrap(), second, "it is too late to call it off");
    ending::close(&shared, &id("t2")).await.unwrap();
}

#[tokio::test]
async fn two_launches_of_one_id_at_once_start_one_program() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let launches = (0..8).map(|_| launch::launch(&shared, request("t1", 1, "exec sleep 1000")));
    let replies: Vec<_> = futures_util::future::join_all(launches).await.into_iter().map(Result::unwrap).collect();
    assert!(replies.iter().all(|reply| identity_of(reply) == identity_of(&replies[0])));
    ending::close(&shared, &id("t1")).await.unwrap();
}

#[tokio::test]
async fn a_launch_that_cannot_happen_says_why_and_never_does() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let mut missing = request("t1", 1, "");
    missing.profile.program = "no-such-agent-anywhere".into();
    let check = |reply, want| match reply {
        LaunchReply::Failed { code, message } => {
            assert_eq!(code, want, "{message}");
            message
        }
        other => panic!("{other:?}"),
    };
    let said = check(launch::launch(&shared, missing).await.unwrap(), ErrorCode::AgentNotFound);
    assert!(said.contains("no-such-agent-anywhere"), "{said}");
    check(launch::launch(&shared, request("t1", 1, "true")).await.unwrap(), ErrorCode::AgentNotFound);
    let mut nowhere = request("t2", 1, "true");
    nowhere.cwd = "/no/such/directory".into();
    check(launch::launch(&shared, nowhere).await.unwrap(), ErrorCode::DirectoryMissing);
    let mut resume = request("t3", 1, "true");
    resume.mode = StartMode::Resume;
    check(launch::launch(&shared, resume).await.unwrap(), ErrorCode::ResumeUnsupported);
    drop(shared);
    let shared = bed.start().await;
    check(launch::fate(&shared, &id("t1")).await, ErrorCode::AgentNotFound);
    identity_of(&launch::launch(&shared, request("t4", 1, "true")).await.unwrap());
}

#[tokio::test]
async fn an_end_is_told_with_its_code_and_its_hooks_come_first() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let spool = bed.dir().spool(&id("t1"));
    let bye = r#"{"hook_event_name":"Bye","reason":"quit"}"#;
    let script = format!("echo '{bye}' >> {}; exit 3", spool.display());
    launch::launch(&shared, request("t1", 1, &script)).await.unwrap();
    assert_eq!(exit_of(&shared, "t1").await, Exit::Code(3));
    let kinds = kinds(&records(&shared));
    let at = |kind: &str| kinds.iter().position(|k| k == kind);
    assert!(at("goodbye").is_some() && at("goodbye") < at("exit"), "{kinds:?}");
}

#[tokio::test]
async fn everything_ends_after_the_word_and_before_the_last_record() {
    let bed = Bed::new();
    let shared = bed.start().await;
    launch::launch(&shared, request("t1", 1, "trap 'exit 0' TERM; while :; do sleep 0.05; done")).await.unwrap();
    let mut shell = request("t2", 0, "");
    (shell.kind, shell.args) = (TerminalKind::Shell, vec!["-c".into(), "sleep 1000".into()]);
    let shell = launch::launch(&shared, shell).await.unwrap();
    ending::end(&shared, "SIGTERM").await;
    assert!(!identity::alive(&identity_of(&shell)));
    let kinds = kinds(&records(&shared));
    let word = kinds.iter().position(|k| k == "told_to_end").unwrap();
    let exits: Vec<usize> = kinds.iter().enumerate().filter(|(_, k)| *k == "exit").map(|(i, _)| i).collect();
    assert_eq!(exits.len(), 2, "{kinds:?}");
    assert!(exits.iter().all(|exit| *exit > word), "{kinds:?}");
    let late = launch::launch(&shared, request("t3", 2, "true")).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::ShuttingDown);
    let shared = bed.start().await;
    assert!(!self::kinds(&records(&shared)).contains(&"supervisor_lost".to_owned()), "that was a clean end");
}

fn intent(terminal: &str) -> Body {
    Body::Intent { terminal: id(terminal), terminal_kind: TerminalKind::Agent, generation: 1, epoch: 1 }
}

fn spawned(terminal: &str, identity: ProcIdentity) -> Body {
    let terminal = id(terminal);
    Body::Spawned { terminal, terminal_kind: TerminalKind::Agent, generation: 1, identity, token: Some("tok".into()) }
}

fn keep(dir: &SessionDir, terminal: &str) {
    let kept = Kept {
        kind: TerminalKind::Agent,
        generation: 1,
        mode: StartMode::First,
        token: Some("tok".into()),
        prompted: false,
        cwd: "/".into(),
        profile: profile(),
    };
    kept::write(dir, &id(terminal), &kept).unwrap();
}

/// A program such as a dead agentctl leaves: in a session of its own, deaf to SIGHUP and SIGTERM.
#[expect(clippy::disallowed_types, reason = "real processes are what is tested")]
fn left_over(terminal: &str, ready: &Path) -> (std::process::Child, ProcIdentity) {
    let script = format!("trap '' HUP TERM; : > {}; while :; do sleep 0.05; done", ready.display());
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &script]).env("RELIGHT_TERMINAL", terminal).process_group(0);
    let child = command.spawn().unwrap();
    let until = std::time::Instant::now() + LONG;
    while !ready.exists() {
        assert!(std::time::Instant::now() < until, "the left-over program does not start");
        std::thread::yield_now();
    }
    let identity = identity::of(i32::try_from(child.id()).unwrap()).unwrap().unwrap();
    (child, identity)
}

#[tokio::test]
async fn what_a_dead_agentctl_left_is_ended_and_told() {
    let bed = Bed::new();
    let (mut known, known_as) = left_over("crash-spawned", &bed.home.path().join("a"));
    let (mut unsaid, unsaid_as) = left_over("crash-unsaid", &bed.home.path().join("b"));
    bed.journal(vec![
        intent("crash-spawned"),
        spawned("crash-spawned", known_as.clone()),
        intent("crash-unsaid"),
        intent("crash-never"),
    ]);
    keep(&bed.dir(), "crash-spawned");
    let mut spool = fs::File::options().create(true).append(true).open(bed.dir().spool(&id("crash-spawned"))).unwrap();
    writeln!(spool, r#"{{"hook_event_name":"Prompt","session_id":"tok"}}"#).unwrap();
    let shared = bed.start().await;
    assert!(!identity::alive(&known_as) && !identity::alive(&unsaid_as), "both are ended");
    let lived = |reply| matches!(reply, LaunchReply::Spawned { exit: Some(Exit::Unknown), .. });
    assert!(lived(launch::fate(&shared, &id("crash-spawned")).await));
    let found = launch::fate(&shared, &id("crash-unsaid")).await;
    assert_eq!(identity_of(&found), unsaid_as, "it had been started, so that is what is told");
    assert!(lived(found));
    let never = launch::fate(&shared, &id("crash-never")).await;
    assert!(matches!(never, LaunchReply::Failed { code: ErrorCode::Cancelled, .. }), "{never:?}");
    let told = records(&shared);
    let kinds = kinds(&told);
    let at = |kind: &str| kinds.iter().position(|k| k == kind).unwrap_or_else(|| panic!("{kind} in {kinds:?}"));
    assert!(at("prompted") < at("supervisor_lost") && at("supervisor_lost") < at("exit"), "{kinds:?}");
    assert!(at("exit") < at("supervisor_started"), "{kinds:?}");
    let lost = &told[at("supervisor_lost")];
    assert_eq!(lost.body, Body::SupervisorLost { incarnation: 1, last_boot_ms: 5, rebooted: false });
    assert_eq!(lost.incarnation, 2);
    assert!(told.iter().zip(1..).all(|(record, seq)| record.seq == seq), "without a gap");
    known.wait().unwrap();
    unsaid.wait().unwrap();

    let before = told.len();
    drop(shared);
    let shared = bed.start().await;
    assert_eq!(self::kinds(&records(&shared)[before..]), ["supervisor_lost", "supervisor_started"], "told once");
}

#[tokio::test]
async fn a_hook_that_nobody_read_is_read_by_the_next_one() {
    let bed = Bed::new();
    let dir = bed.dir();
    let dead = ProcIdentity { boot_id: "another boot".into(), pid: 1, start_time: 1 };
    bed.journal(vec![intent("t1"), spawned("t1", dead)]);
    keep(&dir, "t1");
    let mut spool = fs::File::options().create(true).append(true).open(dir.spool(&id("t1"))).unwrap();
    writeln!(spool, r#"{{"hook_event_name":"Prompt","session_id":"tok"}}"#).unwrap();
    let shared = bed.start().await;
    let fact = |shared: &Shared| -> Fact { shared.ledger.facts(|f| f.terminal(&id("t1")).cloned()).unwrap() };
    assert!(fact(&shared).prompted && fact(&shared).exit == Some(Exit::Unknown));
    let first = kinds(&records(&shared));
    assert_eq!(first.iter().filter(|k| *k == "prompted").count(), 1);
    drop(shared);
    writeln!(spool, r#"{{"hook_event_name":"Bye","session_id":"tok","reason":"late"}}"#).unwrap();
    let shared = bed.start().await;
    let second = kinds(&records(&shared));
    assert_eq!(second.iter().filter(|k| *k == "prompted").count(), 1, "{second:?}");
    assert_eq!(second.iter().filter(|k| *k == "goodbye").count(), 1, "{second:?}");
}

#[tokio::test]
async fn one_session_has_one_agentctl() {
    let bed = Bed::new();
    let _held = crate::proc::lock::LockFile::try_take(&bed.dir().lock()).unwrap().unwrap();
    let error = super::run(bed.options()).await.unwrap_err();
    assert!(matches!(error, super::error::Error::Held { .. }), "{error}");
    assert!(error.to_string().contains(&format!("pid {}", std::process::id())), "{error}");
    assert!(!bed.dir().journal().exists(), "the journal is the holder's");
}

struct Served {
    client: AgentctlClient,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn serve(bed: &Bed, shared: &Arc<Shared>) -> Served {
    let listener = UnixListener::bind(&bed.dir().socket()).unwrap();
    let router = routes::router(Arc::clone(shared));
    let task = tokio::spawn(link::server::serve(listener, router, std::future::pending()));
    Served { client: AgentctlClient::new(Endpoint::Unix(bed.dir().socket()), None), task }
}

#[tokio::test]
async fn a_feed_gives_everything_once_and_in_order_while_it_happens() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let served = serve(&bed, &shared);
    for n in 0..300 {
        shared.ledger.record(Body::Cancelled { terminal: id(&format!("c{n}")) }).unwrap();
    }
    let mut feed = served.client.feed(5).await.unwrap();
    let writer = Arc::clone(&shared);
    let writing = tokio::spawn(async move {
        for n in 0..100 {
            writer.ledger.note(Body::ExitSettled { terminal: id(&format!("s{n}")) });
            tokio::task::yield_now().await;
        }
    });
    let (mut next, mut caught_up) = (6, false);
    while next <= 401 {
        match timeout(LONG, feed.next()).await.expect("a record").unwrap() {
            Feed::Record(record) => {
                assert_eq!(record.seq, next);
                next += 1;
            }
            Feed::CaughtUp { seq } => {
                assert!(seq >= 301 && next > seq, "{seq} at {next}");
                caught_up = true;
            }
            Feed::Activity(_) => {}
        }
    }
    assert!(caught_up);
    writing.await.unwrap();
    let (half, _) = (served.client.journal(301).await.unwrap(), ());
    assert_eq!((half.len(), half[0].seq), (100, 302));
}

#[tokio::test]
async fn the_interface_answers_and_refuses_with_words() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let served = serve(&bed, &shared);
    let client = &served.client;
    client.launch(&request("t1", 1, "exec sleep 1000")).await.unwrap();
    let health = client.health().await.unwrap();
    assert_eq!((health.session_id.as_str(), health.incarnation, health.terminals.len()), ("s1", 1, 1));
    assert_eq!(health.journal_seq, shared.ledger.seq());
    client.resize(&id("t1"), Size { cols: 100, rows: 30 }).await.unwrap();
    let mut seen = shared.terminal(&id("t1")).unwrap().seen.clone();
    timeout(LONG, seen.wait_for(|seen| seen.size.cols == 100)).await.expect("the new size").unwrap();
    let remote = |error: link::Error| match error {
        link::Error::Remote(error) => error.code,
        other => panic!("{other}"),
    };
    assert_eq!(remote(client.capture(&id("t9"), 0, false).await.unwrap_err()), ErrorCode::TerminalNotFound);
    assert_eq!(remote(client.close(&id("t9")).await.unwrap_err()), ErrorCode::TerminalNotFound);
    assert!(client.stream(&id("t9")).await.is_err());
    client.workspace("/workspace/tree?path=").await.unwrap();
    assert_eq!(client.close(&id("t1")).await.unwrap().exit, Some(Exit::Signal(15)));
    assert_eq!(client.terminals().await.unwrap().len(), 0);
    client.hooks().await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(remote(client.launch(&request("t2", 2, "true")).await.unwrap_err()), ErrorCode::ShuttingDown);
}
