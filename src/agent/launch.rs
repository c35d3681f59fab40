//! From a launch request to what is executed: program, arguments, environment. Never a shell line.

use std::path::PathBuf;

use crate::domain::profile::{HookStyle, Profile, TokenSource};
use crate::domain::rows::StartMode;
use crate::wire::agentctl::LaunchRequest;

use super::Error;
use super::person;
use super::places::Places;
use super::scrub;

/// What a launch needs to know about where it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// Our own program, absolute.
    pub relight: PathBuf,
    /// Command line of the hook for this terminal, safe to hand to a shell. Empty: hooks are not passed.
    pub hook: String,
    /// Home directory of the agent.
    pub home: PathBuf,
}

/// What is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Program: absolute, or looked up on the environment's PATH.
    pub program: String,
    /// Arguments, without the program.
    pub args: Vec<String>,
    /// The whole environment, but for `RELIGHT_TERMINAL`, `RELIGHT_SESSION` and `RELIGHT_GENERATION`.
    pub env: Vec<(String, String)>,
    /// First prompt that the agent takes by keyboard only: typed once it is ready.
    pub typed_prompt: Option<String>,
    /// Conversation id that this start has from the beginning: assigned, resumed, or named by the person's arguments.
    pub token: Option<String>,
}

/// Plans a start of `request`.
///
/// A group of arguments (`launch.token`, `launch.prompt`, `resume.args`, `hooks.args`) that names a place without a
/// value is left out whole; of `launch.args` only the one argument is. The person's own arguments are never looked into
/// for places. A resume and a fresh start keep their flags, without prompts and the first start's conversation id.
///
/// # Errors
/// [`Error`] when the profile cannot do what is asked, or a text has a NUL byte. Whether the program exists is not
/// looked at here.
pub fn plan(request: &LaunchRequest, tools: &Tools) -> Result<Plan, Error> {
    let profile = &request.profile;
    let agent = || profile.name.clone();
    let resume = request.mode == StartMode::Resume;
    if profile.program.is_empty() {
        return Err(Error::NoProgram { agent: agent() });
    }
    if resume && !profile.can_resume() {
        return Err(Error::ResumeUnsupported { agent: agent() });
    }
    let token = token(request);
    if resume && token.is_none() {
        return Err(Error::MissingToken { agent: agent() });
    }
    let prompt = if request.mode == StartMode::First { request.prompt.as_deref() } else { None };
    let relight = tools.relight.to_string_lossy();
    let home = tools.home.to_string_lossy();
    let hook_json = serde_json::Value::from(tools.hook.as_str()).to_string();
    let hooks = profile.agent && !tools.hook.is_empty();
    let places = Places::default()
        .with("token", token.as_deref())
        .with("prompt", prompt)
        .with("relight", Some(&relight))
        .with("home", Some(&home))
        .with("shell", Some(shell(&request.env)))
        .with("hook", hooks.then_some(tools.hook.as_str()))
        .with("hook_json", hooks.then_some(hook_json.as_str()));
    let (args, typed_prompt) = arguments(request, &places, prompt);
    let program = if profile.program == ARGS { request.args.first().cloned() } else { places.fill(&profile.program) };
    let program = program.filter(|p| !p.is_empty()).ok_or(Error::NoProgram { agent: agent() })?;
    let plan = Plan { program, args, env: environment(request, &places), typed_prompt, token };
    let nul = |texts: &[String]| texts.iter().any(|text| text.contains('\0'));
    if plan.program.contains('\0') || nul(&plan.args) || request.prompt.as_deref().is_some_and(|p| p.contains('\0')) {
        return Err(Error::Nul { agent: agent(), what: "arguments or prompt" });
    }
    Ok(plan)
}

/// A profile's program that is the first of the person's own arguments.
const ARGS: &str = "{args}";

fn shell(env: &[(String, String)]) -> &str {
    env.iter().rev().find(|(n, v)| n == "SHELL" && v.starts_with('/')).map_or("/bin/sh", |(_, v)| v.as_str())
}

/// The conversation id that the start has from the beginning.
fn token(request: &LaunchRequest) -> Option<String> {
    match request.mode {
        StartMode::Resume => request.token.clone().filter(|token| !token.is_empty()),
        StartMode::First | StartMode::Fresh => {
            let own = (request.mode == StartMode::First)
                .then(|| person::own_token(&request.profile, &request.args))
                .flatten();
            let assigns = request.profile.token.source == TokenSource::Preassign && !chooses(request);
            own.or(request.token.clone().filter(|_| assigns)).filter(|token| !token.is_empty())
        }
    }
}

/// The person chose the conversation of a first start.
fn chooses(request: &LaunchRequest) -> bool {
    request.mode == StartMode::First && person::chooses(&request.profile, &request.args)
}

fn arguments(request: &LaunchRequest, places: &Places<'_>, prompt: Option<&str>) -> (Vec<String>, Option<String>) {
    let profile = &request.profile;
    let resume = if request.mode == StartMode::Resume { places.group(&profile.resume.args) } else { Vec::new() };
    let own = match request.mode {
        StartMode::First => request.args.clone(),
        StartMode::Resume | StartMode::Fresh => person::kept(profile, &request.args),
    };
    let own = own.into_iter().skip(usize::from(profile.program == ARGS));
    let mut args = Vec::new();
    if profile.resume.first {
        args.extend(resume.iter().cloned());
    }
    args.extend(places.each(&profile.launch.args));
    if profile.agent && profile.hooks.style == HookStyle::Args {
        args.extend(places.group(&profile.hooks.args));
    }
    args.extend(own);
    if request.mode == StartMode::Resume {
        if !profile.resume.first {
            args.extend(resume);
        }
    } else if profile.token.source == TokenSource::Preassign && !chooses(request) {
        args.extend(places.group(&profile.launch.token));
    }
    let Some(prompt) = prompt.filter(|p| !p.is_empty()) else {
        return (args, None);
    };
    if typed(profile, &request.args, prompt) {
        return (args, Some(prompt.to_owned()));
    }
    args.extend(places.group(&profile.launch.prompt));
    (args, None)
}

/// Whether a first prompt is typed and not passed: the agent takes none as an argument, or would take this one for
/// something else.
fn typed(profile: &Profile, own: &[String], prompt: &str) -> bool {
    let positional = profile.launch.prompt.first().is_some_and(|first| first.starts_with("{prompt}"));
    profile.launch.prompt.is_empty()
        || (positional && prompt.starts_with('-'))
        || own.iter().any(|arg| arg == "--")
        || prompt.len() > MAX_ARGUMENT_BYTES
}

/// Longest prompt passed as an argument, in bytes. The kernel refuses a single argument of 128 KiB.
const MAX_ARGUMENT_BYTES: usize = 120 * 1024;

fn environment(request: &LaunchRequest, places: &Places<'_>) -> Vec<(String, String)> {
    let profile = &request.profile;
    let mut env = scrub::scrub(&request.env);
    if !request.cwd.is_empty() {
        scrub::set(&mut env, "PWD", request.cwd.clone());
    }
    let hooks = (profile.agent && profile.hooks.style == HookStyle::Env).then_some(&profile.hooks.env);
    for (name, value) in profile.env.iter().chain(hooks.into_iter().flatten()) {
        if let Some(value) = places.fill(value) {
            scrub::set(&mut env, name, value);
        }
    }
    env
}

#[cfg(test)]
mod tests;
