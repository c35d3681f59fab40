//! Programs that relight starts: where they are, and what they say of their version.

use std::path::Path;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::cli::doctor::facts::{Agent, Probe};
use crate::cli::local;
use crate::config::Config;
use crate::proc::ask;

/// The slowest agents load a whole runtime before they say their version.
const DEADLINE: Duration = Duration::from_secs(5);

/// git, if it is there, and every agent that is not part of relight.
pub async fn look(config: &Config) -> (Option<Probe<String>>, Vec<Agent>) {
    let mut asked = JoinSet::new();
    let mut agents = Vec::new();
    for profile in config.profiles.iter().filter(|profile| profile.agent && !profile.program.starts_with('{')) {
        let found = local::which(&profile.program);
        if let Some(path) = found.clone() {
            let place = agents.len();
            asked.spawn(async move { (place, version(&path).await) });
        }
        agents.push(Agent {
            name: profile.name.clone(),
            program: profile.program.clone(),
            found,
            version: None,
            resumes: profile.can_resume(),
        });
    }
    let git = match local::which("git") {
        Some(path) => Some(version(&path).await),
        None => None,
    };
    while let Some(answered) = asked.join_next().await {
        if let Ok((place, version)) = answered
            && let Some(agent) = agents.get_mut(place)
        {
            agent.version = Some(version);
        }
    }
    (git, agents)
}

async fn version(program: &Path) -> Probe<String> {
    ask::first_line(program, &["--version"], DEADLINE).await.map_err(|error| error.to_string())
}
