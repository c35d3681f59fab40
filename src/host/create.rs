//! New sessions: started by a person, or taken over from a conversation that ran elsewhere.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::config::nearest;
use crate::domain::ids::{SessionId, TaskId};
use crate::domain::launch::{Launch, Size};
use crate::domain::plain::{shown, steers};
use crate::domain::profile::Profile;
use crate::domain::rows::Task;
use crate::domain::words::{ErrorCode, Runtime, TaskState};
use crate::proc::clock;
use crate::store::{Adopt, Adopted, Bundle, NewSession};
use crate::wire::host as msg;
use crate::wire::host::WireError;

use super::calls::reply;
use super::common;
use super::elsewhere;
use super::ids;
use super::orders::Command;
use super::session;
use super::shared::Shared;

/// A first start answers within this time, or the session goes on starting by itself.
const FIRST_DEADLINE: Duration = Duration::from_secs(30);

/// `session.create`.
///
/// # Errors
/// `agent_unknown`, `agent_not_found`, `directory_missing`, `executor_unsupported`, or what the launch failed with.
pub async fn create(shared: &Arc<Shared>, p: msg::SessionCreate) -> Result<Value, WireError> {
    let profile = profile(shared, &p.agent)?;
    if p.prompt.iter().chain(&p.args).any(|text| text.contains('\0')) {
        let text = format!("agent `{}` cannot be given a prompt or an argument that holds a NUL byte", p.agent);
        return Err(WireError::new(ErrorCode::BadRequest, text).hint("leave it out; nothing was started"));
    }
    directory(&p.cwd).await?;
    program(&profile, &p.env)?;
    let executor = p.executor.unwrap_or_else(|| "local".to_owned());
    let runtime = shared.executors.runtime(&executor).ok_or_else(|| {
        WireError::new(ErrorCode::ExecutorUnsupported, format!("executor `{}` is not configured", shown(&executor)))
            .hint("`local` always is; others stand under [executors] in the configuration")
    })?;
    if runtime != Runtime::Local {
        return Err(WireError::new(
            ErrorCode::ExecutorUnsupported,
            format!("executor `{executor}` of runtime {runtime} is not supported by this version"),
        ));
    }
    shared.volatile.note(&p.env);
    let task_id = task(shared, p.task, p.name.as_deref(), &p.agent, &p.cwd).await?;
    let launch = Launch { args: p.args, env: p.env, cwd: p.cwd, prompt: p.prompt };
    let new = new_session(shared, &profile, p.name.as_deref(), task_id, executor, launch);
    let size = p.size.unwrap_or(Size::DEFAULT);
    // Nothing that can fail comes between: a session that is there without its actor would never start.
    let bundle = shared.store.create_session(new).await.map_err(|e| common::store_error(&e))?.value;
    let created = named(&bundle);
    let handle = session::spawn(shared, bundle, false);
    let (tell, told) = oneshot::channel();
    let _ = handle.orders.send(Command::First { size, tell }).await;
    match tokio::time::timeout(FIRST_DEADLINE, told).await {
        Ok(Ok(Err(error))) => Err(error),
        _ => reply(&created),
    }
}

/// `session.adopt`.
///
/// # Errors
/// `agent_unknown`, `resume_unsupported`, `directory_missing`, `alive_elsewhere`.
pub async fn adopt(shared: &Arc<Shared>, p: msg::SessionAdopt) -> Result<Value, WireError> {
    let profile = profile(shared, &p.agent)?;
    if !profile.can_resume() {
        return Err(WireError::new(
            ErrorCode::ResumeUnsupported,
            format!("agent `{}` cannot resume by id, so there is nothing to adopt", p.agent),
        ));
    }
    conversation(&p.token)?;
    directory(&p.cwd).await?;
    // Asked first: a conversation of ours is open in a process of ours, which is not elsewhere.
    let bound = shared.store.bound(p.agent.clone(), p.token.clone()).await.map_err(|e| common::store_error(&e))?;
    if let Some(id) = bound {
        return already_bound(shared, id).await;
    }
    if let Some(place) = elsewhere::open(&profile, &p.token, &p.env) {
        return Err(WireError::new(
            ErrorCode::AliveElsewhere,
            format!("conversation `{}` of {} is open in {place}", p.token, profile.label),
        )
        .hint("end it there first, then adopt it"));
    }
    shared.volatile.note(&p.env);
    let task_id = task(shared, p.task, p.name.as_deref(), &p.agent, &p.cwd).await?;
    let launch = Launch { args: Vec::new(), env: p.env, cwd: p.cwd, prompt: None };
    let adopt = Adopt {
        session: new_session(shared, &profile, p.name.as_deref(), task_id, "local".into(), launch),
        terminal: ids::terminal(),
        token: p.token,
    };
    match shared.store.adopt(adopt).await.map_err(|e| common::store_error(&e))?.value {
        Adopted::Seeded(bundle) => {
            let answer = adopted("seeded", &bundle);
            session::spawn(shared, *bundle, true);
            reply(&answer)
        }
        Adopted::AlreadyBound(id) => already_bound(shared, id).await,
    }
}

async fn already_bound(shared: &Arc<Shared>, id: SessionId) -> Result<Value, WireError> {
    let bundle = shared.store.bundle(id).await.map_err(|e| common::store_error(&e))?;
    reply(&adopted("already_bound", &bundle))
}

fn adopted(outcome: &str, bundle: &Bundle) -> msg::SessionAdopted {
    let msg::SessionCreated { session_id, task_id } = named(bundle);
    msg::SessionAdopted { outcome: outcome.into(), session_id, task_id }
}

fn named(bundle: &Bundle) -> msg::SessionCreated {
    msg::SessionCreated { session_id: bundle.session.id.clone(), task_id: bundle.session.task_id.clone() }
}

fn new_session(
    shared: &Shared,
    profile: &Profile,
    wished: Option<&str>,
    task_id: TaskId,
    executor: String,
    launch: Launch,
) -> NewSession {
    let id = ids::session();
    NewSession {
        agentctl_url: shared.executors.url(&id),
        id,
        task_id,
        name: name(wished, &profile.name),
        agent: profile.name.clone(),
        executor,
        executor_running_id: ids::executor(),
        runtime: Runtime::Local,
        workspace_path: launch.cwd.clone(),
        worktree: None,
        auth_token: Some(token()),
        supports_session_resume: profile.can_resume(),
        auto_resume: None,
        launch,
        now: clock::now_ms(),
    }
}

fn profile(shared: &Shared, name: &str) -> Result<Profile, WireError> {
    shared.profiles.get(name).cloned().ok_or_else(|| {
        let known: Vec<_> = shared.profiles.iter().map(|p| p.name.as_str()).collect();
        let near = nearest(name, &known).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let known = known.join(", ");
        WireError::new(ErrorCode::AgentUnknown, format!("there is no agent profile `{}`", shown(name)))
            .hint(format!("{near}known are {known}; more can be added under [agents] in the configuration"))
    })
}

/// Longest conversation id that is taken, in bytes: those of known agents have 40 at most.
const TOKEN_BYTES: usize = 256;

/// An agent gets the id among its arguments: it has to be one word, and no option.
fn conversation(token: &str) -> Result<(), WireError> {
    let fault = match token {
        "" => "it is empty",
        _ if token.len() > TOKEN_BYTES => "it is longer than 256 bytes",
        _ if token.starts_with('-') => "an agent would take it for an option, since it begins with `-`",
        _ if token.contains(|c: char| c.is_whitespace() || steers(c)) => "it holds a blank or a control character",
        _ => return Ok(()),
    };
    let text = format!("`{}` cannot be a conversation's id: {fault}", shown(token));
    Err(WireError::new(ErrorCode::BadRequest, text).hint("give --token the id as the agent itself names it"))
}

async fn directory(path: &str) -> Result<(), WireError> {
    if !Path::new(path).is_absolute() {
        return Err(WireError::new(ErrorCode::BadRequest, format!("the directory `{path}` is not an absolute path")));
    }
    match tokio::fs::metadata(path).await {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => Err(WireError::new(
            ErrorCode::DirectoryMissing,
            format!("cannot start an agent in `{path}`: it is not a directory"),
        )
        .hint("name one that exists with --cwd")),
        Err(e) => Err(WireError::new(
            ErrorCode::DirectoryMissing,
            format!("cannot start an agent in the directory `{path}`: {e}"),
        )
        .hint("name one that exists with --cwd")),
    }
}

/// A program that is not there is said before a session is made.
fn program(profile: &Profile, env: &[(String, String)]) -> Result<(), WireError> {
    let hint = "install it, or name its full path as `program` of the profile";
    if profile.program.starts_with('/') && !Path::new(&profile.program).is_file() {
        let text = format!("the program `{}` of agent `{}` does not exist", profile.program, profile.name);
        return Err(WireError::new(ErrorCode::AgentNotFound, text).hint(hint));
    }
    if profile.program.contains('{') || profile.program.contains('/') {
        return Ok(());
    }
    let path = env.iter().find(|(k, _)| k == "PATH").map_or("", |(_, v)| v.as_str());
    let there = std::env::split_paths(path).any(|dir| dir.join(&profile.program).is_file());
    if there || path.is_empty() {
        return Ok(());
    }
    Err(WireError::new(
        ErrorCode::AgentNotFound,
        format!("the program `{}` of agent `{}` is not on PATH", profile.program, profile.name),
    )
    .hint(hint))
}

fn name(given: Option<&str>, agent: &str) -> String {
    let name = common::name(given.unwrap_or(agent));
    if name.is_empty() { agent.to_owned() } else { name }
}

/// The task that a text names, by id, unique id prefix or title; a title that there is not makes one, no text a new one.
async fn task(
    shared: &Shared,
    given: Option<String>,
    name: Option<&str>,
    agent: &str,
    cwd: &str,
) -> Result<TaskId, WireError> {
    let title = match given {
        Some(text) => {
            // As titles are kept, so that the same text names the same task.
            let text = self::name(Some(&text), agent);
            let tasks = shared.store.tasks().await.map_err(|e| common::store_error(&e))?;
            let by_id = |t: &&Task| t.id.as_str() == text || (text.len() >= 4 && t.id.as_str().starts_with(&text));
            if let Some(task) = tasks.iter().find(|t| t.title == text).or_else(|| tasks.iter().find(by_id)) {
                return Ok(task.id.clone());
            }
            text
        }
        None => self::name(name, agent),
    };
    let now = clock::now_ms();
    let task = Task {
        id: ids::task(),
        title,
        state: TaskState::Todo,
        repository_path: Some(cwd.to_owned()),
        created_at: now,
        updated_at: now,
    };
    let made = shared.store.create_task(task).await.map_err(|e| common::store_error(&e))?;
    Ok(made.value.id)
}

/// A bearer token: two UUIDs, 244 random bits.
fn token() -> String {
    let (one, two) = (uuid::Uuid::new_v4(), uuid::Uuid::new_v4());
    format!("{}{}", one.simple(), two.simple())
}
