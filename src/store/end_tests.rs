//! How ends are named from the journal, and what follows: the 30 s window, backoff, crash loops, states.

use super::apply::{Applied, Change};
use super::claim::{ClaimBy, ClaimOutcome};
use super::testing::{Bench, MAX_ATTEMPTS, identity, sid, tid};
use crate::domain::ending::OUTSIDE_WINDOW_MS;
use crate::domain::journal::{Body, Signal};
use crate::domain::launch::Exit;
use crate::domain::rules::SETTLED_AFTER_MS;
use crate::domain::words::{EndReason, ErrorCode, Hold, ResumeReason, SessionState, TerminalStatus};

const WINDOW: i64 = OUTSIDE_WINDOW_MS as i64;

fn told() -> Body {
    Body::ToldToEnd { by: "SIGTERM".into() }
}

fn lost(incarnation: u32, last_boot_ms: i64) -> Body {
    Body::SupervisorLost { incarnation, last_boot_ms: last_boot_ms.unsigned_abs(), rebooted: false }
}

#[tokio::test]
async fn an_agent_that_dies_is_a_candidate_and_keeps_its_session_state() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.signal("s", &tid("s-1"), 1, Signal::TurnBegan).await;
    assert_eq!(bench.session("s").await.state, SessionState::Running);
    let change = bench.exit("s", &tid("s-1"), 1, Exit::Signal(9)).await;
    let Change::AgentEnded { terminal, end } = change else { panic!("{change:?}") };
    assert_eq!((terminal, end.reason, end.hold), (tid("s-1"), EndReason::TerminalExited, None));
    let bundle = bench.bundle("s").await;
    assert_eq!(bundle.session.state, SessionState::Running);
    assert!(bundle.session.interrupted);
    assert_eq!(bundle.session.agent_execution_id, None);
    assert_eq!(bundle.newest.unwrap().state_at_death, Some(SessionState::Running));
    let terminal = bundle.terminal.unwrap();
    assert_eq!((terminal.status, terminal.exit), (TerminalStatus::Exited, Some(Exit::Signal(9))));
    let events = bench.store.events_after(0, Some(sid("s")), 100).await.unwrap();
    let exited = events.iter().find(|e| e.kind == "terminal.exited").unwrap();
    assert_eq!(exited.data["end_reason"], "terminal-exited");
    assert_eq!(exited.data["exit"]["signal"], 9);
    bench.resume("s", "s-2").await;
    assert!(bench.session("s").await.interrupted, "until a turn begins again");
    bench.signal("s", &tid("s-2"), 2, Signal::TurnBegan).await;
    assert!(!bench.session("s").await.interrupted);
}

#[tokio::test]
async fn a_clean_exit_is_the_persons_own() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.exit("s", &tid("s-1"), 1, Exit::Code(0)).await;
    assert_eq!(bench.reason("s").await, Some(EndReason::Detached));
    assert_eq!(bench.session("s").await.state, SessionState::Completed);
    assert_eq!(bench.store.find_candidate(sid("s")).await.unwrap(), None);
}

#[tokio::test]
async fn a_death_gasp_is_no_clean_exit() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.signal("s", &tid("s-1"), 1, Signal::TurnBegan).await;
    bench.exit("s", &tid("s-1"), 1, Exit::Code(0)).await;
    assert_eq!(bench.session("s").await.state, SessionState::Completed);
    bench.now += WINDOW;
    assert_eq!(bench.tell("s", told()).await, Change::Outside { terminal: tid("s-1") });
    assert_eq!(bench.reason("s").await, Some(EndReason::TerminalExited));
    assert_eq!(bench.session("s").await.state, SessionState::Running, "it gets its state back");
    assert!(bench.session("s").await.interrupted);
}

#[tokio::test]
async fn outside_the_window_a_clean_exit_stays_one() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.exit("s", &tid("s-1"), 1, Exit::Code(0)).await;
    bench.now += WINDOW + 1;
    assert_eq!(bench.tell("s", told()).await, Change::Nothing);
    assert_eq!(bench.reason("s").await, Some(EndReason::Detached));

    bench.prompted("told").await;
    bench.tell("told", told()).await;
    bench.now += WINDOW + 1;
    bench.exit("told", &tid("told-1"), 1, Exit::Code(0)).await;
    assert_eq!(bench.reason("told").await, Some(EndReason::Detached));
}

#[tokio::test]
async fn told_to_end_before_the_exit() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.tell("s", told()).await;
    bench.now += WINDOW;
    bench.exit("s", &tid("s-1"), 1, Exit::Code(0)).await;
    assert_eq!(bench.reason("s").await, Some(EndReason::TerminalExited));
}

#[tokio::test]
async fn told_to_end_in_another_boot_explains_nothing() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.tell("s", told()).await;
    bench.boot = "boot-2";
    bench.exit("s", &tid("s-1"), 1, Exit::Code(0)).await;
    assert_eq!(bench.reason("s").await, Some(EndReason::Detached));
    bench.boot = "boot-3";
    bench.tell("s", told()).await;
    assert_eq!(bench.reason("s").await, Some(EndReason::Detached));
}

#[tokio::test]
async fn an_agent_started_after_the_outside_event_may_be_quit() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.tell("s", lost(1, bench.now)).await;
    bench.incarnation = 2;
    bench.resume("s", "s-2").await;
    bench.now += 1_000;
    bench.exit("s", &tid("s-2"), 2, Exit::Code(0)).await;
    assert_eq!(bench.reason("s").await, Some(EndReason::Detached));
}

#[tokio::test]
async fn a_persons_quit_is_never_undone() {
    let mut bench = Bench::new().await;
    for id in ["typed", "goodbye"] {
        bench.prompted(id).await;
        let terminal = tid(&format!("{id}-1"));
        if id == "goodbye" {
            let reason = "prompt_input_exit".to_owned();
            bench.tell(id, Body::Goodbye { terminal: terminal.clone(), generation: 1, reason, person: true }).await;
        }
        let exit = Body::Exit {
            terminal,
            generation: 1,
            exit: Exit::Code(0),
            quit_input: id == "typed",
            failure: None,
            last_line: String::new(),
        };
        bench.tell(id, exit).await;
        bench.tell(id, told()).await;
        let last = bench.now;
        bench.tell(id, lost(1, last)).await;
        assert_eq!(bench.reason(id).await, Some(EndReason::Detached), "{id}");
        assert_eq!(bench.session(id).await.state, SessionState::Completed);
    }
}

#[tokio::test]
async fn the_loss_of_an_agentctl_explains_an_exit_just_before_by_its_own_clock() {
    let mut bench = Bench::new().await;
    for (id, after, incarnation, want) in [
        ("near", WINDOW, 1, EndReason::TerminalExited),
        ("far", WINDOW + 1, 1, EndReason::Detached),
        ("other", 0, 7, EndReason::Detached),
    ] {
        bench.prompted(id).await;
        bench.exit(id, &tid(&format!("{id}-1")), 1, Exit::Code(0)).await;
        let last = bench.now + after;
        bench.tell(id, lost(incarnation, last)).await;
        assert_eq!(bench.reason(id).await, Some(want), "{id}");
    }
    bench.prompted("settled").await;
    bench.exit("settled", &tid("settled-1"), 1, Exit::Code(0)).await;
    bench.tell("settled", Body::ExitSettled { terminal: tid("settled-1") }).await;
    let last = bench.now;
    bench.tell("settled", lost(1, last)).await;
    assert_eq!(bench.reason("settled").await, Some(EndReason::Detached));
}

#[tokio::test]
async fn a_lost_agentctl_takes_its_agent_along_and_no_later_one() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let at = bench.now;
    let change = bench.tell("s", lost(1, at)).await;
    assert!(matches!(change, Change::AgentEnded { .. }), "{change:?}");
    assert_eq!(bench.reason("s").await, Some(EndReason::TerminalExited));
    let events = bench.store.newest_seq().await.unwrap();
    bench.exit("s", &tid("s-1"), 1, Exit::Unknown).await;
    assert_eq!(bench.store.newest_seq().await.unwrap(), events, "the end is told once");
    bench.incarnation = 2;
    bench.resume("s", "s-2").await;
    bench.tell("s", lost(1, at)).await;
    assert_eq!(bench.reason("s").await, None, "incarnation 2 started it");
    bench.tell("s", lost(2, at)).await;
    assert_eq!(bench.reason("s").await, Some(EndReason::TerminalExited));
}

#[tokio::test]
async fn killed_stays_killed_whatever_the_journal_tells() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let disposed = bench.store.dispose(sid("s"), bench.now).await.unwrap().value;
    assert_eq!(disposed.live, Some(tid("s-1")));
    bench.tell("s", told()).await;
    bench.signal("s", &tid("s-1"), 1, Signal::TurnBegan).await;
    bench.exit("s", &tid("s-1"), 1, Exit::Signal(15)).await;
    let at = bench.now;
    bench.tell("s", lost(1, at)).await;
    let bundle = bench.bundle("s").await;
    assert_eq!(bundle.newest.unwrap().end_reason, Some(EndReason::Disposed));
    assert_eq!((bundle.session.state, bundle.session.agent_execution_id), (SessionState::Cancelled, None));
    assert_eq!(bundle.terminal.unwrap().status, TerminalStatus::Exited);

    bench.dead("dead").await;
    bench.store.dispose(sid("dead"), bench.now).await.unwrap();
    assert_eq!(bench.reason("dead").await, Some(EndReason::Disposed));
}

#[tokio::test]
async fn deaths_that_do_not_settle_become_a_crash_loop() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    assert_eq!(bench.session("s").await.unsettled_deaths, 0, "the first agent was no resume");
    for n in 1..=MAX_ATTEMPTS {
        let terminal = format!("s-{}", n + 1);
        let generation = bench.resume("s", &terminal).await;
        let change = bench.exit("s", &tid(&terminal), generation, Exit::Code(3)).await;
        let Change::AgentEnded { end, .. } = change else { panic!() };
        let session = bench.session("s").await;
        assert_eq!(session.unsettled_deaths, n);
        assert_eq!(session.not_before, Some(bench.now + (1_000 << (n - 1))));
        assert_eq!(end.hold, (n == MAX_ATTEMPTS).then_some(Hold::CrashLoop));
    }
    let session = bench.session("s").await;
    assert_eq!((session.state, session.hold), (SessionState::Error, Some(Hold::CrashLoop)));
    assert!(session.error_message.unwrap().contains("3 times"));
    assert_eq!(session.metadata.resume_token.as_deref(), Some("tok-s"));
    let ClaimOutcome::Claimed(_) = bench.claim("s", "again", ClaimBy::User).await else { panic!() };
    let session = bench.session("s").await;
    assert_eq!((session.hold, session.not_before, session.unsettled_deaths), (None, None, 0));
}

#[tokio::test]
async fn a_resumed_agent_settles_by_a_turn_or_by_time() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    let generation = bench.resume("s", "s-2").await;
    bench.exit("s", &tid("s-2"), generation, Exit::Code(3)).await;
    assert_eq!(bench.session("s").await.unsettled_deaths, 1);
    let generation = bench.resume("s", "s-3").await;
    bench.signal("s", &tid("s-3"), generation, Signal::TurnEnded).await;
    bench.exit("s", &tid("s-3"), generation, Exit::Code(3)).await;
    assert_eq!(bench.session("s").await.unsettled_deaths, 0);
    let generation = bench.resume("s", "s-4").await;
    bench.now += SETTLED_AFTER_MS;
    bench.exit("s", &tid("s-4"), generation, Exit::Code(3)).await;
    assert_eq!((bench.session("s").await.unsettled_deaths, bench.session("s").await.not_before), (0, None));
    let generation = bench.resume("s", "s-5").await;
    bench.now += SETTLED_AFTER_MS - 1;
    bench.exit("s", &tid("s-5"), generation, Exit::Code(3)).await;
    assert_eq!(bench.session("s").await.unsettled_deaths, 1);
}

#[tokio::test]
async fn failures_that_no_retry_mends_stop_at_once() {
    let mut bench = Bench::new().await;
    for (id, code, hold) in [
        ("login", ErrorCode::LoginExpired, Some(Hold::LoginExpired)),
        ("unknown", ErrorCode::UnknownConversation, Some(Hold::UnknownConversation)),
        ("other", ErrorCode::Internal, None),
    ] {
        bench.prompted(id).await;
        let exit = Body::Exit {
            terminal: tid(&format!("{id}-1")),
            generation: 1,
            exit: Exit::Code(1),
            quit_input: false,
            failure: Some(code),
            last_line: "401 Unauthorized".into(),
        };
        bench.tell(id, exit).await;
        let session = bench.session(id).await;
        assert_eq!(session.hold, hold, "{id}");
        assert_eq!(session.state == SessionState::Error, hold.is_some(), "{id}");
        assert_eq!(session.error_message.is_some_and(|m| m.contains("401")), hold.is_some(), "{id}");
    }
}

#[tokio::test]
async fn records_are_applied_once_and_in_order() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let one = bench.record("s", Bench::exit_body(&tid("s-1"), 1, Exit::Code(0)));
    let two = bench.record("s", told());
    assert_eq!(bench.apply("s", two.clone()).await.value, Applied::Gap { expected: one.seq });
    assert!(matches!(bench.apply("s", one.clone()).await.value, Applied::Applied(_)));
    let again = bench.apply("s", one.clone()).await;
    assert_eq!((again.value, again.events), (Applied::Ignored, vec![]));
    assert!(matches!(bench.apply("s", two).await.value, Applied::Applied(_)));
    let mut other = one;
    "new".clone_into(&mut other.journal);
    assert_eq!(bench.apply("s", other.clone()).await.value, Applied::Gap { expected: 1 });
    other.seq = 1;
    other.body = Body::SupervisorStarted { identity: identity(7), version: "0".into() };
    assert_eq!(bench.apply("s", other).await.value, Applied::Applied(Change::Supervisor));
    let cursor = bench.bundle("s").await.executor.unwrap().journal_cursor;
    assert_eq!((cursor.journal.as_str(), cursor.seq), ("new", 1));
}

#[tokio::test]
async fn records_of_a_launch_wait_for_its_confirm() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    let ClaimOutcome::Claimed(pending) = bench.claim("s", "s-2", ClaimBy::Automatic).await else { panic!() };
    bench.spawned("s", &tid("s-2"), 2).await;
    let exit = bench.record("s", Bench::exit_body(&tid("s-2"), 2, Exit::Code(1)));
    assert_eq!(bench.apply("s", exit.clone()).await.value, Applied::Early(pending.clone()));
    bench.confirm("s", &tid("s-2"), pending.epoch).await;
    assert!(matches!(bench.apply("s", exit).await.value, Applied::Applied(Change::AgentEnded { .. })));
    assert_eq!(bench.session("s").await.unsettled_deaths, 1);
}

#[tokio::test]
async fn records_of_another_generation_change_nothing() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let before = bench.bundle("s").await;
    let token = Body::Token { terminal: tid("s-1"), generation: 2, token: "x".into(), source: "hook".into() };
    assert_eq!(bench.tell("s", token).await, Change::Nothing);
    assert_eq!(bench.signal("s", &tid("s-0"), 1, Signal::TurnBegan).await, Change::Nothing);
    assert_eq!(bench.exit("s", &tid("s-1"), 2, Exit::Signal(9)).await, Change::Nothing);
    let after = bench.bundle("s").await;
    assert_eq!((after.session, after.newest, after.terminal), (before.session, before.newest, before.terminal));
}

#[tokio::test]
async fn another_conversation_was_never_prompted_and_the_later_holder_keeps_it() {
    let mut bench = Bench::new().await;
    bench.dead("a").await;
    bench.prompted("b").await;
    let token =
        |token: &str| Body::Token { terminal: tid("b-1"), generation: 1, token: token.into(), source: "hook".into() };
    bench.tell("b", token("tok-b")).await;
    assert!(bench.newest("b").await.prompted_at.is_some(), "the same conversation stays prompted");
    bench.tell("b", token("tok-a")).await;
    let b = bench.bundle("b").await;
    assert_eq!(b.newest.unwrap().prompted_at, None);
    assert_eq!(b.session.prompted_at, None);
    assert_eq!(b.session.metadata.resume_token.as_deref(), Some("tok-a"));
    assert_eq!(b.executor.unwrap().resume_token.as_deref(), Some("tok-a"));
    assert_eq!(bench.reason("a").await, Some(EndReason::Superseded));
    let refused = ClaimOutcome::Refused(ResumeReason::Superseded);
    for by in [ClaimBy::Automatic, ClaimBy::User, ClaimBy::Reopen] {
        assert_eq!(bench.claim("a", "a-2", by).await, refused);
    }
}

#[tokio::test]
async fn a_terminal_that_nobody_will_tell_of_is_lost() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let end = bench.store.terminal_lost(sid("s"), tid("s-1"), MAX_ATTEMPTS, bench.now).await.unwrap().value;
    assert_eq!(end.unwrap().reason, EndReason::TerminalExited);
    let again = bench.store.terminal_lost(sid("s"), tid("s-1"), MAX_ATTEMPTS, bench.now).await.unwrap();
    assert_eq!((again.value, again.events), (None, vec![]));
    bench.resume("s", "s-2").await;
}
