//! Calls of the screen → methods of the host.

use std::sync::OnceLock;

use serde_json::json;

use super::desk::Shows;
use super::msg::{Answer, Call, Refusal};
use super::panel::ask::{Ask, Found};
use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::status::Status;
use crate::link::Error as LinkError;
use crate::link::host::HostClient;
use crate::wire::agentctl::TerminalInfo;
use crate::wire::host::{
    Attach, Attached, CloseTerminal, Find, OfSession, OfStream, Rename, Resume, Resumed, Screen, SessionCreated,
    SessionLine, ShellOpen, Stop, Subscribe, Workspace,
};

#[derive(serde::Deserialize)]
struct Subscribed {
    seq: u64,
}

#[derive(serde::Deserialize)]
struct Opened {
    terminal_id: TerminalId,
}

/// Asks the host.
///
/// # Errors
/// What it refused, or that the link failed.
pub async fn call(host: &HostClient, call: &Call) -> Result<Answer, Refusal> {
    let of = |session: &SessionId| OfSession { session: session.to_string(), task_id: None };
    let answer = match call {
        Call::Subscribe(since) => {
            // Before anything is shown: whoever detaches the others may do it at any time.
            if let Err(error) = host.notify("client.screen", Screen { name: name().to_owned() }).await {
                return Err(refusal(error));
            }
            let params = Subscribe { session_id: None, since: *since, activity: true };
            host.call::<_, Subscribed>("events.subscribe", params).await.map(|s| Answer::Subscribed(s.seq))
        }
        Call::List => host.call::<_, Vec<SessionLine>>("session.list", json!({})).await.map(Answer::Sessions),
        Call::Status(session) => host
            .call::<_, Status>("task.session.status", of(session))
            .await
            .map(|status| Answer::Status(Box::new(status))),
        Call::Attach { session, shows, size, .. } => {
            let params = match shows {
                Shows::Shell(id) => Attach { session: None, terminal: Some(id.clone()), size: *size },
                _ => Attach { session: Some(session.to_string()), terminal: None, size: *size },
            };
            host.call::<_, Attached>("terminal.attach", params).await.map(Answer::Attached)
        }
        Call::Detach(stream) => done(host, "terminal.detach", OfStream { stream: *stream }).await,
        Call::Find(session) => {
            host.call::<_, SessionCreated>("session.find", Find { session: session.clone() }).await.map(Answer::Session)
        }
        Call::Create(create) => {
            host.call::<_, SessionCreated>("session.create", create.as_ref()).await.map(Answer::Session)
        }
        Call::Resume { session, reopen } => {
            let params = Resume { session: session.to_string(), task_id: None, terminal_id: None, reopen: *reopen };
            host.call::<_, Resumed>("session.resume", params).await.map(|resumed| Answer::Resumed {
                resumed: resumed.resumed,
                message: resumed.message.unwrap_or_else(|| format!("Not resumed: {}.", resumed.reason)),
            })
        }
        Call::Kill(session) => done(host, "session.kill", of(session)).await,
        Call::Dismiss(session) => done(host, "session.dismiss", of(session)).await,
        Call::Rename(session, name) => {
            done(host, "session.rename", Rename { session: session.to_string(), name: name.clone() }).await
        }
        Call::Terminals(session) => {
            host.call::<_, Vec<TerminalInfo>>("session.terminals", of(session)).await.map(Answer::Terminals)
        }
        Call::Shell { session, size } => {
            let params = ShellOpen { session: session.to_string(), task_id: None, size: *size };
            host.call::<_, Opened>("session.shell", params).await.map(|opened| Answer::Terminal(opened.terminal_id))
        }
        Call::Close { terminal, force, .. } => {
            done(host, "terminal.close", CloseTerminal { terminal: terminal.clone(), force: *force }).await
        }
        Call::Workspace { session, ask } => workspace(host, session, ask).await.map(Answer::Workspace),
        Call::Ping => host.call::<_, serde_json::Value>("host.status", json!({})).await.map(|_| Answer::Done),
        Call::StopHost => done(host, "host.stop", Stop { agents: true, restart: false }).await,
    };
    answer.map_err(refusal)
}

/// Names this screen in front of every host that it ever speaks to.
fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| uuid::Uuid::new_v4().to_string())
}

/// Asks about a session's directory. The answer may be large: it is read here, beside the screen.
async fn workspace(host: &HostClient, session: &SessionId, ask: &Ask) -> Result<Found, LinkError> {
    let (method, params) = ("session.workspace", Workspace { session: session.to_string(), path: ask.address() });
    match ask {
        Ask::Status => host.call(method, params).await.map(Found::Status),
        Ask::Log => host.call(method, params).await.map(Found::Log),
        Ask::Diff(_) | Ask::New(_) | Ask::File(_) => host.call(method, params).await.map(Found::Text),
        Ask::Tree(_) => host.call(method, params).await.map(Found::Tree),
    }
}

async fn done(host: &HostClient, method: &str, params: impl serde::Serialize) -> Result<Answer, LinkError> {
    host.call::<_, serde_json::Value>(method, params).await.map(|_| Answer::Done)
}

fn refusal(error: LinkError) -> Refusal {
    match error {
        LinkError::Remote(error) => Refusal { code: Some(error.code), message: error.message, hint: error.hint },
        error => Refusal { code: None, message: error.to_string(), hint: None },
    }
}
