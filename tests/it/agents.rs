//! Real agent CLIs, each in a network namespace that has only loopback, against a model server there: killed in every way, they
//! come back once, by themselves, and the next request carries the conversation.
//!
//! Looked for in `RELIGHT_TEST_AGENTS` (a directory that `npm install --prefix` filled). Without it, or without the right to
//! make a network namespace, each test names what is missing and ends; `RELIGHT_REQUIRE=agents` makes that a failure.

#![expect(clippy::disallowed_types, reason = "the test starts itself again in a namespace")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model_server::ModelServer;
use crate::support::home::Home;
use crate::support::kill;
use crate::support::missing;
use crate::support::wait::wait_for;

/// Set in the copy of the test that runs inside the namespace.
const INSIDE: &str = "RELIGHT_TEST_INSIDE";
/// An agent's start, at its slowest on a busy machine.
const START: Duration = Duration::from_secs(90);

/// One agent CLI under test.
struct Agent {
    name: &'static str,
    /// Path of the program below the directory.
    program: &'static str,
    /// Text on its screen when it is ready to be typed at.
    ready: &'static str,
}

const CLAUDE: Agent =
    Agent { name: "claude", program: "node_modules/@anthropic-ai/claude-code-linux-x64/claude", ready: "for agents" };
const CODEX: Agent = Agent {
    name: "codex",
    program: "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    ready: "Ask Codex",
};

#[test]
fn claude_comes_back_once_with_its_conversation() {
    run("agents::claude_comes_back_once_with_its_conversation", &CLAUDE, claude_home);
}

#[test]
fn codex_comes_back_once_with_its_conversation() {
    run("agents::codex_comes_back_once_with_its_conversation", &CODEX, codex_home);
}

fn run(test: &str, agent: &Agent, prepare: fn(&Path, &Path, u16) -> Vec<(String, String)>) {
    let Some(dir) = std::env::var_os("RELIGHT_TEST_AGENTS").map(PathBuf::from) else {
        return missing("agents", "RELIGHT_TEST_AGENTS names no directory with agent CLIs");
    };
    let program = dir.join(agent.program);
    if !program.is_file() {
        return missing("agents", &format!("{} is not installed at {}", agent.name, program.display()));
    }
    if std::env::var_os(INSIDE).is_none() {
        return in_namespace(test);
    }
    scenario(agent, &program, prepare);
}

/// Runs the named test again, in a network namespace of its own.
fn in_namespace(case: &str) {
    let own = std::env::current_exe().expect("the test's own program");
    let mut command = std::process::Command::new("unshare");
    command
        .args(["--net", "--", "sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""])
        .arg(own)
        .args(["--exact", case, "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1");
    match command.output() {
        Err(error) => missing("agents", &format!("`unshare` cannot be run: {error}")),
        Ok(out) => {
            let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
            if text.contains("Operation not permitted") && !text.contains("running 1 test") {
                return missing("agents", "the right to make a network namespace");
            }
            assert!(out.status.success(), "inside the namespace:\n{text}");
        }
    }
}

fn claude_home(home: &Path, project: &Path, port: u16) -> Vec<(String, String)> {
    let key = format!("sk-ant-{}", "0123456789".repeat(5));
    let tail = key[key.len() - 20..].to_owned();
    let settings = json!({
        "hasCompletedOnboarding": true, "theme": "dark",
        "customApiKeyResponses": {"approved": [tail], "rejected": []},
        "projects": {project.to_str().expect("a plain path"): {"hasTrustDialogAccepted": true}},
    });
    std::fs::write(home.join(".claude.json"), settings.to_string()).expect("its settings");
    vec![
        ("ANTHROPIC_BASE_URL".into(), format!("http://127.0.0.1:{port}")),
        ("ANTHROPIC_API_KEY".into(), key),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC".into(), "1".into()),
        ("DISABLE_AUTOUPDATER".into(), "1".into()),
    ]
}

fn codex_home(home: &Path, project: &Path, port: u16) -> Vec<(String, String)> {
    let dir = home.join(".codex");
    std::fs::create_dir_all(&dir).expect("its directory");
    let config = format!(
        "model = \"mock-model\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n\
         [model_providers.mock]\nname = \"mock\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nenv_key = \"MOCK_KEY\"\n\
         wire_api = \"responses\"\n[analytics]\nenabled = false\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
        project.display()
    );
    std::fs::write(dir.join("config.toml"), config).expect("its settings");
    vec![("MOCK_KEY".into(), "x".into())]
}

fn scenario(agent: &Agent, program: &Path, prepare: fn(&Path, &Path, u16) -> Vec<(String, String)>) {
    let server = ModelServer::start();
    let mut home = Home::new();
    let user = home.path().join("home");
    std::fs::create_dir_all(&user).expect("a home");
    let (name, program) = (agent.name, program.display());
    home.write_config(&format!("[agents.{name}]\nextends = \"{name}\"\nprogram = \"{program}\"\n"));
    for (variable, value) in prepare(&user, &home.project(), server.port) {
        home.set_env(&variable, Some(&value));
    }
    let id = home.json(&["new", "--agent", name, "--name", "real", "--detach"])["session_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let case = Case { agent, server, home, id };
    case.ready();

    let word = format!("CODE-{}", name.to_uppercase());
    case.ask(&format!("please remember {word} for me"));
    let token = case.until("its conversation id is known", |line| line["agent_session_id"].as_str().map(str::to_owned));
    let mut generation = case.line()["generation"].as_u64().expect("a generation");
    for (round, victim) in ["agent", "agentctl"].into_iter().enumerate() {
        kill::kill(&if victim == "agent" { case.home.agent(&case.id) } else { case.home.agentctl(&case.id) });
        generation += 1;
        case.back(generation, &token);
        let question = format!("question {round} of {name}");
        case.ask(&question);
        let words = case.server.words_with(&question).expect("the question was asked");
        assert!(words.contains(&word), "after the end of its {victim}: the request carried {words:?}");
    }

    // The host's end interrupts nothing.
    let before = case.home.agent(&case.id);
    case.home.kill_host();
    case.until("the next host has adopted it", |line| (line["pid"].as_i64() == Some(before.pid.into())).then_some(()));
    let question = format!("question 9 of {name}");
    case.ask(&question);
    assert!(case.server.words_with(&question).expect("the question was asked").contains(&word));
    assert_eq!(case.line()["generation"].as_u64(), Some(generation), "nothing was resumed");
    assert_eq!(case.home.agents_with(&token).len().max(1), 1, "one agent on the conversation");
}

struct Case<'a> {
    agent: &'a Agent,
    server: ModelServer,
    home: Home,
    id: String,
}

impl Case<'_> {
    fn line(&self) -> Value {
        self.home.session(&self.id)
    }

    fn report(&self) -> String {
        let asked: Vec<_> = self.server.seen().into_iter().map(|s| format!("{} {:?}", s.path, s.last)).collect();
        format!("{}\n{}\nasked:\n{}", self.line(), self.home.screen(&self.id), asked.join("\n"))
    }

    fn until<T>(&self, what: &str, probe: impl Fn(&Value) -> Option<T>) -> T {
        wait_for(what, START, || probe(&self.line()), || self.report())
    }

    fn ready(&self) {
        let (name, ready) = (self.agent.name, self.agent.ready);
        self.until(&format!("{name} shows `{ready}`"), |_| self.home.screen(&self.id).contains(ready).then_some(()));
    }

    fn ask(&self, text: &str) {
        self.until("it waits for input", |line| (line["state"] == "WAITING_FOR_INPUT").then_some(()));
        self.home.run(&["send", &self.id, text]).ok();
        self.until(&format!("the model was asked: {text}"), |_| self.server.words_with(text).map(|_| ()));
        self.until("it answered", |line| {
            (line["state"] == "WAITING_FOR_INPUT" && self.home.screen(&self.id).contains("MOCK-ANSWER")).then_some(())
        });
    }

    fn back(&self, generation: u64, token: &str) {
        let line = self.until(&format!("generation {generation} runs"), |line| {
            (line["generation"].as_u64() == Some(generation) && line["pid"].is_i64()).then(|| line.clone())
        });
        assert_eq!(line["agent_session_id"].as_str(), Some(token), "the same conversation");
        self.ready();
        assert_eq!(self.line()["generation"].as_u64(), Some(generation), "resumed once");
    }
}
