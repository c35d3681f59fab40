//! What one session needs next, pure: rows and what is known about its agentctl → one step. The driver does the step, feeds
//! back what came of it, and asks again, until nothing is left to do.

use crate::domain::ids::TerminalId;
use crate::domain::rows::{Binding, ExecutorRunning, Millis, Pending, Session};
use crate::domain::rules::{self, Automatic, ResumePolicy};
use crate::domain::words::{EndReason, ExecutorStatus, ResumeReason, SessionState, Trigger, Wanted};

use super::recovery;

/// The link to a session's agentctl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Not asked yet, or lost.
    Down,
    /// It did not answer; asked again at this time.
    Waiting {
        /// When.
        retry_at: Millis,
    },
    /// Connected; the journal is still being read.
    Reading,
    /// Connected, and the rows hold all that its journal says.
    Up,
}

/// What a person asked for and waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Resume, a quit agent included.
    Resume,
    /// Resume also what a person ended from outside.
    Reopen,
}

/// Everything a decision needs.
#[derive(Debug, Clone)]
pub struct View<'a> {
    /// Session.
    pub session: &'a Session,
    /// Executor instance.
    pub executor: Option<&'a ExecutorRunning>,
    /// Newest agent binding.
    pub newest: Option<&'a Binding>,
    /// Link.
    pub link: Link,
    /// A step is being done.
    pub busy: bool,
    /// The dead agent was found when the host started, not while it lived.
    pub at_start: bool,
    /// A client looks at it.
    pub viewed: bool,
    /// A person waits.
    pub wish: Option<Wish>,
    /// The profile can resume; `None` when it is gone.
    pub profile_resumes: Option<bool>,
    /// Policy.
    pub policy: &'a ResumePolicy,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing until something changes.
    Rest,
    /// Nothing until this time.
    Until(Millis),
    /// Probe the executor and connect or start its agentctl.
    Recover,
    /// A start was begun by a host that died, or its fate was not learnt: settle it.
    Settle(Pending),
    /// Start the session's first agent.
    First,
    /// Claim the dead agent and start its successor.
    Restart {
        /// By whom.
        wish: Option<Wish>,
        /// What made it happen.
        trigger: Trigger,
    },
    /// End the agent that a person does not want, and its agentctl.
    Retire,
    /// Tell that the dead agent cannot come back by itself.
    Mark(ResumeReason),
    /// Tell the person who waits why nothing happens.
    Refuse(ResumeReason),
}

/// Decides.
#[must_use]
pub fn next(view: &View<'_>, now: Millis) -> Step {
    if view.busy {
        return Step::Rest;
    }
    match view.link {
        Link::Waiting { retry_at } if view.wish.is_none() && retry_at > now => Step::Until(retry_at),
        Link::Down | Link::Waiting { .. } => down(view),
        Link::Reading => Step::Rest,
        Link::Up => up(view, now),
    }
}

fn down(view: &View<'_>) -> Step {
    let due = view.executor.is_some_and(|row| recovery::is_due(row, view.session.wanted));
    if due || view.wish.is_some() || view.session.pending.is_some() { Step::Recover } else { Step::Rest }
}

fn up(view: &View<'_>, now: Millis) -> Step {
    let session = view.session;
    if let Some(pending) = &session.pending {
        return Step::Settle(pending.clone());
    }
    if session.wanted == Wanted::Stop && view.wish != Some(Wish::Reopen) {
        if view.wish.is_some() {
            return Step::Refuse(ResumeReason::Disposed);
        }
        let ended = view.executor.is_none_or(|e| e.status == ExecutorStatus::Stopped);
        return if ended { Step::Rest } else { Step::Retire };
    }
    let Some(newest) = view.newest else {
        return if session.state == SessionState::Created || view.wish.is_some() { Step::First } else { Step::Rest };
    };
    if newest.end_reason.is_none() {
        return match view.wish {
            Some(_) => Step::Refuse(ResumeReason::AgentRunning),
            None => Step::Rest,
        };
    }
    match view.wish {
        Some(wish) => wished(view, newest, wish),
        None => alone(view, newest, now),
    }
}

/// A person asks: no policy, pause or hold stands in the way, only what makes a resume impossible.
fn wished(view: &View<'_>, newest: &Binding, wish: Wish) -> Step {
    let allowed = match newest.end_reason {
        Some(EndReason::TerminalExited | EndReason::Detached) => true,
        Some(EndReason::Disposed) => wish == Wish::Reopen,
        _ => false,
    };
    if !allowed {
        return Step::Refuse(match newest.end_reason {
            Some(EndReason::Disposed) => ResumeReason::Disposed,
            Some(EndReason::Superseded) => ResumeReason::Superseded,
            _ => ResumeReason::NoCandidate,
        });
    }
    let prompted = newest.prompted_at.is_some();
    match view.profile_resumes {
        None => Step::Refuse(ResumeReason::ConfigGone),
        Some(false) if prompted => Step::Refuse(ResumeReason::NotResumable),
        _ if prompted && newest.agent_session_id.is_none() => Step::Refuse(ResumeReason::MissingResumeToken),
        _ => Step::Restart { wish: Some(wish), trigger: Trigger::User },
    }
}

fn alone(view: &View<'_>, newest: &Binding, now: Millis) -> Step {
    match rules::automatic(view.session, newest, view.policy, view.profile_resumes, view.viewed, now) {
        Automatic::Now(_) => Step::Restart { wish: None, trigger: trigger(view) },
        Automatic::At(at) => Step::Until(at),
        Automatic::OnView => Step::Rest,
        Automatic::No(reason) => {
            let marks = matches!(
                reason,
                ResumeReason::NotResumable | ResumeReason::MissingResumeToken | ResumeReason::ConfigGone
            );
            let settled =
                matches!(view.session.state, SessionState::Error | SessionState::Completed | SessionState::Cancelled);
            if marks && !settled { Step::Mark(reason) } else { Step::Rest }
        }
    }
}

fn trigger(view: &View<'_>) -> Trigger {
    let policy = view.session.auto_resume.unwrap_or(view.policy.auto);
    if policy == crate::domain::words::AutoResume::OnView {
        Trigger::View
    } else if view.at_start {
        Trigger::Start
    } else {
        Trigger::Crash
    }
}

/// The terminal where the session's agent is, or was.
#[must_use]
pub fn current(session: &Session, newest: Option<&Binding>) -> Option<TerminalId> {
    session.agent_execution_id.clone().or_else(|| newest.map(|b| b.terminal_id.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::words::{AutoResume, Hold};
    use crate::host::samples;

    struct Case {
        session: Session,
        executor: ExecutorRunning,
        newest: Option<Binding>,
        link: Link,
        wish: Option<Wish>,
        at_start: bool,
        profile: Option<bool>,
        policy: ResumePolicy,
    }

    fn case(end: Option<EndReason>) -> Case {
        Case {
            session: samples::session(),
            executor: samples::executor(),
            newest: Some(samples::binding(end)),
            link: Link::Up,
            wish: None,
            at_start: false,
            profile: Some(true),
            policy: ResumePolicy::default(),
        }
    }

    fn step(case: &Case) -> Step {
        next(
            &View {
                session: &case.session,
                executor: Some(&case.executor),
                newest: case.newest.as_ref(),
                link: case.link,
                busy: false,
                at_start: case.at_start,
                viewed: false,
                wish: case.wish,
                profile_resumes: case.profile,
                policy: &case.policy,
            },
            100,
        )
    }

    fn restart(wish: Option<Wish>, trigger: Trigger) -> Step {
        Step::Restart { wish, trigger }
    }

    #[test]
    fn a_crash_comes_back_by_itself_and_a_live_agent_is_left_alone() {
        let mut c = case(Some(EndReason::TerminalExited));
        assert_eq!(step(&c), restart(None, Trigger::Crash));
        c.at_start = true;
        assert_eq!(step(&c), restart(None, Trigger::Start));
        assert_eq!(step(&case(None)), Step::Rest);
    }

    #[test]
    fn nothing_is_decided_about_an_agent_before_its_journal_was_read() {
        for link in [Link::Down, Link::Reading, Link::Waiting { retry_at: 500 }] {
            let mut c = case(Some(EndReason::TerminalExited));
            c.link = link;
            assert!(!matches!(step(&c), Step::Restart { .. }), "{link:?}");
        }
    }

    #[test]
    fn what_a_person_ended_stays_down() {
        for end in [EndReason::Detached, EndReason::Disposed, EndReason::Superseded, EndReason::Resumed] {
            assert_eq!(step(&case(Some(end))), Step::Rest, "{end}");
        }
        let mut killed = case(Some(EndReason::TerminalExited));
        killed.session.wanted = Wanted::Stop;
        assert_eq!(step(&killed), Step::Retire);
        killed.executor.status = ExecutorStatus::Stopped;
        assert_eq!(step(&killed), Step::Rest);
        killed.wish = Some(Wish::Resume);
        assert_eq!(step(&killed), Step::Refuse(ResumeReason::Disposed));
    }

    #[test]
    fn a_person_may_take_up_what_was_quit_and_reopen_what_was_killed() {
        let mut c = case(Some(EndReason::Detached));
        c.wish = Some(Wish::Resume);
        assert_eq!(step(&c), restart(Some(Wish::Resume), Trigger::User));
        let mut c = case(Some(EndReason::Disposed));
        c.wish = Some(Wish::Resume);
        assert_eq!(step(&c), Step::Refuse(ResumeReason::Disposed));
        c.wish = Some(Wish::Reopen);
        c.session.wanted = Wanted::Stop;
        assert_eq!(step(&c), restart(Some(Wish::Reopen), Trigger::User));
    }

    #[test]
    fn a_hold_a_pause_a_policy_and_a_dismissal_stop_the_automatic_path_only() {
        type Change = fn(&mut Case);
        let change: [(Change, Step); 5] = [
            (|c| c.session.hold = Some(Hold::CrashLoop), Step::Rest),
            (|c| c.session.not_before = Some(200), Step::Until(200)),
            (|c| c.policy.auto = AutoResume::Never, Step::Rest),
            (|c| c.session.auto_resume = Some(AutoResume::OnView), Step::Rest),
            (|c| c.newest.as_mut().unwrap().dismissed_at = Some(1), Step::Rest),
        ];
        for (change, alone) in change {
            let mut c = case(Some(EndReason::TerminalExited));
            change(&mut c);
            assert_eq!(step(&c), alone);
            c.wish = Some(Wish::Resume);
            assert_eq!(step(&c), restart(Some(Wish::Resume), Trigger::User));
        }
    }

    #[test]
    fn what_cannot_resume_is_said_once() {
        let mut c = case(Some(EndReason::TerminalExited));
        c.profile = Some(false);
        assert_eq!(step(&c), Step::Mark(ResumeReason::NotResumable));
        c.session.state = SessionState::Error;
        assert_eq!(step(&c), Step::Rest);
        let mut c = case(Some(EndReason::TerminalExited));
        c.newest.as_mut().unwrap().agent_session_id = None;
        assert_eq!(step(&c), Step::Mark(ResumeReason::MissingResumeToken));
        c.wish = Some(Wish::Resume);
        assert_eq!(step(&c), Step::Refuse(ResumeReason::MissingResumeToken));
    }

    #[test]
    fn an_open_start_is_settled_before_anything_else() {
        let mut c = case(Some(EndReason::Resumed));
        let pending = Pending {
            terminal_id: TerminalId::new("x2").unwrap(),
            generation: 2,
            epoch: 1,
            mode: crate::domain::rows::StartMode::Resume,
            token: Some("c1".into()),
            dead: Some(TerminalId::new("x1").unwrap()),
            had: Some(EndReason::TerminalExited),
            trigger: Trigger::Crash,
        };
        c.session.pending = Some(pending.clone());
        c.wish = Some(Wish::Resume);
        c.session.wanted = Wanted::Stop;
        assert_eq!(step(&c), Step::Settle(pending));
    }

    #[test]
    fn an_unreachable_executor_is_asked_again_in_time_or_at_once_when_a_person_asks() {
        let mut c = case(Some(EndReason::TerminalExited));
        c.link = Link::Waiting { retry_at: 500 };
        assert_eq!(step(&c), Step::Until(500));
        c.wish = Some(Wish::Resume);
        assert_eq!(step(&c), Step::Recover);
        c.wish = None;
        c.link = Link::Waiting { retry_at: 50 };
        assert_eq!(step(&c), Step::Recover);
    }
}
