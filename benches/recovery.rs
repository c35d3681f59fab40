//! How fast sessions come back: a claim under 50 concurrent callers, death → first output of the resumed agent, start of the
//! host → 100 live sessions adopted. Run with `cargo bench`; every agent is the demo agent, every process and disk write real.

#![allow(missing_docs, reason = "criterion's macros write functions")]
#![allow(clippy::expect_used, clippy::disallowed_methods, reason = "a benchmark that cannot run says so and ends")]

mod instance;

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use relight::domain::ids::{ExecutorId, SessionId, TaskId, TerminalId};
use relight::domain::launch::Launch;
use relight::domain::rows::Task;
use relight::domain::words::{Runtime, TaskState, Trigger};
use relight::link::host::{HostEvents, HostItem};
use relight::store::{Adopt, Adopted, ClaimBy, ClaimOutcome, ClaimRequest, NewSession, Store};
use relight::wire::host::{Attach, Attached, HostStatus, Send, Sent};
use serde_json::{Value, json};

use instance::{Instance, PATIENCE, runtime};

/// Callers of one claim at the same time.
const CALLERS: usize = 50;
/// Live sessions that a new host adopts.
const SESSIONS: usize = 100;
fn id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// One candidate, as an adopted conversation makes it.
async fn candidate(store: &Store) -> SessionId {
    let task = Task {
        id: TaskId::new(id()).expect("an id"),
        title: "bench".into(),
        state: TaskState::Todo,
        repository_path: None,
        created_at: 1,
        updated_at: 1,
    };
    let task = store.create_task(task).await.expect("a task").value;
    let session = NewSession {
        id: SessionId::new(id()).expect("an id"),
        task_id: task.id,
        name: "bench".into(),
        agent: "demo".into(),
        executor: "local".into(),
        executor_running_id: ExecutorId::new(id()).expect("an id"),
        runtime: Runtime::Local,
        agentctl_url: "unix:/nowhere".into(),
        workspace_path: "/".into(),
        worktree: None,
        auth_token: None,
        supports_session_resume: true,
        auto_resume: None,
        launch: Launch::default(),
        now: 1,
    };
    let adopt = Adopt { session, terminal: TerminalId::new(id()).expect("an id"), token: id() };
    match store.adopt(adopt).await.expect("an adopted conversation").value {
        Adopted::Seeded(made) => made.session.id,
        Adopted::AlreadyBound(other) => other,
    }
}

fn claims(c: &mut Criterion) {
    let tokio = runtime();
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(&dir.path().join("bench.db"), &dir.path().join("backups"), 1).expect("a database");
    c.bench_function("claim: all of 50 concurrent callers answered", |b| {
        b.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                let session = tokio.block_on(candidate(&store));
                let begin = Instant::now();
                let won = tokio.block_on(async {
                    let mut calls = tokio::task::JoinSet::new();
                    for _ in 0..CALLERS {
                        let (store, session) = (store.clone(), session.clone());
                        calls.spawn(async move {
                            let request = ClaimRequest {
                                session,
                                dead: None,
                                successor: TerminalId::new(id()).expect("an id"),
                                new_token: None,
                                by: ClaimBy::Automatic,
                                trigger: Trigger::Crash,
                                now: 2,
                            };
                            matches!(store.claim(request).await.expect("an answer").value, ClaimOutcome::Claimed(_))
                        });
                    }
                    calls.join_all().await.into_iter().filter(|won| *won).count()
                });
                spent += begin.elapsed();
                assert_eq!(won, 1, "one claim wins");
            }
            spent
        });
    });
}

fn death(c: &mut Criterion) {
    let instance = Instance::new();
    let (client, mut events) = instance.connect();
    let made = instance.session(&client, "demo", &[]);
    let session = made.session_id.as_str().to_owned();
    let attach = Attach { session: Some(session.clone()), terminal: None, size: None };
    let _: Attached = instance.call(&client, "terminal.attach", attach);
    let mut group = c.benchmark_group("resume");
    group.sample_size(10);
    let mut round = 0_u64;
    group.bench_function("death → first output of the resumed agent", |b| {
        b.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                // A completed turn: the agent has settled, so that its death is the first one again.
                round += 1;
                let text = format!("remember BENCH-{round}");
                let _: Sent = instance.call(
                    &client,
                    "session.send",
                    Send { session: session.clone(), text, enter: true, queue: false },
                );
                let answered = format!("I will remember BENCH-{round}.");
                let begin = Instant::now();
                loop {
                    let captured: Value =
                        instance.call(&client, "session.capture", json!({"session": session, "history": 200}));
                    if captured.to_string().contains(&answered) {
                        break;
                    }
                    assert!(begin.elapsed() < PATIENCE, "no answer: {captured}");
                }
                let pid = loop {
                    let line = instance.line(&client);
                    if let (Some(pid), "WAITING_FOR_INPUT") = (line.pid, line.state.as_str()) {
                        break pid;
                    }
                };
                let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
                let begin = Instant::now();
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("the agent is ours");
                let shown = async { tokio::time::timeout(PATIENCE, first_output(&mut events, round)).await };
                instance.block_on(shown).expect("the resumed agent shows its recap");
                spent += begin.elapsed();
            }
            spent
        });
    });
    group.finish();
}

/// The first frame of the resumed agent: its recap counts the messages of the conversation, two for each round.
async fn first_output(events: &mut HostEvents, round: u64) {
    let recap = format!(", {} messages", 2 * round);
    loop {
        match events.next().await {
            HostItem::Frame { frame, .. } if String::from_utf8_lossy(&frame.vt).contains(&recap) => return,
            HostItem::Closed(why) => assert!(why.is_empty(), "the host closed: {why}"),
            _ => {}
        }
    }
}

fn adoption(c: &mut Criterion) {
    let instance = Instance::new();
    let (client, _events) = instance.connect();
    for _ in 0..SESSIONS {
        instance.session(&client, "demo", &[]);
    }
    let mut group = c.benchmark_group("host");
    group.sample_size(10);
    group.bench_function("start → 100 live sessions adopted", |b| {
        b.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                let (client, _events) = instance.connect();
                let status: HostStatus = instance.call(&client, "host.status", json!({}));
                let pid = rustix::process::Pid::from_raw(status.hello.identity.pid).expect("a pid");
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("the host is ours");
                let begin = Instant::now();
                assert!(
                    instance.relight(&["host", "start"]).status().expect("relight runs").success(),
                    "the host starts"
                );
                let (client, _events) = instance.connect();
                loop {
                    let status: HostStatus = instance.call(&client, "host.status", json!({}));
                    if !status.recovering && status.agents as usize == SESSIONS {
                        break;
                    }
                    assert!(begin.elapsed() < PATIENCE, "not adopted: {status:?}");
                }
                spent += begin.elapsed();
            }
            spent
        });
    });
    group.finish();
}

criterion_group!(benches, claims, death, adoption);
criterion_main!(benches);
