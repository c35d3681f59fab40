//! What every case begins with and ends with.

use std::fs;
use std::path::PathBuf;

use relight::domain::ids::TerminalId;
use relight::domain::launch::ProcIdentity;
use relight::link::endpoint::Endpoint;
use relight::link::host::HostClient;
use relight::proc::identity;
use relight::wire::host::{Attach, Attached};
use serde_json::Value;

use crate::support::Home;
use crate::support::home::text;
use crate::support::kill;

/// One session with a prompted conversation.
pub struct Case {
    pub id: String,
    /// The conversation's id.
    pub token: String,
    word: String,
}

/// One agent binding, as the database has it.
#[derive(Debug)]
struct Row {
    terminal: String,
    generation: u64,
    token: String,
    end_reason: String,
    successor: String,
    terminal_status: String,
}

impl Case {
    /// Starts a demo agent and tells it a code word; waits until it has answered.
    #[track_caller]
    pub fn begin(home: &Home, word: &str, agent_args: &[&str]) -> Self {
        Self::begin_as(home, "demo", word, agent_args)
    }

    /// The same with another profile.
    #[track_caller]
    pub fn begin_as(home: &Home, agent: &str, word: &str, agent_args: &[&str]) -> Self {
        let prompt = format!("remember {word}");
        let mut args = vec!["new", "--agent", agent, "--detach", "--prompt", &prompt, "--"];
        args.extend(agent_args);
        let id = text(&home.json(&args), "session_id");
        home.until_screen(&id, &format!("I will remember {word}."));
        // Its hooks have told everything by then: the session waits for its person.
        let line = home.until_session(&id, "an agent that waits", |line| {
            line["state"] == "WAITING_FOR_INPUT" && line["pid"].is_number() && line["agent_session_id"].is_string()
        });
        Self { token: text(&line, "agent_session_id"), id, word: word.into() }
    }

    /// Starts of the conversation's agents, as the agent itself records them: pid, and whether it found another one.
    fn starts(&self, home: &Home) -> Vec<Value> {
        let text = fs::read_to_string(demo_home(home).join("starts.jsonl")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["id"] == self.token.as_str()).collect()
    }

    fn bindings(&self, home: &Home) -> Vec<Row> {
        let query = format!(
            "SELECT b.terminal_id, b.generation, b.agent_session_id, b.end_reason, b.successor_terminal_id, t.status
             FROM agent_bindings b JOIN terminals t ON t.id = b.terminal_id WHERE b.session_id = '{}' ORDER BY b.generation",
            self.id
        );
        let row = |cells: Vec<String>| {
            let [terminal, generation, token, end_reason, successor, terminal_status]: [String; 6] =
                cells.try_into().expect("six columns");
            let generation = generation.parse().expect("a number");
            Row { terminal, generation, token, end_reason, successor, terminal_status }
        };
        home.rows(&query).into_iter().map(row).collect()
    }

    /// Waits until its agent has come back as `generation` or later and is ready for a prompt; gives its line in `ls`.
    #[track_caller]
    pub fn until_ready(&self, home: &Home, generation: u64) -> Value {
        home.until_session(&self.id, &format!("an agent of generation {generation} or later that is ready"), |line| {
            line["pid"].is_number()
                && line["generation"].as_u64() >= Some(generation)
                && self.starts(home).last().is_some_and(|start| start["pid"] == line["pid"])
                && home.screen(&self.id).lines().any(|row| row.trim_end() == "ready")
        })
    }

    /// Asks for the code word; the answer is one that was given just now.
    #[track_caller]
    pub fn ask(&self, home: &Home) {
        let file = demo_home(home).join(format!("{}.jsonl", self.token));
        let answer = format!("The code word is {}.", self.word);
        let answers = || fs::read_to_string(&file).unwrap_or_default().matches(&answer).count();
        let before = answers();
        home.ask(&self.id, "what is the code word?", &answer);
        home.until("an answer of this agent", || answers() == before + 1);
    }
}

/// Where this instance's demo agents keep their conversations.
pub fn demo_home(home: &Home) -> PathBuf {
    home.path().join("home/.relight-demo")
}

/// The end of every case: each conversation has come back, as generation `generation` or later (1: it never died; 0: who
/// knows), in exactly one live agent that knows its word; the database says how; no process and no event is lost.
#[track_caller]
pub fn check(home: &Home, cases: &[&Case], generation: u64) {
    for case in cases {
        case.until_ready(home, generation);
        case.ask(home);
    }
    processes(home, cases);
    for case in cases {
        let line = home.session(&case.id);
        starts(home, case, &line);
        let bindings = case.bindings(home);
        chain(&bindings, case, &line, generation);
        events(home, case, &bindings);
        repointed(home, &bindings);
        let status = home.status(&case.id);
        assert_eq!(status["is_agent_running"], true, "{status}");
        assert_eq!(status["needs_resume"], false, "{status}");
        assert_eq!(status["executor_status"], "ready", "{status}");
    }
    let open = home.rows("SELECT id FROM task_sessions WHERE pending IS NOT NULL OR hold IS NOT NULL");
    assert!(open.is_empty(), "a start is still open, or a session is held: {open:?}");
}

/// The same for one.
#[track_caller]
pub fn check_one(home: &Home, case: &Case, generation: u64) {
    check(home, &[case], generation);
}

/// One host, one agentctl and one agent per session, and nothing else but clients.
#[track_caller]
fn processes(home: &Home, cases: &[&Case]) {
    let right = || {
        let living: Vec<_> = home.living().into_iter().filter(|(_, line)| !line.contains(" attach ")).collect();
        let count =
            |parts: &[&str]| living.iter().filter(|(_, line)| parts.iter().all(|part| line.contains(part))).count();
        let one_each = cases
            .iter()
            .all(|case| count(&["agentctl serve", &case.id]) == 1 && count(&["demo-agent", &case.token]) == 1);
        one_each && count(&["host run"]) == 1 && living.len() == 1 + 2 * cases.len()
    };
    home.until("one host, one agentctl and one agent per session, and no orphan", right);
}

/// No agent ever found another one on its conversation, and the last one started is the one that lives.
#[track_caller]
fn starts(home: &Home, case: &Case, line: &Value) {
    let starts = case.starts(home);
    let crowd: Vec<_> = starts.iter().filter(|start| !start["also_open_in"].is_null()).collect();
    assert!(crowd.is_empty(), "two agents were on one conversation: {crowd:?}\n{}", home.report());
    assert_eq!(starts.last().expect("a start")["pid"], line["pid"], "{starts:?}");
    let attempts = home.rows(&format!("SELECT id FROM resume_attempts WHERE session_id = '{}'", case.id));
    assert!(starts.len() <= attempts.len() + 1, "more agents were started than claims made: {starts:?} {attempts:?}");
}

/// Every binding but the newest is `resumed`, by the one that follows it; all are of one conversation.
#[track_caller]
fn chain(bindings: &[Row], case: &Case, line: &Value, generation: u64) {
    let (newest, old) = bindings.split_last().expect("a binding");
    assert!(newest.generation >= generation, "{bindings:#?}");
    assert_eq!((newest.end_reason.as_str(), newest.terminal_status.as_str()), ("NULL", "active"), "{bindings:#?}");
    assert_eq!(line["terminal_id"], newest.terminal.as_str());
    assert_eq!(line["generation"], newest.generation);
    for (row, next) in old.iter().zip(&bindings[1..]) {
        let ended = (row.end_reason.as_str(), row.terminal_status.as_str());
        assert_eq!(ended, ("resumed", "disposed"), "{bindings:#?}");
        assert_eq!((&row.successor, row.generation + 1), (&next.terminal, next.generation), "{bindings:#?}");
    }
    assert!(bindings.iter().all(|row| row.token == case.token), "{bindings:#?}");
    if generation == 1 {
        assert!(old.is_empty(), "it never died: {bindings:#?}");
    }
}

/// Numbered without a gap from 1, and each resume told once.
#[track_caller]
fn events(home: &Home, case: &Case, bindings: &[Row]) {
    let events = home.events();
    assert_eq!(events.first().expect("an event")["seq"], 1);
    let told: Vec<(Value, Value)> = events
        .iter()
        .filter(|event| event["type"] == "session.resumed" && event["session_id"] == case.id.as_str())
        .map(|event| (event["data"]["old_terminal_id"].clone(), event["data"]["terminal_id"].clone()))
        .collect();
    let pairs = bindings.windows(2).map(|pair| (pair[0].terminal.as_str().into(), pair[1].terminal.as_str().into()));
    assert_eq!(told, pairs.collect::<Vec<(Value, Value)>>());
}

/// A client that still looks at a dead terminal is shown the live one.
#[track_caller]
fn repointed(home: &Home, bindings: &[Row]) {
    let (newest, old) = bindings.split_last().expect("a binding");
    if old.is_empty() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let endpoint = Endpoint::Unix(home.path().join("state/host.sock"));
        let (client, _events) = HostClient::connect(endpoint).await.expect("a connection to the host");
        for row in old {
            let terminal = TerminalId::new(row.terminal.clone()).expect("an id");
            let attach = Attach { session: None, terminal: Some(terminal), size: None };
            let shown: Attached = client.call("terminal.attach", attach).await.expect("an attached stream");
            assert_eq!(shown.terminal_id.expect("a terminal").as_str(), newest.terminal);
        }
    });
}

/// Processes of an instance whose command line holds `part`.
pub fn with(home: &Home, part: &str) -> Vec<ProcIdentity> {
    home.living().into_iter().filter(|(_, line)| line.contains(part)).map(|(process, _)| process).collect()
}

/// Host, agentctls, agents and what they left, but no client: SIGKILL to all of them before any is waited for.
pub fn kill_everything(home: &Home) {
    let all: Vec<ProcIdentity> = home.living().into_iter().map(|(process, _)| process).collect();
    for process in &all {
        kill::signal(process, kill::Signal::KILL);
    }
    home_is_dead(home, &all);
}

/// Waits until all of these are dead.
pub fn home_is_dead(home: &Home, all: &[ProcIdentity]) {
    let dead = || all.iter().all(|process| !identity::alive(process));
    crate::support::wait::wait_for(
        "the end of everything",
        crate::support::home::PATIENCE,
        || dead().then_some(()),
        || format!("{:?}", home.living()),
    );
}

/// Arms a test point: the process that reaches it next is killed there. The instance was made with [`armed`].
pub fn arm(home: &Home) -> PathBuf {
    let marker = home.path().join("kill-here");
    fs::write(&marker, "").expect("a marker");
    marker
}

/// An instance of which a process is killed at this test point, once [`arm`] was called.
pub fn armed(point: &str) -> Home {
    let home = Home::new();
    let marker = home.path().join("kill-here");
    home.env("RELIGHT_TEST_KILL_AT", format!("{point}={}", marker.display()))
}
