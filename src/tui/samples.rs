//! Sessions and states that several tests use.

use super::chord::Chord;
use super::form::Choice;
use super::keymap::{DEFAULT_PREFIX, Keymap};
use super::msg::{Answer, Call, Effect, Msg};
use super::panel::ask::{Ask, Found};
use super::state::{Setup, State};
use super::update::update;
use crate::config::settings::MouseUse;
use crate::domain::ids::{SessionId, TaskId, TerminalId};
use crate::domain::status::Status;
use crate::domain::words::{Activity, ExecutorStatus, Hold, ResumeReason, Runtime, SessionState, TaskState, Wanted};
use crate::screen::decode::Outer;
use crate::wire::agentctl::{FileText, GitCommit, GitEntry, GitStatus, TreeEntry};
use crate::wire::host::{Attached, SessionLine};
use crate::wire::input::{Key, KeyCode, KeyKind, Mods};

/// Settings of a client that may do everything.
pub fn setup() -> Setup {
    let agent = |value: &str, label: &str| Choice { value: value.into(), label: label.into() };
    Setup {
        read_only: false,
        keys: Keymap::builtin(),
        agents: vec![agent("claude", "Claude Code"), agent("codex", "Codex"), agent("demo", "Demo agent")],
        executors: vec!["local".into()],
        cwd: "/home/anna/src/shop".into(),
        home: "/home/anna".into(),
        env: vec![],
        ascii: false,
        colour: true,
        mouse: MouseUse::Always,
    }
}

/// The id of the session called `name`.
pub fn id(name: &str) -> SessionId {
    SessionId::new(format!("id-{name}")).unwrap()
}

/// The terminal that the session called `name` begins with.
pub fn terminal(name: &str, generation: u32) -> TerminalId {
    TerminalId::new(format!("t-{name}-{generation}")).unwrap()
}

/// A session in the list.
pub fn line(name: &str, activity: Activity, why: &str, created_at: i64) -> SessionLine {
    SessionLine {
        session_id: id(name),
        task_id: TaskId::new("task").unwrap(),
        task_title: "Shop".into(),
        task_state: TaskState::InProgress,
        name: name.into(),
        agent: "claude".into(),
        agent_label: "Claude Code".into(),
        state: SessionState::WaitingForInput,
        activity,
        why: why.into(),
        title: String::new(),
        progress: None,
        executor_status: Some(ExecutorStatus::Ready),
        runtime: Some(Runtime::Local),
        terminal_id: Some(terminal(name, 1)),
        pid: Some(4711),
        agentctl_pid: Some(4710),
        generation: Some(1),
        agent_session_id: Some("conversation".into()),
        end_reason: None,
        ended_at: None,
        cwd: "/home/anna/src/shop".into(),
        created_at,
    }
}

/// The status that fits a line whose agent runs.
pub fn running(line: &SessionLine) -> Status {
    Status {
        session_id: line.session_id.clone(),
        task_id: line.task_id.clone(),
        name: line.name.clone(),
        state: line.state,
        wanted: Wanted::Run,
        agent_profile_id: line.agent.clone(),
        executor_status: line.executor_status,
        agent_execution_id: line.terminal_id.clone(),
        terminal_id: line.terminal_id.clone(),
        generation: line.generation,
        runtime: line.runtime,
        is_agent_running: Some(true),
        is_resumable: true,
        needs_resume: false,
        requires_new_session: false,
        resume_reason: ResumeReason::AgentRunning,
        automatic: false,
        worktree_path: None,
        worktree_branch: None,
        end_reason: None,
        activity: line.activity,
        why: line.why.clone(),
        interrupted: false,
        hold: None,
        unreachable_since: None,
        next_attempt_at: None,
        next_attempt_in_ms: None,
        dismissed: false,
        error_message: None,
    }
}

/// The status of a session whose agent is dead, for this reason.
pub fn dead(line: &SessionLine, reason: ResumeReason, activity: Activity, why: &str) -> Status {
    Status {
        is_agent_running: Some(false),
        agent_execution_id: None,
        resume_reason: reason,
        activity,
        why: why.into(),
        end_reason: Some(crate::domain::words::EndReason::TerminalExited),
        ..running(line)
    }
}

/// The status after a resume failed for good.
pub fn failed(line: &SessionLine) -> Status {
    Status {
        state: SessionState::Error,
        needs_resume: true,
        hold: Some(Hold::LaunchFailed),
        error_message: Some("`claude` is not on PATH; install it or set agents.claude.program".into()),
        ..dead(line, ResumeReason::LaunchFailed, Activity::Error, "the agent could not be started")
    }
}

/// A state that is connected and has read this list; the last one is chosen and attached as stream 7.
pub fn listed(size: (u16, u16), lines: &[SessionLine]) -> State {
    let mut state = State::new(setup(), size, None);
    update(&mut state, Msg::Connected);
    let effects = update(&mut state, Msg::Answered(Call::List, Ok(Answer::Sessions(lines.to_vec()))));
    answer_attach(&mut state, &effects, 7);
    for line in lines {
        let status = Box::new(running(line));
        update(&mut state, Msg::Answered(Call::Status(line.session_id.clone()), Ok(Answer::Status(status))));
    }
    state
}

/// Answers the attach among `effects`, if there is one.
pub fn answer_attach(state: &mut State, effects: &[Effect], stream: u32) {
    for effect in effects {
        if let Effect::Call(call @ Call::Attach { session, .. }) = effect {
            let terminal_id = state.tab(session).and_then(|tab| tab.line.terminal_id.clone());
            let attached = Attached { stream, session_id: session.clone(), terminal_id };
            update(state, Msg::Answered(call.clone(), Ok(Answer::Attached(attached))));
        }
    }
}

/// Takes a status as if the host had answered.
pub fn take_status(state: &mut State, status: Status) -> Vec<Effect> {
    update(state, Msg::Answered(Call::Status(status.session_id.clone()), Ok(Answer::Status(Box::new(status)))))
}

/// Presses a chord.
pub fn press(state: &mut State, chord: Chord) -> Vec<Effect> {
    update(state, Msg::Outer(Outer::Key(chord.to_key())))
}

/// Presses the prefix, then a character.
pub fn after_prefix(state: &mut State, c: char) -> Vec<Effect> {
    press(state, DEFAULT_PREFIX);
    press(state, Chord::char(c))
}

/// A pressed key.
pub fn key(code: KeyCode) -> Key {
    Key { code, mods: Mods(0), kind: KeyKind::Press }
}

/// The questions of panels among `effects`.
pub fn asked(effects: &[Effect]) -> Vec<Ask> {
    let ask = |effect: &Effect| match effect {
        Effect::Call(Call::Workspace { ask, .. }) => Some(ask.clone()),
        _ => None,
    };
    effects.iter().filter_map(ask).collect()
}

/// Answers a panel of the session called `name`.
pub fn tell(state: &mut State, name: &str, ask: Ask, found: Found) -> Vec<Effect> {
    update(state, Msg::Answered(Call::Workspace { session: id(name), ask }, Ok(Answer::Workspace(found))))
}

/// A status with these changes, as letters and path.
pub fn git_status(changes: &[(&str, &str)]) -> Found {
    let entry = |(code, path): &(&str, &str)| GitEntry { code: (*code).into(), path: (*path).into() };
    Found::Status(GitStatus {
        repository: true,
        branch: Some("main".into()),
        ahead_behind: Some((2, 0)),
        entries: changes.iter().map(entry).collect(),
    })
}

/// A text that was read to its end.
pub fn text(text: impl Into<String>) -> Found {
    Found::Text(FileText { text: text.into(), truncated: false, binary: false })
}

/// Commits with these subjects.
pub fn commits(subjects: &[&str]) -> Found {
    let commit = |(i, subject): (usize, &&str)| GitCommit {
        id: format!("{:07x}", 0x00ab_cdef - i),
        author: "Anna Lindström".into(),
        subject: (*subject).into(),
        at: 1_709_164_800 - 90_000 * i as i64,
    };
    Found::Log(subjects.iter().enumerate().map(commit).collect())
}

/// A directory: names with a `/` at their end are directories, with an `@` links; a number is the size.
pub fn tree(entries: &[(&str, u64)]) -> Found {
    let entry = |(name, size): &(&str, u64)| {
        let kind = if name.ends_with('/') {
            "dir"
        } else if name.ends_with('@') {
            "link"
        } else {
            "file"
        };
        TreeEntry { name: name.trim_end_matches(['/', '@']).into(), kind: kind.into(), size: *size }
    };
    Found::Tree(entries.iter().map(entry).collect())
}
