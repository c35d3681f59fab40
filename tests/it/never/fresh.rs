//! An agent that was never prompted has nothing to resume: it is started again, and that is said.

use crate::support::Home;
use crate::support::home::text;
use crate::support::kill::{self, Signal};

fn dies_unprompted(signal: Signal) {
    let home = Home::new();
    let id = home.demo(None, &[]);
    let first = home.until_session(&id, "an agent that waits", |line| line["state"] == "WAITING_FOR_INPUT");
    let conversation = text(&first, "agent_session_id");
    let agent = home.agent(&id);
    kill::signal(&agent, signal);
    let second = home.until_alive(&id, 2);
    assert_ne!(text(&second, "agent_session_id"), conversation, "a conversation of its own");
    let living = home.agents_with("demo-agent");
    assert_eq!(living.len(), 1, "{}", home.report());
    let line = std::fs::read(format!("/proc/{}/cmdline", living[0].pid)).unwrap();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    assert!(!line.contains("--resume") && !line.contains(&conversation), "{line}");

    let query = "SELECT start_mode, end_reason, prompted_at FROM agent_bindings ORDER BY generation";
    assert_eq!(home.rows(query), [["first", "resumed", "NULL"], ["fresh", "NULL", "NULL"]]);
    let resumed: Vec<_> = home.events().into_iter().filter(|event| event["type"] == "session.resumed").collect();
    assert_eq!(resumed.len(), 1);
    assert_eq!(resumed[0]["data"]["mode"], "fresh", "{}", resumed[0]);

    // It is as good as new: prompted now, it is resumed from then on.
    home.ask(&id, "remember fig", "I will remember fig.");
    home.until_session(&id, "an answer", |line| line["state"] == "WAITING_FOR_INPUT");
    kill::kill(&home.agent(&id));
    let third = home.until_alive(&id, 3);
    assert_eq!(third["agent_session_id"], second["agent_session_id"]);
    home.ask(&id, "what is the code word?", "The code word is fig.");
}

#[test]
fn killed_before_its_first_prompt() {
    dies_unprompted(Signal::KILL);
}

#[test]
fn hung_up_before_its_first_prompt() {
    dies_unprompted(Signal::HUP);
}

#[test]
fn a_person_asks_for_it() {
    let home = Home::new();
    home.write_config("[resume]\nauto = \"never\"\n");
    let id = home.demo(None, &[]);
    home.until_session(&id, "an agent that waits", |line| line["state"] == "WAITING_FOR_INPUT");
    kill::kill(&home.agent(&id));
    home.until_session(&id, "a dead agent", |line| line["end_reason"] == "terminal-exited");
    let status = home.status(&id);
    assert_eq!((&status["needs_resume"], &status["resume_reason"]), (&false.into(), &"auto_off".into()), "{status}");
    let answer = home.json(&["resume", &id]);
    assert_eq!((&answer["resumed"], &answer["reason"]), (&true.into(), &"started_fresh".into()), "{answer}");
    home.until_alive(&id, 2);
}

/// Nobody knows whether the dead agent got it: the new one is not given it, and the queue shows it.
#[test]
fn the_first_prompt_is_kept_as_maybe_delivered() {
    let home = Home::new();
    let profile = r#"
[agents.mute]
program = "/bin/sh"
[agents.mute.launch]
args = ["-c", "while :; do sleep 1; done"]
prompt = ["{prompt}"]
"#;
    home.write_config(profile);
    let new = ["new", "--agent", "mute", "--detach", "--prompt", "plant figs"];
    let id = text(&home.json(&new), "session_id");
    home.until_alive(&id, 1);
    let given = |pid: i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        String::from_utf8_lossy(&line).contains("plant figs")
    };
    let agent = home.agent(&id);
    assert!(given(agent.pid));
    kill::kill(&agent);
    home.until_alive(&id, 2);
    assert!(!given(home.agent(&id).pid));
    assert_eq!(home.rows("SELECT text, state FROM queued_prompts"), [["plant figs", "maybe_delivered"]]);
}
