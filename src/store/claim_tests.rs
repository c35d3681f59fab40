//! Claims on real files: one winner, reasons of refusal, taking back, confirming.
#![expect(clippy::disallowed_methods, reason = "the claim itself is what is tested")]

use super::claim::{ClaimBy, ClaimOutcome, ClaimRequest};
use super::confirm::ConfirmOutcome;
use super::testing::{Bench, sid, tid};
use super::unclaim::UnclaimOutcome;
use crate::domain::journal::Signal;
use crate::domain::launch::Exit;
use crate::domain::rows::{PromptState, StartMode};
use crate::domain::words::{
    EndReason, ErrorCode, Outcome, ResumeReason, SessionState, TaskState, TerminalStatus, Wanted,
};

fn refused(reason: ResumeReason) -> ClaimOutcome {
    ClaimOutcome::Refused(reason)
}

#[tokio::test]
async fn happy_path() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    let claimed = bench.store.claim(bench.request("s", "s-2", ClaimBy::Automatic)).await.unwrap();
    let ClaimOutcome::Claimed(pending) = claimed.value else { panic!() };
    assert_eq!((pending.generation, pending.epoch, pending.mode), (2, 2, StartMode::Resume));
    assert_eq!((pending.dead, pending.had), (Some(tid("s-1")), Some(EndReason::TerminalExited)));
    assert_eq!(pending.token.as_deref(), Some("tok-s"));
    assert_eq!(claimed.events.iter().map(|e| e.kind.as_str()).collect::<Vec<_>>(), ["session.resuming"]);
    let during = bench.newest("s").await;
    assert_eq!(during.end_reason, Some(EndReason::Resumed));
    assert_eq!((during.claim_epoch, during.claimed_at), (2, Some(bench.now)));
    assert_eq!(during.successor_terminal_id, Some(tid("s-2")));
    assert_eq!(
        bench.session("s").await.state,
        SessionState::WaitingForInput,
        "it keeps its state until the attempt ends"
    );

    bench.spawned("s", &tid("s-2"), 2).await;
    let confirmed = bench.confirm("s", &tid("s-2"), 2).await;
    assert_eq!(confirmed.value, ConfirmOutcome::Confirmed);
    let kinds: Vec<_> = confirmed.events.iter().map(|e| e.kind.as_str()).collect();
    assert_eq!(kinds, ["task.state_changed", "session.resumed"]);
    assert_eq!(confirmed.events[1].data["old_terminal_id"], "s-1");
    assert_eq!(confirmed.events[1].data["terminal_id"], "s-2");
    let after = bench.bundle("s").await;
    let newest = after.newest.unwrap();
    assert_eq!((newest.terminal_id, newest.generation, newest.end_reason), (tid("s-2"), 2, None));
    assert_eq!(newest.agent_session_id.as_deref(), Some("tok-s"));
    assert!(newest.prompted_at.is_some(), "a resumed conversation stays prompted");
    assert_eq!(after.session.agent_execution_id, Some(tid("s-2")));
    assert_eq!(after.session.state, SessionState::WaitingForInput);
    assert_eq!(after.session.pending, None);
    assert_eq!(after.task.state, TaskState::Review);
    assert_eq!(after.executor.unwrap().resume_token.as_deref(), Some("tok-s"));
    let old = bench.store.terminal(tid("s-1")).await.unwrap().unwrap();
    assert_eq!(old.status, TerminalStatus::Disposed);
    let attempt = bench.store.attempts(sid("s")).await.unwrap().remove(0);
    assert_eq!(attempt.outcome, Some(Outcome::Resumed));
    assert_eq!(bench.store.current_of(tid("s-1")).await.unwrap().unwrap().id, tid("s-2"));
}

#[tokio::test]
async fn a_repeated_confirm_changes_nothing() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.resume("s", "s-2").await;
    let before = bench.bundle("s").await;
    let again = bench.confirm("s", &tid("s-2"), 2).await;
    assert_eq!(again.value, ConfirmOutcome::Confirmed);
    assert_eq!(again.events, []);
    assert_eq!(bench.bundle("s").await, before);
    assert_eq!(bench.confirm("s", &tid("s-9"), 2).await.value, ConfirmOutcome::NotPending);
    assert_eq!(bench.confirm("s", &tid("s-2"), 3).await.value, ConfirmOutcome::NotPending);
}

#[tokio::test]
async fn single_consumption() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    assert!(matches!(bench.claim("s", "s-2", ClaimBy::Automatic).await, ClaimOutcome::Claimed(_)));
    for by in [ClaimBy::Automatic, ClaimBy::User, ClaimBy::Reopen] {
        assert_eq!(bench.claim("s", "s-3", by).await, refused(ResumeReason::Resuming));
    }
    assert_eq!(bench.newest("s").await.successor_terminal_id, Some(tid("s-2")));
    assert_eq!(bench.store.attempts(sid("s")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn who_names_another_terminal_is_superseded() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    let naming =
        |bench: &Bench, dead: &str| ClaimRequest { dead: Some(tid(dead)), ..bench.request("s", "s-9", ClaimBy::User) };
    assert_eq!(bench.store.claim(naming(&bench, "s-0")).await.unwrap().value, refused(ResumeReason::Superseded));
    bench.claim("s", "s-2", ClaimBy::Automatic).await;
    assert_eq!(bench.store.claim(naming(&bench, "s-1")).await.unwrap().value, refused(ResumeReason::Resuming));
    assert_eq!(bench.store.claim(naming(&bench, "s-0")).await.unwrap().value, refused(ResumeReason::Superseded));
    bench.spawned("s", &tid("s-2"), 2).await;
    bench.confirm("s", &tid("s-2"), 2).await;
    assert_eq!(bench.store.claim(naming(&bench, "s-1")).await.unwrap().value, refused(ResumeReason::Resumed));
    assert_eq!(bench.claim("s", "s-9", ClaimBy::User).await, refused(ResumeReason::AgentRunning));
    bench.exit("s", &tid("s-2"), 2, Exit::Signal(9)).await;
    bench.resume("s", "s-3").await;
    assert_eq!(bench.store.claim(naming(&bench, "s-1")).await.unwrap().value, refused(ResumeReason::Superseded));
}

#[tokio::test]
async fn two_connections_race_and_one_wins() {
    let mut bench = Bench::new().await;
    for round in 0..20 {
        let id = format!("r{round}");
        bench.dead(&id).await;
        let other = bench.second();
        let mut racers = Vec::new();
        for n in 0..8 {
            let store = if n % 2 == 0 { bench.store.clone() } else { other.clone() };
            let request = bench.request(&id, &format!("{id}-n{n}"), ClaimBy::User);
            racers.push(tokio::spawn(async move { store.claim(request).await.unwrap().value }));
        }
        let mut winners = Vec::new();
        for racer in racers {
            match racer.await.unwrap() {
                ClaimOutcome::Claimed(pending) => winners.push(pending.terminal_id),
                ClaimOutcome::Refused(reason) => assert_eq!(reason, ResumeReason::Resuming),
            }
        }
        assert_eq!(winners.len(), 1, "{winners:?}");
        assert_eq!(bench.newest(&id).await.successor_terminal_id.as_ref(), Some(&winners[0]));
    }
}

#[tokio::test]
async fn non_candidate_refused() {
    let mut bench = Bench::new().await;
    bench.prompted("live").await;
    assert_eq!(bench.claim("live", "x", ClaimBy::Reopen).await, refused(ResumeReason::AgentRunning));

    bench.prompted("quit").await;
    bench.exit("quit", &tid("quit-1"), 1, Exit::Code(0)).await;
    assert_eq!(bench.claim("quit", "x", ClaimBy::Automatic).await, refused(ResumeReason::Completed));

    bench.dead("killed").await;
    bench.store.dispose(sid("killed"), bench.now).await.unwrap();
    assert_eq!(bench.claim("killed", "x", ClaimBy::Automatic).await, refused(ResumeReason::Disposed));
    assert_eq!(bench.claim("killed", "x", ClaimBy::User).await, refused(ResumeReason::Disposed));

    bench.dead("tokenless").await;
    bench.sql("UPDATE agent_bindings SET agent_session_id = NULL WHERE session_id = 'tokenless'");
    for by in [ClaimBy::Automatic, ClaimBy::User, ClaimBy::Reopen] {
        assert_eq!(bench.claim("tokenless", "x", by).await, refused(ResumeReason::MissingResumeToken));
    }
    bench.store.create_session(bench.new_session("fresh")).await.unwrap();
    assert_eq!(bench.claim("fresh", "x", ClaimBy::User).await, refused(ResumeReason::NeverStarted));
    assert!(bench.store.claim(bench.request("nobody", "x", ClaimBy::User)).await.is_err());
    for id in ["live", "quit", "killed", "tokenless"] {
        assert_eq!(bench.store.attempts(sid(id)).await.unwrap(), [], "{id}");
        assert_eq!(bench.session(id).await.pending, None, "{id}");
    }
}

#[tokio::test]
async fn a_person_may_take_what_ended_from_inside_and_reopen_what_was_killed() {
    let mut bench = Bench::new().await;
    bench.prompted("quit").await;
    bench.exit("quit", &tid("quit-1"), 1, Exit::Code(0)).await;
    let ClaimOutcome::Claimed(pending) = bench.claim("quit", "quit-2", ClaimBy::User).await else { panic!() };
    assert_eq!(pending.had, Some(EndReason::Detached));
    let taken_back = bench.unclaim("quit", "quit-2", pending.epoch).await.value;
    assert_eq!(taken_back, UnclaimOutcome::Unclaimed(Some(EndReason::Detached)));
    assert_eq!(bench.reason("quit").await, Some(EndReason::Detached));

    bench.dead("killed").await;
    bench.store.dispose(sid("killed"), bench.now).await.unwrap();
    let ClaimOutcome::Claimed(pending) = bench.claim("killed", "killed-2", ClaimBy::Reopen).await else { panic!() };
    assert_eq!(pending.had, Some(EndReason::Disposed));
    assert_eq!(bench.session("killed").await.wanted, Wanted::Run);
    bench.unclaim("killed", "killed-2", pending.epoch).await;
    assert_eq!(bench.reason("killed").await, Some(EndReason::Disposed));
    assert_eq!(bench.session("killed").await.wanted, Wanted::Stop, "what was killed stays killed");
    let ClaimOutcome::Claimed(pending) = bench.claim("killed", "killed-3", ClaimBy::Reopen).await else { panic!() };
    bench.spawned("killed", &tid("killed-3"), 2).await;
    assert_eq!(bench.confirm("killed", &tid("killed-3"), pending.epoch).await.value, ConfirmOutcome::Confirmed);
}

#[tokio::test]
async fn unclaim_allows_a_retry() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    let ClaimOutcome::Claimed(pending) = bench.claim("s", "s-2", ClaimBy::Automatic).await else { panic!() };
    let taken_back = bench.unclaim("s", "s-2", pending.epoch).await;
    assert_eq!(taken_back.value, UnclaimOutcome::Unclaimed(Some(EndReason::TerminalExited)));
    assert_eq!(taken_back.events.last().unwrap().kind, "session.resume_failed");
    assert_eq!(taken_back.events.last().unwrap().data["code"], "launch_failed");
    let bundle = bench.bundle("s").await;
    assert_eq!(bundle.session.state, SessionState::Error);
    assert_eq!(bundle.session.error_message.as_deref(), Some("it was not there"));
    assert_eq!(bundle.session.metadata.resume_token.as_deref(), Some("tok-s"), "the token is never lost");
    let newest = bundle.newest.unwrap();
    assert_eq!((newest.end_reason, newest.successor_terminal_id), (Some(EndReason::TerminalExited), None));
    assert_eq!(newest.agent_session_id.as_deref(), Some("tok-s"));
    let attempt = bench.store.attempts(sid("s")).await.unwrap().remove(0);
    assert_eq!((attempt.outcome, attempt.error_code), (Some(Outcome::Failed), Some(ErrorCode::LaunchFailed)));

    let ClaimOutcome::Claimed(again) = bench.claim("s", "s-3", ClaimBy::User).await else { panic!() };
    assert!(again.epoch > pending.epoch, "epochs are never given out twice");
    bench.spawned("s", &tid("s-3"), 2).await;
    assert_eq!(bench.confirm("s", &tid("s-3"), again.epoch).await.value, ConfirmOutcome::Confirmed);
}

#[tokio::test]
async fn unclaim_is_guarded() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    assert_eq!(bench.unclaim("s", "s-2", 2).await.value, UnclaimOutcome::NotPending);
    let ClaimOutcome::Claimed(pending) = bench.claim("s", "s-2", ClaimBy::Automatic).await else { panic!() };
    assert_eq!(bench.unclaim("s", "s-3", pending.epoch).await.value, UnclaimOutcome::NotPending);
    assert_eq!(bench.unclaim("s", "s-2", pending.epoch - 1).await.value, UnclaimOutcome::NotPending);
    bench.spawned("s", &tid("s-2"), 2).await;
    bench.confirm("s", &tid("s-2"), pending.epoch).await;
    assert_eq!(bench.unclaim("s", "s-2", pending.epoch).await.value, UnclaimOutcome::NotPending);
    assert_eq!(bench.reason("s").await, None);
}

#[tokio::test]
async fn killed_between_claim_and_confirm() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    let ClaimOutcome::Claimed(pending) = bench.claim("s", "s-2", ClaimBy::Automatic).await else { panic!() };
    let disposed = bench.store.dispose(sid("s"), bench.now).await.unwrap().value;
    assert_eq!(disposed.pending.unwrap().terminal_id, tid("s-2"));
    bench.spawned("s", &tid("s-2"), 2).await;
    for _ in 0..2 {
        assert_eq!(bench.confirm("s", &tid("s-2"), pending.epoch).await.value, ConfirmOutcome::StopWanted);
    }
    assert_eq!(bench.reason("s").await, Some(EndReason::Disposed));
    assert_eq!(bench.session("s").await.state, SessionState::Cancelled);
    assert_eq!(bench.session("s").await.agent_execution_id, Some(tid("s-2")), "until its exit is told");
    bench.exit("s", &tid("s-2"), 2, Exit::Signal(15)).await;
    assert_eq!(bench.reason("s").await, Some(EndReason::Disposed));
    assert_eq!(bench.session("s").await.agent_execution_id, None);
    assert_eq!(bench.claim("s", "s-3", ClaimBy::Automatic).await, refused(ResumeReason::Disposed));
}

#[tokio::test]
async fn killed_during_a_claim_that_fails() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    let ClaimOutcome::Claimed(pending) = bench.claim("s", "s-2", ClaimBy::Automatic).await else { panic!() };
    bench.store.dispose(sid("s"), bench.now).await.unwrap();
    let taken_back = bench.unclaim("s", "s-2", pending.epoch).await.value;
    assert_eq!(taken_back, UnclaimOutcome::Unclaimed(Some(EndReason::Disposed)));
    assert_eq!(bench.session("s").await.state, SessionState::Cancelled);
    assert_eq!(bench.claim("s", "s-3", ClaimBy::Automatic).await, refused(ResumeReason::Disposed));
}

#[tokio::test]
async fn claim_survives_late_death_marks() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.claim("s", "s-2", ClaimBy::Automatic).await;
    let before = bench.newest("s").await;
    bench.exit("s", &tid("s-1"), 1, Exit::Code(1)).await;
    bench.signal("s", &tid("s-1"), 1, Signal::TurnEnded).await;
    bench.tell("s", crate::domain::journal::Body::ToldToEnd { by: "test".into() }).await;
    assert_eq!(bench.newest("s").await, before);
    bench.spawned("s", &tid("s-2"), 2).await;
    bench.confirm("s", &tid("s-2"), 2).await;
    bench.exit("s", &tid("s-1"), 1, Exit::Signal(9)).await;
    bench.signal("s", &tid("s-1"), 1, Signal::TurnBegan).await;
    assert_eq!(bench.reason("s").await, None);
    assert_eq!(bench.session("s").await.agent_execution_id, Some(tid("s-2")));
    assert_eq!(bench.session("s").await.state, SessionState::WaitingForInput);
}

#[tokio::test]
async fn never_prompted_starts_fresh() {
    let mut bench = Bench::new().await;
    bench.started("s").await;
    bench.exit("s", &tid("s-1"), 1, Exit::Signal(1)).await;
    let request = ClaimRequest { new_token: Some("new".into()), ..bench.request("s", "s-2", ClaimBy::Automatic) };
    let ClaimOutcome::Claimed(pending) = bench.store.claim(request).await.unwrap().value else { panic!() };
    assert_eq!((pending.mode, pending.token.as_deref()), (StartMode::Fresh, Some("new")));
    bench.spawned("s", &tid("s-2"), 2).await;
    bench.confirm("s", &tid("s-2"), pending.epoch).await;
    let bundle = bench.bundle("s").await;
    assert_eq!(bundle.session.state, SessionState::Starting);
    assert_eq!(bundle.session.metadata.resume_token.as_deref(), Some("new"));
    assert_eq!(bundle.newest.unwrap().prompted_at, None);
}

#[tokio::test]
async fn the_first_prompt_of_a_fresh_start_waits_as_maybe_delivered_and_is_queued_once() {
    let mut bench = Bench::new().await;
    bench.started("s").await;
    bench.exit("s", &tid("s-1"), 1, Exit::Signal(1)).await;
    bench.resume("s", "s-2").await;
    let prompts = bench.store.prompts(sid("s")).await.unwrap();
    let shown: Vec<_> = prompts.iter().map(|p| (p.text.as_str(), p.state)).collect();
    assert_eq!(shown, [("hello", PromptState::MaybeDelivered)]);
    assert_eq!(bench.store.next_prompt(sid("s")).await.unwrap(), None, "it is never typed by itself");
    assert!(bench.store.drop_prompt(sid("s"), prompts[0].id.clone()).await.unwrap().value);
    bench.exit("s", &tid("s-2"), 2, Exit::Signal(1)).await;
    bench.resume("s", "s-3").await;
    assert_eq!(bench.store.prompts(sid("s")).await.unwrap(), [], "the second agent was not given it");

    bench.dead("p").await;
    bench.resume("p", "p-2").await;
    assert_eq!(bench.store.prompts(sid("p")).await.unwrap(), [], "a conversation that was prompted has it");
}

#[tokio::test]
async fn a_failed_first_start_is_an_error_and_may_be_tried_again() {
    let bench = Bench::new().await;
    bench.store.create_session(bench.new_session("s")).await.unwrap();
    let first = |terminal: &str| super::claim::FirstStart {
        session: sid("s"),
        terminal: tid(terminal),
        token: None,
        trigger: crate::domain::words::Trigger::User,
        now: bench.now,
    };
    let ClaimOutcome::Claimed(one) = bench.store.begin_first(first("s-1")).await.unwrap().value else { panic!() };
    assert_eq!(bench.store.begin_first(first("s-2")).await.unwrap().value, refused(ResumeReason::Resuming));
    assert_eq!(bench.unclaim("s", "s-1", one.epoch).await.value, UnclaimOutcome::Unclaimed(None));
    assert_eq!(bench.session("s").await.state, SessionState::Error);
    let ClaimOutcome::Claimed(two) = bench.store.begin_first(first("s-2")).await.unwrap().value else { panic!() };
    assert_eq!((two.epoch, two.generation), (2, 1));
    bench.confirm("s", &tid("s-2"), 2).await;
    assert_eq!(bench.bundle("s").await.task.state, TaskState::InProgress);
    assert_eq!(bench.store.begin_first(first("s-3")).await.unwrap().value, refused(ResumeReason::AgentRunning));
}
