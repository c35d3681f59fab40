//! `task.session.status`: what a person sees of one session, derived from that session's own rows and from nothing else.

use serde::{Deserialize, Serialize};

use super::ids::{SessionId, TaskId, TerminalId};
use super::rows::{Binding, ExecutorRunning, Millis, Session};
use super::rules::{self, Automatic, Restart, ResumePolicy};
use super::words::{
    Activity, EndReason, ExecutorStatus, Hold, ResumeReason, Runtime, SessionState, TerminalStatus, Wanted,
};

/// Text shown wherever an agent cannot resume.
pub const NOT_RESUMABLE_BANNER: &str =
    "This agent cannot resume previous sessions. Create a new session to continue messaging.";

/// What the host knows of an agent's life beyond the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// Its agentctl says that it runs.
    Alive,
    /// Its agentctl says that none runs, or none was ever started.
    Dead,
    /// Nobody can say.
    Unknown,
}

/// Everything the status is derived from.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The session.
    pub session: &'a Session,
    /// Its executor instance.
    pub executor: Option<&'a ExecutorRunning>,
    /// Its newest agent binding.
    pub newest: Option<&'a Binding>,
    /// Status of the newest agent terminal.
    pub terminal: Option<TerminalStatus>,
    /// Whether its agent lives.
    pub liveness: Liveness,
    /// A claim is open: a launch is on its way.
    pub resuming: bool,
    /// The profile can resume; `None` when it is gone.
    pub profile_resumes: Option<bool>,
    /// A client looks at it.
    pub viewed: bool,
    /// Policy.
    pub policy: &'a ResumePolicy,
    /// Transient activity told by agentctl, with its why.
    pub activity: Option<(Activity, &'a str)>,
    /// Now.
    pub now: Millis,
}

/// The answer of `task.session.status`.
#[expect(clippy::struct_excessive_bools, reason = "the seed names these fields")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Session.
    pub session_id: SessionId,
    /// Task.
    pub task_id: TaskId,
    /// Name.
    pub name: String,
    /// State.
    pub state: SessionState,
    /// Wish.
    pub wanted: Wanted,
    /// Profile.
    pub agent_profile_id: String,
    /// Status of the executor instance; `None` when the session never had one.
    pub executor_status: Option<ExecutorStatus>,
    /// The agent terminal now live.
    pub agent_execution_id: Option<TerminalId>,
    /// The newest agent terminal, live or dead.
    pub terminal_id: Option<TerminalId>,
    /// Its generation.
    pub generation: Option<u32>,
    /// Where it runs.
    pub runtime: Option<Runtime>,
    /// `true`, `false`, or `null` when nobody can say.
    pub is_agent_running: Option<bool>,
    /// The agent can resume here and its conversation has a token.
    pub is_resumable: bool,
    /// None runs, it is resumable, and a claim may take it without a person's overruling.
    pub needs_resume: bool,
    /// This agent cannot resume at all. An alias, derived.
    pub requires_new_session: bool,
    /// Why.
    pub resume_reason: ResumeReason,
    /// Whether relight will do it by itself.
    pub automatic: bool,
    /// Worktree's directory.
    pub worktree_path: Option<String>,
    /// Worktree's branch.
    pub worktree_branch: Option<String>,
    /// How the newest binding ended.
    pub end_reason: Option<EndReason>,
    /// Badge.
    pub activity: Activity,
    /// Badge in words.
    pub why: String,
    /// A turn was running when the agent died.
    pub interrupted: bool,
    /// Why nothing happens by itself.
    pub hold: Option<Hold>,
    /// Since when its executor does not answer.
    pub unreachable_since: Option<Millis>,
    /// Next automatic attempt.
    pub next_attempt_at: Option<Millis>,
    /// The same, in milliseconds from now: for whoever has no clock, or another one.
    #[serde(default)]
    pub next_attempt_in_ms: Option<u64>,
    /// The failure was dismissed by a person.
    pub dismissed: bool,
    /// What went wrong last.
    pub error_message: Option<String>,
}

/// Derives the status.
#[must_use]
pub fn derive(facts: &Facts<'_>) -> Status {
    let session = facts.session;
    let supported = supported(facts);
    let token = facts.newest.map_or(session.metadata.resume_token.is_some(), |b| b.agent_session_id.is_some());
    let running = running(facts);
    let automatic = facts
        .newest
        .map(|newest| rules::automatic(session, newest, facts.policy, facts.profile_resumes, facts.viewed, facts.now));
    let is_resumable = supported && token;
    let needs_resume = running == Some(false)
        && !facts.resuming
        && is_resumable
        && facts.newest.is_some_and(|b| rules::candidate(session, b));
    let resume_reason = reason(facts, running, automatic, supported);
    let next_attempt_at = match automatic {
        Some(Automatic::At(at)) => Some(at),
        _ => None,
    };
    let (activity, why) = activity(facts, running, resume_reason);
    Status {
        session_id: session.id.clone(),
        task_id: session.task_id.clone(),
        name: session.name.clone(),
        state: session.state,
        wanted: session.wanted,
        agent_profile_id: session.agent_profile_id.clone(),
        executor_status: facts.executor.map(|e| e.status),
        agent_execution_id: session.agent_execution_id.clone(),
        terminal_id: facts.newest.map(|b| b.terminal_id.clone()),
        generation: facts.newest.map(|b| b.generation),
        runtime: facts.executor.map(|e| e.runtime),
        is_agent_running: running,
        is_resumable,
        needs_resume,
        requires_new_session: !supported,
        resume_reason,
        automatic: matches!(automatic, Some(Automatic::Now(_) | Automatic::At(_) | Automatic::OnView)),
        worktree_path: session.worktree_path.clone(),
        worktree_branch: session.worktree_branch.clone(),
        end_reason: facts.newest.and_then(|b| b.end_reason),
        activity,
        why,
        interrupted: session.interrupted,
        hold: session.hold,
        unreachable_since: facts.executor.and_then(|e| e.unreachable_since),
        next_attempt_at,
        next_attempt_in_ms: next_attempt_at.map(|at| u64::try_from(at - facts.now).unwrap_or(0)),
        dismissed: facts.newest.is_some_and(|b| b.dismissed_at.is_some()),
        error_message: session.error_message.clone().or_else(|| facts.executor.and_then(|e| e.error_message.clone())),
    }
}

/// Resume support is what the profile says and the executor's probe does not deny.
fn supported(facts: &Facts<'_>) -> bool {
    facts.profile_resumes.unwrap_or(false) && facts.executor.is_none_or(|e| e.supports_session_resume)
}

fn running(facts: &Facts<'_>) -> Option<bool> {
    match facts.liveness {
        Liveness::Alive => Some(true),
        Liveness::Dead => Some(false),
        Liveness::Unknown => None,
    }
}

fn reason(facts: &Facts<'_>, running: Option<bool>, automatic: Option<Automatic>, supported: bool) -> ResumeReason {
    if facts.resuming {
        return ResumeReason::Resuming;
    }
    if running == Some(true) {
        return ResumeReason::AgentRunning;
    }
    let Some(newest) = facts.newest else {
        let ended = facts.session.state == SessionState::Cancelled;
        return if ended { ResumeReason::Disposed } else { ResumeReason::NeverStarted };
    };
    // An end that a person caused needs nobody's answer: it stays the reason also while the executor is away.
    if let Err(reason) = rules::restart(facts.session, newest)
        && matches!(reason, ResumeReason::Completed | ResumeReason::Disposed | ResumeReason::Superseded)
    {
        return reason;
    }
    if let Some(executor) = facts.executor {
        if executor.unreachable_since.is_some() {
            return ResumeReason::ExecutorUnreachable;
        }
        if executor.status == ExecutorStatus::Error {
            return if executor.error_message.as_deref() == Some(ResumeReason::WorktreeMissing.as_str()) {
                ResumeReason::WorktreeMissing
            } else {
                ResumeReason::ExecutorError
            };
        }
    }
    if running.is_none() {
        return ResumeReason::Recovering;
    }
    match automatic {
        Some(Automatic::No(reason)) => reason,
        Some(Automatic::At(_)) => ResumeReason::BackingOff,
        Some(Automatic::Now(Restart::Fresh)) => ResumeReason::NeverPrompted,
        _ if !supported => ResumeReason::NotResumable,
        _ => ResumeReason::AgentNotRunning,
    }
}

fn activity(facts: &Facts<'_>, running: Option<bool>, reason: ResumeReason) -> (Activity, String) {
    let session = facts.session;
    let say = |activity, why: &str| (activity, why.to_owned());
    if facts.resuming {
        let tried = session.error_message.as_ref().map(|why| format!("; the last try: {why}")).unwrap_or_default();
        return (Activity::Resuming, format!("the agent died and is being resumed{tried}"));
    }
    if let Some((executor, since)) = facts.executor.and_then(|e| Some((e, e.unreachable_since?))) {
        let since = span((facts.now - since).max(0) / 1000);
        let why = executor.error_message.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        return (Activity::Unreachable, format!("its executor has not answered for {since}; retrying{why}"));
    }
    if running != Some(true) && facts.executor.is_some_and(|e| e.status == ExecutorStatus::Starting) {
        return say(Activity::Starting, "its executor is starting");
    }
    // What failed is known, also while nobody can say what became of the agent.
    if running.is_none() && matches!(reason, ResumeReason::WorktreeMissing | ResumeReason::ExecutorError) {
        return dead(facts, reason);
    }
    match running {
        Some(true) => {
            // An agent that was resumed into the middle of a turn says that it is ready, and knows no better.
            let cut_off = session.interrupted && session.state == SessionState::WaitingForInput;
            if let Some((activity, why)) = facts.activity
                && !(cut_off && activity == Activity::Ready)
            {
                return say(activity, why);
            }
            match session.state {
                SessionState::Running => say(Activity::Working, "a turn is running"),
                SessionState::WaitingForInput if session.interrupted => {
                    say(Activity::Interrupted, "its turn was cut off; nothing was sent since")
                }
                SessionState::WaitingForInput => say(Activity::Ready, "waiting for your next prompt"),
                _ => say(Activity::Starting, "the agent is starting"),
            }
        }
        None => say(Activity::Unreachable, "being recovered"),
        Some(false) => dead(facts, reason),
    }
}

/// A time in the largest unit of which there are two.
fn span(seconds: Millis) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

/// `text` and, if there is one, the error; not twice what the error begins with.
fn with(text: &str, error: &str) -> String {
    if error.is_empty() {
        text.to_owned()
    } else if error.get(..text.len()).is_some_and(|head| head.eq_ignore_ascii_case(text)) {
        error.to_owned()
    } else {
        format!("{text}: {error}")
    }
}

fn dead(facts: &Facts<'_>, reason: ResumeReason) -> (Activity, String) {
    let session = facts.session;
    let error = session.error_message.as_deref().unwrap_or_default();
    let with = |text: &str| with(text, error);
    let put_away = facts.newest.is_some_and(|newest| newest.dismissed_at.is_some());
    let pause = session.not_before.map_or(0, |at| (at - facts.now).max(0));
    // Rounded up: nothing is tried before the last second is over.
    let seconds = (pause + 999) / 1000;
    match reason {
        ResumeReason::Completed => (Activity::Ended, "you ended it from inside".into()),
        ResumeReason::Disposed => (Activity::Ended, "you ended it".into()),
        ResumeReason::Superseded => (Activity::Ended, "another session continues its conversation".into()),
        ResumeReason::NeverStarted if session.state == SessionState::Created => {
            (Activity::Starting, "not started yet".into())
        }
        ResumeReason::BackingOff if !error.is_empty() => {
            (Activity::Resuming, with(&format!("it could not be started; next try in {seconds} s")))
        }
        ResumeReason::BackingOff => (Activity::Resuming, format!("it died again; next try in {seconds} s")),
        ResumeReason::AgentNotRunning | ResumeReason::NeverPrompted => {
            (Activity::Resuming, "the agent died and will be started again".into())
        }
        ResumeReason::ExecutorError => (Activity::Error, with("its executor failed")),
        ResumeReason::WorktreeMissing if error.is_empty() => (Activity::Error, "its directory is gone".into()),
        ResumeReason::WorktreeMissing => (Activity::Error, format!("{error}; bring it back and press r")),
        _ if put_away => (Activity::Ended, "its failure was put away; it can still be resumed".into()),
        ResumeReason::CrashLoop => (Activity::Error, with("it died again and again after being resumed")),
        ResumeReason::NotResumable => (Activity::Error, NOT_RESUMABLE_BANNER.into()),
        ResumeReason::MissingResumeToken => {
            (Activity::Error, "its conversation id was never learnt; create a new session".into())
        }
        ResumeReason::LoginExpired => (Activity::Error, with("the agent's login has expired")),
        ResumeReason::UnknownConversation => (Activity::Error, with("the agent does not know the conversation")),
        ResumeReason::ConfigGone => (Activity::Error, "its agent profile is gone".into()),
        ResumeReason::AutoOff => {
            (Activity::Interrupted, "the agent died; automatic resume is off; press r to resume".into())
        }
        _ => (Activity::Error, with("the agent could not be started")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_error_says_itself_is_not_said_twice() {
        let expired = "the agent's login has expired";
        assert_eq!(with(expired, ""), expired);
        assert_eq!(with(expired, "The agent's login has expired: log in"), "The agent's login has expired: log in");
        assert_eq!(with(expired, "exit code 7"), "the agent's login has expired: exit code 7");
        assert_eq!(
            with(expired, "the agent\u{2019}s login"),
            "the agent's login has expired: the agent\u{2019}s login"
        );
    }

    #[test]
    fn a_time_is_told_in_the_largest_unit_that_fits() {
        assert_eq!([span(0), span(119), span(120), span(7_199)], ["0 s", "119 s", "2 min", "119 min"]);
        assert_eq!([span(7_200), span(90_000)], ["2 h", "25 h"]);
    }
}
