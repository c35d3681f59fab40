//! Sessions, names, events, messages, prompts, executors, adoption, token copies.

use super::error::Error;
use super::executors::ExecutorReady;
use super::names::Found;
use super::sessions::{Adopt, Adopted};
use super::testing::{Bench, identity, sid, task_id, tid};
use super::transient::Transient;
use crate::domain::ids::{ExecutorId, PromptId};
use crate::domain::journal::{Body, Signal};
use crate::domain::launch::Exit;
use crate::domain::rows::{PromptState, QueuedPrompt};
use crate::domain::words::{
    Activity, AutoResume, EndReason, ErrorCode, ExecutorStatus, SessionState, TerminalKind, TerminalStatus,
};

#[tokio::test]
async fn names_are_unique_among_open_sessions() {
    let mut bench = Bench::new().await;
    let named = |bench: &Bench, id: &str| {
        let mut new = bench.new_session(id);
        "work".clone_into(&mut new.name);
        new
    };
    let mut given = Vec::new();
    for id in ["aaaa-1", "aaaa-2", "bbbb-3"] {
        given.push(bench.store.create_session(named(&bench, id)).await.unwrap().value.session.name);
    }
    assert_eq!(given, ["work", "work-2", "work-3"]);
    bench.now += 1;
    bench.store.dispose(sid("aaaa-1"), bench.now).await.unwrap();
    let again = bench.store.create_session(named(&bench, "cccc-4")).await.unwrap().value.session.name;
    assert_eq!(again, "work", "a closed session gives its name free");
    let renamed = bench.store.rename(sid("bbbb-3"), "work".into(), bench.now).await.unwrap();
    assert_eq!(renamed.value, "work-3");
    assert_eq!(renamed.events, []);
    let renamed = bench.store.rename(sid("bbbb-3"), "play".into(), bench.now).await.unwrap();
    assert_eq!(renamed.events[0].kind, "session.renamed");

    let find = async |text: &str| bench.store.find(text.to_owned()).await.unwrap();
    assert_eq!(find("aaaa-1").await, Found::Found(sid("aaaa-1")));
    assert_eq!(find("bbbb").await, Found::Found(sid("bbbb-3")));
    assert_eq!(find("work").await, Found::Found(sid("cccc-4")), "open before closed");
    assert_eq!(find("play").await, Found::Found(sid("bbbb-3")));
    assert_eq!(find("bbb").await, Found::NotFound, "too short a prefix");
    assert_eq!(find("%").await, Found::NotFound);
    let Found::Ambiguous(hits) = find("aaaa-").await else { panic!() };
    assert_eq!(hits.len(), 2);
}

#[tokio::test]
async fn events_have_no_gap_and_name_session_and_task() {
    let mut bench = Bench::new().await;
    bench.dead("a").await;
    let committed = bench.store.create_session(bench.new_session("b")).await.unwrap();
    let failed = bench.store.create_session(bench.new_session("b")).await;
    assert!(failed.is_err());
    bench.resume("a", "a-2").await;
    let events = bench.store.events_after(0, None, 1_000).await.unwrap();
    let seqs: Vec<u64> = events.iter().map(|e| e.seq).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>());
    assert_eq!(bench.store.newest_seq().await.unwrap(), events.len() as u64);
    assert!(events.iter().all(|e| e.task_id == task_id()));
    assert!(events.contains(&committed.events[0]), "what is published is what is stored");
    let of_b = bench.store.events_after(0, Some(sid("b")), 10).await.unwrap();
    assert_eq!(of_b, committed.events);
    assert_eq!(bench.store.events_after(seqs[1], None, 2).await.unwrap(), events[2..4]);
    assert_eq!(bench.store.events_after(u64::MAX, None, 2).await.unwrap(), []);
}

#[tokio::test]
async fn old_events_are_pruned_and_numbers_go_on() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    bench.now += 8 * 24 * 3_600 * 1_000;
    let terminal = tid("s-1");
    bench.sql(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
         INSERT INTO events (kind, session_id, task_id, at, data) SELECT 'old', 's', 'task-1', 1, '{}' FROM n",
    );
    for n in 0..20 {
        let body = Body::Message {
            terminal: terminal.clone(),
            generation: 1,
            id: format!("m{n}"),
            role: "user".into(),
            text: "x".into(),
        };
        bench.tell("s", body).await;
    }
    let events = bench.store.events_after(0, None, 10_000).await.unwrap();
    assert!(events.iter().all(|e| e.kind == "session.message.added"), "the older ones are gone");
    assert_eq!(events.last().unwrap().seq, bench.store.newest_seq().await.unwrap());
    assert_eq!(events.len(), 20);
    assert!(events[0].seq > 500);
}

#[tokio::test]
async fn messages_are_added_and_updated() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let say = |id: &str, text: &str| Body::Message {
        terminal: tid("s-1"),
        generation: 1,
        id: id.into(),
        role: "assistant".into(),
        text: text.into(),
    };
    for (id, text) in [("m1", "one"), ("m2", "two"), ("m1", "one more"), ("m1", "one more")] {
        bench.tell("s", say(id, text)).await;
    }
    let texts: Vec<_> = bench.store.messages(sid("s"), 10).await.unwrap().into_iter().map(|m| m.text).collect();
    assert_eq!(texts, ["one more", "two"]);
    let newest: Vec<_> = bench.store.messages(sid("s"), 1).await.unwrap().into_iter().map(|m| m.text).collect();
    assert_eq!(newest, ["two"]);
    let kinds: Vec<_> = bench.store.events_after(0, None, 1_000).await.unwrap().into_iter().map(|e| e.kind).collect();
    let count = |kind: &str| kinds.iter().filter(|k| *k == kind).count();
    assert_eq!((count("session.message.added"), count("session.message.updated")), (2, 1));
    let whole = bench.store.snapshot(sid("s")).await.unwrap();
    assert_eq!((whole.messages.len(), whole.terminals.len()), (2, 1));
    assert_eq!(whole.seq, kinds.len() as u64);
}

#[tokio::test]
async fn a_prompt_is_typed_at_most_once() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let prompt = |id: &str, state| QueuedPrompt {
        id: PromptId::new(id).unwrap(),
        session_id: sid("s"),
        text: id.into(),
        state,
        created_at: bench.now,
    };
    let all = [
        prompt("p0", PromptState::MaybeDelivered),
        prompt("p1", PromptState::Queued),
        prompt("p2", PromptState::Queued),
    ];
    for prompt in &all {
        bench.store.enqueue_prompt(prompt.clone()).await.unwrap();
        bench.store.enqueue_prompt(prompt.clone()).await.unwrap();
    }
    assert_eq!(bench.store.next_prompt(sid("s")).await.unwrap().as_ref(), Some(&all[1]));
    let typed = |id: &str, done| Body::Prompt { id: PromptId::new(id).unwrap(), terminal: tid("s-1"), done };
    bench.tell("s", typed("p1", false)).await;
    assert_eq!(bench.store.next_prompt(sid("s")).await.unwrap().as_ref(), Some(&all[2]));
    bench.tell("s", typed("p1", true)).await;
    bench.tell("s", typed("p1", false)).await;
    let states: Vec<_> = bench.store.prompts(sid("s")).await.unwrap().into_iter().map(|p| p.state).collect();
    assert_eq!(states, [PromptState::MaybeDelivered, PromptState::Delivered, PromptState::Queued]);
}

#[tokio::test]
async fn executor_rows_tell_once() {
    let bench = Bench::new().await;
    bench.store.create_session(bench.new_session("s")).await.unwrap();
    let kinds = |events: &[crate::domain::rows::Event]| events.iter().map(|e| e.kind.clone()).collect::<Vec<_>>();
    let starting = bench.store.executor_starting(sid("s"), 5).await.unwrap();
    assert_eq!(kinds(&starting.events), ["session.agentctl_starting"]);
    let ready = |pid| ExecutorReady {
        session: sid("s"),
        supports_session_resume: false,
        supports_workspace_only: true,
        identity: identity(pid),
        agentctl_url: "unix:/x".into(),
        now: 6,
    };
    assert_eq!(kinds(&bench.store.executor_ready(ready(1)).await.unwrap().events), ["session.agentctl_ready"]);
    assert_eq!(bench.store.executor_ready(ready(1)).await.unwrap().events, []);
    assert_eq!(bench.store.executor_ready(ready(2)).await.unwrap().events.len(), 1);
    let away = bench.store.executor_unreachable(sid("s"), "no\nanswer".into(), 7).await.unwrap();
    assert_eq!((away.value, away.events[0].data["retrying"].as_bool()), (7, Some(true)));
    assert_eq!(away.events[0].data["message"], "no answer");
    let still = bench.store.executor_unreachable(sid("s"), "no answer".into(), 9).await.unwrap();
    assert_eq!((still.value, still.events), (7, vec![]));
    let row = bench.bundle("s").await.executor.unwrap();
    assert_eq!(
        (row.status, row.unreachable_since, row.supports_session_resume),
        (ExecutorStatus::Ready, Some(7), false)
    );
    assert_eq!(bench.session("s").await.state, SessionState::Created, "the session keeps its state");
    bench.store.executor_seen(sid("s"), 10).await.unwrap();
    assert_eq!(bench.bundle("s").await.executor.unwrap().unreachable_since, None);
    let gone = bench.store.executor_error(sid("s"), ErrorCode::WorktreeMissing, "/x is gone".into(), 11).await.unwrap();
    assert_eq!(kinds(&gone.events), ["session.agentctl_error", "session.state_changed"]);
    let bundle = bench.bundle("s").await;
    assert_eq!(bundle.executor.unwrap().error_message.as_deref(), Some("worktree_missing"));
    assert_eq!(
        (bundle.session.state, bundle.session.error_message.as_deref()),
        (SessionState::Error, Some("/x is gone"))
    );
}

#[tokio::test]
async fn what_no_record_ended_has_ended_with_its_executor() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    for shell in ["told", "untold", "closed"] {
        bench.store.add_shell(sid("s"), tid(shell), Some(identity(7)), bench.now).await.unwrap();
    }
    bench.exit("s", &tid("told"), 0, Exit::Code(3)).await;
    bench.store.shell_closed(tid("closed")).await.unwrap();
    bench.store.shell_closed(tid("s-1")).await.unwrap();
    bench.store.dispose(sid("s"), bench.now).await.unwrap();
    assert_eq!(bench.session("s").await.agent_execution_id, Some(tid("s-1")));
    let told = bench.store.executor_stopped(sid("s"), bench.now + 1).await.unwrap().events;
    let told: Vec<_> = told.iter().map(|e| (e.kind.as_str(), e.data["terminal_id"].as_str().unwrap())).collect();
    assert_eq!(told, ["closed", "untold", "s-1"].map(|id| ("terminal.exited", id)));
    let bundle = bench.bundle("s").await;
    assert_eq!((bundle.session.agent_execution_id, bundle.executor.unwrap().status), (None, ExecutorStatus::Stopped));
    let rows = bench.store.terminals(sid("s")).await.unwrap();
    let rows: Vec<_> = rows.iter().map(|row| (row.id.as_str(), row.status, row.exit)).collect();
    let unseen = Some(Exit::Unknown);
    let expected = [
        ("closed", TerminalStatus::Disposed, unseen),
        ("untold", TerminalStatus::Exited, unseen),
        ("told", TerminalStatus::Exited, Some(Exit::Code(3))),
        ("s-1", TerminalStatus::Exited, unseen),
    ];
    assert_eq!(rows, expected);
    assert_eq!(bench.store.executor_stopped(sid("s"), bench.now + 2).await.unwrap().events, []);
}

#[tokio::test]
async fn a_conversation_is_adopted_once() {
    let mut bench = Bench::new().await;
    let adopt = |bench: &Bench, id: &str| Adopt {
        session: bench.new_session(id),
        terminal: tid(&format!("{id}-1")),
        token: "elsewhere".into(),
    };
    let seeded = bench.store.adopt(adopt(&bench, "a")).await.unwrap().value;
    let Adopted::Seeded(made) = seeded else { panic!("{seeded:?}") };
    let session = &made.session;
    assert_eq!(
        (session.state, session.metadata.resume_token.as_deref()),
        (SessionState::WaitingForInput, Some("elsewhere"))
    );
    let bound = Adopted::AlreadyBound(sid("a"));
    assert_eq!(bench.store.adopt(adopt(&bench, "b")).await.unwrap().value, bound);
    bench.claim("a", "a-2", super::claim::ClaimBy::Automatic).await;
    assert_eq!(bench.store.adopt(adopt(&bench, "b")).await.unwrap().value, bound, "also while it is claimed");
    bench.spawned("a", &tid("a-2"), 2).await;
    bench.confirm("a", &tid("a-2"), 1).await;
    assert_eq!(bench.store.adopt(adopt(&bench, "b")).await.unwrap().value, bound, "and while it lives");
    bench.store.dispose(sid("a"), bench.now).await.unwrap();
    assert!(matches!(bench.store.adopt(adopt(&bench, "b")).await.unwrap().value, Adopted::Seeded(_)));
    bench.resume("b", "b-2").await;
}

#[tokio::test]
async fn token_copies_are_repaired_from_the_newest_binding() {
    let mut bench = Bench::new().await;
    for id in ["same", "differs", "lost"] {
        bench.dead(id).await;
    }
    bench.sql(
        "UPDATE executors_running SET resume_token = 'wrong' WHERE session_id = 'differs';
         UPDATE task_sessions SET metadata = '{\"kept\":true}' WHERE id = 'differs';
         UPDATE agent_bindings SET agent_session_id = NULL WHERE session_id = 'lost';",
    );
    let repaired = bench.store.repair_tokens(bench.now).await.unwrap().value;
    assert_eq!(repaired.iter().map(|r| r.session.as_str()).collect::<Vec<_>>(), ["differs", "lost"]);
    for id in ["same", "differs", "lost"] {
        let bundle = bench.bundle(id).await;
        let token = format!("tok-{id}");
        assert_eq!(bundle.session.metadata.resume_token.as_ref(), Some(&token));
        assert_eq!(bundle.executor.unwrap().resume_token.as_ref(), Some(&token));
        assert_eq!(bundle.newest.unwrap().agent_session_id.as_ref(), Some(&token));
    }
    assert_eq!(bench.session("differs").await.metadata.other["kept"], true);
    assert_eq!(bench.store.repair_tokens(bench.now).await.unwrap().value, []);
}

#[tokio::test]
async fn dismissed_candidates_stay_candidates() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    assert!(bench.store.dismiss(sid("s"), 7).await.unwrap().value);
    assert!(!bench.store.dismiss(sid("s"), 8).await.unwrap().value);
    assert_eq!(bench.newest("s").await.dismissed_at, Some(7));
    assert!(bench.store.find_candidate(sid("s")).await.unwrap().is_some());
    let claimed = bench.claim("s", "s-2", super::claim::ClaimBy::User).await;
    let super::claim::ClaimOutcome::Claimed(pending) = claimed else { panic!() };
    bench.unclaim("s", "s-2", pending.epoch).await;
    assert_eq!(bench.newest("s").await.dismissed_at, None, "a new failure is shown again");
    bench.store.set_auto_resume(sid("s"), Some(AutoResume::Never), 9).await.unwrap();
    assert_eq!(bench.session("s").await.auto_resume, Some(AutoResume::Never));
}

#[tokio::test]
async fn a_failure_does_not_touch_what_a_person_ended() {
    let mut bench = Bench::new().await;
    bench.dead("s").await;
    bench.store.session_error(sid("s"), "not resumable".into(), None, 5).await.unwrap();
    assert_eq!(bench.session("s").await.state, SessionState::Error);
    assert_eq!(bench.reason("s").await, Some(EndReason::TerminalExited));
    bench.store.dispose(sid("s"), 6).await.unwrap();
    bench.store.session_error(sid("s"), "late".into(), None, 7).await.unwrap();
    assert_eq!(bench.session("s").await.state, SessionState::Cancelled);
}

#[tokio::test]
async fn shells_come_and_go_by_the_journal() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let body = Body::Spawned {
        terminal: tid("shell"),
        terminal_kind: TerminalKind::Shell,
        generation: 0,
        identity: identity(9),
        token: None,
    };
    bench.tell("s", body).await;
    let shell = bench.store.terminal(tid("shell")).await.unwrap().unwrap();
    assert_eq!((shell.kind, shell.identity), (TerminalKind::Shell, Some(identity(9))));
    bench.exit("s", &tid("shell"), 0, Exit::Code(0)).await;
    assert_eq!(bench.store.terminal(tid("shell")).await.unwrap().unwrap().exit, Some(Exit::Code(0)));
    assert_eq!(bench.reason("s").await, None, "the agent lives on");
    bench.signal("s", &tid("s-1"), 1, Signal::TurnBegan).await;
    assert_eq!(bench.session("s").await.state, SessionState::Running);
}

#[tokio::test]
async fn the_latest_transient_facts_win() {
    let bench = Bench::new().await;
    bench.store.create_session(bench.new_session("s")).await.unwrap();
    let fact = |activity, at| Transient {
        session: sid("s"),
        activity,
        why: "why".into(),
        title: "title".into(),
        progress: Some(40),
        last_seen_at: at,
    };
    bench.store.put_transient(vec![fact(Activity::Working, 1)]).await.unwrap();
    let put = bench.store.put_transient(vec![fact(Activity::Ready, 2)]).await.unwrap();
    assert_eq!(put.events, []);
    assert_eq!(bench.store.transients().await.unwrap(), [fact(Activity::Ready, 2)]);
}

#[tokio::test]
async fn a_session_needs_its_task() {
    let bench = Bench::new().await;
    let mut new = bench.new_session("s");
    new.task_id = crate::domain::ids::TaskId::new("nobody").unwrap();
    new.executor_running_id = ExecutorId::new("x").unwrap();
    assert!(matches!(bench.store.create_session(new).await, Err(Error::NotFound { what: "task", .. })));
}
