//! Many ask for one dead session: commands, screens, and the host by itself.

use std::process::Child;

use relight::proc::testpoint::STOP_AT;
use serde_json::{Value, json};

use crate::support::Home;
use crate::support::client::Client;
use crate::support::kill::{self, Signal};
use crate::support::reply::Reply;
use crate::support::told::Told;

/// Four commands and two clients of the kind that a screen is.
struct Callers {
    commands: Vec<Child>,
    clients: Vec<Client>,
    calls: Vec<tokio::task::JoinHandle<Result<Value, relight::link::Error>>>,
}

impl Callers {
    fn call(home: &Home, id: &str) -> Self {
        let clients: Vec<Client> = (0..2).map(|_| Client::connect(home)).collect();
        let commands = (0..4).map(|_| home.start(&["resume", id, "--json"])).collect();
        let calls = clients.iter().map(|client| client.begin("session.resume", json!({"session": id}))).collect();
        Self { commands, clients, calls }
    }

    /// Every answer.
    fn answers(self) -> Vec<Value> {
        let mut answers = Vec::new();
        for (client, call) in self.clients.iter().zip(self.calls) {
            answers.push(client.end(call));
        }
        for command in self.commands {
            let reply = Reply::new("resume".into(), &command.wait_with_output().unwrap());
            let answer = reply.json();
            // Exit code 4 goes with `resumed: false`.
            let code = if answer["resumed"] == true { 0 } else { 4 };
            reply.exits(code);
            answers.push(answer);
        }
        answers
    }
}

/// One launch, whose result all have: those that came in time as their own, later ones with the reason.
#[track_caller]
fn shared(home: &Home, told: &Told, answers: &[Value]) {
    told.back_once(home, 2);
    let line = home.session(&told.id);
    assert_eq!(answers.len(), 6);
    for answer in answers {
        assert_eq!(answer["terminal_id"], line["terminal_id"], "{answers:#?}");
        let right = match answer["resumed"].as_bool() {
            Some(true) => answer["reason"] == "resumed",
            _ => answer["reason"] == "agent_running",
        };
        assert!(right, "{answers:#?}");
    }
    let attempts = home.rows("SELECT outcome FROM resume_attempts");
    assert_eq!(attempts, [["resumed"]]);
    let events = home.events();
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((count("session.resuming"), count("session.resumed"), count("session.resume_failed")), (1, 1, 0));
}

#[test]
fn commands_and_screens_race_on_a_dead_session() {
    let home = Home::new();
    home.write_config("[resume]\nauto = \"never\"\n");
    let told = Told::new(&home, "kiwi");
    kill::kill(&home.agent(&told.id));
    let dead = home.until_session(&told.id, "a dead agent", |line| line["end_reason"] == "terminal-exited");
    let status = home.status(&told.id);
    assert_eq!((&status["needs_resume"], &status["automatic"]), (&true.into(), &false.into()), "{status}");

    let answers = Callers::call(&home, &told.id).answers();
    shared(&home, &told, &answers);
    let resumed = answers.iter().filter(|answer| answer["resumed"] == true);
    assert!(resumed.clone().count() >= 1, "{answers:#?}");
    assert!(resumed.clone().all(|answer| answer["old_terminal_id"] == dead["terminal_id"]), "{answers:#?}");

    // Later: not resumed, why, and where it is.
    let later = home.run(&["resume", &told.id, "--json"]).exits(4).json();
    assert_eq!((&later["resumed"], &later["reason"]), (&false.into(), &"agent_running".into()));
    assert_eq!(later["terminal_id"], home.session(&told.id)["terminal_id"]);
    // A client that still sees the dead one is pointed to the live one.
    let client = Client::connect(&home);
    let stale = json!({"session": told.id, "terminal_id": dead["terminal_id"]});
    let stale = client.call("session.resume", stale).unwrap();
    assert_eq!((&stale["resumed"], &stale["terminal_id"]), (&false.into(), &later["terminal_id"]));
    told.back_once(&home, 2);
}

#[test]
fn all_share_the_launch_that_the_host_began_by_itself() {
    let home = Home::new().with_point(STOP_AT, "agentctl.after_intent");
    let told = Told::new(&home, "plum");
    let agentctl = home.agentctl(&told.id);
    home.arm("agentctl.after_intent");
    kill::kill(&home.agent(&told.id));
    home.until("an agentctl that stands in the middle of the launch", || kill::is_stopped(&agentctl));

    let status = home.status(&told.id);
    assert_eq!(status["resume_reason"], "resuming", "{status}");
    let callers = Callers::call(&home, &told.id);
    home.until("six callers at the host", || {
        home.json(&["host", "status"])["clients"].as_u64().is_some_and(|clients| clients >= 7)
    });
    kill::signal(&agentctl, Signal::CONT);
    let answers = callers.answers();
    shared(&home, &told, &answers);
    assert!(answers.iter().any(|answer| answer["resumed"] == true), "{answers:#?}");
}

#[test]
fn a_person_asks_at_the_moment_of_death() {
    let home = Home::new();
    let told = Told::new(&home, "fig");
    let agent = home.agent(&told.id);
    let clients: Vec<Client> = (0..2).map(|_| Client::connect(&home)).collect();
    kill::signal(&agent, Signal::KILL);
    let calls: Vec<_> =
        clients.iter().map(|client| client.begin("session.resume", json!({"session": told.id}))).collect();
    for (client, call) in clients.iter().zip(calls) {
        let answer = client.end(call);
        assert!(answer["resumed"] == true || answer["reason"] == "agent_running", "{answer}");
    }
    told.back_once(&home, 2);
}
