//! Forms and questions: their fields and what keys do in them. What becomes of an answer is decided in `update`.

use super::edit::Line;
use super::notice;
use crate::domain::ids::{SessionId, TerminalId};
use crate::wire::input::{Key, KeyCode, Mods};

/// What a form is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A new session.
    New,
    /// Another name for this session.
    Rename(SessionId),
}

/// One of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub label: String,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(Line),
    /// One of a list.
    Choice {
        /// The list.
        of: Vec<Choice>,
        /// Which.
        at: usize,
    },
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name, and label.
    pub label: &'static str,
    /// Shown while it is empty.
    pub empty: &'static str,
    /// Content.
    pub value: Value,
    /// What the text may become, the likeliest first.
    pub found: Vec<String>,
    /// The text for which that was asked.
    pub asked: Option<String>,
}

impl Field {
    const fn new(label: &'static str, empty: &'static str, value: Value) -> Self {
        Self { label, empty, value, found: vec![], asked: None }
    }

    /// What would be added to the text if the first suggestion were taken; only while the place is at its end.
    #[must_use]
    pub fn ghost(&self) -> Option<&str> {
        let Value::Text(line) = &self.value else { return None };
        let more = self.found.first().and_then(|found| found.strip_prefix(line.text()));
        more.filter(|more| !more.is_empty() && line.at_end())
    }

    fn take_ghost(&mut self) -> bool {
        let more = self.ghost().map(str::to_owned);
        match (&mut self.value, more) {
            (Value::Text(line), Some(more)) => {
                line.insert(&more);
                true
            }
            _ => false,
        }
    }
}

/// A form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// What for.
    pub purpose: Purpose,
    /// Title.
    pub title: &'static str,
    /// Fields.
    pub fields: Vec<Field>,
    /// The field that has the focus.
    pub at: usize,
    /// Its text was changed since it has it.
    pub touched: bool,
    /// Why the last try did not work.
    pub error: Option<String>,
    /// The answer is on its way.
    pub busy: bool,
}

/// What a key did in a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Did {
    /// Nothing, or something inside the form.
    Stay,
    /// The person is done.
    Submit,
    /// The person does not want it.
    Cancel,
}

impl Form {
    /// The form for a new session; an executor is asked for only where there is a choice.
    #[must_use]
    pub fn new_session(agents: &[Choice], executors: &[String], cwd: &str) -> Self {
        let text = |label, empty, line| Field::new(label, empty, Value::Text(line));
        let mut fields = vec![
            Field::new("Agent", "none found", Value::Choice { of: agents.to_vec(), at: 0 }),
            text("Prompt", "none: you will type it there", Line::default().with_breaks()),
            text("Directory", "where relight runs", Line::new(cwd)),
            text("Task", "one of its own", Line::default()),
            text("Name", "made from the agent's", Line::default()),
        ];
        if executors.len() > 1 {
            let of = executors.iter().map(|name| Choice { value: name.clone(), label: name.clone() }).collect();
            fields.push(Field::new("Executor", "", Value::Choice { of, at: 0 }));
        }
        Self::of(Purpose::New, "New session", fields)
    }

    /// The form for another name.
    #[must_use]
    pub fn rename(session: SessionId, name: &str) -> Self {
        let fields = vec![Field::new("Name", "", Value::Text(Line::new(name)))];
        Self::of(Purpose::Rename(session), "Rename session", fields)
    }

    const fn of(purpose: Purpose, title: &'static str, fields: Vec<Field>) -> Self {
        Self { purpose, title, fields, at: 0, touched: false, error: None, busy: false }
    }

    /// The label and text of the focused field, if suggestions for that text were not asked for yet.
    pub fn changed(&mut self) -> Option<(&'static str, String)> {
        let field = self.fields.get_mut(self.at)?;
        let Value::Text(line) = &field.value else { return None };
        let text = line.text().to_owned();
        if field.asked.as_ref() == Some(&text) {
            return None;
        }
        field.found.retain(|found| found.starts_with(&text));
        field.asked = Some(text.clone());
        Some((field.label, text))
    }

    /// Takes what the text of a field may become; void when the text is another one by now.
    pub fn suggest(&mut self, label: &str, text: &str, found: Vec<String>) {
        let field = self.fields.iter_mut().find(|field| field.label == label);
        if let Some(field) = field.filter(|field| field.asked.as_deref() == Some(text)) {
            field.found = found;
        }
    }

    /// Content of the field with this label; empty when there is none.
    #[must_use]
    pub fn text(&self, label: &str) -> &str {
        self.fields.iter().find(|field| field.label == label).map_or("", |field| match &field.value {
            Value::Text(line) => line.text().trim(),
            Value::Choice { of, at } => of.get(*at).map_or("", |choice| &choice.value),
        })
    }

    /// Takes a key.
    pub fn key(&mut self, key: &Key) -> Did {
        let count = self.fields.len().max(1);
        let ctrl = key.mods.has(Mods::CTRL);
        let alt = key.mods.has(Mods::ALT);
        let back = key.code == KeyCode::BackTab || key.code == KeyCode::Tab && key.mods.has(Mods::SHIFT);
        let touched = self.touched;
        let Some(field) = self.fields.get_mut(self.at) else { return Did::Cancel };
        match key.code {
            KeyCode::Esc => return Did::Cancel,
            KeyCode::Char('c' | 'g') if ctrl => return Did::Cancel,
            _ if self.busy => return Did::Stay,
            KeyCode::Enter if !alt => return Did::Submit,
            // While a text is being typed, Tab completes it; it goes on from one that was left as it was.
            KeyCode::Tab if !back && touched && field.take_ghost() => {}
            KeyCode::Right | KeyCode::End if field.take_ghost() => {}
            KeyCode::Up | KeyCode::BackTab | KeyCode::Tab if back || key.code == KeyCode::Up => {
                self.go((self.at + count - 1) % count);
            }
            KeyCode::Tab | KeyCode::Down => self.go((self.at + 1) % count),
            _ => match &mut field.value {
                Value::Text(line) => {
                    let before = line.text().len();
                    line.key(key);
                    self.touched |= line.text().len() != before;
                    self.error = None;
                }
                Value::Choice { of, at } => choose(of, at, key),
            },
        }
        Did::Stay
    }

    /// Gives the focus to another field.
    pub fn go(&mut self, at: usize) {
        self.at = at;
        self.touched = false;
    }

    /// Takes pasted or composed text.
    pub fn insert(&mut self, text: &str) {
        if let Some(Field { value: Value::Text(line), .. }) = self.fields.get_mut(self.at)
            && !self.busy
        {
            line.insert(text);
            self.touched = true;
            self.error = None;
        }
    }
}

/// Left, right and blank move in a list; a letter goes to the next entry that begins with it.
fn choose(of: &[Choice], at: &mut usize, key: &Key) {
    let count = of.len().max(1);
    match key.code {
        KeyCode::Left => *at = (*at + count - 1) % count,
        KeyCode::Right | KeyCode::Char(' ') => *at = (*at + 1) % count,
        KeyCode::Char(c) => {
            let begins =
                |choice: &Choice| choice.value.chars().next().is_some_and(|first| first.eq_ignore_ascii_case(&c));
            if let Some(found) = (1..=count).map(|step| (*at + step) % count).find(|i| of.get(*i).is_some_and(begins)) {
                *at = found;
            }
        }
        _ => {}
    }
}

/// What is asked before something that cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// End this session for good?
    Kill {
        /// Session.
        session: SessionId,
        /// Its name.
        name: String,
    },
    /// Close this shell, in which something runs?
    Close {
        /// Session.
        session: SessionId,
        /// Shell.
        terminal: TerminalId,
        /// What runs, as a sentence.
        what: String,
    },
    /// End host and agents?
    Quit {
        /// How many agents run.
        agents: usize,
    },
}

impl Question {
    /// The question in words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Kill { name, .. } => format!("End {name} for good? Its agent is ended and does not come back."),
            Self::Close { what, .. } => format!("Close this shell? {}", notice::sentence(what)),
            Self::Quit { agents } => {
                let agents = match agents {
                    0 => "no agent runs".to_owned(),
                    1 => "1 agent".to_owned(),
                    n => format!("{n} agents"),
                };
                format!("Stop the host ({agents})? Sessions come back at the next start of relight.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::input::KeyKind;

    fn key(code: KeyCode) -> Key {
        Key { code, mods: Mods(0), kind: KeyKind::Press }
    }

    #[test]
    fn a_form_is_filled_by_keys_and_pastes() {
        let agents = ["claude", "codex", "demo"].map(|n| Choice { value: n.into(), label: n.into() });
        let mut form = Form::new_session(&agents, &[], "/tmp");
        form.key(&key(KeyCode::Char('d')));
        assert_eq!(form.text("Agent"), "demo");
        form.key(&key(KeyCode::Right));
        assert_eq!(form.text("Agent"), "claude");
        form.key(&key(KeyCode::Tab));
        form.insert("one\ntwo");
        form.key(&Key { mods: Mods(Mods::ALT), ..key(KeyCode::Enter) });
        form.key(&Key { mods: Mods(Mods::CTRL), ..key(KeyCode::Char('j')) });
        form.insert("three");
        assert_eq!(form.text("Prompt"), "one\ntwo\n\nthree");
        form.key(&key(KeyCode::BackTab));
        form.key(&key(KeyCode::Up));
        form.insert("api\n");
        assert_eq!(form.text("Name"), "api");
        form.busy = true;
        form.insert("lost");
        assert_eq!(form.key(&key(KeyCode::Enter)), Did::Stay);
        assert_eq!(form.key(&key(KeyCode::Esc)), Did::Cancel);
        assert_eq!(form.text("Name"), "api");
    }

    #[test]
    fn a_suggestion_is_taken_by_tab_only_where_something_was_typed() {
        let mut form = Form::new_session(&[], &["local".into(), "box".into()], "/tmp");
        form.go(2);
        assert_eq!(form.changed(), Some(("Directory", "/tmp".into())));
        assert_eq!(form.changed(), None);
        form.suggest("Directory", "/tmp", vec!["/tmp/".into()]);
        form.key(&key(KeyCode::Tab));
        assert_eq!((form.at, form.text("Directory")), (3, "/tmp"));
        form.key(&key(KeyCode::Up));
        for c in "/re".chars() {
            form.key(&key(KeyCode::Char(c)));
        }
        assert_eq!(form.changed(), Some(("Directory", "/tmp/re".into())));
        form.suggest("Directory", "/tmp/r", vec!["/tmp/rust/".into()]);
        assert_eq!(form.fields[2].ghost(), None, "an answer to an older text is void");
        form.suggest("Directory", "/tmp/re", vec!["/tmp/relight/".into(), "/tmp/rest/".into()]);
        assert_eq!(form.fields[2].ghost(), Some("light/"));
        form.key(&key(KeyCode::Tab));
        assert_eq!((form.at, form.text("Directory")), (2, "/tmp/relight/"));
        assert_eq!(form.text("Executor"), "local");
    }
}
