//! Programs that relight starts.

use crate::cli::doctor::facts::{Agent, Probe};
use crate::cli::doctor::finding::Finding;

/// git.
pub fn git(git: Option<&Probe<String>>) -> Finding {
    const TOPIC: &str = "git";
    match git {
        Some(Ok(version)) => Finding::ok(TOPIC, version.clone()),
        Some(Err(why)) => Finding::note(TOPIC, format!("does not say its version: {why}")).todo("`git --version`"),
        None => Finding::note(TOPIC, "is not on PATH: what changed in a session's directory is not shown")
            .todo("install it"),
    }
}

/// Agents: a line for each that is there, and one for those that are not.
pub fn agents(agents: &[Agent], default: &str) -> Vec<Finding> {
    const TOPIC: &str = "agent";
    let mut out: Vec<Finding> = agents.iter().filter_map(agent).collect();
    let missing: Vec<&str> = agents.iter().filter(|agent| agent.found.is_none()).map(|a| a.name.as_str()).collect();
    if let Some(gone) = agents.iter().find(|agent| agent.name == default && agent.found.is_none()) {
        let todo = "install it, or set another `defaults.agent`";
        out.push(Finding::problem(TOPIC, format!("{default}, your default, is not there: `{}`", gone.program), todo));
    }
    if out.is_empty() && !missing.is_empty() {
        out.push(
            Finding::note(TOPIC, format!("none is on PATH ({})", missing.join(", ")))
                .todo("`relight new --agent demo` starts the one that comes with relight"),
        );
    } else if !missing.is_empty() {
        out.push(Finding::ok(TOPIC, format!("not here: {}", missing.join(", "))));
    }
    out
}

fn agent(agent: &Agent) -> Option<Finding> {
    const TOPIC: &str = "agent";
    let path = agent.found.as_ref()?.display();
    let name = &agent.name;
    let version = match &agent.version {
        Some(Ok(version)) if version.is_empty() => "says no version".to_owned(),
        Some(Ok(version)) => version.clone(),
        Some(Err(why)) => {
            return Some(
                Finding::note(TOPIC, format!("{name} ({path}) cannot be asked for its version: {why}"))
                    .todo(format!("`{} --version`", agent.program)),
            );
        }
        None => "not asked".to_owned(),
    };
    Some(if agent.resumes {
        Finding::ok(TOPIC, format!("{name} ({path}): {version}; its conversations come back"))
    } else {
        Finding::note(TOPIC, format!("{name} ({path}): {version}; it cannot take up a conversation again"))
    })
}
