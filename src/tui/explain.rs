//! Everything that is known of a session, in words: what it does, why, and what happens next.

use super::badge;
use super::edit::wrap;
use super::state::Tab;
use crate::domain::words::{ExecutorStatus, Hold, ResumeReason, Runtime};

/// Cells for a label and the blank behind it.
pub const LABEL: usize = 14;

/// Lines of label and text; an empty label goes on with the line before.
#[must_use]
pub fn lines(tab: &Tab) -> Vec<(&'static str, String)> {
    let line = &tab.line;
    let mut out = vec![
        ("Session", line.name.clone()),
        ("Task", line.task_title.clone()),
        ("Agent", format!("{} ({})", line.agent_label, line.agent)),
        ("Does", with(badge::word(line.activity), &line.why)),
    ];
    if let Some(status) = &tab.status {
        out.push(("Agent runs", running(status.is_agent_running, line.pid)));
        out.push(("Resume", format!("{}{}", reason(status.resume_reason), automatic(status.automatic))));
        if let Some(hold) = status.hold {
            out.push(("Waits", held(hold).into()));
        }
        if status.interrupted {
            out.push(("Interrupted", "its last turn was cut off; nothing was sent to it since".into()));
        }
        if let Some(error) = &status.error_message {
            out.push(("Error", error.clone()));
        }
        if let Some(path) = &status.worktree_path {
            let branch = status.worktree_branch.as_deref().map(|b| format!(" ({b})")).unwrap_or_default();
            out.push(("Worktree", format!("{path}{branch}")));
        }
        if status.dismissed {
            out.push(("Dismissed", "its failure was put away; `resume` still works".into()));
        }
    }
    out.push(("Directory", line.cwd.clone()));
    let runtime = line.runtime.map_or("local", Runtime::as_str);
    out.push(("Executor", with(runtime, executor(line.executor_status))));
    if let Some(pid) = line.agentctl_pid {
        out.push(("", format!("agentctl is process {pid}")));
    }
    let token = line.agent_session_id.as_deref().unwrap_or("not known (yet)");
    out.push(("Conversation", token.to_owned()));
    if let Some(generation) = line.generation {
        out.push(("Terminal", format!("number {generation} of this session")));
    }
    out.push(("Id", line.session_id.to_string()));
    out
}

/// The same in `width` cells: the label, or nothing where a line goes on.
#[must_use]
pub fn shown(tab: &Tab, width: usize) -> Vec<(&'static str, String)> {
    let room = width.saturating_sub(LABEL).max(1);
    let mut out = vec![];
    for (label, text) in lines(tab) {
        for (i, part) in wrap(&text, room).into_iter().enumerate() {
            out.push((if i == 0 { label } else { "" }, part));
        }
    }
    out
}

fn with(word: &str, why: &str) -> String {
    if why.is_empty() { word.to_owned() } else { format!("{word}: {why}") }
}

fn running(runs: Option<bool>, pid: Option<i32>) -> String {
    match (runs, pid) {
        (Some(true), Some(pid)) => format!("yes, as process {pid}"),
        (Some(true), None) => "yes".into(),
        (Some(false), _) => "no".into(),
        (None, _) => "not known: its executor does not answer".into(),
    }
}

const fn automatic(automatic: bool) -> &'static str {
    if automatic { ", by itself" } else { "" }
}

const fn executor(status: Option<ExecutorStatus>) -> &'static str {
    match status {
        Some(ExecutorStatus::Ready) => "ready",
        Some(ExecutorStatus::Starting) => "starting",
        Some(ExecutorStatus::Error) => "error",
        Some(ExecutorStatus::Stopped) => "stopped",
        None => "never started",
    }
}

const fn held(hold: Hold) -> &'static str {
    match hold {
        Hold::CrashLoop => "it died again and again before it had settled; `resume` tries once more",
        Hold::LaunchFailed => "the last start failed; `resume` tries again",
        Hold::LoginExpired => "its login has expired: log in, then `resume`",
        Hold::UnknownConversation => "the agent does not know its conversation any more",
        Hold::ConfigGone => "its agent profile is gone from the settings; put it back, then `resume`",
        Hold::ResumeUnsupported => "this agent cannot resume here",
        Hold::MissingResumeToken => "the id of its conversation was never learnt",
    }
}

const fn reason(reason: ResumeReason) -> &'static str {
    use ResumeReason as R;
    match reason {
        R::AgentRunning => "not needed: the agent runs",
        R::AgentNotRunning => "the agent died under you and can be resumed",
        R::Resuming => "on its way",
        R::Resumed => "done",
        R::StartedFresh => "it was started afresh: there was nothing to resume",
        R::Recovering => "relight looks for what is still running",
        R::ExecutorUnreachable => "its executor does not answer; relight keeps trying",
        R::ExecutorError => "its executor failed",
        R::WorktreeMissing => "its directory is gone",
        R::NotResumable => "this agent cannot resume",
        R::MissingResumeToken => "the id of its conversation was never learnt",
        R::NeverPrompted => "never prompted: it starts afresh",
        R::NeverStarted => "its agent was never started",
        R::Completed => "ended from inside; `resume` brings it back",
        R::Disposed => "ended by a person; `resume` brings it back",
        R::Superseded => "another session has its conversation now",
        R::Dismissed => "put away",
        R::AutoOff => "not by itself: the settings say so; `resume` does it",
        R::CrashLoop => "stopped: it died again and again",
        R::BackingOff => "after a pause: it died again",
        R::LaunchFailed => "the start failed",
        R::LoginExpired => "its login has expired",
        R::UnknownConversation => "the agent does not know the conversation",
        R::ConfigGone => "its agent profile is gone from the settings",
        R::ResumeUnsupported => "not supported here",
        R::NoCandidate => "there is nothing to resume",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::words::Activity;
    use crate::tui::samples::{failed, line};

    #[test]
    fn what_holds_a_session_is_said_in_words() {
        let mut tab = Tab::new(line("api", Activity::Error, "the agent could not be started", 1));
        tab.status = Some(failed(&tab.line));
        let lines = lines(&tab);
        let text = |label: &str| lines.iter().find(|(l, _)| *l == label).map(|(_, text)| text.as_str());
        assert_eq!(text("Does"), Some("error: the agent could not be started"));
        assert_eq!(text("Agent runs"), Some("no"));
        assert_eq!(text("Waits"), Some("the last start failed; `resume` tries again"));
        assert!(text("Error").is_some_and(|error| error.contains("PATH")));
        assert_eq!(text("Conversation"), Some("conversation"));
    }
}
