//! A session whose demo agent was told a code word: what it knows tells whether it is the same conversation.

use std::fs;

use serde_json::Value;

use super::Home;
use super::home::text;

/// A session with a prompted conversation.
pub struct Told {
    /// Session.
    pub id: String,
    /// Conversation.
    pub token: String,
    /// Task.
    pub task: String,
    word: String,
}

impl Told {
    /// Starts a demo agent, tells it `word`, and waits until it has answered and waits for more.
    #[track_caller]
    pub fn new(home: &Home, word: &str) -> Self {
        Self::with(home, word, &["--agent", "demo"], &[])
    }

    /// The same with options of `relight new` and arguments of the agent.
    #[track_caller]
    pub fn with(home: &Home, word: &str, options: &[&str], agent_args: &[&str]) -> Self {
        let prompt = format!("remember {word}");
        let mut args = vec!["new", "--detach", "--prompt", &prompt];
        args.extend(options);
        args.push("--");
        args.extend(agent_args);
        let created = home.json(&args);
        let (id, task) = (text(&created, "session_id"), text(&created, "task_id"));
        home.until_screen(&id, &format!("I will remember {word}."));
        let line = home.until_session(&id, "an agent that answered and waits", |line| {
            let prompted = "SELECT id FROM task_sessions WHERE prompted_at IS NOT NULL";
            line["state"] == "WAITING_FOR_INPUT" && home.rows(prompted).iter().any(|row| row[0] == id)
        });
        Self { token: text(&line, "agent_session_id"), id, task, word: word.into() }
    }

    /// A conversation that was told `word` elsewhere, now in session `id`.
    pub fn adopted(id: String, task: String, token: &str, word: &str) -> Self {
        Self { id, token: token.into(), task, word: word.into() }
    }

    /// Each start of an agent on this conversation, as the agents wrote it down.
    pub fn starts(&self, home: &Home) -> Vec<Value> {
        let path = home.path().join("home/.relight-demo/starts.jsonl");
        let text = fs::read_to_string(path).unwrap_or_default();
        let starts = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        starts.filter(|start| start["id"] == self.token.as_str()).collect()
    }

    /// Generation, end reason and token of each of its agents, oldest first.
    pub fn bindings(&self, home: &Home) -> Vec<(String, String, String)> {
        let query = format!(
            "SELECT generation, end_reason, agent_session_id FROM agent_bindings WHERE session_id = '{}'
             ORDER BY generation",
            self.id
        );
        home.rows(&query).into_iter().map(|row| (row[0].clone(), row[1].clone(), row[2].clone())).collect()
    }

    /// Waits until it is back as this generation, and looks that it came back once: one live agent, one start each, the
    /// old one consumed, the same conversation, which still knows its word.
    #[track_caller]
    pub fn back_once(&self, home: &Home, generation: u64) {
        home.until_alive(&self.id, generation);
        home.until("the agent to be ready", || self.screen_is_ready(home));
        let file = home.path().join(format!("home/.relight-demo/{}.jsonl", self.token));
        let answer = format!("The code word is {}.", self.word);
        let answers = || fs::read_to_string(&file).unwrap_or_default().matches(&answer).count();
        let before = answers();
        home.run(&["send", &self.id, "what is the code word?"]).ok();
        home.until("the code word", || answers() == before + 1);
        let living = home.agents_with(&self.token);
        assert_eq!(living.len(), 1, "one live agent of {}\n{}", self.token, home.report());
        let starts = self.starts(home);
        assert_eq!(starts.len() as u64, generation, "{starts:?}\n{}", home.report());
        let bindings = self.bindings(home);
        assert_eq!(bindings.len() as u64, generation, "{bindings:?}");
        for (number, (_, reason, token)) in bindings.iter().enumerate() {
            let last = number as u64 + 1 == generation;
            assert_eq!((reason.as_str(), token), (if last { "NULL" } else { "resumed" }, &self.token), "{bindings:?}");
        }
    }

    fn screen_is_ready(&self, home: &Home) -> bool {
        home.screen(&self.id).lines().any(|row| row.trim_end() == "ready")
    }

    /// The token is where it was: in the session, in its executor's row and in its newest binding.
    #[track_caller]
    pub fn token_is_kept(&self, home: &Home) {
        let query = format!(
            "SELECT json_extract(s.metadata, '$.resume_token'), x.resume_token, b.agent_session_id
             FROM task_sessions s JOIN executors_running x ON x.session_id = s.id
             JOIN agent_bindings b ON b.session_id = s.id
             WHERE s.id = '{}' ORDER BY b.generation DESC LIMIT 1",
            self.id
        );
        assert_eq!(home.rows(&query), vec![vec![self.token.clone(); 3]]);
    }
}
