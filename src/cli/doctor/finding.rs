//! What `relight doctor` tells: a level, what it is about, how it is, what to do.

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Good to know; relight works.
    Note,
    /// Something does not work, or gets lost.
    Problem,
}

impl Level {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What it is about: one word or two, always the same.
    pub topic: &'static str,
    /// How it is.
    pub what: String,
    /// What to do about it, if there is something.
    pub todo: Option<String>,
}

impl Finding {
    /// As it should be.
    pub fn ok(topic: &'static str, what: impl Into<String>) -> Self {
        Self { level: Level::Ok, topic, what: what.into(), todo: None }
    }

    /// Good to know.
    pub fn note(topic: &'static str, what: impl Into<String>) -> Self {
        Self { level: Level::Note, ..Self::ok(topic, what) }
    }

    /// Something does not work.
    pub fn problem(topic: &'static str, what: impl Into<String>, todo: impl Into<String>) -> Self {
        Self { level: Level::Problem, topic, what: what.into(), todo: Some(todo.into()) }
    }

    /// The same with something to do.
    #[must_use]
    pub fn todo(mut self, todo: impl Into<String>) -> Self {
        self.todo = Some(todo.into());
        self
    }

    /// How it is and what to do, as one text.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.todo {
            Some(todo) => format!("{}; {todo}", self.what),
            None => self.what.clone(),
        }
    }
}
