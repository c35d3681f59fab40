//! An agentctl as a process of its own: killed, stopped, started twice, and started again.

#![expect(clippy::disallowed_types, reason = "the tests start the built program")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use relight::domain::ids::{SessionId, TerminalId};
use relight::domain::journal::{Body, Record};
use relight::domain::launch::{Exit, ProcIdentity, Size};
use relight::domain::profile::{Profile, StatusSource};
use relight::domain::rows::StartMode;
use relight::domain::words::TerminalKind;
use relight::link::agentctl::AgentctlClient;
use relight::link::endpoint::Endpoint;
use relight::link::place::SessionDir;
use relight::proc::identity;
use relight::wire::agentctl::{LaunchReply, LaunchRequest};

use crate::support::wait::{wait_for, wait_until};

/// Far above what anything here takes, on a machine that does much else.
const LONG: Duration = Duration::from_secs(30);

struct Bed {
    home: tempfile::TempDir,
    running: Vec<Child>,
}

impl Drop for Bed {
    fn drop(&mut self) {
        for child in &mut self.running {
            // SIGTERM first would let it end its terminals; a failed test has none worth that.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Bed {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), running: Vec::new() }
    }

    fn dir(&self) -> SessionDir {
        SessionDir::new(&self.state(), &SessionId::new("s1").unwrap())
    }

    fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relight"));
        command.env("RELIGHT_HOME", self.home.path());
        command.args(["agentctl", "serve", "--session", "s1", "--state"]).arg(self.state());
        command.arg("--logs").arg(self.home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Starts an agentctl, killed at the test point `at`, and waits until it answers.
    fn start(&mut self, at: Option<&str>) -> usize {
        let mut command = self.command();
        if let Some(at) = at {
            let marker = self.home.path().join("marker");
            fs::write(&marker, "").unwrap();
            command.env("RELIGHT_TEST_KILL_AT", format!("{at}={}", marker.display()));
        }
        self.running.push(command.spawn().unwrap());
        let client = self.client();
        let answers = || block(client.health()).ok();
        wait_for("the agentctl answers", LONG, answers, String::new);
        self.running.len() - 1
    }

    fn client(&self) -> AgentctlClient {
        AgentctlClient::new(Endpoint::Unix(self.dir().socket()), None)
    }

    fn signal(&mut self, which: usize, signal: rustix::process::Signal) -> std::process::ExitStatus {
        let child = &mut self.running[which];
        let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
        child.wait().unwrap()
    }

    fn records(&self) -> Vec<Record> {
        block(self.client().journal(0)).unwrap()
    }
}

fn block<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn id(text: &str) -> TerminalId {
    TerminalId::new(format!("it-{text}-{}", std::process::id())).unwrap()
}

fn request(terminal: &str, script: &str) -> LaunchRequest {
    let mut profile = Profile { name: "test".into(), agent: true, program: "/bin/sh".into(), ..Profile::default() };
    profile.status.sources = vec![StatusSource::Hook];
    profile.hooks.events.insert("Prompt".into(), "prompt".into());
    profile.hooks.events.insert("Bye".into(), "goodbye".into());
    LaunchRequest {
        terminal: id(terminal),
        kind: TerminalKind::Agent,
        generation: 1,
        epoch: 1,
        mode: StartMode::First,
        profile,
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

fn spawned(reply: LaunchReply) -> (ProcIdentity, Option<Exit>) {
    match reply {
        LaunchReply::Spawned { identity, exit, .. } => (identity, exit),
        other => panic!("not spawned: {other:?}"),
    }
}

/// The process that wrote its pid into `file`.
fn writer(file: &Path) -> ProcIdentity {
    let read = || identity::of(fs::read_to_string(file).ok()?.trim().parse().ok()?).ok()?;
    wait_for("a program writes its pid", LONG, read, String::new)
}

#[test]
fn told_to_end_it_says_so_first_and_leaves_nothing() {
    let mut bed = Bed::new();
    let first = bed.start(None);
    let script = "trap 'exit 0' TERM; while :; do sleep 0.05; done";
    let (agent, _) = spawned(block(bed.client().launch(&request("term", script))).unwrap());
    assert!(bed.signal(first, rustix::process::Signal::TERM).success());
    assert!(!identity::alive(&agent));
    bed.start(None);
    let records = bed.records();
    let at = |what: &str, fits: &dyn Fn(&Body) -> bool| {
        records.iter().position(|r| fits(&r.body)).unwrap_or_else(|| panic!("{what} in {records:#?}"))
    };
    let word = at("the word", &|b| matches!(b, Body::ToldToEnd { by } if by == "SIGTERM"));
    let exit = at("the exit", &|b| matches!(b, Body::Exit { exit: Exit::Code(0) | Exit::Signal(15), .. }));
    assert!(word < exit);
    assert!(!records.iter().any(|r| matches!(r.body, Body::SupervisorLost { .. })));
    assert_eq!(records.last().map(|r| r.incarnation), Some(2));
}

#[test]
fn killed_its_deaf_agent_and_a_child_in_another_session_are_ended_by_the_next_one() {
    let mut bed = Bed::new();
    let first = bed.start(None);
    let file = bed.home.path().join("child");
    let script = format!(
        "trap '' HUP TERM; setsid sh -c 'trap \"\" HUP TERM; echo $$ > {}; while :; do sleep 0.05; done' & \
         while :; do sleep 0.05; done",
        file.display()
    );
    let (agent, _) = spawned(block(bed.client().launch(&request("deaf", &script))).unwrap());
    let child = writer(&file);
    bed.signal(first, rustix::process::Signal::KILL);
    assert!(identity::alive(&child), "it outlives a killed supervisor");
    bed.start(None);
    assert!(!identity::alive(&agent) && !identity::alive(&child));
    let (again, exit) = spawned(block(bed.client().fate(&id("deaf"))).unwrap());
    assert_eq!((again, exit), (agent, Some(Exit::Unknown)));
}

#[test]
fn a_launch_in_which_it_is_killed_has_one_true_fate() {
    for at in ["agentctl.after_intent", "agentctl.after_exec", "agentctl.before_reply"] {
        let mut bed = Bed::new();
        let first = bed.start(Some(at));
        let name = at.trim_start_matches("agentctl.");
        let script = "trap '' HUP TERM; while :; do sleep 0.05; done";
        let lost = block(bed.client().launch(&request(name, script)));
        assert!(lost.is_err(), "{at}: {lost:?}");
        bed.running[first].wait().unwrap();
        bed.start(None);
        match block(bed.client().fate(&id(name))).unwrap() {
            // Its terminal went with the agentctl: it may have been gone before anybody could find it.
            LaunchReply::Failed { .. } if at != "agentctl.before_reply" => {}
            LaunchReply::Spawned { identity, exit: Some(Exit::Unknown), .. } if at != "agentctl.after_intent" => {
                assert!(!identity::alive(&identity), "{at}");
            }
            other => panic!("{at}: {other:?}"),
        }
        let again = block(bed.client().launch(&request(name, script))).unwrap();
        assert_eq!(again, block(bed.client().fate(&id(name))).unwrap(), "{at}: never twice");
    }
}

#[test]
fn of_two_for_one_session_one_serves_and_the_other_says_who_does() {
    let mut bed = Bed::new();
    let first = bed.start(None);
    let second = bed.command().stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(!second.status.success());
    assert!(said.contains(&bed.running[first].id().to_string()), "{said}");
    assert_eq!(block(bed.client().health()).unwrap().incarnation, 1);
}

#[test]
fn a_hook_reaches_the_journal_while_it_lives_and_after_it_was_killed() {
    let mut bed = Bed::new();
    let first = bed.start(None);
    let payload = r#"{"hook_event_name": "Prompt", "session_id": "one"}"#;
    let (relight, dir, terminal) = (env!("CARGO_BIN_EXE_relight"), bed.dir(), id("hook"));
    let hook = format!("{relight} hook --dir {} --terminal {terminal}", dir.path().display());
    let script = format!("echo '{payload}' | {hook}; echo said $?; exec sleep 1000");
    spawned(block(bed.client().launch(&request("hook", &script))).unwrap());
    let tokens = |bed: &Bed| -> Vec<String> {
        let tokens = bed.records().into_iter().filter_map(|r| match r.body {
            Body::Token { token, .. } => Some(token),
            _ => None,
        });
        tokens.collect()
    };
    wait_until("the token is told", LONG, || tokens(&bed) == ["one"]);
    let screen = || block(bed.client().capture(&terminal, 0, false)).unwrap().lines.join("\n");
    wait_until("the hook says that all is well", LONG, || screen().contains("said 0"));
    bed.signal(first, rustix::process::Signal::KILL);
    let late = r#"{"hook_event_name": "Bye", "session_id": "one", "reason": "late"}"#;
    let mut command = Command::new(relight);
    command.stdin(Stdio::null()).arg("hook").arg("--dir").arg(dir.path()).args(["--terminal", terminal.as_str(), late]);
    assert!(command.status().unwrap().success(), "nobody is there, and it is in the spool");
    bed.start(None);
    assert_eq!(tokens(&bed), ["one"]);
    let goodbye = |r: &Record| matches!(&r.body, Body::Goodbye { reason, .. } if reason == "late");
    assert_eq!(bed.records().iter().filter(|r| goodbye(r)).count(), 1);
}

/// Some agents leave the pipe open. Named by the fault.
#[test]
fn a_hook_whose_stdin_is_never_closed_ends_and_tells_what_came() {
    let mut bed = Bed::new();
    bed.start(None);
    let (relight, dir, terminal) = (env!("CARGO_BIN_EXE_relight"), bed.dir(), id("open"));
    let pipe = bed.home.path().join("pipe");
    let payload = r#"{"hook_event_name": "Prompt", "session_id": "open", "prompt": "and no en"#;
    let script = format!(
        "mkfifo {pipe}; exec 3<>{pipe}; printf '%s' '{payload}' >&3; {relight} hook --dir {dir} --terminal {terminal} <{pipe}; \
         echo said $?; exec sleep 1000",
        pipe = pipe.display(),
        dir = dir.path().display(),
    );
    spawned(block(bed.client().launch(&request("open", &script))).unwrap());
    let screen = || block(bed.client().capture(&terminal, 0, false)).unwrap().lines.join("\n");
    wait_until("the hook ends and says that all is well", LONG, || screen().contains("said 0"));
    let told = || bed.records().iter().any(|r| matches!(&r.body, Body::Token { token, .. } if token == "open"));
    wait_until("the token is told", LONG, told);
}
