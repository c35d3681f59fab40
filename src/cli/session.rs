//! Commands about one session.

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use crate::config;
use crate::config::dirs::Dirs;
use crate::domain::plain::plain;
use crate::domain::status::Status;
use crate::domain::words::ResumeReason;
use crate::wire::agentctl::Captured;
use crate::wire::host::{
    Capture, ClientEnvironment, OfSession, Rename, Resume, Resumed, Send as SendParams, Sent, SessionAdopt,
    SessionAdopted, SessionCreate, SessionCreated,
};

use super::args::{Adopt, New, Send};
use super::caller::{directory, environment, terminal_size};
use super::failure::{Exit, Failure, Result};
use super::{attach, caller, local, output, reach};

/// `relight new`.
pub async fn new(dirs: &Dirs, new: &New, json: bool) -> Result<ExitCode> {
    let config = config::load(dirs)?;
    let on_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let attaches = !new.detach && !json && on_terminal;
    if attaches {
        // Known before a session is made, not after.
        local::keys(dirs, &config)?;
    }
    let agent = new.agent.clone().unwrap_or_else(|| local::default_agent(&config));
    let params = SessionCreate {
        agent: agent.clone(),
        name: new.name.clone(),
        task: new.task.clone(),
        cwd: directory(new.cwd.as_deref())?,
        prompt: new.prompt.clone(),
        executor: new.executor.clone(),
        args: new.args.clone(),
        env: environment(&config),
        size: terminal_size(),
    };
    let (client, _events) = reach::host(dirs).await?;
    let created: SessionCreated = client.call("session.create", params).await?;
    if attaches {
        let how = attach::How { session: Some(created.session_id.as_str()), ..attach::How::default() };
        return attach::run(dirs, how).await;
    }
    output::either(json, &created, || format!("{agent} started as session {}", created.session_id))
}

/// `relight adopt`.
pub async fn adopt(dirs: &Dirs, adopt: &Adopt, json: bool) -> Result<ExitCode> {
    let config = config::load(dirs)?;
    let params = SessionAdopt {
        agent: adopt.agent.clone(),
        token: adopt.token.clone(),
        cwd: directory(adopt.cwd.as_deref())?,
        name: adopt.name.clone(),
        task: adopt.task.clone(),
        env: environment(&config),
    };
    let (client, _events) = reach::host(dirs).await?;
    let adopted: SessionAdopted = client.call("session.adopt", params).await?;
    output::either(json, &adopted, || match adopted.outcome.as_str() {
        "seeded" => format!("the conversation is now session {}", adopted.session_id),
        _ => format!("the conversation belongs to session {} already", adopted.session_id),
    })
}

/// `relight status`.
pub async fn status(dirs: &Dirs, session: &str, json: bool) -> Result<ExitCode> {
    let (client, _events) = reach::host(dirs).await?;
    let status: Status = client.call("task.session.status", of(session)).await?;
    output::either(json, &status, || describe(&status))
}

/// The status in lines for a person.
fn describe(status: &Status) -> String {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".into());
    let running = match status.is_agent_running {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let broken = matches!(status.resume_reason, ResumeReason::WorktreeMissing | ResumeReason::ExecutorError);
    let resume = match (status.is_resumable, status.needs_resume, status.automatic) {
        (_, true, true) => "needed; it happens by itself",
        (_, true, false) => "needed; `relight resume` does it",
        (true, false, _) if broken => "possible once that is mended; `relight resume` does it",
        (true, false, _) => "possible, not needed",
        (false, false, _) => "not possible",
    };
    let executor = match (status.runtime, status.executor_status) {
        (Some(runtime), Some(status)) => format!("{runtime}, {status}"),
        _ => "none".into(),
    };
    let mut lines = vec![
        ("name", status.name.clone()),
        ("session", status.session_id.to_string()),
        ("task", status.task_id.to_string()),
        ("agent", status.agent_profile_id.clone()),
        ("activity", format!("{}: {}", status.activity, status.why)),
        ("state", format!("{}, wanted: {}", status.state, status.wanted)),
        ("running", running.into()),
        ("resume", format!("{resume} ({})", status.resume_reason)),
        ("executor", executor),
        ("terminal", or_none(status.terminal_id.as_ref().map(ToString::to_string))),
    ];
    if let Some(error) = &status.error_message {
        lines.push(("error", error.clone()));
    }
    let lines: Vec<String> = lines.iter().map(|(name, text)| format!("{name:<9} {}", plain(text))).collect();
    lines.join("\n")
}

/// `relight send`.
pub async fn send(dirs: &Dirs, send: &Send, json: bool) -> Result<ExitCode> {
    let text = if send.text == "-" { stdin()? } else { send.text.clone() };
    let params = SendParams { session: send.session.clone(), text, enter: !send.no_enter, queue: send.queue };
    let (client, _events) = reach::host(dirs).await?;
    let result: Sent = client.call("session.send", params).await?;
    output::either(json, &result, || match result.outcome.as_str() {
        "queued" => "queued until its agent runs".into(),
        _ => "typed".into(),
    })
}

fn stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::new(format!("cannot read the text from stdin: {error}")))?;
    Ok(text.strip_suffix('\n').map_or(text.clone(), String::from))
}

/// `relight capture`.
pub async fn capture(dirs: &Dirs, session: &str, history: u32, ansi: bool, json: bool) -> Result<ExitCode> {
    let (client, _events) = reach::host(dirs).await?;
    let params = Capture { session: session.into(), history, ansi };
    let captured: Captured = client.call("session.capture", params).await?;
    output::either(json, &captured, || captured.lines.join("\n"))
}

/// `relight resume`.
pub async fn resume(dirs: &Dirs, session: &str, reopen: bool, json: bool) -> Result<ExitCode> {
    let (client, _events) = reach::host(dirs).await?;
    let env = caller::volatile(&config::load(dirs)?);
    client.call::<_, ()>("client.environment", ClientEnvironment { env }).await?;
    let params = Resume { session: session.into(), task_id: None, terminal_id: None, reopen };
    let resumed: Resumed = client.call("session.resume", params).await?;
    output::either(json, &resumed, || {
        if resumed.resumed { "resumed".into() } else { format!("not resumed: {}", why_not(&resumed, session)) }
    })?;
    Ok(if resumed.resumed { ExitCode::SUCCESS } else { Exit::Refused.into() })
}

/// Why a resume did not happen, and what to do where that is one thing.
fn why_not(resumed: &Resumed, session: &str) -> String {
    let reason = resumed.message.clone().unwrap_or_else(|| resumed.reason.to_string());
    let hint = match resumed.reason {
        ResumeReason::Disposed => format!(" (you ended it; `relight resume --reopen {session}` brings it back)"),
        ResumeReason::NotResumable | ResumeReason::MissingResumeToken | ResumeReason::ResumeUnsupported => {
            " (`relight new` starts another session)".into()
        }
        _ => String::new(),
    };
    plain(&(reason + &hint))
}

/// `relight kill`.
pub async fn kill(dirs: &Dirs, session: &str, json: bool) -> Result<ExitCode> {
    simple(dirs, "session.kill", of(session), json, "ended for good").await
}

/// `relight dismiss`.
pub async fn dismiss(dirs: &Dirs, session: &str, json: bool) -> Result<ExitCode> {
    simple(dirs, "session.dismiss", of(session), json, "dismissed").await
}

/// `relight rename`.
pub async fn rename(dirs: &Dirs, session: &str, name: &str, json: bool) -> Result<ExitCode> {
    simple(dirs, "session.rename", Rename { session: session.into(), name: name.into() }, json, "renamed").await
}

async fn simple(dirs: &Dirs, method: &str, params: impl Serialize, json: bool, done: &str) -> Result<ExitCode> {
    let (client, _events) = reach::host(dirs).await?;
    client.call::<_, ()>(method, params).await?;
    output::either(json, &json!({}), || done.to_owned())
}

fn of(session: &str) -> OfSession {
    OfSession { session: session.into(), task_id: None }
}
