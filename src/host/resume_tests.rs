//! The order of things in a resume: claim, launch, confirm or unclaim, dispose.

use std::sync::Arc;

use crate::domain::ids::TerminalId;
use crate::domain::launch::{Exit, Size};
use crate::domain::rows::{Pending, StartMode};
use crate::domain::words::{EndReason, ErrorCode, Hold, Outcome as Came, ResumeReason, SessionState, Wanted};
use crate::store::ClaimBy;
use crate::wire::agentctl::LaunchReply;

use super::resume::{self, Order, Outcome, Terminals, Unknown};
use super::resume_scene::{CONVERSATION, Fake, Mood, NOW, Scene, tid};

fn started(terminal: &str) -> Outcome {
    Outcome::Started { terminal: tid(terminal), dead: Some(tid("t1")), mode: StartMode::Resume }
}

#[tokio::test]
async fn happy_path() {
    let scene = Scene::dead().await;
    assert_eq!(scene.restart("t2").await, started("t2"));
    assert_eq!(scene.fake.log(), ["launch t2", "dispose t1"]);
    let launched = scene.fake.launched().pop().unwrap();
    assert_eq!((launched.mode, launched.token.as_deref()), (StartMode::Resume, Some(CONVERSATION)));
    assert_eq!((launched.dead, launched.generation), (Some(tid("t1")), 2));
    scene.resumed_as("t2", 2).await;
}

#[tokio::test]
async fn repeat() {
    let scene = Scene::dead().await;
    assert_eq!(scene.restart("t2").await, started("t2"));
    scene.fake.log();
    assert_eq!(scene.restart("t3").await, Outcome::Refused(ResumeReason::AgentRunning));
    let by_name = Order { dead: Some(tid("t1")), by: ClaimBy::User, ..scene.order("t4") };
    assert_eq!(scene.restart_by(by_name).await, Outcome::Refused(ResumeReason::Resumed));
    assert!(scene.fake.log().is_empty(), "nothing was launched or ended");
    scene.resumed_as("t2", 2).await;
}

#[tokio::test]
async fn concurrent_callers() {
    let scene = Arc::new(Scene::dead().await);
    let mut callers = tokio::task::JoinSet::new();
    for n in 2..18 {
        let scene = Arc::clone(&scene);
        callers.spawn(async move {
            let by = if n % 2 == 0 { ClaimBy::User } else { ClaimBy::Automatic };
            scene.restart_by(Order { by, ..scene.order(&format!("t{n}")) }).await
        });
    }
    let mut winners = Vec::new();
    for outcome in callers.join_all().await {
        match outcome {
            Outcome::Started { terminal, .. } => winners.push(terminal),
            Outcome::Refused(reason) => {
                assert!(matches!(reason, ResumeReason::Resuming | ResumeReason::AgentRunning), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?}");
    // The first agent and one successor.
    assert_eq!(scene.fake.launched().len(), 2);
    scene.resumed_as(winners[0].as_str(), 2).await;
}

#[tokio::test]
async fn unclaim_on_failure_then_retry() {
    let scene = Scene::dead().await;
    scene.fake.says(Mood::Fails(ErrorCode::LaunchFailed));
    let failed = Outcome::Failed { code: ErrorCode::LaunchFailed, message: "it was not there".into() };
    assert_eq!(scene.restart("t2").await, failed);
    assert_eq!(scene.fake.log(), ["launch t2"], "the dead terminal is not disposed");
    scene.still_candidate().await;
    let session = scene.session().await;
    assert_eq!((session.state, session.hold), (SessionState::Error, Some(Hold::LaunchFailed)));
    assert_eq!(session.error_message.as_deref(), Some("it was not there"));
    let attempts = scene.store.attempts(scene.id.clone()).await.unwrap();
    assert_eq!(attempts.len(), 1);
    assert_eq!((attempts[0].outcome, attempts[0].error_code), (Some(Came::Failed), Some(ErrorCode::LaunchFailed)));
    assert_eq!(scene.events("session.resume_failed").await, 1);

    scene.fake.says(Mood::Works);
    assert_eq!(scene.restart_by(Order { by: ClaimBy::User, ..scene.order("t3") }).await, started("t3"));
    scene.resumed_as("t3", 2).await;
    assert_eq!(scene.session().await.hold, None);
}

#[tokio::test]
async fn no_candidate() {
    let alive = Scene::alive().await;
    assert_eq!(alive.restart("t2").await, Outcome::Refused(ResumeReason::AgentRunning));
    let quit = Scene::alive().await;
    quit.exits("t1", 1, Exit::Code(0), true).await;
    assert_eq!(quit.restart("t2").await, Outcome::Refused(ResumeReason::Completed));
    let killed = Scene::dead().await;
    killed.store.dispose(killed.id.clone(), NOW).await.unwrap();
    assert_eq!(killed.restart("t2").await, Outcome::Refused(ResumeReason::Disposed));
    assert_eq!(
        killed.restart_by(Order { by: ClaimBy::User, ..killed.order("t2") }).await,
        Outcome::Refused(ResumeReason::Disposed)
    );
    for scene in [alive, quit, killed] {
        assert!(scene.fake.log().is_empty(), "nothing was launched");
        assert_eq!(scene.fake.launched().len(), 1);
    }
}

#[tokio::test]
async fn resume_unsupported_and_config_gone_keep_the_candidate_and_resume_once_mended() {
    for (code, hold) in [
        (ErrorCode::ConfigGone, Hold::ConfigGone),
        (ErrorCode::AgentNotFound, Hold::ConfigGone),
        (ErrorCode::ResumeUnsupported, Hold::ResumeUnsupported),
    ] {
        let scene = Scene::dead().await;
        scene.fake.says(Mood::Fails(code));
        assert!(matches!(scene.restart("t2").await, Outcome::Failed { code: c, .. } if c == code), "{code}");
        scene.still_candidate().await;
        assert_eq!(scene.session().await.hold, Some(hold));
        scene.fake.says(Mood::Works);
        assert_eq!(scene.restart_by(Order { by: ClaimBy::User, ..scene.order("t3") }).await, started("t3"));
        scene.resumed_as("t3", 2).await;
    }
}

#[tokio::test]
async fn a_launch_that_was_called_off_is_tried_again_by_itself() {
    let scene = Scene::dead().await;
    scene.fake.enter(&tid("t2"), LaunchReply::Cancelled);
    assert!(matches!(scene.restart("t2").await, Outcome::Failed { code: ErrorCode::Cancelled, .. }));
    scene.still_candidate().await;
    assert_eq!(scene.session().await.hold, None);
}

#[tokio::test]
async fn an_unknown_fate_leaves_the_claim_open_and_settling_finishes_it() {
    let scene = Scene::dead().await;
    scene.fake.says(Mood::AnswerLost);
    assert_eq!(scene.restart("t2").await, Outcome::Unknown("the answer was lost".into()));
    let pending = scene.session().await.pending.unwrap();
    assert_eq!(pending.terminal_id, tid("t2"));
    assert_eq!(scene.binding("t1").await.end_reason, Some(EndReason::Resumed), "nobody else may take it");
    assert_eq!(scene.restart("t3").await, Outcome::Refused(ResumeReason::Resuming));

    scene.fake.says(Mood::Away);
    assert!(matches!(scene.settle().await, Outcome::Unknown(_)));
    assert_eq!(scene.session().await.pending, Some(pending), "unknown assumes nothing");

    scene.fake.log();
    scene.fake.says(Mood::Works);
    assert_eq!(scene.settle().await, started("t2"));
    assert_eq!(scene.fake.log(), ["fate t2", "dispose t1"], "not launched a second time");
    assert_eq!(scene.fake.launched().len(), 2);
    scene.resumed_as("t2", 2).await;
}

#[tokio::test]
async fn an_order_that_was_never_heard_is_launched_again_under_the_same_id() {
    let scene = Scene::dead().await;
    scene.fake.says(Mood::Away);
    assert!(matches!(scene.restart("t2").await, Outcome::Unknown(_)));
    scene.fake.log();
    scene.fake.says(Mood::Works);
    assert_eq!(scene.settle().await, started("t2"));
    assert_eq!(scene.fake.log(), ["fate t2", "launch t2", "dispose t1"]);
    let launched = scene.fake.launched().pop().unwrap();
    assert_eq!((launched.terminal_id, launched.epoch), (tid("t2"), 2));
    scene.resumed_as("t2", 2).await;
}

#[tokio::test]
async fn settling_a_launch_that_failed_gives_the_candidate_back() {
    let scene = Scene::dead().await;
    scene.fake.says(Mood::Away);
    scene.restart("t2").await;
    scene.fake.says(Mood::Works);
    let message = "no such program".to_owned();
    scene.fake.enter(&tid("t2"), LaunchReply::Failed { code: ErrorCode::AgentNotFound, message });
    assert!(matches!(scene.settle().await, Outcome::Failed { code: ErrorCode::AgentNotFound, .. }));
    scene.still_candidate().await;
    assert_eq!(scene.fake.launched().len(), 1);
}

#[tokio::test]
async fn a_confirmed_start_is_settled_to_the_same_result_again() {
    let scene = Scene::dead().await;
    scene.fake.says(Mood::AnswerLost);
    scene.restart("t2").await;
    let pending = scene.session().await.pending.unwrap();
    scene.fake.says(Mood::Works);
    for _ in 0..2 {
        let again = pending.clone();
        let outcome = resume::settle(&scene.store, &*scene.fake, &scene.id, Wanted::Run, again, || NOW).await.unwrap();
        assert_eq!(outcome, started("t2"));
    }
    scene.resumed_as("t2", 2).await;
}

#[tokio::test]
async fn killed_between_claim_and_confirm_ends_the_successor() {
    let scene = Scene::dead().await;
    scene.fake.says(Mood::Killed);
    assert_eq!(scene.restart("t2").await, Outcome::Stopped);
    assert_eq!(scene.fake.log(), ["launch t2", "dispose t2"]);
    let session = scene.session().await;
    assert_eq!((session.state, session.wanted), (SessionState::Cancelled, Wanted::Stop));
    assert_eq!((session.pending, session.agent_execution_id.is_some()), (None, true), "until its end is told");
    assert_eq!(scene.binding("t2").await.end_reason, Some(EndReason::Disposed));
    scene.fake.says(Mood::Works);
    assert_eq!(scene.restart("t3").await, Outcome::Refused(ResumeReason::Disposed));
    assert_eq!(scene.events("session.resumed").await, 0);
}

#[tokio::test]
async fn killed_while_the_fate_is_unknown_is_never_launched() {
    let scene = Scene::dead().await;
    scene.fake.says(Mood::Away);
    scene.restart("t2").await;
    scene.store.dispose(scene.id.clone(), NOW).await.unwrap();
    scene.fake.log();
    scene.fake.says(Mood::Works);
    assert!(matches!(scene.settle().await, Outcome::Failed { code: ErrorCode::Cancelled, .. }));
    assert_eq!(scene.fake.log(), ["fate t2", "cancel t2"]);
    assert_eq!(scene.fake.launched().len(), 1, "no successor");
    assert_eq!(scene.binding("t1").await.end_reason, Some(EndReason::Disposed));
    assert_eq!(scene.session().await.state, SessionState::Cancelled);
}

#[tokio::test]
async fn a_successor_that_nobody_waits_for_is_ended() {
    let scene = Scene::dead().await;
    scene.fake.says(Mood::AnswerLost);
    scene.restart("t2").await;
    let mut stray = scene.session().await.pending.unwrap();
    stray.terminal_id = tid("t9");
    scene.fake.says(Mood::Works);
    let outcome = resume::carry_out(&scene.store, &*scene.fake, &scene.id, stray, || NOW).await.unwrap();
    assert_eq!(outcome, Outcome::Stopped);
    assert!(scene.fake.log().contains(&"dispose t9".to_owned()));
}

#[tokio::test]
#[expect(clippy::items_after_statements, reason = "the answers of this case alone")]
async fn a_dead_terminal_that_cannot_be_disposed_now_does_not_undo_the_resume() {
    let scene = Scene::dead().await;
    scene.fake.says(Mood::AnswerLost);
    scene.restart("t2").await;
    let reply = scene.fake.of(&tid("t2")).unwrap();
    scene.fake.says(Mood::Away);
    // The answer came; then the agentctl is silent.
    struct Answers<'a>(&'a Fake, LaunchReply);
    impl Terminals for Answers<'_> {
        async fn launch(&self, _: &Pending) -> Result<LaunchReply, Unknown> {
            Ok(self.1.clone())
        }
        async fn fate(&self, _: &TerminalId) -> Result<LaunchReply, Unknown> {
            Ok(self.1.clone())
        }
        async fn cancel(&self, terminal: &TerminalId) -> Result<LaunchReply, Unknown> {
            self.0.cancel(terminal).await
        }
        fn size(&self) -> Size {
            Size::DEFAULT
        }
        async fn dispose(&self, terminal: &TerminalId) -> Result<(), Unknown> {
            self.0.dispose(terminal).await
        }
    }
    let pending = scene.session().await.pending.unwrap();
    let answers = Answers(&scene.fake, reply);
    let outcome = resume::settle(&scene.store, &answers, &scene.id, Wanted::Run, pending, || NOW).await.unwrap();
    assert_eq!(outcome, started("t2"));
    scene.resumed_as("t2", 2).await;
}

#[tokio::test]
async fn never_prompted_is_a_fresh_start_with_a_conversation_of_its_own() {
    let scene = Scene::started().await;
    scene.exits("t1", 1, Exit::Signal(1), false).await;
    let fresh = Outcome::Started { terminal: tid("t2"), dead: Some(tid("t1")), mode: StartMode::Fresh };
    assert_eq!(scene.restart("t2").await, fresh);
    let launched = scene.fake.launched().pop().unwrap();
    assert_eq!((launched.mode, launched.token.as_deref()), (StartMode::Fresh, Some("conversation-new")));
    let new = scene.binding("t2").await;
    assert_eq!((new.agent_session_id.as_deref(), new.prompted_at), (Some("conversation-new"), None));
}

#[tokio::test]
async fn what_a_person_quit_or_killed_comes_back_only_when_asked() {
    let quit = Scene::alive().await;
    quit.exits("t1", 1, Exit::Code(0), true).await;
    assert_eq!(quit.restart_by(Order { by: ClaimBy::User, ..quit.order("t2") }).await, started("t2"));
    quit.resumed_as("t2", 2).await;
    let killed = Scene::dead().await;
    killed.store.dispose(killed.id.clone(), NOW).await.unwrap();
    assert_eq!(killed.restart_by(Order { by: ClaimBy::Reopen, ..killed.order("t2") }).await, started("t2"));
    killed.resumed_as("t2", 2).await;
    assert_eq!(killed.session().await.wanted, Wanted::Run);
}
