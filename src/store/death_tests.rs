//! What an end leaves in the rows, and which ends count towards a crash loop, a hold or nothing.

use super::apply::{Applied, ApplyRules, Change};
use super::testing::{Bench, MAX_ATTEMPTS, identity, sid, tid};
use crate::domain::ids::TerminalId;
use crate::domain::journal::{Body, Signal};
use crate::domain::launch::Exit;
use crate::domain::words::{EndReason, ErrorCode, Hold, SessionState, TerminalKind, TerminalStatus};

fn told() -> Body {
    Body::ToldToEnd { by: "SIGTERM".into() }
}

fn lost(incarnation: u32, bench: &Bench) -> Body {
    Body::SupervisorLost { incarnation, last_boot_ms: bench.now.unsigned_abs(), rebooted: false }
}

fn failing(terminal: &TerminalId, generation: u32, failure: ErrorCode) -> Body {
    let (terminal, last_line) = (terminal.clone(), "last line".into());
    Body::Exit { terminal, generation, exit: Exit::Code(1), quit_input: false, failure: Some(failure), last_line }
}

#[tokio::test]
async fn a_death_leaves_its_time_state_and_exit_in_the_rows() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.now += 5;
    let seen = bench.now + 100;
    let record = bench.record("s", Bench::exit_body(&tid("s-1"), 1, Exit::Code(3)));
    let rules = ApplyRules { max_attempts: MAX_ATTEMPTS, now: seen };
    let applied = bench.store.apply(sid("s"), record, rules).await.unwrap();
    assert!(matches!(applied.value, Applied::Applied(Change::AgentEnded { .. })), "{:?}", applied.value);
    let bundle = bench.bundle("s").await;
    let newest = bundle.newest.unwrap();
    assert_eq!((newest.end_reason, newest.ended_at), (Some(EndReason::TerminalExited), Some(bench.now)));
    assert_eq!(newest.state_at_death, Some(SessionState::WaitingForInput));
    assert!(!bundle.session.interrupted, "no turn was running");
    let terminal = bundle.terminal.unwrap();
    assert_eq!((terminal.exit, terminal.ended_at), (Some(Exit::Code(3)), Some(bench.now)));
    assert_eq!(terminal.status, TerminalStatus::Exited);
    assert_eq!(applied.events.last().unwrap().kind, "terminal.exited");
}

#[tokio::test]
async fn a_persons_quit_clears_what_earlier_deaths_left() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.resume("s", "s-2").await;
    bench.signal("s", &tid("s-2"), 2, Signal::TurnBegan).await;
    bench.exit("s", &tid("s-2"), 2, Exit::Code(3)).await;
    bench.resume("s", "s-3").await;
    bench.store.session_error(sid("s"), "x".into(), Some(Hold::LaunchFailed), bench.now).await.unwrap();
    let before = bench.session("s").await;
    assert_eq!((before.unsettled_deaths, before.interrupted, before.hold), (1, true, Some(Hold::LaunchFailed)));
    assert!(before.not_before.is_some());
    bench.exit("s", &tid("s-3"), 3, Exit::Code(0)).await;
    let after = bench.session("s").await;
    assert_eq!((after.unsettled_deaths, after.interrupted, after.hold), (0, false, None));
    assert_eq!((after.not_before, after.state), (None, SessionState::Completed));
}

#[tokio::test]
async fn an_agent_that_outside_ended_is_no_step_to_a_crash_loop_and_its_failure_no_hold() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.resume("s", "s-2").await;
    bench.exit("s", &tid("s-2"), 2, Exit::Code(3)).await;
    bench.resume("s", "s-3").await;
    bench.tell("s", told()).await;
    let change = bench.tell("s", failing(&tid("s-3"), 3, ErrorCode::LoginExpired)).await;
    let Change::AgentEnded { end, .. } = change else { panic!("{change:?}") };
    assert_eq!((end.reason, end.hold), (EndReason::TerminalExited, None));
    let session = bench.session("s").await;
    assert_eq!((session.unsettled_deaths, session.hold), (1, None), "as many as before");

    bench.now += 40_000;
    bench.resume("s", "s-4").await;
    let body = lost(1, &bench);
    bench.tell("s", body).await;
    assert_eq!(bench.session("s").await.unsettled_deaths, 2, "who is lost without a word may have fallen by its agent");
}

#[tokio::test]
async fn the_first_death_is_no_crash_loop_however_few_attempts_there_are() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let record = bench.record("s", Bench::exit_body(&tid("s-1"), 1, Exit::Code(3)));
    let rules = ApplyRules { max_attempts: 0, now: bench.now };
    let Applied::Applied(Change::AgentEnded { end, .. }) =
        bench.store.apply(sid("s"), record, rules).await.unwrap().value
    else {
        panic!()
    };
    assert_eq!(end.hold, None);
    let session = bench.session("s").await;
    assert_eq!((session.hold, session.not_before), (None, None));
}

#[tokio::test]
async fn each_hold_says_what_it_waits_for() {
    let mut bench = Bench::new().await;
    for (id, code, words) in [
        ("login", ErrorCode::LoginExpired, "the agent's login has expired: last line"),
        ("gone", ErrorCode::UnknownConversation, "the agent does not know this conversation any more: last line"),
    ] {
        bench.prompted(id).await;
        bench.tell(id, failing(&tid(&format!("{id}-1")), 1, code)).await;
        assert_eq!(bench.session(id).await.error_message.as_deref(), Some(words));
    }
}

#[tokio::test]
async fn a_hold_stays_until_a_person_or_a_quit_ends_it() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.store.session_error(sid("s"), "x".into(), Some(Hold::ConfigGone), bench.now).await.unwrap();
    bench.store.session_error(sid("s"), "y".into(), None, bench.now).await.unwrap();
    bench.exit("s", &tid("s-1"), 1, Exit::Signal(9)).await;
    assert_eq!(bench.session("s").await.hold, Some(Hold::ConfigGone));
}

#[tokio::test]
async fn an_interrupted_turn_stays_one_over_another_death() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.signal("s", &tid("s-1"), 1, Signal::TurnBegan).await;
    bench.exit("s", &tid("s-1"), 1, Exit::Signal(9)).await;
    bench.resume("s", "s-2").await;
    bench.exit("s", &tid("s-2"), 2, Exit::Signal(9)).await;
    let session = bench.session("s").await;
    assert!(session.interrupted);
    assert_eq!(session.state, SessionState::WaitingForInput);
}

#[tokio::test]
async fn only_a_turn_that_ended_settles_and_its_first_time_counts() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.resume("s", "s-2").await;
    bench.exit("s", &tid("s-2"), 2, Exit::Code(3)).await;
    bench.resume("s", "s-3").await;
    bench.signal("s", &tid("s-3"), 3, Signal::TurnBegan).await;
    let begun = (bench.session("s").await, bench.newest("s").await);
    assert_eq!((begun.0.unsettled_deaths, begun.1.settled_at), (1, None));
    bench.now += 1;
    let settled = bench.now;
    bench.signal("s", &tid("s-3"), 3, Signal::TurnEnded).await;
    let ended = bench.session("s").await;
    assert_eq!((ended.unsettled_deaths, ended.not_before), (0, None));
    bench.now += 1;
    bench.signal("s", &tid("s-3"), 3, Signal::TurnEnded).await;
    bench.signal("s", &tid("s-3"), 3, Signal::NeedsInput).await;
    let newest = bench.newest("s").await;
    assert_eq!((newest.settled_at, newest.last_event_at), (Some(settled), Some(bench.now)));
    assert_eq!(newest.last_event_type.as_deref(), Some("needs_input"));
}

#[tokio::test]
async fn ready_ends_only_the_start() {
    let mut bench = Bench::new().await;
    bench.started("s").await;
    assert_eq!(bench.session("s").await.state, SessionState::Starting);
    let ready = bench.signal("s", &tid("s-1"), 1, Signal::Ready).await;
    assert_eq!(ready, Change::State(SessionState::WaitingForInput));
    bench.signal("s", &tid("s-1"), 1, Signal::TurnBegan).await;
    assert_eq!(bench.signal("s", &tid("s-1"), 1, Signal::Ready).await, Change::Nothing);
    assert_eq!(bench.session("s").await.state, SessionState::Running);
}

#[tokio::test]
async fn what_died_already_did_not_end_by_what_came_later() {
    let mut bench = Bench::new().await;
    bench.dead("dead").await;
    bench.store.session_error(sid("dead"), "x".into(), None, bench.now).await.unwrap();
    assert_eq!(bench.tell("dead", told()).await, Change::Nothing);
    assert_eq!(bench.session("dead").await.state, SessionState::Error, "the session is left alone");

    bench.prompted("closed").await;
    bench.exit("closed", &tid("closed-1"), 1, Exit::Code(0)).await;
    bench.store.dispose(sid("closed"), bench.now).await.unwrap();
    assert_eq!(bench.tell("closed", told()).await, Change::Nothing);
    assert_eq!(bench.reason("closed").await, Some(EndReason::Detached));

    bench.prompted("held").await;
    bench.exit("held", &tid("held-1"), 1, Exit::Code(0)).await;
    bench.prompted("holder").await;
    let (terminal, source) = (tid("holder-1"), "hook".to_owned());
    bench.tell("holder", Body::Token { terminal, generation: 1, token: "tok-held".into(), source }).await;
    assert_eq!(bench.tell("held", told()).await, Change::Nothing);
    assert_eq!(bench.reason("held").await, Some(EndReason::Detached), "another session has its conversation");
    assert_eq!(bench.session("held").await.state, SessionState::Completed);
}

#[tokio::test]
async fn a_death_gasp_of_an_idle_agent_interrupted_nothing() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.exit("s", &tid("s-1"), 1, Exit::Code(0)).await;
    bench.tell("s", told()).await;
    let session = bench.session("s").await;
    assert_eq!((session.state, session.interrupted), (SessionState::WaitingForInput, false));
}

#[tokio::test]
async fn any_goodbye_that_a_person_said_counts() {
    let mut bench = Bench::new().await;
    let goodbye = |id: &str, person| Body::Goodbye {
        terminal: tid(&format!("{id}-1")),
        generation: 1,
        reason: "why".into(),
        person,
    };
    for (id, said, reason) in [
        ("person", [true, false], EndReason::Detached),
        ("late", [false, true], EndReason::Detached),
        ("nobody", [false, false], EndReason::TerminalExited),
    ] {
        bench.prompted(id).await;
        for person in said {
            bench.tell(id, goodbye(id, person)).await;
        }
        bench.exit(id, &tid(&format!("{id}-1")), 1, Exit::Code(1)).await;
        assert_eq!(bench.reason(id).await, Some(reason), "{id}");
    }
}

#[tokio::test]
async fn an_agent_that_was_killed_is_gone_with_its_agentctl() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.store.dispose(sid("s"), bench.now).await.unwrap();
    let body = lost(1, &bench);
    assert_eq!(bench.tell("s", body).await, Change::TerminalGone(tid("s-1")));
    assert_eq!(bench.session("s").await.agent_execution_id, None);
    let body = lost(1, &bench);
    assert_eq!(bench.tell("s", body).await, Change::Nothing);
    assert_eq!(bench.reason("s").await, Some(EndReason::Disposed));
}

#[tokio::test]
async fn a_lost_agentctl_takes_along_what_an_earlier_one_started_but_nothing_of_another_journal() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let body = lost(2, &bench);
    assert!(matches!(bench.tell("s", body).await, Change::AgentEnded { .. }));
    bench.prompted("other").await;
    let body = lost(2, &bench);
    let mut record = bench.record("other", body);
    "anew".clone_into(&mut record.journal);
    record.seq = 1;
    assert_eq!(bench.apply("other", record).await.value, Applied::Applied(Change::Nothing));
    assert_eq!(bench.reason("s").await, Some(EndReason::TerminalExited));
    assert_eq!(bench.reason("other").await, None, "its numbers are of other agentctls");
    let identity = identity(1);
    let (terminal, terminal_kind) = (tid("other-1"), TerminalKind::Agent);
    let again = Body::Spawned { terminal, terminal_kind, generation: 1, identity, token: None };
    for (seq, body) in [(2, again), (3, lost(1, &bench))] {
        record = bench.record("other", body);
        "anew".clone_into(&mut record.journal);
        record.seq = seq;
        bench.apply("other", record).await;
    }
    assert_eq!(bench.reason("other").await, Some(EndReason::TerminalExited), "the newest journal counts");
}

#[tokio::test]
async fn what_a_lost_journal_says_of_a_start_does_not_count_in_the_next() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    for (seq, body) in [(1, told()), (2, Bench::exit_body(&tid("s-1"), 1, Exit::Code(0)))] {
        let mut record = bench.record("s", body);
        "anew".clone_into(&mut record.journal);
        record.seq = seq;
        assert!(matches!(bench.apply("s", record).await.value, Applied::Applied(_)));
    }
    assert_eq!(bench.reason("s").await, Some(EndReason::TerminalExited), "it was there when all was told to end");
}

#[tokio::test]
async fn a_record_of_another_sessions_terminal_changes_nothing() {
    let mut bench = Bench::new().await;
    bench.prompted("a").await;
    bench.prompted("b").await;
    assert_eq!(bench.exit("b", &tid("a-1"), 1, Exit::Signal(9)).await, Change::Nothing);
    assert_eq!(bench.bundle("a").await.terminal.unwrap().status, TerminalStatus::Active);
    assert_eq!((bench.reason("a").await, bench.reason("b").await), (None, None));
}

#[tokio::test]
async fn a_disposed_terminal_stays_disposed_when_its_loss_is_told() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.resume("s", "s-2").await;
    bench.sql("UPDATE terminals SET ended_at = NULL, exit_signal = NULL WHERE id = 's-1'");
    bench.store.terminal_lost(sid("s"), tid("s-1"), MAX_ATTEMPTS, bench.now).await.unwrap();
    let old = bench.store.terminal(tid("s-1")).await.unwrap().unwrap();
    assert_eq!((old.status, old.exit), (TerminalStatus::Disposed, Some(Exit::Unknown)));
    assert_eq!(bench.session("s").await.agent_execution_id, Some(tid("s-2")));
}

#[tokio::test]
async fn who_is_superseded_ended_now_or_when_it_died() {
    let mut bench = Bench::new().await;
    bench.prompted("live").await;
    bench.dead("dead").await;
    let died = bench.now;
    bench.store.session_error(sid("dead"), "x".into(), None, died).await.unwrap();
    bench.now += 5;
    for (id, taken, ended) in [("c", "live", bench.now), ("d", "dead", died)] {
        bench.prompted(id).await;
        let (terminal, source) = (tid(&format!("{id}-1")), "hook".to_owned());
        bench.tell(id, Body::Token { terminal, generation: 1, token: format!("tok-{taken}"), source }).await;
        let was = bench.newest(taken).await;
        assert_eq!((was.end_reason, was.ended_at), (Some(EndReason::Superseded), Some(ended)), "{taken}");
        assert_eq!(was.state_at_death, Some(SessionState::WaitingForInput), "{taken}");
    }
}

#[tokio::test]
async fn a_token_told_again_mends_the_copies_and_ends_nothing() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.prompted("other-agent").await;
    bench.sql(
        "UPDATE task_sessions SET metadata = '{}' WHERE id = 's';
         UPDATE agent_bindings SET agent_id = 'other', agent_session_id = 'tok-s' WHERE session_id = 'other-agent'",
    );
    let (terminal, source) = (tid("s-1"), "hook".to_owned());
    bench.tell("s", Body::Token { terminal, generation: 1, token: "tok-s".into(), source }).await;
    let bundle = bench.bundle("s").await;
    assert_eq!(bundle.session.metadata.resume_token.as_deref(), Some("tok-s"));
    let newest = bundle.newest.unwrap();
    assert_eq!((newest.end_reason, newest.prompted_at.is_some()), (None, true));
    assert_eq!(bench.reason("other-agent").await, None, "the same id of another agent is another conversation");
    bench.sql("UPDATE agent_bindings SET agent_session_id = NULL WHERE session_id = 's'");
    let (terminal, source) = (tid("s-1"), "hook".to_owned());
    bench.tell("s", Body::Token { terminal, generation: 1, token: "tok-s".into(), source }).await;
    assert_eq!(bench.newest("s").await.agent_session_id.as_deref(), Some("tok-s"), "nor only the session's");
}

#[tokio::test]
async fn the_first_prompt_of_a_conversation_is_remembered() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let first = bench.now;
    bench.now += 5;
    bench.tell("s", Body::Prompted { terminal: tid("s-1"), generation: 1 }).await;
    let bundle = bench.bundle("s").await;
    assert_eq!((bundle.newest.unwrap().prompted_at, bundle.session.prompted_at), (Some(first), Some(first)));
}

#[tokio::test]
async fn a_repair_gives_no_session_anothers_conversation_and_loses_no_token() {
    let mut bench = Bench::new().await;
    for id in ["holder", "held", "copy"] {
        bench.dead(id).await;
    }
    bench.sql(
        "UPDATE agent_bindings SET agent_session_id = NULL WHERE session_id IN ('held', 'copy');
         UPDATE task_sessions SET metadata = json_set(metadata, '$.resume_token', 'tok-holder') WHERE id = 'held';
         UPDATE task_sessions SET metadata = '{}' WHERE id = 'copy'",
    );
    bench.store.repair_tokens(bench.now).await.unwrap();
    let held = bench.bundle("held").await;
    assert_eq!(held.newest.unwrap().agent_session_id, None);
    assert_eq!(held.session.metadata.resume_token.as_deref(), Some("tok-holder"));
    assert_eq!(bench.newest("copy").await.agent_session_id.as_deref(), Some("tok-copy"));
    assert_eq!(bench.session("copy").await.metadata.resume_token.as_deref(), Some("tok-copy"));
}

#[tokio::test]
async fn an_agents_terminal_comes_by_its_confirm_and_a_shells_by_the_journal() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.spawned("s", &tid("s-2"), 2).await;
    assert_eq!(bench.store.terminal(tid("s-2")).await.unwrap(), None);
    let (terminal, terminal_kind) = (tid("shell"), TerminalKind::Shell);
    bench.tell("s", Body::Spawned { terminal, terminal_kind, generation: 0, identity: identity(9), token: None }).await;
    assert_eq!(bench.exit("s", &tid("shell"), 0, Exit::Code(0)).await, Change::TerminalGone(tid("shell")));
}
