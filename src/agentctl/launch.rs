//! Launches a terminal, at most once per id: refuse, fence, intent, exec, spawned, reply.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::agent;
use crate::agent::launch::{Plan, Tools};
use crate::agent::token;
use crate::domain::ids::TerminalId;
use crate::domain::journal::Body;
use crate::domain::launch::{ProcIdentity, Size};
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::proc::fence::{Fence, fence};
use crate::proc::{marks, testpoint};
use crate::pty;
use crate::pty::spawn::{Pty, SpawnSpec};
use crate::wire::agentctl::{LaunchReply, LaunchRequest};
use crate::wire::host::WireError;

use super::actor::{self, Parts};
use super::facts::Fact;
use super::input::Input;
use super::kept::{self, Kept};
use super::order::{Handle, ORDERS};
use super::scribe::Scribe;
use super::shared::Shared;

/// What a dead terminal left gets this long between SIGTERM and SIGKILL.
const FENCE_GRACE: Duration = Duration::from_secs(1);
/// What our model understands; programs that know the name use true colour.
const TERM: (&str, &str) = ("TERM", "xterm-256color");
/// Says that colours are 24 bit.
const COLORTERM: (&str, &str) = ("COLORTERM", "truecolor");

/// Carries out a launch, or answers with what became of it before.
///
/// # Errors
/// When it is refused; then nothing was started, and a later launch with this id may be.
pub async fn launch(shared: &Arc<Shared>, request: LaunchRequest) -> Result<LaunchReply, WireError> {
    let _one = shared.launching.lock().await;
    shared.serving()?;
    match shared.ledger.facts(|facts| facts.fate(&request.terminal)) {
        LaunchReply::Unheard => {}
        known => return Ok(known),
    }
    refuse(shared, &request)?;
    fence_before(shared, &request.fence).await?;
    let tools = tools(shared, &request);
    let plan = match agent::launch::plan(&request, &tools) {
        Ok(plan) => plan,
        Err(error) => return failed(shared, &request.terminal, error.code(), error.to_string()),
    };
    let kept = Kept {
        kind: request.kind,
        generation: request.generation,
        mode: request.mode,
        token: plan.token.clone(),
        prompted: request.prompted,
        cwd: request.cwd.clone(),
        profile: request.profile.clone(),
    };
    kept::write(&shared.dir, &request.terminal, &kept)
        .map_err(|e| super::error::Error::file("keep the launch in", shared.dir.spool_dir(), e).wire())?;
    let intent = Body::Intent {
        terminal: request.terminal.clone(),
        terminal_kind: request.kind,
        generation: request.generation,
        epoch: request.epoch,
    };
    shared.ledger.record(intent).map_err(|e| e.wire())?;
    testpoint::reach("agentctl.after_intent");
    let env = environment(shared, &request, &plan);
    let size = Size::clamped(request.size.cols, request.size.rows);
    let spec = SpawnSpec {
        program: PathBuf::from(&plan.program),
        args: plan.args.clone(),
        env,
        cwd: PathBuf::from(&request.cwd),
        size,
    };
    let pty = match pty::spawn::spawn(&spec) {
        Ok(pty) => pty,
        Err(error) => return failed(shared, &request.terminal, code_of(&error), error.to_string()),
    };
    testpoint::reach("agentctl.after_exec");
    spawned(shared, request, plan, kept, pty, &spec).await
}

/// The program runs: writes it down and begins to serve it. If it cannot be written down, it is ended.
async fn spawned(
    shared: &Arc<Shared>,
    request: LaunchRequest,
    plan: Plan,
    kept: Kept,
    pty: Pty,
    spec: &SpawnSpec,
) -> Result<LaunchReply, WireError> {
    let identity = pty.control.identity().clone();
    let record = Body::Spawned {
        terminal: request.terminal.clone(),
        terminal_kind: request.kind,
        generation: request.generation,
        identity: identity.clone(),
        token: plan.token.clone(),
    };
    if let Err(error) = shared.ledger.record(record) {
        let (marks, leaders) = (vec![request.terminal.to_string()], vec![identity]);
        if let Err(left) = fence(Fence { marks, leaders, grace: Duration::ZERO }).await {
            tracing::error!(%left, "what was just started cannot be ended");
        }
        shared.ledger.note(Body::LaunchFailed {
            terminal: request.terminal,
            code: error.code(),
            message: error.to_string(),
        });
        return Err(error.wire());
    }
    let fact = Fact { identity: Some(identity.clone()), token: plan.token.clone(), ..Fact::default() };
    let agent = request.kind == TerminalKind::Agent;
    let ledger = || Arc::clone(&shared.ledger);
    let scribe =
        agent.then(|| Scribe::new(ledger(), &request.terminal, &kept, &fact, shared.dir.spool(&request.terminal)));
    let token_watch = agent.then(|| token::watch(&request.profile, identity.pid, &spec.env)).flatten();
    let control = pty.control.clone();
    let parts = Parts {
        id: request.terminal.clone(),
        generation: request.generation,
        control: pty.control,
        reader: pty.reader,
        input: Input::new(pty.writer),
        size: spec.size,
        history_lines: shared.history_lines,
        scribe,
        profile: request.profile,
        prompt: plan.typed_prompt,
        token_watch,
        ledger: ledger(),
        board: Arc::clone(&shared.board),
        courtesy: Arc::clone(&shared.courtesy),
    };
    if agent {
        shared.set_directory(spec.cwd.clone());
    }
    let (orders, seen) = actor::start(parts, ORDERS);
    shared.enter(Arc::new(Handle {
        id: request.terminal,
        kind: request.kind,
        generation: request.generation,
        identity: identity.clone(),
        control,
        orders,
        seen,
    }));
    testpoint::reach("agentctl.before_reply");
    Ok(LaunchReply::Spawned { identity, token: plan.token, exit: None })
}

fn refuse(shared: &Shared, request: &LaunchRequest) -> Result<(), WireError> {
    if request.kind != TerminalKind::Agent {
        return Ok(());
    }
    let id = &request.terminal;
    let (live, epoch) = shared.ledger.facts(|facts| (facts.live_agent(id).cloned(), facts.epoch(id)));
    if let Some(live) = live {
        let text = format!("session `{}` has a live agent already, in terminal `{live}`", shared.session);
        return Err(WireError::new(ErrorCode::AgentRunning, text));
    }
    if request.epoch <= epoch && epoch > 0 {
        let text = format!("this launch has claim epoch {}, and epoch {epoch} was launched before", request.epoch);
        return Err(WireError::new(ErrorCode::StaleEpoch, text));
    }
    Ok(())
}

/// Ends what dead terminals left.
async fn fence_before(shared: &Arc<Shared>, ids: &[TerminalId]) -> Result<(), WireError> {
    if ids.is_empty() {
        return Ok(());
    }
    let leaders: Vec<ProcIdentity> = shared.ledger.facts(|facts| {
        let known = ids.iter().filter_map(|id| facts.terminal(id));
        known.filter_map(|fact| fact.identity.clone()).collect()
    });
    let what = Fence { marks: ids.iter().map(ToString::to_string).collect(), leaders, grace: FENCE_GRACE };
    let problem = match fence(what).await {
        Ok(report) => match report.left.first() {
            None => {
                shared.ledger.note(Body::Fenced { terminals: ids.to_vec(), ended: report.ended });
                return Ok(());
            }
            Some(left) => format!("process {} does not end", left.pid),
        },
        Err(error) => error.to_string(),
    };
    let text = format!("what the dead agent left cannot be ended, so none is started beside it: {problem}");
    Err(WireError::new(ErrorCode::FenceFailed, text).hint("end it by hand, then resume the session"))
}

/// The launch provably did not happen and never will.
fn failed(shared: &Shared, id: &TerminalId, code: ErrorCode, message: String) -> Result<LaunchReply, WireError> {
    let record = Body::LaunchFailed { terminal: id.clone(), code, message: message.clone() };
    shared.ledger.record(record).map_err(|e| e.wire())?;
    Ok(LaunchReply::Failed { code, message })
}

fn code_of(error: &pty::error::Error) -> ErrorCode {
    use pty::error::Error as E;
    match error {
        E::ProgramMissing { .. } | E::NotExecutable { .. } | E::InterpreterMissing { .. } => ErrorCode::AgentNotFound,
        E::DirectoryMissing { .. } | E::DirectoryUnusable { .. } => ErrorCode::DirectoryMissing,
        _ => ErrorCode::LaunchFailed,
    }
}

fn tools(shared: &Shared, request: &LaunchRequest) -> Tools {
    let home = request.env.iter().rev().find(|(name, _)| name == "HOME").map(|(_, value)| PathBuf::from(value));
    let words = [
        shared.relight.to_string_lossy(),
        "hook".into(),
        "--dir".into(),
        shared.dir.path().to_string_lossy(),
        "--terminal".into(),
        request.terminal.as_str().into(),
    ];
    // A path with a NUL byte does not exist, so joining does not fail; without a hook the agent still runs.
    let hook = shlex::try_join(words.iter().map(AsRef::as_ref)).unwrap_or_default();
    Tools { relight: shared.relight.clone(), hook, home: home.unwrap_or_else(|| PathBuf::from("/")) }
}

fn environment(shared: &Shared, request: &LaunchRequest, plan: &Plan) -> Vec<(String, String)> {
    let mut env = plan.env.clone();
    for (name, value) in [TERM, COLORTERM] {
        if !env.iter().any(|(known, _)| known == name) {
            env.push((name.into(), value.into()));
        }
    }
    let own = [
        (marks::TERMINAL, request.terminal.to_string()),
        (marks::SESSION, shared.session.to_string()),
        (marks::GENERATION, request.generation.to_string()),
    ];
    env.retain(|(name, _)| own.iter().all(|(ours, _)| ours != name));
    env.extend(own.map(|(name, value)| (name.to_owned(), value)));
    env
}

/// Makes sure that an id is never launched; answers with what it finds.
///
/// # Errors
/// When the tombstone cannot be written.
pub async fn cancel(shared: &Arc<Shared>, id: &TerminalId) -> Result<LaunchReply, WireError> {
    let _one = shared.launching.lock().await;
    match shared.ledger.facts(|facts| facts.fate(id)) {
        LaunchReply::Unheard => {
            shared.ledger.record(Body::Cancelled { terminal: id.clone() }).map_err(|e| e.wire())?;
            Ok(LaunchReply::Cancelled)
        }
        known => Ok(known),
    }
}

/// What became of an id; waits for a launch that is under way.
pub async fn fate(shared: &Arc<Shared>, id: &TerminalId) -> LaunchReply {
    let _one = shared.launching.lock().await;
    shared.ledger.facts(|facts| facts.fate(id))
}
