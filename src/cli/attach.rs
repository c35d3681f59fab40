//! `relight` and `relight attach`: the sessions in this terminal.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use crate::config;
use crate::config::Config;
use crate::config::dirs::Dirs;
use crate::domain::words::ErrorCode;
use crate::tui;
use crate::tui::keymap::Keymap;
use crate::tui::{Exit as TuiExit, Options, StartHost};

use super::failure::{Exit, Failure, Result};
use super::{caller, local, logging, output, reach};

/// Shows the sessions until the person detaches.
pub async fn run(dirs: &Dirs, session: Option<&str>, read_only: bool) -> Result<ExitCode> {
    let config = config::load(dirs)?;
    let keys = local::keys(dirs, &config)?;
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        let failure = Failure::new("attach needs a terminal on stdin and stdout");
        let hint = "`relight ls`, `relight capture` and `relight send` do without one";
        return Err(Failure { code: Exit::Usage, word: "no_terminal".into(), ..failure }.hint(hint));
    }
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        let failure =
            Failure::new("cannot show the sessions in this terminal: TERM=`dumb` says that it only prints lines");
        let hint = "set TERM to what the terminal is (most are `xterm-256color`), or use `relight ls`, `relight capture` \
                    and `relight send`";
        return Err(Failure { code: Exit::Usage, word: "no_terminal".into(), ..failure }.hint(hint));
    }
    dirs.create()?;
    logging::start(&dirs.logs, "client", &config.log, None)?;
    let options = options(dirs, &config, keys, session, read_only)?;
    match tui::run(options).await.map_err(|error| Failure::new(error.to_string()))? {
        TuiExit::Detached => output::line("detached; the agents go on (`relight` shows them again)")?,
        TuiExit::Quit => output::line("the host and the agents have ended; `relight` brings them back")?,
        TuiExit::Refused(why) => return Err(Failure::coded(ErrorCode::ExecutorUnreachable, why)),
        TuiExit::TerminalGone => return Ok(ExitCode::SUCCESS),
        // As a shell reports it.
        TuiExit::Signal(signal) => return Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))),
    }
    Ok(ExitCode::SUCCESS)
}

fn options(dirs: &Dirs, config: &Config, keys: Keymap, session: Option<&str>, read_only: bool) -> Result<Options> {
    let first = local::default_agent(config);
    let mut agents: Vec<(bool, String, String)> = config
        .profiles
        .iter()
        .map(|profile| {
            let there = local::installed(profile);
            let label = if there { profile.label.clone() } else { format!("{} (not on PATH)", profile.label) };
            (!there, profile.name.clone(), label)
        })
        .collect();
    agents.sort_by_key(|(missing, name, _)| (*name != first, *missing));
    let mut executors: Vec<String> = config.executors.keys().cloned().collect();
    executors.sort_by_key(|name| *name != "local");
    Ok(Options {
        endpoint: reach::endpoint(dirs),
        start_host: Some(start_host(dirs.clone())),
        session: session.map(String::from),
        read_only,
        keys,
        mouse: config.ui.mouse,
        agents: agents.into_iter().map(|(_, name, label)| (name, label)).collect(),
        executors,
        home: std::env::var("HOME").unwrap_or_default(),
        // Whoever looks from a directory that was removed still sees everything; new sessions begin at home then.
        cwd: caller::directory(None).or_else(|failure| std::env::var("HOME").map_err(|_| failure))?,
        env: caller::environment(config),
        volatile: caller::volatile(config),
    })
}

fn start_host(dirs: Dirs) -> StartHost {
    Box::new(move || {
        let dirs = dirs.clone();
        Box::pin(async move { reach::host(&dirs).await.map(drop).map_err(|failure| failure.message) })
    })
}
