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
    use super::*;

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
