//! Shells beside a session's agent: opened, listed and closed, whatever the agent does.

use serde_json::{Value, json};

use crate::domain::ids::TerminalId;
use crate::domain::launch::{Exit, Size};
use crate::domain::profile::Profile;
use crate::domain::rows::{StartMode, Terminal};
use crate::domain::words::{ErrorCode, TerminalKind, TerminalStatus};
use crate::link;
use crate::link::agentctl::AgentctlClient;
use crate::proc::clock;
use crate::store::Bundle;
use crate::wire::agentctl::{LaunchReply, LaunchRequest};
use crate::wire::host as msg;
use crate::wire::host::WireError;

use super::calls::{self, reply};
use super::common;
use super::ids;
use super::shared::Shared;

/// `session.shell`: a shell in the session's directory.
///
/// # Errors
/// Those of [`calls::find`]; `executor_starting` while its executor is not ready, `directory_missing`, `launch_failed`.
pub async fn open(shared: &Shared, p: msg::ShellOpen) -> Result<Value, WireError> {
    let bundle = calls::find(shared, &p.session, p.task_id.as_ref()).await?;
    let client = calls::client(shared, &bundle)?;
    let profile = shared.profiles.get("shell").cloned().unwrap_or_default();
    let size = match p.size {
        Some(size) => size,
        None => agent_size(&client, &bundle).await,
    };
    let session = &bundle.session;
    let request = LaunchRequest {
        terminal: ids::terminal(),
        kind: TerminalKind::Shell,
        generation: 0,
        epoch: 0,
        mode: StartMode::First,
        profile: Profile { program: shared.shell.clone(), ..profile },
        token: None,
        prompted: false,
        args: Vec::new(),
        env: common::environment_of(&shared.volatile, &bundle),
        cwd: common::directory_of(&bundle),
        prompt: None,
        size,
        fence: Vec::new(),
    };
    match client.launch(&request).await.map_err(|e| calls::link_error(&e))? {
        LaunchReply::Spawned { identity, .. } => {
            shared
                .store
                .add_shell(session.id.clone(), request.terminal.clone(), Some(identity), clock::now_ms())
                .await
                .map_err(|e| common::store_error(&e))?;
            Ok(json!({ "terminal_id": request.terminal }))
        }
        LaunchReply::Failed { code, message } => Err(WireError::new(code, message)),
        other => Err(WireError::new(ErrorCode::LaunchFailed, format!("the shell did not start: {other:?}"))),
    }
}

/// The size that the agent's terminal has now; when nobody can say, the one that it began with.
async fn agent_size(client: &AgentctlClient, bundle: &Bundle) -> Size {
    let Some(agent) = &bundle.terminal else { return Size::DEFAULT };
    let now = client.terminals().await.unwrap_or_default();
    now.iter().find(|terminal| terminal.id == agent.id).map_or(agent.size, |terminal| terminal.size)
}

/// `session.terminals`: those that the session's agentctl has now, oldest first.
///
/// # Errors
/// Those of [`calls::find`]; `executor_starting`, `executor_unreachable` and so on while its agentctl is away.
pub async fn list(shared: &Shared, p: msg::OfSession) -> Result<Value, WireError> {
    let bundle = calls::find(shared, &p.session, p.task_id.as_ref()).await?;
    let terminals = calls::client(shared, &bundle)?.terminals().await.map_err(|e| calls::link_error(&e))?;
    reply(&terminals)
}

/// `terminal.close`: ends a shell and all it left, and forgets its screen. One that has ended, or was closed, is no error.
///
/// # Errors
/// `terminal_not_found`, `bad_request` for an agent's, `terminal_busy`, `fence_failed`; `executor_starting` and so on while
/// the agentctl of a shell that lives is away.
pub async fn close(shared: &Shared, p: msg::CloseTerminal) -> Result<Value, WireError> {
    let found = shared.store.terminal(p.terminal.clone()).await.map_err(|e| common::store_error(&e))?;
    let row = found.ok_or_else(|| unknown(&p.terminal))?;
    if row.kind != TerminalKind::Shell {
        let text = format!("terminal `{}` is an agent's; only shells are closed", row.id);
        return Err(WireError::new(ErrorCode::BadRequest, text)
            .hint(format!("`relight kill {}` ends the agent for good, and all its session's shells", row.session_id)));
    }
    let bundle = shared.store.bundle(row.session_id.clone()).await.map_err(|e| common::store_error(&e))?;
    let lived = row.status == TerminalStatus::Active;
    let closed = match calls::client(shared, &bundle) {
        Ok(client) if p.force => client.close(&row.id).await,
        Ok(client) => client.close_unless_busy(&row.id).await,
        Err(error) => Err(link::Error::Remote(error)),
    };
    match closed {
        // Its agentctl lost its journal, or is gone for good: no exit will be told.
        Err(error) if lived && matches!(error.code(), ErrorCode::TerminalNotFound | ErrorCode::AgentNotRunning) => {
            let (attempts, now) = (shared.policy.max_attempts, clock::now_ms());
            let lost = shared.store.terminal_lost(row.session_id, row.id.clone(), attempts, now).await;
            lost.map_err(|e| common::store_error(&e))?;
        }
        Err(error) if lived || error.code() == ErrorCode::FenceFailed => return Err(calls::link_error(&error)),
        // Closed now, or ended before, and its last screen with whoever kept it.
        Ok(_) | Err(_) => {}
    }
    shared.store.shell_closed(row.id).await.map_err(|e| common::store_error(&e))?;
    Ok(json!({}))
}

/// Refuses to attach to a shell that has ended and whose last screen nobody keeps.
///
/// # Errors
/// `terminal_not_found`; `executor_starting` while its executor, which may keep it, is not ready.
pub async fn attachable(shared: &Shared, bundle: &Bundle, row: &Terminal) -> Result<(), WireError> {
    if row.kind != TerminalKind::Shell || row.status == TerminalStatus::Active {
        return Ok(());
    }
    if row.status == TerminalStatus::Exited {
        match calls::client(shared, bundle) {
            Ok(client) => {
                let now = client.terminals().await.map_err(|e| calls::link_error(&e))?;
                if now.iter().any(|terminal| terminal.id == row.id) {
                    return Ok(());
                }
            }
            Err(error) if error.code == ErrorCode::ExecutorStarting => return Err(error),
            Err(_) => {}
        }
    }
    let how = match (row.status, row.exit) {
        (TerminalStatus::Disposed, _) => "was closed".to_owned(),
        (_, Some(exit @ (Exit::Code(_) | Exit::Signal(_)))) => format!("has ended ({exit})"),
        _ => "ended together with its executor".to_owned(),
    };
    let text = format!("shell `{}` of session `{}` {how}", row.id, bundle.session.name);
    Err(WireError::new(ErrorCode::TerminalNotFound, text).hint("open another one"))
}

/// That there is no terminal with this id.
#[must_use]
pub fn unknown(terminal: &TerminalId) -> WireError {
    WireError::new(ErrorCode::TerminalNotFound, format!("there is no terminal `{terminal}`"))
}
