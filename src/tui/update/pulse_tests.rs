//! What goes on with time, and what is said of keys and changes.

use serde_json::json;

use super::tests::{SCREEN, calls, event, sent, three};
use super::update;
use crate::domain::status::Status;
use crate::domain::words::{Activity, ErrorCode, ResumeReason};
use crate::tui::chord::Chord;
use crate::tui::msg::{Answer, Call, Effect, Msg, Refusal, Timer};
use crate::tui::samples::{dead, failed, id, listed, press, running, take_status, terminal};
use crate::tui::state::{State, Voice};
use crate::wire::agentctl::StreamEvent;
use crate::wire::host::Push;

fn started(effects: &[Effect], timer: Timer) -> Option<u64> {
    effects.iter().find_map(|effect| match effect {
        Effect::Start(t, life, _) if *t == timer => Some(*life),
        _ => None,
    })
}

fn ran_out(state: &mut State, timer: Timer) -> Vec<Effect> {
    let life = state.timers[&timer];
    update(state, Msg::Timer(timer, life))
}

#[test]
fn the_sign_turns_while_something_goes_on_and_stands_otherwise() {
    let mut state = listed(SCREEN, &three());
    assert!(!state.timers.contains_key(&Timer::Turn), "nothing goes on");
    let web = &three()[2];
    assert!(
        started(&take_status(&mut state, dead(web, ResumeReason::Resuming, Activity::Resuming, "")), Timer::Turn)
            .is_some()
    );
    let again = take_status(&mut state, dead(web, ResumeReason::Resuming, Activity::Resuming, ""));
    assert_eq!(started(&again, Timer::Turn), None, "one at a time");
    assert!(started(&ran_out(&mut state, Timer::Turn), Timer::Turn).is_some());
    assert_eq!(state.turn, 1);
    take_status(&mut state, running(web));
    assert_eq!(started(&ran_out(&mut state, Timer::Turn), Timer::Turn), None);
}

#[test]
fn what_is_told_in_seconds_is_asked_for_every_second() {
    let mut state = listed(SCREEN, &three());
    let web = &three()[2];
    for reason in [ResumeReason::BackingOff, ResumeReason::ExecutorUnreachable] {
        take_status(&mut state, dead(web, reason, Activity::Resuming, ""));
        assert_eq!(calls(&ran_out(&mut state, Timer::Look)), [Call::Status(id("web"))]);
    }
    take_status(&mut state, running(web));
    assert_eq!(started(&ran_out(&mut state, Timer::Look), Timer::Look), None);
}

#[test]
fn a_host_that_says_nothing_is_asked_once_and_then_told_as_silent() {
    let mut state = listed(SCREEN, &three());
    ran_out(&mut state, Timer::Silent);
    assert!(started(&press(&mut state, Chord::char('x')), Timer::Silent).is_some());
    assert_eq!(started(&press(&mut state, Chord::char('y')), Timer::Silent), None, "one at a time");
    assert_eq!(calls(&ran_out(&mut state, Timer::Silent)), [Call::Ping]);
    assert_ne!(state.voice, Voice::Silent);
    assert_eq!(calls(&ran_out(&mut state, Timer::Silent)), []);
    assert_eq!(state.voice, Voice::Silent);
    assert_eq!(sent(&press(&mut state, Chord::char('z'))).len(), 1, "what it has not read yet it may still read");
    assert_eq!(calls(&ran_out(&mut state, Timer::Silent)), [], "it is not asked again and again");
    update(&mut state, Msg::Answered(Call::Ping, Ok(Answer::Done)));
    assert_ne!(state.voice, Voice::Silent);
}

#[test]
fn a_host_that_answers_anything_is_not_silent() {
    let mut state = listed(SCREEN, &three());
    ran_out(&mut state, Timer::Silent);
    press(&mut state, Chord::char('x'));
    take_status(&mut state, running(&three()[0]));
    assert_eq!(calls(&ran_out(&mut state, Timer::Silent)), []);
    let away = Refusal { code: None, message: "the link failed".into(), hint: None };
    press(&mut state, Chord::char('x'));
    update(&mut state, Msg::Answered(Call::List, Err(away)));
    assert_eq!(calls(&ran_out(&mut state, Timer::Silent)), [Call::Ping], "a failed link is no answer");
}

#[test]
fn of_keys_that_reach_nobody_the_person_is_told() {
    let mut state = listed(SCREEN, &three());
    let lost = StreamEvent::Lost { why: "its executor is being recovered".into() };
    update(&mut state, Msg::Push(Push::Stream { stream: 7, event: lost }));
    assert_eq!(sent(&press(&mut state, Chord::char('x'))), []);
    assert_eq!(state.said.as_deref(), Some("Keys do not arrive: its executor is being recovered."));
    let before = state.announced.len();
    press(&mut state, Chord::char('y'));
    assert_eq!(state.announced.len(), before, "a hint is not kept");

    let back = StreamEvent::Moved { from: terminal("web", 1), terminal: terminal("web", 2) };
    update(&mut state, Msg::Push(Push::Stream { stream: 7, event: back }));
    assert_eq!(sent(&press(&mut state, Chord::char('x'))).len(), 1);
    take_status(&mut state, failed(&three()[2]));
    press(&mut state, Chord::char('x'));
    assert_eq!(state.said.as_deref(), Some("No agent takes keys now; here: r Retry, i Dismiss."));
    press(&mut state, Chord::char('r'));
    assert_eq!(state.said.as_deref(), Some("r came while keys were typed; press it once more."));
}

#[test]
fn what_was_typed_for_a_terminal_that_had_not_answered_is_told_when_the_tab_changes() {
    let mut state = listed(SCREEN, &three());
    press(&mut state, Chord::alt('1'));
    press(&mut state, Chord::char('x'));
    press(&mut state, Chord::alt('2'));
    let said = "What was typed for api did not arrive: its terminal had not answered.";
    assert_eq!(state.said.as_deref(), Some(said));
}

#[test]
fn one_change_is_announced_once() {
    let mut state = listed(SCREEN, &three());
    let why = "`claude` is not on PATH";
    let failed = json!({"mode": "resume", "message": why});
    update(&mut state, event(1, "session.resume_failed", "web", failed));
    let error = json!({"state": "ERROR", "error_message": why});
    update(&mut state, event(2, "session.state_changed", "web", error.clone()));
    let refusal = Refusal { code: Some(ErrorCode::LaunchFailed), message: format!("{why}."), hint: None };
    update(&mut state, Msg::Answered(Call::Resume { session: id("web"), reopen: false }, Err(refusal)));
    assert_eq!(state.announced, ["web could not be resumed: `claude` is not on PATH."]);
    for (seq, name) in [(3, "api"), (4, "docs"), (5, "api"), (6, "web")] {
        let other = json!({"name": name});
        update(&mut state, event(seq, "session.created", name, other));
    }
    update(&mut state, event(7, "session.state_changed", "web", error));
    assert_eq!(state.announced.back().map(String::as_str), Some("web has a problem: `claude` is not on PATH."));
}

#[test]
fn a_dismissal_hides_the_failed_resume_only() {
    let mut state = listed(SCREEN, &three());
    let web = &three()[2];
    take_status(&mut state, Status { dismissed: true, ..failed(web) });
    assert!(!state.banner_takes_keys());
    for reason in [ResumeReason::ExecutorError, ResumeReason::ExecutorUnreachable] {
        take_status(&mut state, Status { dismissed: true, ..dead(web, reason, Activity::Error, "no") });
        assert!(state.banner_takes_keys(), "{reason}");
    }
}
