//! Shells beside an agent: opened, typed into, named by what runs in them, closed; whatever becomes of the agent, the host and
//! the agentctl.

use std::fs;

use relight::domain::launch::Exit;
use relight::domain::words::ErrorCode;
use relight::wire::host::WireError;
use serde_json::{Value, json};

use crate::support::Home;
use crate::support::client::Client;
use crate::support::home::text;
use crate::support::kill;
use crate::support::pane::Pane;
use crate::support::told::Told;

/// The shells of one session, over one connection.
struct Shells<'a> {
    home: &'a Home,
    id: &'a str,
    client: Client,
}

impl<'a> Shells<'a> {
    fn of(home: &'a Home, id: &'a str) -> Self {
        Self { home, id, client: Client::connect(home) }
    }

    #[track_caller]
    fn open(&self) -> String {
        text(&self.client.call("session.shell", json!({ "session": self.id })).unwrap(), "terminal_id")
    }

    #[track_caller]
    fn list(&self) -> Vec<Value> {
        let list = self.client.call("session.terminals", json!({ "session": self.id })).unwrap();
        list.as_array().unwrap().clone()
    }

    #[track_caller]
    fn ids(&self) -> Vec<String> {
        self.list().iter().map(|info| text(info, "id")).collect()
    }

    #[track_caller]
    fn info(&self, terminal: &str) -> Value {
        let list = self.list();
        let found = list.iter().find(|info| info["id"] == terminal).cloned();
        found.unwrap_or_else(|| panic!("no terminal {terminal} in {list:?}"))
    }

    #[track_caller]
    fn until_foreground(&self, terminal: &str, name: &Value) {
        let what = format!("{name} in the foreground of {terminal}");
        self.home.until(&what, || self.info(terminal)["foreground"] == *name);
    }

    fn close(&self, terminal: &str, force: bool) -> Result<Value, WireError> {
        self.client.call("terminal.close", json!({ "terminal": terminal, "force": force }))
    }

    fn row(&self, terminal: &str) -> Vec<String> {
        let query = format!(
            "SELECT kind, status, exit_code, exit_signal, ended_at IS NOT NULL FROM terminals WHERE id = '{terminal}'"
        );
        self.home.rows(&query).remove(0)
    }

    #[track_caller]
    fn until_row(&self, terminal: &str, row: [&str; 5]) {
        self.home.until(&format!("{row:?} as the row of {terminal}"), || self.row(terminal) == row);
    }

    fn runs(&self, command: &str) -> bool {
        self.home.living().iter().any(|(_, line)| line == command)
    }
}

#[track_caller]
fn attach_error(home: &Home, terminal: &str) -> WireError {
    match Pane::attach(home, terminal) {
        Ok(_) => panic!("{terminal} can be attached to"),
        Err(error) => error,
    }
}

#[test]
fn two_shells_beside_an_agent_are_apart_and_only_an_idle_one_closes_unasked() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let shells = Shells::of(&home, &told.id);
    let agent = text(&home.session(&told.id), "terminal_id");
    let size = json!({ "session": told.id, "size": { "cols": 91, "rows": 21 } });
    let one = text(&shells.client.call("session.shell", size).unwrap(), "terminal_id");
    let two = shells.open();

    let list = shells.list();
    let kinds: Vec<_> = list.iter().map(|info| (text(info, "id"), text(info, "kind"))).collect();
    let expected = [(&agent, "agent"), (&one, "shell"), (&two, "shell")].map(|(id, kind)| (id.clone(), kind.into()));
    assert_eq!(kinds, expected, "oldest first");
    assert_eq!(list[2]["size"], list[0]["size"], "without a size of its own it has the agent's");

    let mut first = Pane::attach(&home, &one).unwrap();
    let mut second = Pane::attach(&home, &two).unwrap();
    first.line("stty size; pwd; echo one-$((6*7))");
    first.until_text(&home, "one-42");
    assert!(first.text().contains("21 91"), "{}", first.text());
    assert!(first.text().contains(home.project().to_str().unwrap()), "{}", first.text());
    second.line("echo two-$((6*7))");
    second.until_text(&home, "two-42");
    assert!(!second.text().contains("one-") && !first.text().contains("two-"));

    for idle in [&agent, &one, &two] {
        shells.until_foreground(idle, &Value::Null);
    }
    first.line("setsid sleep 7001 & sleep 7002");
    shells.until_foreground(&one, &json!("sleep"));
    home.until("both programs", || shells.runs("sleep 7001") && shells.runs("sleep 7002"));
    assert_eq!(shells.info(&two)["foreground"], Value::Null);
    assert_eq!(shells.info(&agent)["foreground"], Value::Null);

    let busy = shells.close(&one, false).unwrap_err();
    assert_eq!((busy.code, busy.message.as_str()), (ErrorCode::TerminalBusy, "`sleep` runs in this shell"));
    assert_eq!(busy.hint.as_deref(), Some("close it all the same with force"));
    assert!(shells.runs("sleep 7001") && shells.runs("sleep 7002"), "a refused close ends nothing");
    shells.close(&one, true).unwrap();
    assert!(!shells.runs("sleep 7001") && !shells.runs("sleep 7002"), "{:?}", home.living());
    assert_eq!(shells.ids(), [agent.clone(), two.clone()]);
    first.until_exit(&home);
    home.until("the end of its stream", || first.is_over());
    assert_eq!(first.exits.len(), 1, "told once: {:?}", first.exits);
    home.until("its row", || shells.row(&one)[1] == "disposed" && shells.row(&one)[4] == "1");
    shells.close(&one, false).unwrap();
    let gone = attach_error(&home, &one);
    assert_eq!(gone.code, ErrorCode::TerminalNotFound);
    assert!(gone.message.ends_with("was closed"), "{gone}");

    shells.close(&two, false).unwrap();
    assert_eq!(shells.ids(), std::slice::from_ref(&agent));
    let refused = shells.close(&agent, true).unwrap_err();
    assert_eq!(refused.code, ErrorCode::BadRequest);
    assert!(refused.hint.unwrap().contains("relight kill"));
    assert_eq!(shells.close("no-such-terminal", true).unwrap_err().code, ErrorCode::TerminalNotFound);
    assert_eq!(told.bindings(&home).len(), 1, "the agent is as it was");
    home.ask(&told.id, "what is the code word?", "The code word is kiwi.");
}

#[test]
fn a_shell_that_exits_tells_its_code_and_stays_to_be_read_until_it_is_closed() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let shells = Shells::of(&home, &told.id);
    home.until_session(&told.id, "a title", |line| line["title"].as_str().is_some_and(|title| title.contains("demo")));
    let shell = shells.open();
    let mut pane = Pane::attach(&home, &shell).unwrap();
    pane.line("echo last-$((1+1)); exit 7");
    assert_eq!(pane.until_exit(&home), Exit::Code(7));
    shells.until_row(&shell, ["shell", "exited", "7", "NULL", "1"]);
    let line = home.session(&told.id);
    assert!(line["title"].as_str().unwrap().contains("demo"), "the agent's report is kept: {line}");
    assert_eq!((&line["state"], &line["ended_at"]), (&json!("WAITING_FOR_INPUT"), &Value::Null));
    assert_eq!(told.bindings(&home), [("1".to_owned(), "NULL".to_owned(), told.token.clone())]);
    let exited = home.events().into_iter().find(|event| event["type"] == "terminal.exited").unwrap();
    assert_eq!(exited["data"]["terminal_id"], shell.as_str(), "{exited}");
    assert_eq!(exited["data"]["terminal_kind"], "shell", "{exited}");

    assert_eq!(shells.info(&shell)["exit"], json!({ "code": 7 }));
    let mut again = Pane::attach(&home, &shell).unwrap();
    again.until_text(&home, "last-2");
    assert_eq!(again.until_exit(&home), Exit::Code(7), "who comes later is told, too");
    shells.close(&shell, false).unwrap();
    shells.until_row(&shell, ["shell", "disposed", "7", "NULL", "1"]);
    home.until("the end of both streams", || pane.is_over() && again.is_over());
    assert_eq!(attach_error(&home, &shell).code, ErrorCode::TerminalNotFound);
}

#[test]
fn a_shell_works_while_its_agent_is_dead_and_cannot_come_back() {
    let home = Home::new();
    home.write_config("[resume]\nmax_attempts = 1\n");
    let told = Told::with(&home, "kiwi", &["--agent", "demo"], &["--misbehave", "resume:die"]);
    let shells = Shells::of(&home, &told.id);
    let before = shells.open();
    kill::kill(&home.agent(&told.id));
    home.until("its hold", || home.status(&told.id)["hold"] == "crash_loop");
    let after = shells.open();
    for shell in [&before, &after] {
        let mut pane = Pane::attach(&home, shell).unwrap();
        pane.line("echo still-$((6*7))");
        pane.until_text(&home, "still-42");
    }
    shells.close(&before, false).unwrap();
    assert_eq!(home.status(&told.id)["hold"], "crash_loop");
}

#[test]
fn a_shell_does_not_feel_the_end_of_the_host() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let shells = Shells::of(&home, &told.id);
    let shell = shells.open();
    let mut pane = Pane::attach(&home, &shell).unwrap();
    pane.line("word=mango; sleep 7003 & echo set-$((6*7))");
    pane.until_text(&home, "set-42");
    let process = shells.info(&shell)["identity"].clone();
    home.kill_host();
    home.next_host();
    let shells = Shells::of(&home, &told.id);
    assert_eq!(shells.info(&shell)["identity"], process);
    let mut pane = Pane::attach(&home, &shell).unwrap();
    pane.until_text(&home, "set-42");
    pane.line("echo $word-$((6*7))");
    pane.until_text(&home, "mango-42");
    assert!(shells.runs("sleep 7003"), "{:?}", home.living());
    assert_eq!(shells.row(&shell)[1], "active");
}

/// Kills the agentctl with a shell attached; gives what its pane was told.
#[track_caller]
fn lose_agentctl(
    home: &Home,
    told: &Told,
    shells: &Shells<'_>,
    shell: &str,
    generation: u64,
    meanwhile: impl FnOnce(),
) {
    let mut pane = Pane::attach(home, shell).unwrap();
    pane.line("setsid sleep 7004 & echo $((6*7))-runs");
    pane.until_text(home, "42-runs");
    home.until("its program", || shells.runs("sleep 7004"));
    let agentctl = home.agentctl(&told.id);
    meanwhile();
    kill::kill(&agentctl);
    assert_eq!(pane.until_exit(home), Exit::Unknown);
    home.until("the end of its stream", || pane.is_over());
    home.until_alive(&told.id, generation);
    assert!(!shells.runs("sleep 7004"), "what it left is ended: {:?}", home.living());
    shells.until_row(shell, ["shell", "exited", "NULL", "NULL", "1"]);
    let gone = attach_error(home, shell);
    assert_eq!(gone.code, ErrorCode::TerminalNotFound);
    assert!(gone.message.ends_with("ended together with its executor"), "{gone}");
}

#[test]
fn the_end_of_the_agentctl_ends_its_shells_and_the_rows_say_so() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let shells = Shells::of(&home, &told.id);
    let shell = shells.open();
    lose_agentctl(&home, &told, &shells, &shell, 2, || ());
    shells.close(&shell, false).unwrap();
    assert_eq!(shells.row(&shell)[1], "disposed");
    let mut pane = Pane::attach(&home, &shells.open()).unwrap();
    pane.line("echo anew-$((6*7))");
    pane.until_text(&home, "anew-42");
    told.back_once(&home, 2);
}

#[test]
fn a_shell_of_which_the_next_agentctl_knows_nothing_has_ended() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let shells = Shells::of(&home, &told.id);
    let shell = shells.open();
    let journal = home.path().join("state/sessions").join(&told.id).join("journal");
    lose_agentctl(&home, &told, &shells, &shell, 2, || fs::remove_file(&journal).unwrap());
}

#[test]
fn a_killed_session_leaves_no_shell_and_tells_when_it_ended() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let shells = Shells::of(&home, &told.id);
    let shell = shells.open();
    let mut pane = Pane::attach(&home, &shell).unwrap();
    pane.line("sleep 7005");
    shells.until_foreground(&shell, &json!("sleep"));
    home.run(&["kill", &told.id]).ok();
    pane.until_exit(&home);
    assert!(!shells.runs("sleep 7005"), "{:?}", home.living());
    let row = shells.row(&shell);
    assert_eq!((row[1].as_str(), row[4].as_str()), ("exited", "1"));
    assert!(row[2] != "NULL" || row[3] != "NULL", "how it ended was told: {row:?}");
    let refused = shells.client.call("session.terminals", json!({ "session": told.id })).unwrap_err();
    assert_eq!(refused.code, ErrorCode::AgentNotRunning, "{refused}");
    assert_eq!(attach_error(&home, &shell).code, ErrorCode::TerminalNotFound);
    shells.close(&shell, false).unwrap();
    let line = home.session(&told.id);
    assert_eq!(line["end_reason"], "disposed");
    assert!(line["ended_at"].as_i64() >= line["created_at"].as_i64(), "{line}");
}
