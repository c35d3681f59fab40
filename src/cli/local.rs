//! Commands that need no host: settings, agents, completions.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory as _;
use serde_json::json;

use crate::config;
use crate::config::Config;
use crate::config::dirs::Dirs;
use crate::domain::profile::Profile;
use crate::tui::keymap::Keymap;

use super::args::{Args, ConfigCommand};
use super::failure::{Failure, Result};
use super::output;

/// The settings file with every default.
const EXAMPLE: &str = include_str!("../../config.example.toml");

/// `relight completions`.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "relight", &mut out);
    output::line(String::from_utf8_lossy(&out).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// `relight config`.
pub fn config(command: &ConfigCommand, json: bool) -> Result<ExitCode> {
    if matches!(command, ConfigCommand::Example) {
        output::line(EXAMPLE.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let dirs = Dirs::resolve(|name| std::env::var_os(name))?;
    let path = dirs.config_file();
    if matches!(command, ConfigCommand::Path) {
        return output::either(json, &json!({ "path": path }), || path.display().to_string());
    }
    let config = config::load(&dirs)?;
    check(&config)?;
    keys(&dirs, &config)?;
    let there = path.exists();
    output::either(json, &json!({ "path": path, "exists": there, "valid": true }), || {
        if there {
            format!("{} is valid", path.display())
        } else {
            format!("{} does not exist: the defaults hold", path.display())
        }
    })
}

/// What one key alone cannot show.
pub fn check(config: &Config) -> Result<()> {
    let agent = &config.defaults.agent;
    if agent.is_empty() || config.profiles.get(agent).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = config.profiles.iter().map(|p| p.name.as_str()).collect();
    let message = format!("`defaults.agent = \"{agent}\"`: there is no such agent; known are: {}", known.join(", "));
    Err(Failure::config(message))
}

/// The keys of the screen.
///
/// # Errors
/// What is wrong with `[keys]`, with file, line and value.
pub fn keys(dirs: &Dirs, config: &Config) -> Result<Keymap> {
    Ok(Keymap::with(&config.keys).map_err(|mistake| config::mistake(dirs, &mistake.path, mistake.message))?)
}

/// `relight agents`.
pub fn agents(dirs: &Dirs, json: bool) -> Result<ExitCode> {
    let config = config::load(dirs)?;
    if json {
        let list: Vec<_> = config
            .profiles
            .iter()
            .map(|p| {
                json!({
                    "name": p.name, "label": p.label, "program": p.program, "installed": installed(p),
                    "resumes": p.can_resume(), "agent": p.agent, "proved": p.proved, "note": p.note,
                })
            })
            .collect();
        output::json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let rows: Vec<Vec<String>> = config
        .profiles
        .iter()
        .map(|p| vec![p.name.clone(), p.label.clone(), word(installed(p)), word(p.can_resume()), p.note.clone()])
        .collect();
    for line in output::table(&["NAME", "LABEL", "INSTALLED", "RESUMES", "NOTE"], &rows, output::columns()) {
        output::line(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the profile's program is there: on PATH, at its absolute path, or always (our own program, your shell).
pub fn installed(profile: &Profile) -> bool {
    profile.program.starts_with('{') || which(&profile.program).is_some()
}

/// Where a program is: at its own path, if it has one, else the first on PATH.
pub fn which(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| executable(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| executable(path))
}

fn executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// The agent of a session for which none was named.
pub fn default_agent(config: &Config) -> String {
    if !config.defaults.agent.is_empty() {
        return config.defaults.agent.clone();
    }
    let found = config.profiles.iter().find(|p| p.agent && !p.program.starts_with('{') && installed(p));
    found.map_or_else(|| "demo".to_owned(), |profile| profile.name.clone())
}
