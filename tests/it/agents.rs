//! Real agent CLIs, each in a network namespace that has only loopback, against a model server there: killed in every way, they
//! come back once, by themselves, and the next request carries the conversation.
//!
//! Looked for in `RELIGHT_TEST_AGENTS` (a directory that `npm install --prefix` filled). Without it, or without the right to
//! make a network namespace, each test names what is missing and ends; `RELIGHT_REQUIRE=agents` makes that a failure.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model_server::ModelServer;
use crate::support::home::Home;
use crate::support::wait::wait_until;

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

const CLAUDE: Agent = Agent {
    name: "claude",
    program: "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
    ready: "for agents",
};
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

/// Says what is missing, and fails if it was required.
fn missing(what: &str) {
    let required = std::env::var("RELIGHT_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|part| part == "agents"), "required, but missing: {what}");
    eprintln!("skipped: {what}");
}

fn run(test: &str, agent: &Agent, prepare: fn(&Path, &Path, u16) -> Vec<(String, String)>) {
    let Some(dir) = std::env::var_os("RELIGHT_TEST_AGENTS").map(PathBuf::from) else {
        return missing("RELIGHT_TEST_AGENTS names no directory with agent CLIs");
    };
    let program = dir.join(agent.program);
    if !program.is_file() {
        return missing(&format!("{} is not installed at {}", agent.name, program.display()));
    }
    if std::env::var_os(INSIDE).is_none() {
        return in_namespace(test);
    }
    scenario(agent, &program, prepare);
}

/// Runs the named test again, in a network namespace of its own.
fn in_namespace(test: &str) {
    let own = std::env::current_exe().expect("the test's own program");
    let mut command = std::process::Command::new("unshare");
    command
        .args(["--net", "--", "sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""])
        .arg(own)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1");
    match command.output() {
        Err(error) => missing(&format!("`unshare` cannot be run: {error}")),
        Ok(out) => {
            let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
            if text.contains("Operation not permitted") && !text.contains("running 1 test") {
                return missing("the right to make a network namespace");
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
    let user = home.path().join("user");
    let project = user.join("project");
    std::fs::create_dir_all(&project).expect("a project");
    home.config(&format!("[agents.{}]\nextends = \"{}\"\nprogram = \"{}\"\n", agent.name, agent.name, program.display()));
    home.env("HOME", user.to_str().expect("a plain path"));
    for (name, value) in prepare(&user, &project, server.port) {
        home.env(&name, &value);
    }
    let cwd = project.to_str().expect("a plain path");
    home.json(&["new", "--agent", agent.name, "--name", "real", "--cwd", cwd, "--detach", "--json"]);
    ready(&home, agent);

    let word = format!("CODE-{}", agent.name.to_uppercase());
    ask(&home, &server, &format!("please remember {word} for me"));
    let first = line(&home);
    let token = wait_until("the conversation id is known", START, || line(&home)["agent_session_id"].as_str().map(str::to_owned));

    let mut generation = first["generation"].as_u64().expect("a generation");
    for (round, victim) in ["pid", "agentctl_pid"].into_iter().enumerate() {
        home.kill(line(&home)[victim].as_i64().expect("a live process"));
        generation += 1;
        back(&home, agent, generation, &token);
        let question = format!("question {round} of {}", agent.name);
        ask(&home, &server, &question);
        let words = server.words_with(&question).expect("the question was asked");
        assert!(words.contains(&word), "after the end of its {victim}: the request carried {words:?}");
    }

    // The host's end interrupts nothing.
    let before = line(&home)["pid"].clone();
    home.kill_host();
    wait_until("the next host has adopted it", START, || (line(&home)["pid"] == before).then_some(()));
    let question = format!("question 9 of {}", agent.name);
    ask(&home, &server, &question);
    assert!(server.words_with(&question).expect("the question was asked").contains(&word));
    assert_eq!(line(&home)["generation"].as_u64(), Some(generation));
}

fn line(home: &Home) -> Value {
    home.json(&["ls", "--json"]).as_array().and_then(|all| all.first().cloned()).unwrap_or_default()
}

fn screen(home: &Home) -> String {
    home.run(&["capture", "real", "--history", "200"]).stdout
}

fn ready(home: &Home, agent: &Agent) {
    wait_until(&format!("{} shows `{}`", agent.name, agent.ready), START, || screen(home).contains(agent.ready).then_some(()));
}

fn ask(home: &Home, server: &ModelServer, text: &str) {
    wait_until("it waits for input", START, || {
        (line(home)["state"] == "WAITING_FOR_INPUT").then_some(())
    });
    home.ok(&["send", "real", text]);
    wait_until(&format!("the model was asked: {text}\n{}", screen(home)), START, || server.words_with(text).map(|_| ()));
    wait_until("it answered", START, || screen(home).contains("MOCK-ANSWER").then_some(()));
}

fn back(home: &Home, agent: &Agent, generation: u64, token: &str) {
    wait_until(&format!("generation {generation} runs"), START, || {
        let now = line(home);
        (now["generation"].as_u64() == Some(generation) && now["pid"].is_i64()).then_some(())
    });
    ready(home, agent);
    let now = line(home);
    assert_eq!(now["agent_session_id"].as_str(), Some(token), "the same conversation");
    assert_eq!(now["generation"].as_u64(), Some(generation), "resumed once");
}
