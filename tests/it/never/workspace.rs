//! Whatever became of the agent, its executor is ready: a shell opens, files and git answer. Before it is ready, nothing does.

use std::fs;

use relight::domain::words::ErrorCode;
use relight::proc::testpoint::STOP_AT;
use serde_json::{Value, json};

use crate::support::Home;
use crate::support::client::Client;
use crate::support::home::text;
use crate::support::kill::{self, Signal};
use crate::support::told::Told;

const FILES: &str = "/workspace/tree?path=";
const GIT: &str = "/git/status";

/// A repository with one file that git does not know.
fn repository(home: &Home) {
    let head = home.project().join(".git");
    for dir in ["objects", "refs/heads"] {
        fs::create_dir_all(head.join(dir)).unwrap();
    }
    fs::write(head.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(head.join("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n").unwrap();
    fs::write(home.project().join("notes.txt"), "a note\n").unwrap();
}

/// Shell, files and git.
#[track_caller]
fn works(home: &Home, id: &str) {
    let status = home.status(id);
    assert_eq!(status["executor_status"], "ready", "{status}");
    assert_eq!(status["is_agent_running"], false, "{status}");
    let client = Client::connect(home);
    let ask = |path: &str| client.call("session.workspace", json!({"session": id, "path": path})).unwrap().to_string();
    assert!(ask(FILES).contains("notes.txt"), "{}", ask(FILES));
    assert!(ask(GIT).contains("notes.txt"), "{}", ask(GIT));
    let shell = text(&client.call("session.shell", json!({"session": id})).unwrap(), "terminal_id");
    let row = format!("SELECT kind, status FROM terminals WHERE id = '{shell}'");
    assert_eq!(home.rows(&row), [["shell", "active"]]);
    // A shell is no agent of the session.
    let status = home.status(id);
    assert_eq!((&status["is_agent_running"], &status["executor_status"]), (&false.into(), &"ready".into()), "{status}");
}

#[test]
fn after_not_resumable() {
    let home = Home::new();
    home.write_config("[agents.mine]\nextends = \"demo\"\n[agents.mine.resume]\nargs = []\n");
    repository(&home);
    let told = Told::with(&home, "kiwi", &["--agent", "mine"], &[]);
    kill::kill(&home.agent(&told.id));
    home.until("its state", || home.status(&told.id)["state"] == "ERROR");
    assert_eq!(home.status(&told.id)["resume_reason"], "not_resumable");
    works(&home, &told.id);
    home.next_host();
    works(&home, &told.id);
}

#[test]
fn after_a_failed_resume() {
    let home = Home::new();
    repository(&home);
    let told = Told::with(&home, "kiwi", &["--agent", "demo"], &["--misbehave", "resume:login-expired"]);
    kill::kill(&home.agent(&told.id));
    home.until("its hold", || home.status(&told.id)["hold"] == "login_expired");
    works(&home, &told.id);
    home.next_host();
    works(&home, &told.id);
}

#[test]
fn after_a_crash_loop() {
    let home = Home::new();
    home.write_config("[resume]\nmax_attempts = 1\n");
    repository(&home);
    let told = Told::with(&home, "kiwi", &["--agent", "demo"], &["--misbehave", "resume:die"]);
    kill::kill(&home.agent(&told.id));
    home.until("its hold", || home.status(&told.id)["hold"] == "crash_loop");
    works(&home, &told.id);
}

/// Its only launch failed: no agentctl was ever told a directory by one. Named by the fault.
#[test]
fn of_a_session_whose_agent_never_started() {
    let home = Home::new();
    let program = home.path().join("agent");
    fs::write(&program, "#!/nowhere/interpreter\n").unwrap();
    home.write_config(&format!("[agents.gone]\nprogram = \"{}\"\n", program.display()));
    repository(&home);
    let refused = home.run(&["new", "--agent", "gone", "--detach"]);
    assert_ne!(refused.code, Some(0));
    let id = text(&home.ls().pop().unwrap(), "session_id");
    works(&home, &id);
    for (process, line) in home.living() {
        if line.contains("agentctl serve") || line.contains("host run") {
            kill::kill(&process);
        }
    }
    home.next_host();
    works(&home, &id);
}

#[test]
fn all_is_refused_while_the_executor_starts() {
    let home = Home::new().with_point(STOP_AT, "agentctl.locked");
    repository(&home);
    home.arm("agentctl.locked");
    let new = home.start(&["new", "--agent", "demo", "--detach", "--json"]);
    let starting =
        || home.living().into_iter().find(|(p, line)| line.contains("agentctl serve") && kill::is_stopped(p));
    home.until("an agentctl that stands in the middle of its start", || starting().is_some());
    let (agentctl, _) = starting().unwrap();
    let line = home.ls().pop().unwrap();
    assert_eq!(line["executor_status"], "starting", "{line}");
    let id = text(&line, "session_id");
    let client = Client::connect(&home);
    let refused = |method: &str, params: Value| client.call(method, params).unwrap_err().code;
    assert_eq!(refused("session.shell", json!({"session": id})), ErrorCode::ExecutorStarting);
    for path in [FILES, GIT, "/git/diff", "/git/log", "/workspace/file?path=notes.txt"] {
        let params = json!({"session": id, "path": path});
        assert_eq!(refused("session.workspace", params), ErrorCode::ExecutorStarting, "{path}");
    }
    kill::signal(&agentctl, Signal::CONT);
    let new = new.wait_with_output().unwrap();
    assert!(new.status.success(), "{}", String::from_utf8_lossy(&new.stderr));
    home.until_alive(&id, 1);
    let tree = client.call("session.workspace", json!({"session": id, "path": FILES})).unwrap().to_string();
    assert!(tree.contains("notes.txt"), "{tree}");
}

/// It was told as the address of a socket and the line of a request, and as a request that took too long.
#[test]
fn a_silent_executor_is_said_to_be_one() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let agentctl = home.agentctl(&told.id);
    let client = Client::connect(&home);
    kill::signal(&agentctl, Signal::STOP);
    let refused = client.call("session.workspace", json!({"session": told.id, "path": GIT})).unwrap_err();
    kill::signal(&agentctl, Signal::CONT);
    assert_eq!(refused.code, ErrorCode::ExecutorUnreachable, "{refused:?}");
    assert_eq!(refused.message, "the executor of session `demo` did not answer within 15 s");
    home.until("files that answer again", || {
        client.call("session.workspace", json!({"session": told.id, "path": FILES})).is_ok()
    });
}
