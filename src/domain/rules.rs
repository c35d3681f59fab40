//! When an ended agent comes back, and how. The one place for the rule; the store's SQL is held equal to it by a test.

use serde::{Deserialize, Serialize};

use super::rows::{Binding, Millis, Session};
use super::words::{AutoResume, EndReason, Hold, ResumeReason, SessionState, Wanted};

/// First pause before an automatic attempt after an unsettled death; it doubles with each further one.
pub const BACKOFF_FIRST_MS: Millis = 1_000;
/// Longest such pause.
pub const BACKOFF_MAX_MS: Millis = 60_000;
/// A resumed agent that lived this long has settled.
pub const SETTLED_AFTER_MS: Millis = 30_000;

/// Which dead sessions come back by themselves, by the state they had at death.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResumeStates {
    /// The word `all`.
    All(AllWord),
    /// These states.
    These(Vec<SessionState>),
}

/// The word `all` in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AllWord {
    /// Every state at death.
    All,
}

/// Policy of automatic resume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumePolicy {
    /// When.
    pub auto: AutoResume,
    /// Which.
    pub states: ResumeStates,
    /// Unsettled deaths in a row after which a session waits for a person.
    pub max_attempts: u32,
    /// Launches at the same time, over all sessions.
    pub parallel: u32,
}

impl Default for ResumePolicy {
    fn default() -> Self {
        Self {
            auto: AutoResume::Always,
            states: ResumeStates::These(vec![SessionState::Running, SessionState::WaitingForInput]),
            max_attempts: 3,
            parallel: 4,
        }
    }
}

/// How a claimed agent is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// From its conversation.
    Resume,
    /// Anew, by the launch arguments without the first prompt: it was never prompted, so there is nothing to resume.
    Fresh,
}

/// Whether the newest agent binding of `session` died under a person who still wants it: what a claim may take, as a
/// resume or, never prompted, as a fresh start.
#[must_use]
pub fn restartable(session: &Session, newest: &Binding) -> bool {
    newest.session_id == session.id
        && newest.end_reason == Some(EndReason::TerminalExited)
        && session.wanted == Wanted::Run
}

/// Whether `newest`, the newest agent binding of `session`, is a resume candidate.
#[must_use]
pub fn candidate(session: &Session, newest: &Binding) -> bool {
    restartable(session, newest) && newest.agent_session_id.is_some() && newest.prompted_at.is_some()
}

/// How `newest` is started again, or why not.
///
/// # Errors
/// The reason, when there is nothing to claim or the token of a prompted conversation is missing.
pub fn restart(session: &Session, newest: &Binding) -> Result<Restart, ResumeReason> {
    match newest.end_reason {
        None => return Err(ResumeReason::AgentRunning),
        Some(EndReason::Resumed) => return Err(ResumeReason::Resuming),
        Some(EndReason::Detached) => return Err(ResumeReason::Completed),
        Some(EndReason::Disposed) => return Err(ResumeReason::Disposed),
        Some(EndReason::Superseded) => return Err(ResumeReason::Superseded),
        Some(EndReason::TerminalExited) => {}
    }
    if session.wanted == Wanted::Stop {
        return Err(ResumeReason::Disposed);
    }
    if newest.prompted_at.is_none() {
        Ok(Restart::Fresh)
    } else if newest.agent_session_id.is_some() {
        Ok(Restart::Resume)
    } else {
        Err(ResumeReason::MissingResumeToken)
    }
}

/// Whether a session that died in `state` comes back by itself. `STARTING` counts when it was prompted: a resumed
/// agent that had not yet spoken is in it. A never-prompted agent's fresh start also counts from `STARTING`, since
/// nothing but the start was lost.
#[must_use]
pub fn state_counts(states: &ResumeStates, state: Option<SessionState>) -> bool {
    use SessionState as S;
    let Some(state) = state else { return false };
    match states {
        ResumeStates::All(_) => !matches!(state, S::Cancelled),
        ResumeStates::These(list) => match state {
            S::Error | S::Completed | S::Cancelled => false,
            S::Starting | S::Created => true,
            S::Running | S::WaitingForInput => list.contains(&state),
        },
    }
}

/// Pause before the attempt after `unsettled` unsettled deaths in a row; none after the first death.
#[must_use]
pub fn backoff_ms(unsettled: u32) -> Millis {
    match unsettled {
        0 => 0,
        n => BACKOFF_FIRST_MS.saturating_mul(1 << (n - 1).min(16)).min(BACKOFF_MAX_MS),
    }
}

/// What the host does by itself with a session whose agent is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Automatic {
    /// Claim and start.
    Now(Restart),
    /// Claim and start at this time.
    At(Millis),
    /// Once a client looks at it.
    OnView,
    /// Nothing, for this reason.
    No(ResumeReason),
}

/// Decides whether `newest` comes back by itself now. `profile_resumes`: the profile can resume; `None` when the
/// profile is gone. `viewed`: a client looks at the session.
#[must_use]
pub fn automatic(
    session: &Session,
    newest: &Binding,
    policy: &ResumePolicy,
    profile_resumes: Option<bool>,
    viewed: bool,
    now: Millis,
) -> Automatic {
    let restart = match restart(session, newest) {
        Ok(restart) => restart,
        Err(reason) => return Automatic::No(reason),
    };
    if let Some(hold) = session.hold {
        return Automatic::No(hold_reason(hold));
    }
    match (restart, profile_resumes) {
        (_, None) => return Automatic::No(ResumeReason::ConfigGone),
        (Restart::Resume, Some(false)) => return Automatic::No(ResumeReason::NotResumable),
        _ => {}
    }
    if newest.dismissed_at.is_some() {
        return Automatic::No(ResumeReason::Dismissed);
    }
    if !state_counts(&policy.states, newest.state_at_death) {
        return Automatic::No(ResumeReason::AutoOff);
    }
    match session.auto_resume.unwrap_or(policy.auto) {
        AutoResume::Never => return Automatic::No(ResumeReason::AutoOff),
        AutoResume::OnView if !viewed => return Automatic::OnView,
        AutoResume::OnView | AutoResume::Always => {}
    }
    match session.not_before {
        Some(at) if at > now => Automatic::At(at),
        _ => Automatic::Now(restart),
    }
}

/// The reason that a hold shows as.
#[must_use]
pub fn hold_reason(hold: Hold) -> ResumeReason {
    match hold {
        Hold::CrashLoop => ResumeReason::CrashLoop,
        Hold::LaunchFailed => ResumeReason::LaunchFailed,
        Hold::LoginExpired => ResumeReason::LoginExpired,
        Hold::UnknownConversation => ResumeReason::UnknownConversation,
        Hold::ConfigGone => ResumeReason::ConfigGone,
        Hold::ResumeUnsupported => ResumeReason::ResumeUnsupported,
        Hold::MissingResumeToken => ResumeReason::MissingResumeToken,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ids::{SessionId, TaskId, TerminalId};
    use super::super::launch::Launch;
    use super::super::rows::SessionMetadata;
    use super::*;

    fn session() -> Session {
        Session {
            id: SessionId::new("s").unwrap(),
            task_id: TaskId::new("t").unwrap(),
            name: "s".into(),
            state: SessionState::Running,
            wanted: Wanted::Run,
            agent_profile_id: "demo".into(),
            agent_execution_id: None,
            executor_id: "local".into(),
            metadata: SessionMetadata::default(),
            prompted_at: None,
            worktree_id: None,
            worktree_path: None,
            worktree_branch: None,
            error_message: None,
            auto_resume: None,
            hold: None,
            unsettled_deaths: 0,
            not_before: None,
            interrupted: false,
            pending: None,
            launch: Launch::default(),
            created_at: 1,
            updated_at: 1,
        }
    }

    /// The newest binding of [`session`], a candidate.
    fn dead() -> Binding {
        Binding {
            terminal_id: TerminalId::new("s-1").unwrap(),
            session_id: SessionId::new("s").unwrap(),
            generation: 1,
            agent_id: "demo".into(),
            agent_session_id: Some("token".into()),
            prompted_at: Some(2),
            started_at: 1,
            settled_at: None,
            last_event_at: None,
            last_event_type: None,
            ended_at: Some(3),
            end_reason: Some(EndReason::TerminalExited),
            state_at_death: Some(SessionState::Running),
            claim_epoch: 1,
            claimed_at: None,
            successor_terminal_id: None,
            dismissed_at: None,
        }
    }

    #[test]
    fn a_candidate_died_under_a_person_who_wants_it_with_a_conversation_to_resume() {
        let (wanted, ours) = (session(), dead());
        let unwanted = Session { wanted: Wanted::Stop, ..session() };
        let of_another = Binding { session_id: SessionId::new("other").unwrap(), ..dead() };
        let live = Binding { end_reason: None, ..dead() };
        let quit = Binding { end_reason: Some(EndReason::Detached), ..dead() };
        for (session, newest, expected) in [
            (&wanted, &ours, true),
            (&unwanted, &ours, false),
            (&wanted, &of_another, false),
            (&wanted, &live, false),
            (&wanted, &quit, false),
        ] {
            assert_eq!(restartable(session, newest), expected, "{newest:?}");
            assert_eq!(candidate(session, newest), expected, "{newest:?}");
        }
        let tokenless = Binding { agent_session_id: None, ..dead() };
        let unprompted = Binding { prompted_at: None, ..dead() };
        for newest in [&tokenless, &unprompted] {
            assert!(restartable(&wanted, newest) && !candidate(&wanted, newest), "{newest:?}");
        }
    }

    #[test]
    fn what_is_not_started_again_says_why() {
        assert_eq!(restart(&session(), &dead()), Ok(Restart::Resume));
        assert_eq!(restart(&session(), &Binding { prompted_at: None, ..dead() }), Ok(Restart::Fresh));
        let tokenless = Binding { agent_session_id: None, ..dead() };
        assert_eq!(restart(&session(), &tokenless), Err(ResumeReason::MissingResumeToken));
        let unwanted = Session { wanted: Wanted::Stop, ..session() };
        assert_eq!(restart(&unwanted, &dead()), Err(ResumeReason::Disposed));
        for (end_reason, why) in [
            (None, ResumeReason::AgentRunning),
            (Some(EndReason::Resumed), ResumeReason::Resuming),
            (Some(EndReason::Detached), ResumeReason::Completed),
            (Some(EndReason::Disposed), ResumeReason::Disposed),
            (Some(EndReason::Superseded), ResumeReason::Superseded),
        ] {
            assert_eq!(restart(&session(), &Binding { end_reason, ..dead() }), Err(why), "{end_reason:?}");
        }
    }

    #[test]
    fn what_comes_back_by_itself_and_when() {
        let decide = |session: &Session, newest: &Binding| {
            automatic(session, newest, &ResumePolicy::default(), Some(true), false, 100)
        };
        let no = Automatic::No;
        assert_eq!(decide(&session(), &dead()), Automatic::Now(Restart::Resume));
        let live = Binding { end_reason: None, ..dead() };
        assert_eq!(decide(&session(), &live), no(ResumeReason::AgentRunning));
        assert_eq!(decide(&session(), &Binding { dismissed_at: Some(4), ..dead() }), no(ResumeReason::Dismissed));
        let ended = Binding { state_at_death: Some(SessionState::Completed), ..dead() };
        assert_eq!(decide(&session(), &ended), no(ResumeReason::AutoOff));
        let never = Session { auto_resume: Some(AutoResume::Never), ..session() };
        assert_eq!(decide(&never, &dead()), no(ResumeReason::AutoOff));
        for (not_before, expected) in
            [(99, Automatic::Now(Restart::Resume)), (100, Automatic::Now(Restart::Resume)), (101, Automatic::At(101))]
        {
            let session = Session { not_before: Some(not_before), ..session() };
            assert_eq!(decide(&session, &dead()), expected, "{not_before}");
        }
    }

    #[test]
    fn a_profile_that_is_gone_or_cannot_resume_says_so() {
        let unprompted = Binding { prompted_at: None, ..dead() };
        let decide =
            |newest: &Binding, resumes| automatic(&session(), newest, &ResumePolicy::default(), resumes, false, 100);
        assert_eq!(decide(&dead(), None), Automatic::No(ResumeReason::ConfigGone));
        assert_eq!(decide(&unprompted, None), Automatic::No(ResumeReason::ConfigGone));
        assert_eq!(decide(&dead(), Some(false)), Automatic::No(ResumeReason::NotResumable));
        assert_eq!(decide(&unprompted, Some(false)), Automatic::Now(Restart::Fresh));
    }

    #[test]
    fn on_view_waits_for_a_client_that_looks() {
        let on_view = Session { auto_resume: Some(AutoResume::OnView), ..session() };
        let decide = |viewed| automatic(&on_view, &dead(), &ResumePolicy::default(), Some(true), viewed, 100);
        assert_eq!(decide(false), Automatic::OnView);
        assert_eq!(decide(true), Automatic::Now(Restart::Resume));
    }

    #[test]
    fn each_hold_shows_as_its_own_reason_and_keeps_the_automatic_path_off() {
        for hold in Hold::ALL {
            let held = Session { hold: Some(*hold), ..session() };
            let decided = automatic(&held, &dead(), &ResumePolicy::default(), Some(true), true, 100);
            assert_eq!(decided, Automatic::No(hold_reason(*hold)));
            assert_eq!(hold_reason(*hold).as_str(), hold.as_str());
        }
    }

    #[test]
    fn the_pause_doubles_up_to_a_minute() {
        let pauses: Vec<_> = (0..9).map(backoff_ms).collect();
        assert_eq!(pauses, [0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
        assert_eq!(backoff_ms(u32::MAX), BACKOFF_MAX_MS);
    }

    #[test]
    fn the_state_at_death_decides_what_counts() {
        let default = ResumePolicy::default().states;
        assert!(state_counts(&default, Some(SessionState::Running)));
        assert!(state_counts(&default, Some(SessionState::Starting)));
        assert!(!state_counts(&default, Some(SessionState::Error)));
        assert!(!state_counts(&default, None));
        let all = ResumeStates::All(AllWord::All);
        assert!(state_counts(&all, Some(SessionState::Error)));
        assert!(!state_counts(&all, Some(SessionState::Cancelled)));
        let none = ResumeStates::These(vec![]);
        assert!(!state_counts(&none, Some(SessionState::WaitingForInput)));
    }
}
