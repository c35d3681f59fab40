//! One line of a terminal's hook spool, and what an agent's hook event means by its profile.

use serde_json::{Map, Value, json};

use crate::domain::profile::Profile;

/// Key that marks a line as our envelope; a line without it is an agent's JSON as it came.
const MARK: &str = "relight_hook";

/// Longest text taken from a hook event, in bytes: that of a message on the wire. Longer ones are cut.
const MAX_TEXT_BYTES: usize = 256 * 1024;

/// A line of the spool: what the agent said, with who said it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HookLine {
    /// Event name, when it was an argument of the hook command.
    pub event: Option<String>,
    /// Generation of the agent whose environment the hook ran in.
    pub generation: Option<u32>,
    /// The hook's ancestors, nearest first, as far as they could be read.
    pub pids: Vec<i32>,
    /// The event as the agent gave it.
    pub body: Value,
}

impl HookLine {
    /// The line for the spool, without the newline.
    #[must_use]
    pub fn to_line(&self) -> String {
        json!({
            MARK: 1,
            "event": self.event,
            "generation": self.generation,
            "pids": self.pids,
            "body": self.body,
        })
        .to_string()
    }

    /// Reads a parsed line: our envelope, or the agent's bare JSON.
    #[must_use]
    pub fn read(value: &Value) -> Self {
        if value.get(MARK).is_none() {
            return Self { body: value.clone(), ..Self::default() };
        }
        let number = |v: &Value| v.as_i64().and_then(|n| i32::try_from(n).ok());
        Self {
            event: value.get("event").and_then(Value::as_str).map(str::to_owned),
            generation: value.get("generation").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()),
            pids: value.get("pids").and_then(Value::as_array).into_iter().flatten().filter_map(number).collect(),
            body: value.get("body").cloned().unwrap_or(Value::Null),
        }
    }
}

/// What happened, in our words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    SessionStart,
    Prompt,
    TurnStart,
    TurnEnd,
    Permission,
    Question,
    Tool,
    Message,
    Goodbye,
}

impl Kind {
    fn named(word: &str) -> Option<Self> {
        Some(match word {
            "session_start" => Self::SessionStart,
            "prompt" => Self::Prompt,
            "turn_start" => Self::TurnStart,
            "turn_end" => Self::TurnEnd,
            "permission" => Self::Permission,
            "question" => Self::Question,
            "tool" => Self::Tool,
            "message" => Self::Message,
            "goodbye" => Self::Goodbye,
            _ => return None,
        })
    }
}

/// A hook event, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) kind: Kind,
    /// Conversation that it is about.
    pub(super) token: Option<String>,
    /// Prompt, answer, or what is asked for.
    pub(super) text: Option<String>,
    /// Id of the message.
    pub(super) id: Option<String>,
    /// Role of the message.
    pub(super) role: Option<String>,
    /// Reason of the goodbye.
    pub(super) reason: String,
    /// How the conversation came: `startup`, `resume`, `clear`, `compact`.
    pub(super) source: String,
    /// Tasks that go on behind an ended turn.
    pub(super) background: usize,
}

/// Reads an event by the profile; `None` for one that says nothing to us.
pub(super) fn told(profile: &Profile, line: &HookLine) -> Option<Told> {
    let rule = &profile.hooks;
    let empty = Map::new();
    let body = line.body.as_object().unwrap_or(&empty);
    let text = |field: &str| body.get(field).and_then(Value::as_str).map(cut);
    let name = text(rule.event_field.as_deref().unwrap_or("hook_event_name")).or_else(|| line.event.clone())?;
    let word = rule.events.get(&name)?;
    let kind = Kind::named(word)?;
    let by = |fields: &std::collections::BTreeMap<String, String>| fields.get(word).and_then(|field| text(field));
    Some(Told {
        kind,
        token: text(rule.token_field.as_deref().unwrap_or("session_id")).filter(|t| !t.is_empty()),
        text: by(&rule.text_fields),
        id: by(&rule.id_fields),
        role: text(rule.role_field.as_deref().unwrap_or("role")),
        reason: text(rule.reason_field.as_deref().unwrap_or("reason")).unwrap_or_default(),
        source: text("source").unwrap_or_default(),
        background: rule
            .background_field
            .as_deref()
            .and_then(|field| body.get(field))
            .and_then(Value::as_array)
            .map_or(0, Vec::len),
    })
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_and_a_bare_event_is_taken_too() {
        let line = HookLine {
            event: Some("Stop".into()),
            generation: Some(2),
            pids: vec![10, 9],
            body: json!({"session_id": "a"}),
        };
        let value: Value = serde_json::from_str(&line.to_line()).unwrap();
        assert_eq!(HookLine::read(&value), line);
        let bare = json!({"hook_event_name": "Stop"});
        assert_eq!(HookLine::read(&bare), HookLine { body: bare.clone(), ..HookLine::default() });
    }

    #[test]
    fn an_event_is_read_by_its_profile() {
        let mut profile = Profile::default();
        profile.hooks.events.insert("Stop".into(), "turn_end".into());
        profile.hooks.text_fields.insert("turn_end".into(), "last".into());
        profile.hooks.background_field = Some("background_tasks".into());
        let body = json!({"hook_event_name": "Stop", "session_id": "t", "last": "done", "background_tasks": [1, 2]});
        let got = told(&profile, &HookLine { body, ..HookLine::default() }).unwrap();
        assert_eq!((got.kind, got.token.as_deref(), got.text.as_deref()), (Kind::TurnEnd, Some("t"), Some("done")));
        assert_eq!(got.background, 2);
        let other = json!({"hook_event_name": "SubagentStop"});
        assert_eq!(told(&profile, &HookLine { body: other, ..HookLine::default() }), None);
        let named = HookLine { event: Some("Stop".into()), body: Value::Null, ..HookLine::default() };
        assert_eq!(told(&profile, &named).map(|t| t.kind), Some(Kind::TurnEnd));
    }
}
