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
    /// The form for a new session.
    #[must_use]
    pub fn new_session(agents: &[Choice], cwd: &str) -> Self {
        let text = |line: Line| Value::Text(line);
        Self {
            purpose: Purpose::New,
            title: "New session",
            fields: vec![
                Field { label: "Agent", empty: "none found", value: Value::Choice { of: agents.to_vec(), at: 0 } },
                Field { label: "Name", empty: "made from the agent's", value: text(Line::default()) },
                Field { label: "Directory", empty: "where relight runs", value: text(Line::new(cwd)) },
                Field { label: "Prompt", empty: "none", value: text(Line::default().with_breaks()) },
            ],
            at: 0,
            error: None,
            busy: false,
        }
    }

    /// The form for another name.
    #[must_use]
    pub fn rename(session: SessionId, name: &str) -> Self {
        Self {
            purpose: Purpose::Rename(session),
            title: "Rename session",
            fields: vec![Field { label: "Name", empty: "", value: Value::Text(Line::new(name)) }],
            at: 0,
            error: None,
            busy: false,
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
        match key.code {
            KeyCode::Esc => return Did::Cancel,
            KeyCode::Char('c' | 'g') if ctrl => return Did::Cancel,
            _ if self.busy => return Did::Stay,
            KeyCode::Enter if !alt => return Did::Submit,
            KeyCode::Tab if key.mods.has(Mods::SHIFT) => self.at = (self.at + count - 1) % count,
            KeyCode::Tab | KeyCode::Down => self.at = (self.at + 1) % count,
            KeyCode::BackTab | KeyCode::Up => self.at = (self.at + count - 1) % count,
            _ => match self.fields.get_mut(self.at).map(|field| &mut field.value) {
                Some(Value::Text(line)) => {
                    line.key(key);
                    self.error = None;
                }
                Some(Value::Choice { of, at }) => choose(of, at, key),
                None => {}
            },
        }
        Did::Stay
    }

    /// Takes pasted or composed text.
    pub fn insert(&mut self, text: &str) {
        if let Some(Field { value: Value::Text(line), .. }) = self.fields.get_mut(self.at)
            && !self.busy
        {
            line.insert(text);
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
        let mut form = Form::new_session(&agents, "/tmp");
        form.key(&key(KeyCode::Char('d')));
        assert_eq!(form.text("Agent"), "demo");
        form.key(&key(KeyCode::Right));
        assert_eq!(form.text("Agent"), "claude");
        form.key(&key(KeyCode::Tab));
        form.insert("api\n");
        assert_eq!(form.text("Name"), "api");
        form.key(&key(KeyCode::BackTab));
        form.key(&key(KeyCode::Up));
        form.insert("one\ntwo");
        assert_eq!(form.text("Prompt"), "one\ntwo");
        form.busy = true;
        form.insert("lost");
        assert_eq!(form.key(&key(KeyCode::Enter)), Did::Stay);
        assert_eq!(form.key(&key(KeyCode::Esc)), Did::Cancel);
        assert_eq!(form.text("Prompt"), "one\ntwo");
    }
}
