//! What each guard of a claim, an unclaim, a confirm and a dispose keeps out, and what each of them leaves in the rows.
#![expect(clippy::disallowed_methods, reason = "the claim itself is what is tested")]

use super::claim::{ClaimBy, ClaimOutcome, ClaimRequest, FirstStart};
use super::confirm::{Confirm, ConfirmOutcome};
use super::testing::{Bench, identity, sid, tid};
use super::unclaim::{Unclaim, UnclaimOutcome};
use crate::domain::journal::Body;
use crate::domain::launch::{Exit, Size};
use crate::domain::rows::{Binding, Pending, StartMode};
use crate::domain::words::{
    EndReason, ErrorCode, Hold, Outcome, ResumeReason, SessionState, TerminalKind, TerminalStatus, Trigger, Wanted,
};

const EVERYONE: [ClaimBy; 3] = [ClaimBy::Automatic, ClaimBy::User, ClaimBy::Reopen];

fn refused(reason: ResumeReason) -> ClaimOutcome {
    ClaimOutcome::Refused(reason)
}

async fn claimed(bench: &Bench, id: &str, successor: &str, by: ClaimBy) -> Pending {
    match bench.claim(id, successor, by).await {
        ClaimOutcome::Claimed(pending) => pending,
        ClaimOutcome::Refused(reason) => panic!("{id}: {reason}"),
    }
}

async fn learns(bench: &mut Bench, id: &str, token: &str) {
    let (terminal, source) = (tid(&format!("{id}-1")), "hook".to_owned());
    bench.tell(id, Body::Token { terminal, generation: 1, token: token.into(), source }).await;
}

fn failed(bench: &Bench, id: &str, pending: &Pending, hold: Option<Hold>) -> Unclaim {
    Unclaim {
        session: sid(id),
        successor: pending.terminal_id.clone(),
        epoch: pending.epoch,
        code: ErrorCode::LaunchFailed,
        message: "no\nprogram".into(),
        hold,
        not_before: hold.map(|_| bench.now + 9),
        now: bench.now,
    }
}

#[tokio::test]
async fn an_open_claim_keeps_everyone_out_whatever_the_rows_say() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.started("fresh").await;
    bench.exit("fresh", &tid("fresh-1"), 1, Exit::Signal(9)).await;
    for id in ["s", "fresh"] {
        let successor = format!("{id}-2");
        claimed(&bench, id, &successor, ClaimBy::Automatic).await;
        bench.sql(&format!("UPDATE agent_bindings SET end_reason = 'terminal-exited' WHERE session_id = '{id}'"));
        for by in EVERYONE {
            assert_eq!(bench.claim(id, "another", by).await, refused(ResumeReason::Resuming), "{id}");
        }
        assert_eq!(bench.store.find_candidate(sid(id)).await.unwrap(), None, "{id}");
        assert_eq!(bench.session(id).await.pending.unwrap().terminal_id.as_str(), successor);
    }
}

#[tokio::test]
async fn what_nobody_wants_is_taken_by_a_reopening_only_and_no_other_session_speaks_for_it() {
    let mut bench = Bench::new().await;
    bench.dead("wanted").await;
    bench.dead("s").await;
    bench.sql("UPDATE task_sessions SET wanted = 'stop' WHERE id = 's'");
    for by in [ClaimBy::Automatic, ClaimBy::User] {
        assert_eq!(bench.claim("s", "s-2", by).await, refused(ResumeReason::Disposed));
    }
    let pending = claimed(&bench, "s", "s-2", ClaimBy::Reopen).await;
    assert_eq!((pending.epoch, pending.had), (2, Some(EndReason::TerminalExited)));
    assert_eq!(bench.session("s").await.wanted, Wanted::Run);
    assert_eq!(bench.session("wanted").await.pending, None);
}

#[tokio::test]
async fn a_candidate_is_found_with_how_it_would_be_started() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.started("fresh").await;
    bench.exit("fresh", &tid("fresh-1"), 1, Exit::Signal(9)).await;
    for (id, mode) in [("s", StartMode::Resume), ("fresh", StartMode::Fresh)] {
        let found = bench.store.find_candidate(sid(id)).await.unwrap();
        assert_eq!(found, Some((bench.newest(id).await, mode)), "{id}");
    }
}

#[tokio::test]
async fn a_conversation_that_another_session_holds_is_not_claimed() {
    let mut bench = Bench::new().await;
    bench.prompted("a").await;
    bench.exit("a", &tid("a-1"), 1, Exit::Code(0)).await;
    bench.prompted("b").await;
    learns(&mut bench, "b", "tok-a").await;
    assert_eq!(bench.claim("a", "a-2", ClaimBy::User).await, refused(ResumeReason::Superseded), "b lives on it");
    bench.tell("b", Body::Prompted { terminal: tid("b-1"), generation: 1 }).await;
    bench.exit("b", &tid("b-1"), 1, Exit::Signal(9)).await;
    assert_eq!(bench.claim("a", "a-2", ClaimBy::User).await, refused(ResumeReason::Superseded), "b may resume it");
    claimed(&bench, "b", "b-2", ClaimBy::Automatic).await;
    for by in [ClaimBy::User, ClaimBy::Reopen] {
        assert_eq!(bench.claim("a", "a-2", by).await, refused(ResumeReason::Superseded), "b is about to resume it");
    }
}

#[tokio::test]
async fn the_same_id_of_another_agent_is_another_conversation() {
    let mut bench = Bench::new().await;
    for id in ["live", "claimed"] {
        bench.dead(id).await;
    }
    claimed(&bench, "claimed", "claimed-2", ClaimBy::Automatic).await;
    bench.resume("live", "live-2").await;
    bench.dead("s").await;
    bench.sql(
        "UPDATE agent_bindings SET agent_id = 'other', agent_session_id = 'tok-s' WHERE session_id <> 's';
         UPDATE task_sessions SET agent_profile_id = 'other',
             pending = json_set(pending, '$.token', 'tok-s') WHERE id = 'claimed'",
    );
    claimed(&bench, "s", "s-2", ClaimBy::Automatic).await;
}

#[tokio::test]
async fn a_refusal_names_what_stands_in_the_way() {
    let mut bench = Bench::new().await;
    bench.dead("killed").await;
    bench.store.dispose(sid("killed"), bench.now).await.unwrap();
    bench.sql("UPDATE agent_bindings SET agent_session_id = NULL WHERE session_id = 'killed'");
    assert_eq!(bench.claim("killed", "x", ClaimBy::User).await, refused(ResumeReason::Disposed));
    assert_eq!(bench.claim("killed", "x", ClaimBy::Reopen).await, refused(ResumeReason::MissingResumeToken));

    bench.prompted("quit").await;
    bench.exit("quit", &tid("quit-1"), 1, Exit::Code(0)).await;
    bench.sql("UPDATE agent_bindings SET agent_session_id = NULL WHERE session_id = 'quit'");
    assert_eq!(bench.claim("quit", "x", ClaimBy::Automatic).await, refused(ResumeReason::Completed));
    assert_eq!(bench.claim("quit", "x", ClaimBy::User).await, refused(ResumeReason::MissingResumeToken));

    bench.dead("s").await;
    bench.resume("s", "s-2").await;
    bench.exit("s", &tid("s-2"), 2, Exit::Signal(9)).await;
    let naming = ClaimRequest { dead: Some(tid("s-1")), ..bench.request("s", "s-3", ClaimBy::Automatic) };
    assert_eq!(bench.store.claim(naming).await.unwrap().value, refused(ResumeReason::Resumed));
    bench.sql("UPDATE agent_bindings SET end_reason = 'superseded' WHERE terminal_id = 's-1'");
    let naming = ClaimRequest { dead: Some(tid("s-1")), ..bench.request("s", "s-3", ClaimBy::Automatic) };
    assert_eq!(bench.store.claim(naming).await.unwrap().value, refused(ResumeReason::Superseded));
}

#[tokio::test]
async fn a_first_start_is_wanted_and_clears_what_held_it() {
    let bench = Bench::new().await;
    let first = |id: &str, terminal: &str| FirstStart {
        session: sid(id),
        terminal: tid(terminal),
        token: None,
        trigger: Trigger::User,
        now: bench.now,
    };
    bench.store.create_session(bench.new_session("closed")).await.unwrap();
    bench.store.dispose(sid("closed"), bench.now).await.unwrap();
    let outcome = bench.store.begin_first(first("closed", "x")).await.unwrap().value;
    assert_eq!(outcome, refused(ResumeReason::Disposed));

    bench.store.create_session(bench.new_session("s")).await.unwrap();
    let outcome = bench.store.begin_first(first("s", "s-1")).await.unwrap().value;
    let ClaimOutcome::Claimed(pending) = outcome else { panic!() };
    for wrong in [
        Pending { epoch: pending.epoch + 1, ..pending.clone() },
        Pending { terminal_id: tid("s-9"), ..pending.clone() },
    ] {
        let outcome = bench.store.unclaim(failed(&bench, "s", &wrong, None)).await.unwrap().value;
        assert_eq!(outcome, UnclaimOutcome::NotPending, "{wrong:?}");
    }
    bench.store.unclaim(failed(&bench, "s", &pending, Some(Hold::ConfigGone))).await.unwrap();
    assert_eq!(bench.session("s").await.hold, Some(Hold::ConfigGone));
    bench.store.begin_first(first("s", "s-2")).await.unwrap();
    let session = bench.session("s").await;
    assert_eq!((session.hold, session.state, session.error_message), (None, SessionState::Starting, None));
}

#[tokio::test]
async fn an_unclaim_needs_the_row_as_the_claim_left_it() {
    let mut bench = Bench::new().await;
    for (id, damage) in [
        ("reason", "end_reason = 'detached'"),
        ("epoch", "claim_epoch = 7"),
        ("successor", "successor_terminal_id = 'another'"),
    ] {
        bench.dead(id).await;
        let pending = claimed(&bench, id, &format!("{id}-2"), ClaimBy::Automatic).await;
        bench.sql(&format!("UPDATE agent_bindings SET {damage} WHERE session_id = '{id}'"));
        let before = bench.bundle(id).await;
        let outcome = bench.store.unclaim(failed(&bench, id, &pending, None)).await.unwrap();
        assert_eq!((outcome.value, outcome.events), (UnclaimOutcome::NotPending, vec![]), "{id}");
        assert_eq!(bench.bundle(id).await, before, "{id}");
    }
}

#[tokio::test]
async fn an_unclaim_leaves_no_trace_of_the_claim_but_its_attempt_and_why_it_waits() {
    let mut bench = Bench::new().await;
    bench.dead("other").await;
    bench.resume("other", "other-2").await;
    bench.dead("s").await;
    let before = bench.newest("s").await;
    bench.sql("UPDATE task_sessions SET hold = 'crash_loop', not_before = 77 WHERE id = 's'");
    let pending = claimed(&bench, "s", "s-2", ClaimBy::Automatic).await;
    bench.now += 5;
    bench.store.unclaim(failed(&bench, "s", &pending, None)).await.unwrap();
    let session = bench.session("s").await;
    assert_eq!((session.hold, session.not_before), (Some(Hold::CrashLoop), Some(77)), "what is not said stays");
    assert_eq!(bench.newest("s").await, Binding { claim_epoch: pending.epoch, ..before });
    assert_eq!(bench.text("SELECT claimed_from FROM agent_bindings WHERE session_id = 's'"), None);
    let attempt = bench.store.attempts(sid("s")).await.unwrap().remove(0);
    assert_eq!((attempt.ended_at, attempt.message.as_deref()), (Some(bench.now), Some("no program")));
    assert_eq!((attempt.outcome, attempt.error_code), (Some(Outcome::Failed), Some(ErrorCode::LaunchFailed)));
    let other = bench.store.attempts(sid("other")).await.unwrap().remove(0);
    assert_eq!(other.outcome, Some(Outcome::Resumed), "of its own attempt only");

    let pending = claimed(&bench, "s", "s-3", ClaimBy::Automatic).await;
    bench.store.unclaim(failed(&bench, "s", &pending, Some(Hold::LaunchFailed))).await.unwrap();
    let session = bench.session("s").await;
    assert_eq!((session.hold, session.not_before), (Some(Hold::LaunchFailed), Some(bench.now + 9)));
}

#[tokio::test]
async fn what_another_session_took_up_meanwhile_is_not_given_back() {
    let mut bench = Bench::new().await;
    bench.dead("a").await;
    let pending = claimed(&bench, "a", "a-2", ClaimBy::Automatic).await;
    bench.prompted("b").await;
    learns(&mut bench, "b", "tok-a").await;
    let outcome = bench.store.unclaim(failed(&bench, "a", &pending, None)).await.unwrap().value;
    assert_eq!(outcome, UnclaimOutcome::Unclaimed(Some(EndReason::Superseded)));
    assert_eq!(bench.reason("b").await, None);
    assert_eq!(bench.claim("a", "a-3", ClaimBy::Automatic).await, refused(ResumeReason::Superseded));
}

#[tokio::test]
async fn who_ended_for_good_holds_no_conversation() {
    let mut bench = Bench::new().await;
    bench.dead("closed").await;
    bench.store.dispose(sid("closed"), bench.now).await.unwrap();
    bench.sql("UPDATE agent_bindings SET agent_session_id = 'tok-s' WHERE session_id = 'closed'");
    bench.dead("s").await;
    let pending = claimed(&bench, "s", "s-2", ClaimBy::Automatic).await;
    let outcome = bench.store.unclaim(failed(&bench, "s", &pending, None)).await.unwrap().value;
    assert_eq!(outcome, UnclaimOutcome::Unclaimed(Some(EndReason::TerminalExited)));
}

#[tokio::test]
async fn a_confirm_writes_the_agent_as_it_was_started() {
    let mut bench = Bench::new().await;
    bench.dead("other").await;
    bench.resume("other", "other-2").await;
    bench.dead("s").await;
    bench.sql("UPDATE task_sessions SET prompted_at = NULL WHERE id = 's'");
    let dead = bench.newest("s").await;
    let pending = claimed(&bench, "s", "s-2", ClaimBy::Automatic).await;
    bench.now += 5;
    bench.spawned("s", &tid("s-2"), 2).await;
    let confirm = Confirm {
        session: sid("s"),
        terminal: tid("s-2"),
        epoch: pending.epoch,
        identity: identity(42),
        token: Some("forked".into()),
        size: Size { cols: 132, rows: 43 },
        now: bench.now,
    };
    assert_eq!(bench.store.confirm(confirm).await.unwrap().value, ConfirmOutcome::Confirmed);
    let bundle = bench.bundle("s").await;
    let terminal = bundle.terminal.unwrap();
    assert_eq!((terminal.kind, terminal.generation, terminal.status), (TerminalKind::Agent, 2, TerminalStatus::Active));
    assert_eq!((terminal.identity, terminal.size), (Some(identity(42)), Size { cols: 132, rows: 43 }));
    assert_eq!((terminal.created_at, terminal.ended_at, terminal.exit), (bench.now, None, None));
    let newest = bundle.newest.unwrap();
    assert_eq!((newest.agent_id.as_str(), newest.agent_session_id.as_deref()), ("demo", Some("forked")));
    assert_eq!((newest.started_at, newest.claim_epoch), (bench.now, pending.epoch));
    assert_eq!((newest.ended_at, newest.end_reason, newest.state_at_death), (None, None, None));
    assert_eq!((newest.prompted_at, bundle.session.prompted_at), (dead.prompted_at, dead.prompted_at));
    assert_eq!(bundle.session.metadata.resume_token.as_deref(), Some("forked"));
    let attempt = bench.store.attempts(sid("s")).await.unwrap().remove(0);
    assert_eq!((attempt.outcome, attempt.ended_at), (Some(Outcome::Resumed), Some(bench.now)));
    assert_eq!((attempt.error_code, attempt.message), (None, None));
    let other = bench.store.attempts(sid("other")).await.unwrap().remove(0);
    assert_eq!(other.ended_at, Some(bench.now - 5), "of its own attempt only");
}

#[tokio::test]
async fn a_confirm_of_what_nobody_wants_any_more_is_an_agent_that_was_killed() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    let pending = claimed(&bench, "s", "s-2", ClaimBy::Automatic).await;
    bench.prompted("b").await;
    learns(&mut bench, "b", "tok-s").await;
    bench.store.dispose(sid("s"), bench.now).await.unwrap();
    bench.now += 5;
    bench.spawned("s", &tid("s-2"), 2).await;
    let outcome = bench.confirm("s", &tid("s-2"), pending.epoch).await;
    assert_eq!((outcome.value, outcome.events), (ConfirmOutcome::StopWanted, vec![]));
    let newest = bench.newest("s").await;
    assert_eq!((newest.end_reason, newest.ended_at), (Some(EndReason::Disposed), Some(bench.now)));
    assert_eq!(newest.state_at_death, Some(SessionState::Cancelled));
    let attempt = bench.store.attempts(sid("s")).await.unwrap().remove(0);
    assert_eq!((attempt.outcome, attempt.error_code), (Some(Outcome::Failed), Some(ErrorCode::Cancelled)));
    assert_eq!(bench.reason("b").await, None, "what is killed at once takes nobody's conversation");
}

#[tokio::test]
async fn a_confirmed_resume_has_its_conversation_for_itself() {
    let mut bench = Bench::new().await;
    bench.dead("a").await;
    let pending = claimed(&bench, "a", "a-2", ClaimBy::Automatic).await;
    bench.prompted("b").await;
    learns(&mut bench, "b", "tok-a").await;
    bench.spawned("a", &tid("a-2"), 2).await;
    assert_eq!(bench.confirm("a", &tid("a-2"), pending.epoch).await.value, ConfirmOutcome::Confirmed);
    assert_eq!((bench.reason("a").await, bench.reason("b").await), (None, Some(EndReason::Superseded)));
}

#[tokio::test]
async fn a_confirm_of_another_sessions_terminal_is_of_no_claim() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.resume("s", "s-2").await;
    bench.dead("other").await;
    let outcome = bench.confirm("other", &tid("s-2"), 2).await;
    assert_eq!((outcome.value, outcome.events), (ConfirmOutcome::NotPending, vec![]));
    claimed(&bench, "other", "other-2", ClaimBy::Automatic).await;
    assert_eq!(bench.confirm("other", &tid("s-2"), 2).await.value, ConfirmOutcome::NotPending);
    assert!(bench.session("other").await.pending.is_some());
}

#[tokio::test]
async fn a_disposed_session_waits_for_nothing_and_keeps_when_and_how_it_died() {
    let mut bench = Bench::new().await;
    bench.prompted("other").await;
    bench.dead("s").await;
    bench.resume("s", "s-2").await;
    bench.exit("s", &tid("s-2"), 2, Exit::Code(3)).await;
    let died = bench.now;
    bench.store.session_error(sid("s"), "x".into(), Some(Hold::LaunchFailed), bench.now).await.unwrap();
    let session = bench.session("s").await;
    assert_eq!((session.hold, session.not_before), (Some(Hold::LaunchFailed), Some(died + 1_000)));
    bench.now += 5;
    let disposed = bench.store.dispose(sid("s"), bench.now).await.unwrap();
    assert_eq!((disposed.value.live, disposed.value.pending), (None, None));
    let bundle = bench.bundle("s").await;
    assert_eq!((bundle.session.hold, bundle.session.not_before), (None, None));
    assert_eq!((bundle.session.wanted, bundle.session.state), (Wanted::Stop, SessionState::Cancelled));
    let newest = bundle.newest.unwrap();
    assert_eq!((newest.end_reason, newest.ended_at), (Some(EndReason::Disposed), Some(died)));
    assert_eq!(newest.state_at_death, Some(SessionState::WaitingForInput));
    assert_eq!(bench.reason("other").await, None, "no other session is touched");
    let before = bench.bundle("s").await;
    assert_eq!(bench.store.dispose(sid("s"), bench.now).await.unwrap().events, []);
    assert_eq!(bench.bundle("s").await, before);
}

#[tokio::test]
async fn a_disposed_live_agent_ends_now_in_the_state_that_it_had() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.now += 5;
    let disposed = bench.store.dispose(sid("s"), bench.now).await.unwrap();
    assert_eq!(disposed.value.live, Some(tid("s-1")));
    let newest = bench.newest("s").await;
    assert_eq!((newest.end_reason, newest.ended_at), (Some(EndReason::Disposed), Some(bench.now)));
    assert_eq!(newest.state_at_death, Some(SessionState::WaitingForInput));
}

#[tokio::test]
async fn only_a_candidate_is_dismissed() {
    let mut bench = Bench::new().await;
    bench.prompted("live").await;
    let dismissed = bench.store.dismiss(sid("live"), 7).await.unwrap();
    assert_eq!((dismissed.value, dismissed.events), (false, vec![]));
    assert_eq!(bench.newest("live").await.dismissed_at, None);
    bench.dead("s").await;
    let dismissed = bench.store.dismiss(sid("s"), 7).await.unwrap();
    assert_eq!(dismissed.events.len(), 1);
    assert_eq!(dismissed.events[0].data["dismissed"], "s-1");
}
