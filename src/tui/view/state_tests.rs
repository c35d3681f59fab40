//! Pictures of what the screen says of a session in each of its states, and of the host.

use super::pictures::check;
use super::tests::{shop, three};
use crate::domain::status::{NOT_RESUMABLE_BANNER, Status};
use crate::domain::words::{Activity, ExecutorStatus, Hold, ResumeReason, SessionState};
use crate::tui::chord::Chord;
use crate::tui::msg::{Msg, Timer};
use crate::tui::samples::{dead, failed, press, running, take_status};
use crate::tui::state::{State, Voice};
use crate::tui::update::update;

/// The shop, whose chosen session has this status.
fn with(size: (u16, u16), status: Status) -> State {
    let mut state = shop(size);
    take_status(&mut state, status);
    state
}

/// The status of a session whose agent is dead.
fn of(reason: ResumeReason, activity: Activity, why: &str) -> Status {
    dead(&three()[2], reason, activity, why)
}

fn problem(reason: ResumeReason, why: &str) -> Status {
    Status { state: SessionState::Error, ..of(reason, Activity::Error, why) }
}

#[test]
fn an_agent_that_starts() {
    let status = Status { state: SessionState::Starting, ..running(&three()[2]) };
    let why = "the agent is starting".to_owned();
    check("starting", |size| with(size, Status { activity: Activity::Starting, why: why.clone(), ..status.clone() }));
}

#[test]
fn an_executor_that_starts() {
    let status = of(ResumeReason::Recovering, Activity::Starting, "its executor is starting");
    check("executor-starting", |size| {
        let starting = Some(ExecutorStatus::Starting);
        with(size, Status { is_agent_running: None, executor_status: starting, ..status.clone() })
    });
}

#[test]
fn a_session_that_is_looked_for() {
    let status = of(ResumeReason::Recovering, Activity::Unreachable, "being recovered");
    check("recovering", |size| with(size, Status { is_agent_running: None, ..status.clone() }));
}

#[test]
fn a_session_that_is_being_resumed() {
    let why = "the agent died and is being resumed";
    check("resuming", |size| with(size, of(ResumeReason::Resuming, Activity::Resuming, why)));
}

#[test]
fn a_pause_before_the_next_try() {
    let status = of(ResumeReason::BackingOff, Activity::Resuming, "it died again; next try in 4 s");
    check("pausing", |size| with(size, Status { next_attempt_in_ms: Some(3_200), ..status.clone() }));
}

#[test]
fn a_resume_that_failed() {
    check("failure", |size| with(size, failed(&three()[2])));
}

#[test]
fn a_failure_that_was_put_away() {
    let status = Status { dismissed: true, hold: Some(Hold::LaunchFailed), ..failed(&three()[2]) };
    let why = "its failure was put away; it can still be resumed".to_owned();
    check("dismissed", |size| with(size, Status { activity: Activity::Ended, why: why.clone(), ..status.clone() }));
}

#[test]
fn a_crash_loop() {
    let status = problem(ResumeReason::CrashLoop, "it died again and again after being resumed");
    check("crash-loop", |size| {
        with(size, Status { hold: Some(Hold::CrashLoop), needs_resume: true, ..status.clone() })
    });
}

#[test]
fn a_login_that_expired() {
    let status = problem(ResumeReason::LoginExpired, "the agent's login has expired: run `claude /login`");
    let error = Some("the agent's login has expired: run `claude /login`".to_owned());
    check("login-expired", |size| {
        with(size, Status { hold: Some(Hold::LoginExpired), error_message: error.clone(), ..status.clone() })
    });
}

#[test]
fn a_profile_that_is_gone() {
    let status = problem(ResumeReason::ConfigGone, "its agent profile is gone");
    check("config-gone", |size| with(size, Status { hold: Some(Hold::ConfigGone), ..status.clone() }));
}

#[test]
fn an_agent_that_cannot_resume() {
    let status = problem(ResumeReason::NotResumable, NOT_RESUMABLE_BANNER);
    check("not-resumable", |size| {
        with(size, Status { is_resumable: false, requires_new_session: true, ..status.clone() })
    });
}

#[test]
fn a_conversation_whose_id_was_never_learnt() {
    let why = "its conversation id was never learnt; create a new session";
    check("missing-token", |size| {
        with(size, Status { is_resumable: false, ..problem(ResumeReason::MissingResumeToken, why) })
    });
}

#[test]
fn a_resume_that_is_offered() {
    let why = "the agent died; automatic resume is off; press r to resume";
    check("offer", |size| {
        with(size, Status { needs_resume: true, ..of(ResumeReason::AutoOff, Activity::Interrupted, why) })
    });
}

#[test]
fn a_turn_that_was_cut_off() {
    let why = "its turn was cut off; nothing was sent since".to_owned();
    let status = Status { activity: Activity::Interrupted, why, interrupted: true, ..running(&three()[2]) };
    check("interrupted", |size| with(size, status.clone()));
}

#[test]
fn an_executor_that_does_not_answer() {
    let why = "its executor has not answered for 42 s; retrying";
    check("unreachable", |size| {
        let status = of(ResumeReason::ExecutorUnreachable, Activity::Unreachable, why);
        with(size, Status { is_agent_running: None, ..status })
    });
}

#[test]
fn an_executor_that_failed() {
    let error = "the directory `/home/anna/src/shop` is gone";
    let why = format!("{error}; bring it back and press r");
    check("executor-error", |size| {
        let status = problem(ResumeReason::WorktreeMissing, &why);
        let failed = Some(ExecutorStatus::Error);
        with(size, Status { error_message: Some(error.into()), executor_status: failed, ..status })
    });
}

#[test]
fn an_agent_that_ended() {
    let status = of(ResumeReason::Completed, Activity::Ended, "you ended it from inside");
    check("ended", |size| with(size, Status { state: SessionState::Completed, ..status.clone() }));
}

#[test]
fn a_key_that_no_agent_takes() {
    check("key-for-nobody", |size| {
        let mut state = with(size, failed(&three()[2]));
        press(&mut state, Chord::char('x'));
        state
    });
}

#[test]
fn a_host_that_is_away() {
    check("away", |size| {
        let mut state = shop(size);
        update(&mut state, Msg::Lost("the connection ended".into()));
        state
    });
}

#[test]
fn a_host_that_is_silent() {
    check("silent", |size| {
        let mut state = shop(size);
        let ran_out = |state: &mut State| {
            let life = state.timers[&Timer::Silent];
            update(state, Msg::Timer(Timer::Silent, life));
        };
        ran_out(&mut state);
        press(&mut state, Chord::char('x'));
        ran_out(&mut state);
        ran_out(&mut state);
        assert_eq!(state.voice, Voice::Silent);
        state
    });
}
