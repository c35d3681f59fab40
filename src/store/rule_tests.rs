//! The SQL says what `domain::rules` says, and no order of changes names an end anew but by the legal changes.

use proptest::prelude::*;
use rusqlite::Connection;

use super::claim::{ClaimBy, ClaimOutcome};
use super::predicate::{CANDIDATE, CLAIMABLE, RESTARTABLE};
use super::testing::{Bench, sid, tid};
use super::unclaim::UnclaimOutcome;
use super::{decode, load, open};
use crate::domain::ending::{Change, legal};
use crate::domain::journal::{Body, Signal};
use crate::domain::launch::Exit;
use crate::domain::rules;
use crate::domain::words::{EndReason, Wanted};

/// One binding: its end reason (an index; the last is none), a token, prompted.
type Drawn = (usize, bool, bool);

fn reason(index: usize) -> Option<EndReason> {
    EndReason::ALL.get(index).copied()
}

thread_local! {
    /// One migrated database in memory for all cases: the migrations cost far more than a case.
    static MIGRATED: Connection = {
        let conn = Connection::open_in_memory().unwrap();
        for sql in open::MIGRATIONS {
            conn.execute_batch(sql).unwrap();
        }
        conn.execute_batch("DROP INDEX agent_bindings_one_per_session").unwrap();
        conn
    };
}

/// Runs `case` on a database with these rows, and forgets what it did.
fn with_database(
    wanted: Wanted,
    drawn: &[Drawn],
    case: impl FnOnce(&Connection) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    MIGRATED.with(|conn| {
        let undone = conn.unchecked_transaction().unwrap();
        fill(&undone, wanted, drawn);
        case(&undone)
    })
}

fn fill(conn: &Connection, wanted: Wanted, drawn: &[Drawn]) {
    let insert = format!(
        "INSERT INTO tasks VALUES ('t', 't', 'TODO', NULL, 1, 1);
         INSERT INTO task_sessions (id, task_id, name, state, wanted, agent_profile_id, executor_id, launch_args,
             launch_env, launch_cwd, created_at, updated_at)
         VALUES ('s', 't', 's', 'RUNNING', '{wanted}', 'demo', 'local', '[]', '[]', '/', 1, 1),
                ('other', 't', 'o', 'RUNNING', 'run', 'demo', 'local', '[]', '[]', '/', 1, 1);"
    );
    conn.execute_batch(&insert).unwrap();
    for (n, (end, token, prompted)) in drawn.iter().enumerate() {
        let sql = format!(
            "INSERT INTO terminals (id, session_id, kind, generation, cols, rows, status, created_at)
             VALUES ('t{n}', 's', 'agent', {n}, 80, 24, 'exited', 1);
             INSERT INTO agent_bindings (terminal_id, session_id, generation, agent_id, agent_session_id, prompted_at,
                 start_mode, started_at, end_reason, claim_epoch)
             VALUES ('t{n}', 's', {n}, 'demo', {}, {}, 'first', 1, {}, 0);",
            if *token { format!("'tok{n}'") } else { "NULL".into() },
            if *prompted { "1" } else { "NULL" },
            reason(*end).map_or("NULL".into(), |r| format!("'{r}'")),
        );
        conn.execute_batch(&sql).unwrap();
    }
}

fn matching(conn: &Connection, predicate: &str) -> Option<String> {
    let sql = format!(
        "SELECT b.* FROM agent_bindings b JOIN task_sessions s ON s.id = b.session_id WHERE s.id = 's' AND {predicate}"
    );
    super::codec::one(conn, &sql, [], decode::binding).unwrap().map(|b| b.terminal_id.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_sql_is_the_rule(
        stop in any::<bool>(),
        drawn in proptest::collection::vec((0..=EndReason::ALL.len(), any::<bool>(), any::<bool>()), 0..4),
    ) {
        let wanted = if stop { Wanted::Stop } else { Wanted::Run };
        with_database(wanted, &drawn, sql_is_rule)?;
    }
}

fn sql_is_rule(conn: &Connection) -> Result<(), TestCaseError> {
    let session = load::session(conn, &sid("s")).unwrap();
    let newest = load::newest(conn, &sid("s")).unwrap();
    let expect = |holds: &dyn Fn(&crate::domain::rows::Binding) -> bool| {
        newest.as_ref().filter(|b| holds(b)).map(|b| b.terminal_id.to_string())
    };
    prop_assert_eq!(matching(conn, RESTARTABLE), expect(&|b| rules::restartable(&session, b)));
    prop_assert_eq!(matching(conn, CANDIDATE), expect(&|b| rules::candidate(&session, b)));
    let claimable = expect(&|b| rules::restart(&session, b).is_ok());
    prop_assert_eq!(matching(conn, CLAIMABLE), claimable.clone());
    let found = super::claim::find_candidate(conn, &sid("s")).unwrap().map(|(b, _)| b.terminal_id.to_string());
    prop_assert_eq!(found, claimable.clone());
    let tx = super::tx::Tx::new(conn);
    let request = super::claim::ClaimRequest {
        session: sid("s"),
        dead: None,
        successor: tid("new"),
        new_token: None,
        by: ClaimBy::Automatic,
        trigger: crate::domain::words::Trigger::Start,
        now: 1,
    };
    match super::claim::claim(&tx, &request).unwrap() {
        ClaimOutcome::Claimed(pending) => prop_assert_eq!(pending.dead.map(|d| d.to_string()), claimable),
        ClaimOutcome::Refused(reason) => {
            prop_assert_eq!(claimable, None);
            if let Some(newest) = &newest {
                prop_assert_eq!(Err(reason), rules::restart(&session, newest));
            }
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Claim(u8),
    Confirm,
    Unclaim,
    Dispose,
    Exit(u8),
    Quit,
    Told,
    Lost,
    Turn,
    Token(u8),
    Wait,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_u8).prop_map(Step::Claim),
        4 => Just(Step::Confirm),
        2 => Just(Step::Unclaim),
        1 => Just(Step::Dispose),
        4 => (0..3_u8).prop_map(Step::Exit),
        1 => Just(Step::Quit),
        2 => Just(Step::Told),
        2 => Just(Step::Lost),
        1 => Just(Step::Turn),
        1 => (0..2_u8).prop_map(Step::Token),
        1 => Just(Step::Wait),
    ]
}

/// Takes a step for session `id`; by which change ended rows may have been named anew.
async fn take(bench: &mut Bench, id: &str, step: Step, count: usize) -> Vec<Change> {
    let session = bench.session(id).await;
    let newest = bench.newest(id).await;
    let (terminal, generation) = (newest.terminal_id.clone(), newest.generation);
    let waits = session.pending.is_some();
    match step {
        Step::Claim(by) => {
            let by = [ClaimBy::Automatic, ClaimBy::User, ClaimBy::Reopen][usize::from(by)];
            bench.claim(id, &format!("{id}-c{count}"), by).await;
            return vec![Change::Claim, Change::Reopen];
        }
        Step::Confirm => {
            if let Some(pending) = session.pending {
                bench.spawned(id, &pending.terminal_id, pending.generation).await;
                bench.confirm(id, &pending.terminal_id, pending.epoch).await;
                return vec![Change::Supersede];
            }
        }
        Step::Unclaim => {
            if let Some(pending) = session.pending {
                let outcome = bench.unclaim(id, pending.terminal_id.as_str(), pending.epoch).await.value;
                assert!(matches!(outcome, UnclaimOutcome::Unclaimed(_)));
                return vec![Change::Unclaim, Change::Supersede];
            }
        }
        Step::Dispose => {
            bench.store.dispose(sid(id), bench.now).await.unwrap();
            return vec![Change::Dispose];
        }
        Step::Exit(how) => {
            let exit = [Exit::Code(0), Exit::Signal(9), Exit::Code(1)][usize::from(how)];
            bench.exit(id, &terminal, generation, exit).await;
        }
        Step::Quit => {
            let reason = "quit".to_owned();
            bench.tell(id, Body::Goodbye { terminal, generation, reason, person: true }).await;
        }
        Step::Told => {
            bench.tell(id, Body::ToldToEnd { by: "test".into() }).await;
            return vec![Change::Outside];
        }
        Step::Lost => {
            let lost = Body::SupervisorLost {
                incarnation: bench.incarnation,
                last_boot_ms: bench.now.unsigned_abs(),
                rebooted: false,
            };
            bench.tell(id, lost).await;
            bench.incarnation += 1;
            return vec![Change::Outside];
        }
        Step::Turn => {
            bench.signal(id, &terminal, generation, Signal::TurnBegan).await;
            if !waits {
                bench.tell(id, Body::Prompted { terminal, generation }).await;
            }
        }
        Step::Token(which) => {
            let (token, source) = (format!("shared-{which}"), "hook".to_owned());
            bench.tell(id, Body::Token { terminal, generation, token, source }).await;
            return vec![Change::Supersede];
        }
        Step::Wait => bench.now += 31_000,
    }
    Vec::new()
}

async fn reasons(bench: &Bench) -> Vec<(String, Option<EndReason>)> {
    let mut all = Vec::new();
    for id in ["a", "b"] {
        for binding in bench.store.bindings(sid(id)).await.unwrap() {
            all.push((binding.terminal_id.to_string(), binding.end_reason));
        }
    }
    all
}

/// A path of at most two legal steps: an unclaim may at once be superseded.
fn allowed(from: EndReason, to: EndReason, by: &[Change]) -> bool {
    let once = by.iter().any(|change| legal(from, to, *change));
    let twice = by.iter().any(|one| {
        EndReason::ALL.iter().any(|mid| legal(from, *mid, *one) && by.iter().any(|two| legal(*mid, to, *two)))
    });
    once || twice
}

async fn walk(steps: Vec<(bool, Step)>) {
    let mut bench = Bench::new().await;
    for id in ["a", "b"] {
        bench.prompted(id).await;
    }
    let mut before = reasons(&bench).await;
    let mut killed = std::collections::BTreeSet::new();
    for (count, (which, step)) in steps.into_iter().enumerate() {
        let id = if which { "a" } else { "b" };
        let by = take(&mut bench, id, step, count).await;
        match step {
            Step::Dispose => {
                killed.insert(id);
            }
            Step::Claim(1 | 2) if bench.session(id).await.wanted == Wanted::Run => {
                killed.remove(id);
            }
            _ => {}
        }
        let after = reasons(&bench).await;
        for (terminal, was) in &before {
            let is = after.iter().find(|(t, _)| t == terminal).unwrap().1;
            match (was, is) {
                (Some(was), Some(is)) if *was != is => {
                    assert!(allowed(*was, is, &by), "{terminal}: {was} → {is} by {step:?}");
                }
                (Some(was), None) => panic!("{terminal}: {was} was forgotten by {step:?}"),
                _ => {}
            }
        }
        for id in ["a", "b"] {
            let session = bench.session(id).await;
            let bundle = bench.bundle(id).await;
            let live = bench.store.bindings(sid(id)).await.unwrap().iter().filter(|b| b.end_reason.is_none()).count();
            assert!(live <= 1, "{id} has {live} live agents after {step:?}");
            assert_eq!(bundle.executor.unwrap().resume_token, session.metadata.resume_token, "after {step:?}");
            if killed.contains(id) {
                let candidate = bench.store.find_candidate(sid(id)).await.unwrap();
                assert_eq!(candidate, None, "{id} was killed and would come back after {step:?}");
            }
        }
        before = after;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_end_is_named_anew_but_by_the_legal_changes(
        steps in proptest::collection::vec((any::<bool>(), step()), 1..24),
    ) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(walk(steps));
    }
}
