//! Launches, refusals and ends.

use super::bed::{Bed, exit_of, id, identity_of, kinds, records, request};
use crate::agentctl::{ending, launch};
use crate::domain::launch::Exit;
use crate::domain::rows::StartMode;
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::proc::identity;
use crate::wire::agentctl::{CloseRequest, LaunchReply};

#[tokio::test]
async fn a_launch_happens_once_and_a_second_agent_is_refused() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let first = launch::launch(&shared, request("t1", 1, "exec sleep 1000")).await.unwrap();
    let again = launch::launch(&shared, request("t1", 1, "exec sleep 1000")).await.unwrap();
    assert_eq!(identity_of(&first), identity_of(&again));
    assert_eq!(kinds(&records(&shared)).iter().filter(|k| *k == "intent").count(), 1);
    let refused = launch::launch(&shared, request("t2", 2, "exec sleep 1000")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::AgentRunning);

    let closed = ending::close(&shared, &id("t1"), CloseRequest::default()).await.unwrap();
    assert_eq!((closed.exit, closed.ended), (Some(Exit::Signal(15)), 1));
    assert!(!identity::alive(&identity_of(&first)));
    let stale = launch::launch(&shared, request("t2", 1, "exec sleep 1000")).await.unwrap_err();
    assert_eq!(stale.code, ErrorCode::StaleEpoch);
    let dead = launch::fate(&shared, &id("t1")).await;
    assert!(matches!(dead, LaunchReply::Spawned { exit: Some(Exit::Signal(15)), .. }), "{dead:?}");

    assert_eq!(launch::cancel(&shared, &id("t3")).await.unwrap(), LaunchReply::Cancelled);
    let buried = launch::launch(&shared, request("t3", 3, "exec sleep 1000")).await.unwrap();
    assert_eq!(buried, LaunchReply::Cancelled);
    assert_eq!(launch::fate(&shared, &id("t4")).await, LaunchReply::Unheard);

    let second = launch::launch(&shared, request("t2", 2, "exec sleep 1000")).await.unwrap();
    assert_eq!(launch::cancel(&shared, &id("t2")).await.unwrap(), second, "it is too late to call it off");
    ending::close(&shared, &id("t2"), CloseRequest::default()).await.unwrap();
}

#[tokio::test]
async fn two_launches_of_one_id_at_once_start_one_program() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let launches = (0..8).map(|_| launch::launch(&shared, request("t1", 1, "exec sleep 1000")));
    let replies: Vec<_> = futures_util::future::join_all(launches).await.into_iter().map(Result::unwrap).collect();
    assert!(replies.iter().all(|reply| identity_of(reply) == identity_of(&replies[0])));
    ending::close(&shared, &id("t1"), CloseRequest::default()).await.unwrap();
}

#[tokio::test]
async fn a_launch_that_cannot_happen_says_why_and_never_does() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let mut missing = request("t1", 1, "");
    missing.profile.program = "no-such-agent-anywhere".into();
    let check = |reply, want| match reply {
        LaunchReply::Failed { code, message } => {
            assert_eq!(code, want, "{message}");
            message
        }
        other => panic!("{other:?}"),
    };
    let said = check(launch::launch(&shared, missing).await.unwrap(), ErrorCode::AgentNotFound);
    assert!(said.contains("no-such-agent-anywhere"), "{said}");
    check(launch::launch(&shared, request("t1", 1, "true")).await.unwrap(), ErrorCode::AgentNotFound);
    let mut nowhere = request("t2", 1, "true");
    nowhere.cwd = "/no/such/directory".into();
    check(launch::launch(&shared, nowhere).await.unwrap(), ErrorCode::DirectoryMissing);
    let mut resume = request("t3", 1, "true");
    resume.mode = StartMode::Resume;
    check(launch::launch(&shared, resume).await.unwrap(), ErrorCode::ResumeUnsupported);
    drop(shared);
    let shared = bed.start().await;
    check(launch::fate(&shared, &id("t1")).await, ErrorCode::AgentNotFound);
    identity_of(&launch::launch(&shared, request("t4", 1, "true")).await.unwrap());
}

#[tokio::test]
async fn an_end_is_told_with_its_code_and_its_hooks_come_first() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let spool = bed.dir().spool(&id("t1"));
    let bye = r#"{"hook_event_name":"Bye","reason":"quit"}"#;
    let script = format!("echo '{bye}' >> {}; exit 3", spool.display());
    launch::launch(&shared, request("t1", 1, &script)).await.unwrap();
    assert_eq!(exit_of(&shared, "t1").await, Exit::Code(3));
    let kinds = kinds(&records(&shared));
    let at = |kind: &str| kinds.iter().position(|k| k == kind);
    assert!(at("goodbye").is_some() && at("goodbye") < at("exit"), "{kinds:?}");
}

#[tokio::test]
async fn everything_ends_after_the_word_and_before_the_last_record() {
    let bed = Bed::new();
    let shared = bed.start().await;
    launch::launch(&shared, request("t1", 1, "trap 'exit 0' TERM; while :; do sleep 0.05; done")).await.unwrap();
    let mut shell = request("t2", 0, "");
    (shell.kind, shell.args) = (TerminalKind::Shell, vec!["-c".into(), "sleep 1000".into()]);
    let shell = launch::launch(&shared, shell).await.unwrap();
    ending::end(&shared, "SIGTERM").await;
    assert!(!identity::alive(&identity_of(&shell)));
    let kinds = kinds(&records(&shared));
    let word = kinds.iter().position(|k| k == "told_to_end").unwrap();
    let exits: Vec<usize> = kinds.iter().enumerate().filter(|(_, k)| *k == "exit").map(|(i, _)| i).collect();
    assert_eq!(exits.len(), 2, "{kinds:?}");
    assert!(exits.iter().all(|exit| *exit > word), "{kinds:?}");
    let late = launch::launch(&shared, request("t3", 2, "true")).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::ShuttingDown);
    let shared = bed.start().await;
    assert!(!self::kinds(&records(&shared)).contains(&"supervisor_lost".to_owned()), "that was a clean end");
}
