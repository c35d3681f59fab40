//! The first ten minutes of somebody who has read nothing: each step is taken by what the screen itself says.

use crate::support::Home;
use crate::support::kill::{self, Signal};
use crate::support::terminal::Terminal;

/// What a person knows who has a keyboard.
fn bytes(key: &str) -> String {
    match key {
        "Ctrl-Space" => "\x00".into(),
        "Enter" => "\r".into(),
        "Esc" => "\x1b".into(),
        "Tab" => "\t".into(),
        "Right" => "\x1b[C".into(),
        one if one.chars().count() == 1 => one.into(),
        other => panic!("what key is `{other}`?"),
    }
}

/// Somebody at a terminal of 80 by 24, who reads.
struct Person<'a> {
    home: &'a Home,
    terminal: Terminal,
}

impl Person<'_> {
    #[track_caller]
    fn sees(&mut self, text: &str) {
        self.terminal.until_text(self.home, text);
    }

    #[track_caller]
    fn sees_no_more(&mut self, text: &str) {
        self.terminal.until(self.home, &format!("no `{text}`"), |t| !t.text().contains(text));
    }

    fn presses(&mut self, key: &str) {
        self.terminal.keys(&bytes(key));
    }

    fn types(&mut self, line: &str) {
        self.terminal.keys(line);
        self.presses("Enter");
    }

    /// The word before a text, where it stands for the first time.
    #[track_caller]
    fn word_before(&mut self, text: &str) -> String {
        self.sees(text);
        let rows = self.terminal.rows();
        let before = rows.iter().find_map(|row| row.split_once(text)).map(|(before, _)| before.to_owned());
        let word = before.as_deref().and_then(|before| before.split_whitespace().next_back());
        word.unwrap_or_else(|| panic!("nothing before `{text}`:\n{}", self.terminal.text())).to_owned()
    }

    /// The prefix, as the status line shows it, then the key that the hint has for `what`.
    #[track_caller]
    fn does(&mut self, what: &str) {
        let prefix = self.word_before(" ? help");
        self.presses(&prefix);
        let key = self.word_before(&format!(" {what}"));
        self.presses(&key);
    }

    /// The answer to a question, by the key in brackets before it.
    #[track_caller]
    fn answers(&mut self, answer: &str) {
        let key = self.word_before(&format!(" {answer}"));
        self.presses(key.trim_matches(['[', ']']));
    }

    /// The key that a foot like `Enter: go` names.
    #[track_caller]
    fn follows(&mut self, what: &str) {
        let key = self.word_before(&format!(": {what}"));
        self.presses(&key);
    }

    #[track_caller]
    fn starts_a_session(&mut self, prompt: &str) {
        self.sees("New session");
        // The first that is offered is there; one that needs nothing else is the demo agent.
        let offered = |t: &Terminal| t.rows().into_iter().find(|row| row.contains("Agent  ")).unwrap_or_default();
        for _ in 0..20 {
            if offered(&self.terminal).contains("Demo") {
                break;
            }
            let before = offered(&self.terminal);
            self.presses("Right");
            self.terminal.until(self.home, "another agent", |t| offered(t) != before);
        }
        self.follows("next");
        self.sees(">Prompt");
        self.terminal.keys(prompt);
        self.follows("go");
        self.sees_no_more("New session");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one day, told in order")]
fn the_first_ten_minutes_need_no_manual() {
    let home = Home::new().env("PATH", "/usr/bin:/bin");
    let mut terminal = Terminal::new((80, 24));
    terminal.start(&home, &[]);
    let mut person = Person { home: &home, terminal };

    // Nothing is there: the screen says how to begin.
    person.sees("No session yet");
    let key = person.word_before("  start a session");
    person.presses(&key);
    person.starts_a_session("remember amber");
    person.sees("I will remember amber.");

    // A shell beside it, and back.
    person.does("split right");
    person.sees("▶ shell");
    person.types("echo $((6*7))-here");
    person.sees("42-here");
    person.does("other pane");
    person.terminal.until(&home, "the focus on the agent", |t| !t.text().contains("▶ shell"));
    person.types("what is the code word?");
    person.sees("The code word is amber.");
    person.does("zoom");
    person.sees_no_more("42-here");
    person.does("zoom");
    person.sees("42-here");

    // A second session; the tab bar has their numbers.
    person.does("new");
    person.starts_a_session("remember birch");
    person.sees("I will remember birch.");
    let bar = person.terminal.rows()[0].clone();
    assert!(bar.contains(" 1 ") && bar.contains(" 2 "), "{bar}");
    let prefix = person.word_before(" ? help");
    person.presses(&prefix);
    person.presses("1");
    person.sees("The code word is amber.");

    // Leaving and coming back.
    person.does("detach");
    assert_eq!(person.terminal.until_code(&home), 0);
    person.sees("the agents go on");
    let command = person.terminal.text().split('`').nth(1).unwrap().to_owned();
    assert_eq!(command, "relight");
    person.terminal.start(&home, &[]);
    person.sees("I will remember");
    person.does("next");
    person.sees("I will remember");
    let amber = |t: &Terminal| t.text().contains("amber");
    if !amber(&person.terminal) {
        person.does("next");
        person.terminal.until(&home, "the first session", amber);
    }

    // Its agent is killed from outside, by the number that the screen tells; it comes back.
    person.does("explain");
    person.sees("as process ");
    let text = person.terminal.text();
    let pid = text.split_once("as process ").unwrap().1.split_whitespace().next().unwrap().parse().unwrap();
    person.answers("back");
    let agent = kill::identify(pid).unwrap();
    let id = home.ls().into_iter().find(|line| line["pid"] == pid).unwrap()["session_id"].as_str().unwrap().to_owned();
    kill::signal(&agent, Signal::KILL);
    person.sees("was resumed.");
    person.sees("resumed ");
    home.until_alive(&id, 2);
    person.terminal.until_quiet();
    person.types("and the code word now?");
    person.terminal.until(&home, "the word again", |t| t.text().matches("The code word is amber.").count() >= 2);

    // Ended on purpose, and brought back by what the announcement says.
    person.does("kill");
    person.answers("yes");
    person.sees("brings it back");
    let text = person.terminal.text();
    let said: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
    let at = said.iter().position(|word| *word == "brings").unwrap();
    person.presses(said[at - 2]);
    person.presses(said[at - 1]);
    person.follows("bring it back");
    home.until_alive(&id, 3);
    person.terminal.until(&home, "the first session", amber);
    person.terminal.until_quiet();
    person.types("once more: what is the code word?");
    person.sees("once more");
    person.terminal.until(&home, "its word", |t| {
        t.text().split_once("once more").is_some_and(|(_, after)| after.contains("The code word is amber."))
    });

    // The end.
    person.does("quit all");
    person.sees("Stop the host");
    person.answers("yes");
    assert_eq!(person.terminal.until_code(&home), 0);
    person.sees("brings them back");
    assert!(home.host().is_none());
    assert_eq!(home.living(), []);
}
