//! Events as one plain sentence each: what the status line announces and `relight events` prints.

use serde_json::Value;

use super::launch::Exit;
use super::rows::Event;

/// The event as a sentence about the session called `name`; `None` for events that nobody needs to be told of.
#[must_use]
pub fn of(event: &Event, name: &str) -> Option<String> {
    let text = |key: &str| event.data.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let because = text("message").or_else(|| text("error_message")).or_else(|| text("error")).or_else(|| text("why"));
    let with = |head: String| match because {
        Some(why) => format!("{head}: {}.", why.trim_end_matches('.')),
        None => format!("{head}."),
    };
    let fresh = text("mode") == Some("fresh");
    Some(match event.kind.as_str() {
        "session.created" => format!("{name} was created."),
        "session.resuming" if fresh => format!("{name} is being started again."),
        "session.resuming" if text("trigger") == Some("user") => format!("{name} is being resumed."),
        "session.resuming" => format!("The agent of {name} died and is being resumed."),
        "session.resumed" if fresh => format!("{name} was started again."),
        "session.resumed" => format!("{name} was resumed."),
        "session.resume_failed" if matches!(text("mode"), Some("first" | "fresh")) => {
            with(format!("{name} could not be started"))
        }
        "session.resume_failed" => with(format!("{name} could not be resumed")),
        "session.agentctl_starting" => format!("The executor of {name} is starting."),
        "session.agentctl_error" if event.data.get("retrying").and_then(Value::as_bool) == Some(true) => {
            with(format!("The executor of {name} does not answer; retrying"))
        }
        "session.agentctl_error" => with(format!("The executor of {name} failed")),
        "terminal.exited" if text("end_reason") == Some("terminal-exited") => {
            match event.data.get("exit").cloned().map(serde_json::from_value::<Exit>) {
                Some(Ok(exit)) => format!("The agent of {name} died: {exit}."),
                _ => format!("The agent of {name} died."),
            }
        }
        "session.state_changed" if event.data.get("dismissed").is_some() => {
            format!("The failure of {name} was put away.")
        }
        "session.state_changed" if text("end_reason") == Some("superseded") => {
            format!("Another session continues the conversation of {name}.")
        }
        "session.state_changed" => match text("state")? {
            "COMPLETED" => format!("{name} ended."),
            "CANCELLED" => format!("{name} was ended for good."),
            "ERROR" => with(format!("{name} has a problem")),
            _ => return None,
        },
        "session.renamed" => {
            let (before, now) = (text("previous").unwrap_or("A session"), text("name").unwrap_or(name));
            format!("{before} is now called {now}.")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{SessionId, TaskId};

    fn event(kind: &str, data: Value) -> Event {
        Event {
            seq: 1,
            kind: kind.into(),
            session_id: SessionId::new("s").unwrap(),
            task_id: TaskId::new("t").unwrap(),
            at: 0,
            data,
        }
    }

    #[test]
    fn events_that_matter_are_sentences() {
        let say = |kind, data| of(&event(kind, data), "api");
        assert_eq!(say("session.resumed", serde_json::json!({})).unwrap(), "api was resumed.");
        assert_eq!(
            say("session.resume_failed", serde_json::json!({"message": "claude is not on PATH."})).unwrap(),
            "api could not be resumed: claude is not on PATH."
        );
        let first = serde_json::json!({"message": "claude is not on PATH.", "mode": "first"});
        assert_eq!(say("session.resume_failed", first).unwrap(), "api could not be started: claude is not on PATH.");
        assert_eq!(say("session.state_changed", serde_json::json!({"state": "ERROR"})).unwrap(), "api has a problem.");
        let exit =
            serde_json::json!({"end_reason": "terminal-exited", "exit": {"signal": 9}, "terminal_kind": "agent"});
        assert_eq!(say("terminal.exited", exit).unwrap(), "The agent of api died: signal 9.");
        let renamed = serde_json::json!({"name": "shop", "previous": "api"});
        assert_eq!(say("session.renamed", renamed).unwrap(), "api is now called shop.");
        let dismissed = serde_json::json!({"state": "ERROR", "previous": "ERROR", "dismissed": "t"});
        assert_eq!(say("session.state_changed", dismissed).unwrap(), "The failure of api was put away.");
        assert_eq!(say("session.state_changed", serde_json::json!({"state": "RUNNING"})), None);
        assert_eq!(say("session.message.added", serde_json::json!({"text": "hi"})), None);
    }
}
