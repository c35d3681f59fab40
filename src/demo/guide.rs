//! The guide of `relight demo`, pure: what was seen of the instance → which step the person is at, and the words for it.

use std::cmp::Ordering;

use unicode_width::UnicodeWidthStr as _;

/// What the person presses, in words, and the names of the sessions that the steps are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Opens a shell beside the guide.
    pub shell: String,
    /// Goes to the tab of [`Words::api`].
    pub api_tab: String,
    /// Goes to the tab of [`Words::docs`].
    pub docs_tab: String,
    /// Comes back to the guide.
    pub back: String,
    /// Ends a session for good.
    pub kill: String,
    /// Lists closed sessions.
    pub reopen: String,
    /// Leaves.
    pub detach: String,
    /// Session that is killed and asked.
    pub api: String,
    /// Session that is ended on purpose.
    pub docs: String,
    /// What happens on leaving.
    pub end: String,
}

/// One session at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Name.
    pub name: String,
    /// Its agent's pid while it lives.
    pub pid: Option<i32>,
    /// How often an agent was started in it.
    pub generation: u32,
    /// A person ended it.
    pub ended: bool,
}

/// The instance at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// The host's pid; `None` while none answers.
    pub host: Option<i32>,
    /// Sessions.
    pub sessions: Vec<Session>,
    /// Messages that a person has sent to the session that is asked.
    pub asked: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Kill,
    Ask,
    Host,
    End,
    Undo,
    Leave,
}

const STEPS: [Step; 6] = [Step::Kill, Step::Ask, Step::Host, Step::End, Step::Undo, Step::Leave];

/// Below so many columns nothing is indented.
const NARROW: usize = 40;

/// Where the person is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    words: Words,
    at: Step,
    /// What was there when the step began.
    before: Option<Seen>,
    now: Seen,
}

impl Guide {
    /// At the first step.
    #[must_use]
    pub const fn new(words: Words) -> Self {
        let now = Seen { host: None, sessions: Vec::new(), asked: 0 };
        Self { words, at: Step::Kill, before: None, now }
    }

    /// Takes what is there now.
    pub fn look(&mut self, seen: Seen) {
        let api = |seen: &Seen| named(seen, &self.words.api).cloned();
        let docs = |seen: &Seen| named(seen, &self.words.docs).cloned();
        let alive = |session: &Session| session.pid.is_some();
        // Nothing begins before the agent that is killed has lived.
        if self.before.as_ref().is_none_or(|before| api(before).is_none_or(|session| !alive(&session))) {
            self.before = Some(seen.clone());
        }
        let before = self.before.get_or_insert_with(|| seen.clone());
        let done = match self.at {
            Step::Kill => {
                let had = api(before).map_or(1, |session| session.generation);
                api(&seen).is_some_and(|session| alive(&session) && session.generation > had)
            }
            Step::Ask => seen.asked > before.asked,
            Step::Host => before.host.is_some() && seen.host.is_some() && seen.host != before.host,
            Step::End => docs(&seen).is_some_and(|session| session.ended),
            Step::Undo => docs(&seen).is_some_and(|session| !session.ended && alive(&session)),
            Step::Leave => false,
        };
        if done {
            let next = STEPS.iter().position(|step| *step == self.at).and_then(|at| STEPS.get(at + 1));
            self.at = next.copied().unwrap_or(Step::Leave);
            self.before = Some(seen.clone());
        }
        self.now = seen;
    }

    /// The words for a terminal of so many columns and rows: what was done and what comes next as far as there is room
    /// around the step that the person is at. Only ASCII.
    #[must_use]
    pub fn text(&self, cols: usize, rows: usize) -> Vec<String> {
        let (mut above, mut here, mut below) = (Vec::new(), Vec::new(), Vec::new());
        for (number, step) in STEPS.iter().enumerate() {
            let number = number + 1;
            match step.cmp(&self.at) {
                Ordering::Less => above.push(cut(&format!("[x] {number}. {}", self.done(*step)), cols)),
                Ordering::Greater => below.push(cut(&format!("[ ] {number}. {}", self.title(*step)), cols)),
                Ordering::Equal => {
                    here.extend(wrap(&format!("[>] {number}. {}", self.title(*step)), cols, "       "));
                    here.extend(self.told(*step).iter().flat_map(|line| {
                        let indent = if line.starts_with(' ') { "      " } else { "    " };
                        let indent = if cols < NARROW { &indent[4..] } else { indent };
                        wrap(&format!("{indent}{}", line.trim_start()), cols, indent)
                    }));
                }
            }
        }
        let head = wrap(
            "This is a throw-away relight: nothing of yours is touched. What you do is checked off here.",
            cols,
            "",
        );
        let mut out = here;
        out.truncate(rows);
        let room = |out: &Vec<String>| rows.saturating_sub(out.len());
        let last = above.len().saturating_sub(room(&out));
        out.splice(0..0, above.split_off(last));
        if room(&out) > head.len() {
            out.splice(0..0, head.into_iter().chain([String::new()]));
        }
        below.truncate(room(&out));
        out.extend(below);
        out
    }

    fn title(&self, step: Step) -> String {
        let Words { api, docs, .. } = &self.words;
        match step {
            Step::Kill => format!("Kill the agent of `{api}`."),
            Step::Ask => "Ask it what it knew.".into(),
            Step::Host => "Kill the host.".into(),
            Step::End => format!("End `{docs}` on purpose."),
            Step::Undo => "Take that back.".into(),
            Step::Leave => "Leave.".into(),
        }
    }

    fn done(&self, step: Step) -> String {
        let Words { api, docs, .. } = &self.words;
        match step {
            Step::Kill => format!("`{api}` was killed and came back by itself, once."),
            Step::Ask => "It went on in the same conversation.".into(),
            Step::Host => "The host was killed; every agent went on.".into(),
            Step::End => format!("`{docs}` was ended, and stayed ended."),
            Step::Undo => format!("`{docs}` is back, since you asked for it."),
            Step::Leave => String::new(),
        }
    }

    /// Lines of a step; what begins with two blanks is typed.
    fn told(&self, step: Step) -> Vec<String> {
        let w = &self.words;
        let pid = |pid: Option<i32>| pid.map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
        let agent = pid(named(&self.now, &w.api).and_then(|session| session.pid));
        match step {
            Step::Kill => vec![
                format!("{} opens a shell beside this text. Type there:", w.shell),
                format!("  kill -9 {agent}"),
                format!("Watch its tab: it comes back by itself, in its conversation. ({} shows it.)", w.api_tab),
            ],
            Step::Ask => vec![
                format!("Go to it with {}, and type:", w.api_tab),
                "  what is the code word?".into(),
                format!("Then {} comes back here.", w.back),
            ],
            Step::Host => vec![
                "The host is the one background process behind all of it. In the shell, or in any other terminal:"
                    .into(),
                format!("  kill -9 {}", pid(self.now.host)),
                "Agents and screens go on, and the next host knows everything.".into(),
            ],
            Step::End => vec![
                format!("{} goes there, {} ends it: it asks first.", w.docs_tab, w.kill),
                "What you end stays ended, whatever is started again.".into(),
            ],
            Step::Undo => vec![format!("{} lists what was closed; Enter brings it back.", w.reopen)],
            Step::Leave => vec![format!("{} leaves. {}", w.detach, w.end)],
        }
    }
}

fn named<'a>(seen: &'a Seen, name: &str) -> Option<&'a Session> {
    seen.sessions.iter().find(|session| session.name == name)
}

/// Breaks a text at blanks; what follows the first line begins with `indent`. A word longer than a line is cut by the terminal.
fn wrap(text: &str, cols: usize, indent: &str) -> Vec<String> {
    let lead: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut lines = vec![lead];
    let mut fresh = true;
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.width());
        if !fresh && line + 1 + word.width() > cols {
            lines.push(indent.to_owned());
            fresh = true;
        }
        if let Some(line) = lines.last_mut() {
            if !fresh {
                line.push(' ');
            }
            line.push_str(word);
        }
        fresh = false;
    }
    lines
}

/// One line, with `...` where it was cut.
fn cut(text: &str, cols: usize) -> String {
    if text.width() <= cols {
        return text.to_owned();
    }
    let kept: String = text.chars().take(cols.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        let key = |key: &str| format!("Ctrl-Space {key}");
        Words {
            shell: key("%"),
            api_tab: key("2"),
            docs_tab: key("3"),
            back: key("1"),
            kill: key("X"),
            reopen: key("u"),
            detach: key("d"),
            api: "api".into(),
            docs: "docs".into(),
            end: "Everything of it is ended and removed then.".into(),
        }
    }

    fn seen(host: i32, api: (Option<i32>, u32), docs: (Option<i32>, bool), asked: usize) -> Seen {
        let session = |name: &str, pid, generation, ended| Session { name: name.into(), pid, generation, ended };
        let sessions = vec![session("api", api.0, api.1, false), session("docs", docs.0, 1, docs.1)];
        Seen { host: Some(host), sessions, asked }
    }

    fn at(guide: &Guide) -> String {
        let all = guide.text(80, 50);
        all.iter().find_map(|line| line.strip_prefix("[>] ")).unwrap_or_default().to_owned()
    }

    #[test]
    fn a_step_is_done_when_it_was_seen_and_not_before() {
        let mut guide = Guide::new(words());
        let docs = (Some(7), false);
        guide.look(Seen::default());
        guide.look(seen(1, (None, 0), docs, 0));
        guide.look(seen(1, (Some(5), 1), docs, 1));
        assert_eq!(at(&guide), "1. Kill the agent of `api`.", "its first start is no return");
        assert!(guide.text(80, 50).iter().any(|line| line.trim() == "kill -9 5"), "{:#?}", guide.text(80, 50));
        guide.look(seen(1, (None, 1), docs, 1));
        assert_eq!(at(&guide), "1. Kill the agent of `api`.", "dead is not yet back");
        guide.look(seen(1, (Some(6), 2), docs, 1));
        assert_eq!(at(&guide), "2. Ask it what it knew.");
        guide.look(seen(1, (Some(6), 2), docs, 1));
        assert_eq!(at(&guide), "2. Ask it what it knew.", "the first prompt was not the person's");
        guide.look(seen(1, (Some(6), 2), docs, 2));
        assert_eq!(at(&guide), "3. Kill the host.");
        assert!(guide.text(80, 50).iter().any(|line| line.trim() == "kill -9 1"));
        guide.look(Seen { host: None, ..seen(1, (Some(6), 2), docs, 2) });
        assert_eq!(at(&guide), "3. Kill the host.", "nobody is there yet");
        guide.look(seen(2, (Some(6), 2), docs, 2));
        assert_eq!(at(&guide), "4. End `docs` on purpose.");
        guide.look(seen(2, (Some(6), 2), (None, false), 2));
        assert_eq!(at(&guide), "4. End `docs` on purpose.", "a death is not an end");
        guide.look(seen(2, (Some(6), 2), (None, true), 2));
        assert_eq!(at(&guide), "5. Take that back.");
        guide.look(seen(2, (Some(6), 2), (Some(9), false), 2));
        assert_eq!(at(&guide), "6. Leave.");
        assert!(guide.text(80, 50).concat().contains("removed then"));
        assert_eq!(guide.text(80, 50).iter().filter(|line| line.starts_with("[x]")).count(), 5);
    }

    #[test]
    fn it_fits_every_terminal_and_shows_the_step_first() {
        let mut guide = Guide::new(words());
        guide.look(seen(1, (Some(5), 1), (Some(7), false), 0));
        for (cols, rows) in [(30, 6), (40, 21), (80, 22), (200, 48), (1, 1), (12, 3)] {
            let text = guide.text(cols, rows);
            assert!(text.len() <= rows, "{cols}x{rows}: {text:#?}");
            assert!(text.iter().all(|line| line.is_ascii()));
            if cols >= 30 {
                assert!(text.iter().all(|line| line.len() <= cols), "{cols}x{rows}: {text:#?}");
                assert!(text.iter().any(|line| line.contains("kill -9 5")), "{cols}x{rows}: {text:#?}");
            }
        }
        let all = guide.text(80, 22);
        assert!(all[0].starts_with("This is a throw-away relight"));
        assert_eq!(all.last().unwrap(), "[ ] 6. Leave.");
    }
}
