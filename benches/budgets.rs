//! What relight costs: memory and wake-ups of agentctl and host, the time to the first screen and to the first picture of a
//! terminal. `cargo bench --bench budgets` prints each figure beside its budget; nothing fails when one is over it.

#![allow(missing_docs, reason = "a program, not a library")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_types,
    reason = "a benchmark prints, and one that cannot run says so and ends"
)]

mod client;
mod instance;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use relight::domain::ids::{SessionId, TerminalId};
use relight::domain::launch::Size;
use relight::domain::profile::Profile;
use relight::domain::rows::StartMode;
use relight::domain::words::TerminalKind;
use relight::link::agentctl::AgentctlClient;
use relight::link::endpoint::Endpoint;
use relight::link::host::HostItem;
use relight::link::place::SessionDir;
use relight::wire::agentctl::{LaunchReply, LaunchRequest};
use relight::wire::host::{Attach, Attached};
use serde_json::{Value, json};
use tokio::runtime::Runtime as Tokio;

use client::Screen;
use instance::{Instance, PATIENCE, RELIGHT, rest, runtime, until};

/// Sessions of the host whose memory is measured.
const SESSIONS: usize = 100;
/// Rounds of what is timed.
const ROUNDS: usize = 20;
/// How long idle processes are watched.
const WATCH: Duration = Duration::from_secs(10);
/// Prints the lines of history that the budgets name, 80 columns wide, and stays.
const PRINT: &str = "seq -f %080g 10000; exec sleep 100000";
/// The last of them.
const LAST: &str = "0000010000";
/// Budgets in KiB and milliseconds.
const AGENTCTL_KIB: u64 = 6 * 1024;
const HOST_KIB: u64 = 15 * 1000;
const SCREEN_MS: f64 = 60.0;
const SCREEN_COLD_MS: f64 = 150.0;
const ATTACH_MS: f64 = 30.0;
const KEY_MS: f64 = 16.0;

fn main() {
    // `cargo test --benches` asks whether it starts; `cargo bench` says `--bench`.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let parts: [(&str, fn()); 5] =
        [("agentctl", agentctl), ("host", host), ("screen", screen), ("keys", keys), ("attach", attach)];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            part();
        }
    }
}

/// Memory of a process in KiB.
struct Memory {
    pss: u64,
    rss: u64,
    private: u64,
}

fn memory(pid: i32) -> Memory {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("a living process of ours");
    let fields: BTreeMap<&str, u64> = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter_map(|(name, rest)| Some((name, rest.split_whitespace().next()?.parse().ok()?)))
        .collect();
    let field = |name| fields.get(name).copied().unwrap_or_default();
    Memory { pss: field("Pss"), rss: field("Rss"), private: field("Private_Clean") + field("Private_Dirty") }
}

fn tell_memory(what: &str, pid: i32, budget: Option<u64>) {
    let Memory { pss, rss, private } = memory(pid);
    let held = budget.map_or_else(String::new, |most| format!(" (budget {most} KiB) {}", verdict(pss <= most)));
    println!("{what}: PSS {pss} KiB, RSS {rss} KiB, private {private} KiB{held}");
}

fn verdict(holds: bool) -> &'static str {
    if holds { "ok" } else { "OVER" }
}

/// Voluntary context switches of each thread so far: how often it went to sleep, so how often it woke up.
fn switches(pid: i32) -> BTreeMap<PathBuf, u64> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("a living process of ours");
    let of = |path: PathBuf| {
        let text = fs::read_to_string(path.join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or_default()
    };
    threads.flatten().map(|thread| (thread.path(), of(thread.path()))).collect()
}

/// Watches processes that have nothing to do.
fn tell_wakeups(whats: &[(&str, Vec<i32>)]) {
    let count = |pids: &[i32]| -> BTreeMap<PathBuf, u64> { pids.iter().flat_map(|pid| switches(*pid)).collect() };
    let before: Vec<_> = whats.iter().map(|(_, pids)| count(pids)).collect();
    rest(WATCH);
    for ((what, pids), before) in whats.iter().zip(before) {
        // A thread that has ended since woke up for it, at the most once.
        let after = count(pids);
        let ended = before.keys().filter(|thread| !after.contains_key(*thread)).count() as u64;
        let since = |(thread, n): (&PathBuf, &u64)| n - before.get(thread).unwrap_or(&0);
        let woke = ended + after.iter().map(since).sum::<u64>();
        println!(
            "{what}: {woke} wake-ups of {} processes in {} s (budget 0) {}",
            pids.len(),
            WATCH.as_secs(),
            verdict(woke == 0)
        );
    }
}

/// Prints the middle and the worst of some times.
fn tell_times(what: &str, mut times: Vec<Duration>, budget: f64) {
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let middle = ms(times[times.len() / 2]);
    let (best, worst) = (ms(times[0]), ms(times[times.len() - 1]));
    println!(
        "{what}: median {middle:.1} ms, {best:.1} to {worst:.1} ms in {} rounds (budget {budget:.0} ms) {}",
        times.len(),
        verdict(middle <= budget)
    );
}

/// An agentctl without a host.
struct Alone {
    dir: tempfile::TempDir,
    child: Child,
    tokio: Tokio,
    client: AgentctlClient,
}

impl Alone {
    fn new(history: &str) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let state = dir.path().join("state");
        fs::create_dir(&state).expect("a directory");
        // No host is to be started.
        fs::write(state.join("host.stopped"), "").expect("a mark");
        let mut command = Command::new(RELIGHT);
        command.env("RELIGHT_HOME", dir.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.args(["agentctl", "serve", "--session", "s", "--history", history]);
        command.arg("--state").arg(&state).arg("--logs").arg(dir.path());
        let child = command.spawn().expect("an agentctl");
        let session = SessionId::new("s").expect("an id");
        let socket = SessionDir::new(&state, &session).socket();
        let client = AgentctlClient::new(Endpoint::Unix(socket), None);
        let alone = Self { dir, child, tokio: runtime(), client };
        until("an agentctl", || alone.tokio.block_on(alone.client.health()).ok());
        alone
    }

    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    fn print(&self) -> TerminalId {
        let terminal = TerminalId::new(format!("bench-{}", self.pid())).expect("an id");
        let request = LaunchRequest {
            terminal: terminal.clone(),
            kind: TerminalKind::Shell,
            generation: 0,
            epoch: 0,
            mode: StartMode::First,
            profile: Profile { name: "sh".into(), program: "/bin/sh".into(), ..Profile::default() },
            token: None,
            prompted: false,
            args: vec!["-c".into(), PRINT.into()],
            env: vec![("PATH".into(), std::env::var("PATH").unwrap_or_default())],
            cwd: self.dir.path().display().to_string(),
            prompt: None,
            size: Size::DEFAULT,
            fence: Vec::new(),
        };
        let reply = self.tokio.block_on(self.client.launch(&request)).expect("a launch");
        assert!(matches!(reply, LaunchReply::Spawned { .. }), "{reply:?}");
        until("10,000 lines", || {
            let captured = self.tokio.block_on(self.client.capture(&terminal, 0, false)).ok()?;
            captured.lines.iter().any(|line| line.contains(LAST)).then_some(())
        });
        terminal
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.tokio.block_on(self.client.shutdown());
        let _ = self.child.wait();
    }
}

fn agentctl() {
    let alone = Alone::new("2000");
    // Its program's pages are its own then; with a host and other agentctls they are shared.
    tell_memory("agentctl, empty, the only process of relight", alone.pid(), Some(AGENTCTL_KIB));
    alone.print();
    tell_memory("agentctl after 10,000 lines, 2,000 kept", alone.pid(), None);
    drop(alone);
    let alone = Alone::new("10000");
    alone.print();
    tell_memory("agentctl after 10,000 lines, 10,000 kept", alone.pid(), None);
    drop(alone);
    let instance = Instance::with_config("[agents.sh]\nprogram = \"/bin/sh\"\n");
    let (client, _events) = instance.connect();
    instance.session(&client, "sh", &["-c", "exec sleep 100000"]);
    let pid = instance.line(&client).agentctl_pid.expect("an agentctl");
    tell_memory("agentctl with an idle terminal, beside its host", pid, Some(AGENTCTL_KIB));
}

fn host() {
    let instance = Instance::new();
    let (client, events) = instance.connect();
    let host = instance.host_pid(&client);
    tell_memory("host without sessions", host, Some(HOST_KIB));
    for _ in 0..SESSIONS {
        instance.session(&client, "demo", &[]);
    }
    let lines = until("agents that wait", || {
        let lines = instance.lines(&client);
        lines.iter().all(|line| line.state.as_str() == "WAITING_FOR_INPUT").then_some(lines)
    });
    let agentctls: Vec<i32> = lines.iter().filter_map(|line| line.agentctl_pid).collect();
    tell_memory("host with 100 sessions that it has started", host, Some(HOST_KIB));
    let all: Vec<Memory> = agentctls.iter().map(|pid| memory(*pid)).collect();
    let mean = |of: fn(&Memory) -> u64| all.iter().map(of).sum::<u64>() / all.len() as u64;
    println!(
        "one of {} agentctls with an idle demo agent: PSS {} KiB, RSS {} KiB, private {} KiB",
        all.len(),
        mean(|m| m.pss),
        mean(|m| m.rss),
        mean(|m| m.private)
    );
    drop((client, events));
    instance.stop_host();
    instance.start_host();
    let (client, events) = instance.connect();
    let host = instance.host_pid(&client);
    until("all adopted", || {
        let lines = instance.lines(&client);
        lines.iter().all(|line| line.pid.is_some()).then_some(())
    });
    tell_memory("host with 100 sessions that it has adopted", host, Some(HOST_KIB));
    drop((client, events));
    // What was begun by starting and adopting ends; the last of it is what changed, written ten seconds later at the most, and
    // what changed meanwhile.
    rest(3 * WATCH);
    tell_wakeups(&[("host, idle, 100 sessions", vec![host]), ("agentctls, idle, one agent each", agentctls)]);
}

fn screen() {
    let instance = Instance::with_config("[agents.heron]\nextends = \"demo\"\n");
    let (client, events) = instance.connect();
    instance.session(&client, "heron", &[]);
    drop((client, events));
    let round = |cold: bool| {
        if cold {
            instance.stop_host();
        }
        let begin = Instant::now();
        let screen = Screen::open(&instance);
        screen.until("heron");
        let spent = begin.elapsed();
        drop(screen);
        spent
    };
    tell_times("first screen with a host", (0..ROUNDS).map(|_| round(false)).collect(), SCREEN_MS);
    tell_times("first screen without a host", (0..ROUNDS).map(|_| round(true)).collect(), SCREEN_COLD_MS);
}

/// With 100 sessions: from a key to what the screen makes of it, and to what the agent echoes.
fn keys() {
    let instance = Instance::new();
    let (client, events) = instance.connect();
    for _ in 0..SESSIONS {
        instance.session(&client, "demo", &[]);
    }
    until("agents that wait", || {
        let lines = instance.lines(&client);
        lines.iter().all(|line| line.state.as_str() == "WAITING_FOR_INPUT").then_some(())
    });
    drop((client, events));
    let mut screen = Screen::open(&instance);
    screen.until("conversation");
    let mut round = |key: &[u8], answer: &str, after: &[u8]| {
        screen.settle();
        let begin = Instant::now();
        screen.type_in(key);
        screen.until_bytes(answer);
        let spent = begin.elapsed();
        screen.type_in(after);
        spent
    };
    let hints = (0..ROUNDS).map(|_| round(b"\0", "detach", b"\x1b")).collect();
    tell_times("the prefix among 100 sessions, until its keys are shown", hints, KEY_MS);
    let echoes = (0..ROUNDS).map(|_| round(b"%", "%", b"\x7f")).collect();
    tell_times("a typed key among 100 sessions, until it is echoed", echoes, KEY_MS);
}

fn attach() {
    for history in ["2000", "10000"] {
        let config = format!("[terminal]\nhistory_lines = {history}\n[agents.sh]\nprogram = \"/bin/sh\"\n");
        let instance = Instance::with_config(&config);
        let (client, mut events) = instance.connect();
        let made = instance.session(&client, "sh", &["-c", PRINT]);
        let session = made.session_id.as_str().to_owned();
        until("10,000 lines", || {
            let captured: Value = instance.call(&client, "session.capture", json!({"session": session}));
            captured.to_string().contains(LAST).then_some(())
        });
        let mut round = || {
            let begin = Instant::now();
            let attach = Attach { session: Some(session.clone()), terminal: None, size: None };
            let attached: Attached = instance.call(&client, "terminal.attach", attach);
            let first = async {
                loop {
                    match events.next().await {
                        HostItem::Frame { stream, .. } if stream == attached.stream => return,
                        HostItem::Closed(why) => panic!("the host closed: {why}"),
                        _ => {}
                    }
                }
            };
            instance.block_on(async { tokio::time::timeout(PATIENCE, first).await }).expect("a keyframe");
            let spent = begin.elapsed();
            let _: Value = instance.call(&client, "terminal.detach", json!({"stream": attached.stream}));
            spent
        };
        let what = format!("attach, 10,000 lines printed, {history} kept in memory");
        tell_times(&what, (0..ROUNDS).map(|_| round()).collect(), ATTACH_MS);
    }
}
