//! The steps of one session that take time: each runs as a task of its own and ends with one [`Done`].

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::domain::ids::TerminalId;
use crate::domain::journal::Record;
use crate::domain::launch::Size;
use crate::domain::rows::{ExecutorRunning, PromptState};
use crate::domain::words::{ErrorCode, ResumeReason, SessionState, Trigger, Wanted};
use crate::executor::{self, Probe};
use crate::link::agentctl::AgentctlClient;
use crate::link::feed::JournalFeed;
use crate::proc::clock;
use crate::store::{self, Bundle, ClaimBy, ClaimOutcome, ExecutorReady, FirstStart};
use crate::wire::agentctl::{Health, LaunchReply, SendRequest};
use crate::wire::host::WireError;

use super::common::{directory_of, store_error};
use super::core::Wish;
use super::gate::Place;
use super::ids;
use super::recovery::{self, Found, Plan};
use super::resume::{self, Order, Outcome};
use super::shared::Shared;
use super::terminals::Agentctl;

/// How a step ended.
pub enum Done {
    /// Connected; the journal follows.
    Connected {
        /// The agentctl.
        client: AgentctlClient,
        /// Its journal from the cursor on.
        feed: Box<JournalFeed>,
    },
    /// It does not answer; ask again later.
    Away {
        /// In words.
        why: String,
    },
    /// The executor is in error; a person may ask again.
    Broken(WireError),
    /// A start ended.
    Start {
        /// How.
        outcome: Outcome,
        /// Its place among the launches at the same time.
        place: Option<Place>,
    },
    /// Every terminal and the agentctl were ended; its last records may be unread.
    Retired,
    /// Something unforeseen: the link is made anew.
    Trouble(WireError),
}

/// Why an agent is restarted.
#[derive(Debug, Clone, Copy)]
pub struct Why {
    /// A person's wish.
    pub wish: Option<Wish>,
    /// What made it happen.
    pub trigger: Trigger,
    /// Somebody looks at it.
    pub viewed: bool,
}

/// Probes an executor, starts its agentctl if it is dead, and connects.
pub fn recover(shared: &Arc<Shared>, bundle: &Bundle) -> JoinHandle<Done> {
    let (shared, bundle) = (Arc::clone(shared), bundle.clone());
    tokio::spawn(async move {
        recover_now(&shared, &bundle).await.unwrap_or_else(|error| Done::Trouble(store_error(&error)))
    })
}

async fn recover_now(shared: &Shared, bundle: &Bundle) -> Result<Done, store::Error> {
    let session = &bundle.session;
    let Some(row) = bundle.executor.as_ref() else {
        return Ok(Done::Broken(WireError::new(
            ErrorCode::ExecutorError,
            format!("session `{}` has no executor", session.name),
        )));
    };
    let probe = shared.executors.probe(row).await;
    let (found, words) = match &probe {
        Probe::Alive(_) => (Found::Alive, String::new()),
        Probe::Silent(why) => (Found::Silent, why.clone()),
        Probe::Free => (Found::Free, String::new()),
        Probe::Gone(why) => (Found::Gone, why.clone()),
        Probe::Unsupported(why) => (Found::Unsupported, why.clone()),
    };
    let directory = directory_of(bundle);
    let exists = tokio::fs::metadata(&directory).await.is_ok_and(|m| m.is_dir());
    let now = clock::now_ms();
    let health = match (recovery::plan(found, exists, session.wanted), probe) {
        (Plan::Adopt, Probe::Alive(health)) => *health,
        (Plan::Start, _) => match start(shared, bundle, row).await? {
            Ok(health) => health,
            Err(done) => return Ok(done),
        },
        (Plan::Fail(reason), _) => {
            let words = if reason == ResumeReason::WorktreeMissing {
                format!("the directory `{directory}` is gone")
            } else {
                words
            };
            let code = if reason == ResumeReason::WorktreeMissing {
                ErrorCode::WorktreeMissing
            } else {
                ErrorCode::ExecutorError
            };
            shared.store.executor_error(session.id.clone(), code, words.clone(), now).await?;
            return Ok(Done::Broken(WireError::new(code, words).hint("bring it back, then resume the session again")));
        }
        (Plan::Wait | Plan::Adopt, _) => {
            shared.store.executor_unreachable(session.id.clone(), words.clone(), now).await?;
            return Ok(Done::Away { why: words });
        }
    };
    connect(shared, bundle, &health).await
}

/// Starts an agentctl. One that was killed while it started says nothing about the next: only when none of a few comes up is
/// the executor in error.
async fn start(shared: &Shared, bundle: &Bundle, row: &ExecutorRunning) -> Result<Result<Health, Done>, store::Error> {
    let session = &bundle.session.id;
    let mut tries = 0;
    loop {
        tries += 1;
        if shared.ends() {
            return Ok(Err(Done::Away { why: "the host ends".to_owned() }));
        }
        shared.store.executor_starting(session.clone(), clock::now_ms()).await?;
        let error = match shared.executors.start(row).await {
            Ok(health) => return Ok(Ok(health)),
            Err(error) => error,
        };
        tracing::warn!(%session, %error, tries, "its agentctl did not start");
        if tries < START_TRIES && matches!(error, executor::Error::Start { .. }) {
            continue;
        }
        let (code, words) = (error.code(), error.to_string());
        if code == ErrorCode::DiskFull {
            // Nothing is wrong with it: it is tried again, and comes up when there is space.
            shared.store.executor_unreachable(session.clone(), words.clone(), clock::now_ms()).await?;
            return Ok(Err(Done::Trouble(WireError::new(code, words))));
        }
        shared.store.executor_error(session.clone(), code, words.clone(), clock::now_ms()).await?;
        return Ok(Err(Done::Broken(WireError::new(code, words))));
    }
}

/// Agentctls started one after the other before the executor is in error.
const START_TRIES: u32 = 3;

async fn connect(shared: &Shared, bundle: &Bundle, health: &Health) -> Result<Done, store::Error> {
    let session = &bundle.session;
    let Some(row) = bundle.executor.as_ref() else {
        return Ok(Done::Away { why: "it has no executor".into() });
    };
    let client = shared.executors.client(row);
    // A failed probe: the profile's word, and workspace true.
    let (resumes, workspace) = match client.capabilities().await {
        Ok(c) => (c.supports_session_resume, c.supports_workspace_only),
        Err(_) => (true, true),
    };
    let profile = shared.profile_resumes(&session.agent_profile_id).unwrap_or(false);
    shared
        .store
        .executor_ready(ExecutorReady {
            session: session.id.clone(),
            identity: health.identity.clone(),
            agentctl_url: row.agentctl_url.clone(),
            supports_session_resume: profile && resumes,
            supports_workspace_only: workspace,
            now: clock::now_ms(),
        })
        .await?;
    let after = if row.journal_cursor.journal == health.journal { row.journal_cursor.seq } else { 0 };
    match client.feed(after).await {
        Ok(feed) => Ok(Done::Connected { client, feed: Box::new(feed) }),
        Err(error) => Ok(Done::Away { why: error.to_string() }),
    }
}

/// Starts a session's first agent.
pub fn first(shared: &Arc<Shared>, bundle: &Bundle, client: AgentctlClient, size: Size) -> JoinHandle<Done> {
    let (shared, bundle) = (Arc::clone(shared), bundle.clone());
    tokio::spawn(async move {
        let terminals = Agentctl::new(&shared, &bundle, client, size);
        let place = shared.gate.enter(true).await;
        let token = terminals.preassigned();
        let terminal = ids::terminal();
        let started = async {
            let pending = shared
                .store
                .begin_first(FirstStart {
                    session: bundle.session.id.clone(),
                    terminal,
                    token,
                    trigger: Trigger::User,
                    now: clock::now_ms(),
                })
                .await?;
            match pending.value {
                ClaimOutcome::Claimed(pending) => {
                    resume::carry_out(&shared.store, &terminals, &bundle.session.id, pending, clock::now_ms).await
                }
                ClaimOutcome::Refused(reason) => Ok(Outcome::Refused(reason)),
            }
        };
        ended(started.await, Some(place))
    })
}

/// Settles a start that was begun before.
pub fn settle(shared: &Arc<Shared>, bundle: &Bundle, client: AgentctlClient, size: Size) -> JoinHandle<Done> {
    let (shared, bundle) = (Arc::clone(shared), bundle.clone());
    tokio::spawn(async move {
        let terminals = Agentctl::new(&shared, &bundle, client, size);
        let session = &bundle.session;
        let Some(pending) = session.pending.clone() else {
            return Done::Start { outcome: Outcome::Refused(ResumeReason::NoCandidate), place: None };
        };
        let place = shared.gate.enter(false).await;
        let settled =
            resume::settle(&shared.store, &terminals, &session.id, session.wanted, pending, clock::now_ms).await;
        ended(settled, Some(place))
    })
}

/// Claims the dead agent and starts its successor.
pub fn restart(
    shared: &Arc<Shared>,
    bundle: &Bundle,
    client: AgentctlClient,
    size: Size,
    why: Why,
) -> JoinHandle<Done> {
    let (shared, bundle) = (Arc::clone(shared), bundle.clone());
    tokio::spawn(async move {
        let terminals = Agentctl::new(&shared, &bundle, client, size);
        let place = shared.gate.enter(why.viewed || why.wish.is_some()).await;
        let order = Order {
            session: bundle.session.id.clone(),
            dead: bundle.newest.as_ref().map(|b| b.terminal_id.clone()),
            successor: ids::terminal(),
            new_token: terminals.preassigned(),
            by: match why.wish {
                None => ClaimBy::Automatic,
                Some(Wish::Resume) => ClaimBy::User,
                Some(Wish::Reopen) => ClaimBy::Reopen,
            },
            trigger: why.trigger,
        };
        let outcome = resume::restart(&shared.store, &terminals, order, clock::now_ms).await;
        ended(outcome, Some(place))
    })
}

fn ended(outcome: Result<Outcome, store::Error>, place: Option<Place>) -> Done {
    match outcome {
        Ok(outcome) => Done::Start { outcome, place },
        Err(error) => Done::Trouble(store_error(&error)),
    }
}

/// Ends every terminal of a session that a person does not want, and its agentctl.
pub fn retire(shared: &Arc<Shared>, bundle: &Bundle, client: AgentctlClient) -> JoinHandle<Done> {
    let (shared, bundle) = (Arc::clone(shared), bundle.clone());
    tokio::spawn(async move {
        if let Err(error) = client.shutdown().await {
            return Done::Trouble(WireError::new(ErrorCode::ExecutorUnreachable, error.to_string()));
        }
        if let Some(row) = &bundle.executor
            && let Err(error) = shared.executors.ended(row, RETIRE_DEADLINE).await
        {
            return Done::Trouble(WireError::new(ErrorCode::ExecutorUnreachable, error.to_string()));
        }
        Done::Retired
    })
}

/// An agent gets five seconds for its goodbye, then the fence; after this time the agentctl itself is in doubt.
const RETIRE_DEADLINE: Duration = Duration::from_secs(20);

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// Applied or ignored; the cursor moved.
    Done,
    /// It is about a start that is not confirmed yet: again, after that.
    Early,
    /// Records are missing in between.
    Gap,
}

/// Applies one record of the journal.
///
/// # Errors
/// Those of the store.
pub async fn apply(shared: &Shared, bundle: &Bundle, record: &Record) -> Result<Applied, store::Error> {
    let rules = store::ApplyRules { max_attempts: shared.policy.max_attempts, now: clock::now_ms() };
    Ok(match shared.store.apply(bundle.session.id.clone(), record.clone(), rules).await?.value {
        store::Applied::Ignored | store::Applied::Applied(_) => Applied::Done,
        store::Applied::Early(_) => Applied::Early,
        store::Applied::Gap { .. } => Applied::Gap,
    })
}

/// Whether the agentctl says that it never heard of this terminal.
pub async fn unheard(client: &AgentctlClient, terminal: &TerminalId) -> bool {
    matches!(client.fate(terminal).await, Ok(LaunchReply::Unheard))
}

/// Types the next queued prompt, when the agent waits for one.
pub fn flush_prompts(shared: &Arc<Shared>, bundle: &Bundle, client: Option<&AgentctlClient>) {
    let session = &bundle.session;
    let waits = session.state == SessionState::WaitingForInput && session.wanted == Wanted::Run;
    let (true, Some(client), Some(terminal)) = (waits, client, session.agent_execution_id.clone()) else {
        return;
    };
    let (shared, client, session) = (Arc::clone(shared), client.clone(), session.id.clone());
    tokio::spawn(async move {
        let next = match shared.store.prompts(session.clone()).await {
            Ok(prompts) => prompts.into_iter().find(|p| p.state == PromptState::Queued),
            Err(error) => {
                tracing::warn!(%session, %error, "cannot read queued prompts");
                return;
            }
        };
        let Some(prompt) = next else { return };
        // Taken before it is typed: of two that found it waiting, one types it.
        match shared.store.prompt_typed(session.clone(), prompt.id.clone(), false).await {
            Ok(taken) if taken.value => {}
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%session, %error, "cannot take a queued prompt");
                return;
            }
        }
        let request = SendRequest { text: prompt.text, enter: true, prompt: Some(prompt.id) };
        if let Err(error) = client.send(&terminal, &request).await {
            tracing::warn!(%session, %error, "cannot type a queued prompt");
        }
    });
}
