//! The methods of the host's interface on sessions that exist. Each reads or changes rows in one transaction, and wakes the
//! session's actor where something is to be done.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::domain::ids::TaskId;
use crate::domain::plain::shown;
use crate::domain::rows::{Millis, PromptState, QueuedPrompt, Session};
use crate::domain::words::{ErrorCode, ExecutorStatus, ResumeReason, Wanted};
use crate::link;
use crate::link::agentctl::AgentctlClient;
use crate::proc::clock;
use crate::store::{Bundle, Found};
use crate::wire::agentctl::SendRequest;
use crate::wire::host as msg;
use crate::wire::host::WireError;

use super::common;
use super::orders::Command;
use super::session;
use super::shared::{Handle, Shared};

/// A resume answers within this time or says that it goes on: starting an agentctl, waiting in line behind other launches.
const RESUME_DEADLINE: Duration = Duration::from_mins(1);
/// A kill waits this long for the agent's end before it answers; the end is on record before that.
const KILL_WAIT: Duration = Duration::from_secs(10);

/// Reads parameters.
///
/// # Errors
/// `bad_request`, naming the method and what is wrong.
pub fn params<T: DeserializeOwned>(method: &str, value: Value) -> Result<T, WireError> {
    let value = if value.is_null() { json!({}) } else { value };
    serde_json::from_value(value).map_err(|e| {
        WireError::new(ErrorCode::BadRequest, format!("the parameters of `{method}` are not understood: {e}"))
    })
}

/// A result as JSON.
///
/// # Errors
/// `internal`; does not happen for our own types.
pub fn reply(value: &impl Serialize) -> Result<Value, WireError> {
    serde_json::to_value(value).map_err(|e| WireError::new(ErrorCode::Internal, e.to_string()))
}

/// The session that `text` names: id, unique prefix of an id, or name.
///
/// # Errors
/// `session_not_found`, `session_ambiguous`, `session_not_in_task`.
pub async fn find(shared: &Shared, text: &str, task: Option<&TaskId>) -> Result<Bundle, WireError> {
    let found = shared.store.find(text.to_owned()).await.map_err(|e| common::store_error(&e))?;
    let id = match found {
        Found::Found(id) => id,
        Found::NotFound => {
            return Err(WireError::new(ErrorCode::SessionNotFound, format!("there is no session `{}`", shown(text)))
                .hint("`relight ls` lists the sessions"));
        }
        Found::Ambiguous(ids) => {
            let names: Vec<_> = ids.iter().map(|(id, name)| format!("{name} ({})", id.short())).collect();
            return Err(WireError::new(
                ErrorCode::SessionAmbiguous,
                format!("`{}` names {} sessions: {}", shown(text), ids.len(), names.join(", ")),
            )
            .hint("use more of the id"));
        }
    };
    let bundle = shared.store.bundle(id).await.map_err(|e| common::store_error(&e))?;
    match task {
        Some(task) if *task != bundle.session.task_id => Err(WireError::new(
            ErrorCode::SessionNotInTask,
            format!("session `{}` does not belong to task `{task}`", bundle.session.name),
        )),
        _ => Ok(bundle),
    }
}

/// The actor of a session; made if it has none yet.
pub fn actor(shared: &Arc<Shared>, bundle: &Bundle) -> Handle {
    shared.handle(&bundle.session.id).unwrap_or_else(|| session::spawn(shared, bundle.clone(), false))
}

async fn order(handle: &Handle, command: Command) -> Result<(), WireError> {
    handle
        .orders
        .send(command)
        .await
        .map_err(|_| WireError::new(ErrorCode::Internal, "the session's actor has ended; restart the host"))
}

/// `session.list`.
///
/// # Errors
/// Those of the store.
pub async fn list(shared: &Shared) -> Result<Value, WireError> {
    let bundles = shared.store.bundles().await.map_err(|e| common::store_error(&e))?;
    let lines: Vec<_> = bundles.iter().map(|b| line(shared, b)).collect();
    reply(&lines)
}

fn line(shared: &Shared, bundle: &Bundle) -> msg::SessionLine {
    let seen = shared.handle(&bundle.session.id).map(|h| h.seen.borrow().clone()).unwrap_or_default();
    let status = shared.status(bundle, &seen);
    let session = &bundle.session;
    let label = shared.profiles.get(&session.agent_profile_id).map(|p| p.label.clone());
    let running = status.is_agent_running == Some(true);
    let identity = bundle.terminal.as_ref().and_then(|t| t.identity.as_ref());
    msg::SessionLine {
        session_id: session.id.clone(),
        task_id: session.task_id.clone(),
        task_title: bundle.task.title.clone(),
        task_state: bundle.task.state,
        name: session.name.clone(),
        agent: session.agent_profile_id.clone(),
        agent_label: label.unwrap_or_else(|| session.agent_profile_id.clone()),
        state: session.state,
        activity: status.activity,
        why: status.why,
        title: seen.activity.as_ref().map(|a| a.title.clone()).unwrap_or_default(),
        progress: seen.activity.as_ref().and_then(|a| a.progress),
        executor_status: status.executor_status,
        runtime: status.runtime,
        terminal_id: status.terminal_id,
        pid: identity.filter(|_| running).map(|i| i.pid),
        agentctl_pid: bundle.executor.as_ref().and_then(|e| e.pid),
        generation: status.generation,
        agent_session_id: bundle.newest.as_ref().and_then(|b| b.agent_session_id.clone()),
        end_reason: status.end_reason,
        ended_at: ended_at(bundle),
        cwd: common::directory_of(bundle),
        created_at: session.created_at,
    }
}

fn ended_at(bundle: &Bundle) -> Option<Millis> {
    let session = &bundle.session;
    match &bundle.newest {
        _ if session.wanted == Wanted::Stop => Some(session.updated_at),
        Some(newest) if newest.end_reason.is_some() => newest.ended_at,
        _ => None,
    }
}

/// `task.session.status`.
///
/// # Errors
/// Those of [`find`].
pub async fn status(shared: &Shared, p: msg::OfSession) -> Result<Value, WireError> {
    let bundle = find(shared, &p.session, p.task_id.as_ref()).await?;
    let seen = shared.handle(&bundle.session.id).map(|h| h.seen.borrow().clone()).unwrap_or_default();
    reply(&shared.status(&bundle, &seen))
}

/// `session.snapshot`.
///
/// # Errors
/// Those of [`find`] and of the store.
pub async fn snapshot(shared: &Shared, p: msg::OfSession) -> Result<Value, WireError> {
    let found = find(shared, &p.session, p.task_id.as_ref()).await?;
    let id = found.session.id;
    let whole = shared.store.snapshot(id.clone()).await.map_err(|e| common::store_error(&e))?;
    let seen = shared.handle(&id).map(|h| h.seen.borrow().clone()).unwrap_or_default();
    let status = shared.status(&whole.bundle, &seen);
    let mut session = whole.bundle.session;
    // Secrets may stand in the environment: it never leaves the host but to the agent.
    session.launch.env.clear();
    let terminals = whole
        .terminals
        .into_iter()
        .map(|t| msg::TerminalLine {
            live: t.status == crate::domain::words::TerminalStatus::Active,
            id: t.id,
            kind: t.kind,
            generation: t.generation,
        })
        .collect();
    reply(&msg::Snapshot {
        session,
        task: whole.bundle.task,
        status,
        terminals,
        messages: whole.messages,
        prompts: whole.prompts,
        seq: whole.seq,
    })
}

/// `session.resume`.
///
/// # Errors
/// Those of [`find`], or why its executor cannot be reached.
pub async fn resume(shared: &Arc<Shared>, p: msg::Resume) -> Result<Value, WireError> {
    let bundle = find(shared, &p.session, p.task_id.as_ref()).await?;
    let handle = actor(shared, &bundle);
    let (tell, told) = oneshot::channel();
    let command = Command::Resume { terminal: p.terminal_id, reopen: p.reopen, tell };
    order(&handle, command).await?;
    match tokio::time::timeout(RESUME_DEADLINE, told).await {
        Ok(Ok(Ok(resumed))) => reply(&resumed),
        Ok(Ok(Err(error))) => Err(error),
        Ok(Err(_)) => Err(WireError::new(ErrorCode::Internal, "the session's actor ended during the resume")),
        Err(_) => reply(&msg::Resumed {
            resumed: false,
            reason: ResumeReason::Resuming,
            terminal_id: bundle.newest.map(|b| b.terminal_id),
            old_terminal_id: None,
            message: Some("it still goes on; `relight events --follow` tells when it is done".into()),
        }),
    }
}

/// `session.kill`: on record first, then ended. Answers when nothing runs any more, or after ten seconds.
///
/// # Errors
/// Those of [`find`] and of the store.
pub async fn kill(shared: &Arc<Shared>, p: msg::OfSession) -> Result<Value, WireError> {
    let bundle = find(shared, &p.session, p.task_id.as_ref()).await?;
    let id = bundle.session.id.clone();
    shared.store.dispose(id.clone(), clock::now_ms()).await.map_err(|e| common::store_error(&e))?;
    let mut handle = actor(shared, &bundle);
    order(&handle, Command::Changed).await?;
    let ended = async {
        loop {
            let now = shared.store.bundle(id.clone()).await.ok();
            let stopped = now.and_then(|b| b.executor).is_none_or(|e| e.status == ExecutorStatus::Stopped);
            if stopped || handle.seen.changed().await.is_err() {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(KILL_WAIT, ended).await;
    Ok(json!({}))
}

/// `session.dismiss`.
///
/// # Errors
/// Those of [`find`] and of the store.
pub async fn dismiss(shared: &Arc<Shared>, p: msg::OfSession) -> Result<Value, WireError> {
    let bundle = find(shared, &p.session, p.task_id.as_ref()).await?;
    shared.store.dismiss(bundle.session.id.clone(), clock::now_ms()).await.map_err(|e| common::store_error(&e))?;
    order(&actor(shared, &bundle), Command::Changed).await?;
    Ok(json!({}))
}

/// `session.rename`.
///
/// # Errors
/// Those of [`find`] and of the store; `bad_request` for an empty name.
pub async fn rename(shared: &Arc<Shared>, p: msg::Rename) -> Result<Value, WireError> {
    let name = common::name(&p.name);
    if name.is_empty() {
        return Err(WireError::new(ErrorCode::BadRequest, "a session's name cannot be empty")
            .hint("control characters do not count"));
    }
    let bundle = find(shared, &p.session, None).await?;
    shared.store.rename(bundle.session.id.clone(), name, clock::now_ms()).await.map_err(|e| common::store_error(&e))?;
    order(&actor(shared, &bundle), Command::Changed).await?;
    Ok(json!({}))
}

pub(super) fn client(shared: &Shared, bundle: &Bundle) -> Result<AgentctlClient, WireError> {
    shared.handle(&bundle.session.id).and_then(|h| h.seen.borrow().client.clone()).ok_or_else(|| {
        let name = &bundle.session.name;
        match bundle.executor.as_ref().map(|row| row.status) {
            Some(ExecutorStatus::Stopped) => WireError::new(
                ErrorCode::AgentNotRunning,
                format!("session `{name}` has ended, and its terminals with it"),
            )
            .hint(again(&bundle.session)),
            Some(ExecutorStatus::Error) => {
                let why = bundle.session.error_message.as_deref().unwrap_or("it could not be started");
                WireError::new(ErrorCode::ExecutorError, format!("the executor of session `{name}` failed: {why}"))
                    .hint(format!("mend that, then `relight resume {name}`"))
            }
            _ => WireError::new(ErrorCode::ExecutorStarting, format!("the executor of session `{name}` is not ready"))
                .hint("`relight status` says why; try again when it is ready"),
        }
    })
}

/// How a person starts the agent of a session again.
fn again(session: &Session) -> String {
    let reopen = if session.wanted == Wanted::Stop { " --reopen" } else { "" };
    format!("`relight resume{reopen} {}` starts it again", session.name)
}

/// An error of the link as clients get it.
#[must_use]
pub fn link_error(error: &link::Error) -> WireError {
    error.to_wire()
}

/// `session.send`.
///
/// # Errors
/// Those of [`find`]; `agent_not_running` when nobody is there to read it and it is not to be queued.
pub async fn send(shared: &Arc<Shared>, p: msg::Send) -> Result<Value, WireError> {
    let bundle = find(shared, &p.session, None).await?;
    let session = &bundle.session;
    let sent = |outcome: &str| reply(&msg::Sent { outcome: outcome.to_owned() });
    if let Some(terminal) = session.agent_execution_id.clone() {
        let request = SendRequest { text: p.text, enter: p.enter, prompt: None };
        client(shared, &bundle)?.send(&terminal, &request).await.map_err(|e| link_error(&e))?;
        return sent("typed");
    }
    if p.queue {
        shared
            .store
            .enqueue_prompt(QueuedPrompt {
                id: super::ids::prompt(),
                session_id: session.id.clone(),
                text: p.text,
                state: PromptState::Queued,
                created_at: clock::now_ms(),
            })
            .await
            .map_err(|e| common::store_error(&e))?;
        order(&actor(shared, &bundle), Command::Changed).await?;
        return sent("queued");
    }
    Err(WireError::new(ErrorCode::AgentNotRunning, format!("no agent runs in session `{}`", session.name))
        .hint(again(session)))
}

/// `session.capture`.
///
/// # Errors
/// Those of [`find`]; `terminal_not_found` when nothing ever ran.
pub async fn capture(shared: &Shared, p: msg::Capture) -> Result<Value, WireError> {
    let bundle = find(shared, &p.session, None).await?;
    let terminal = super::core::current(&bundle.session, bundle.newest.as_ref()).ok_or_else(|| {
        let name = &bundle.session.name;
        WireError::new(ErrorCode::TerminalNotFound, format!("nothing has run in session `{name}` yet"))
            .hint(format!("`relight status {name}` says why"))
    })?;
    let captured = client(shared, &bundle)?.capture(&terminal, p.history, p.ansi).await.map_err(|e| link_error(&e))?;
    reply(&captured)
}

/// `session.workspace`.
///
/// # Errors
/// Those of [`find`] and of the agentctl; `executor_starting` while it is not ready, `executor_unreachable` when it is silent.
pub async fn workspace(shared: &Shared, p: msg::Workspace) -> Result<Value, WireError> {
    let path = Path::new(&p.path);
    if !(path.starts_with("/workspace") || path.starts_with("/git")) {
        return Err(WireError::new(
            ErrorCode::BadRequest,
            format!("`{}` is not a path below /workspace or /git", p.path),
        ));
    }
    let bundle = find(shared, &p.session, None).await?;
    client(shared, &bundle)?.workspace(&p.path).await.map_err(|error| match error {
        link::Error::Silent { after, .. } => {
            let (name, after) = (&bundle.session.name, after.as_secs());
            let text = format!("the executor of session `{name}` did not answer within {after} s");
            WireError::new(ErrorCode::ExecutorUnreachable, text).hint("`relight status` says why; try again later")
        }
        error => link_error(&error),
    })
}

/// `host.status`.
///
/// # Errors
/// Those of the store.
pub async fn host_status(shared: &Shared) -> Result<Value, WireError> {
    let bundles = shared.store.bundles().await.map_err(|e| common::store_error(&e))?;
    let agents = bundles.iter().filter(|b| b.session.agent_execution_id.is_some()).count();
    reply(&msg::HostStatus {
        hello: shared.hello.clone(),
        started_at: shared.started_at,
        recovering: shared.recovering.load(Ordering::SeqCst) > 0,
        sessions: u32::try_from(bundles.len()).unwrap_or(u32::MAX),
        agents: u32::try_from(agents).unwrap_or(u32::MAX),
        clients: shared.clients.load(Ordering::SeqCst),
        database: shared.database.display().to_string(),
    })
}
