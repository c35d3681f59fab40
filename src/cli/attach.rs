//! `relight` and `relight attach`: the sessions in this terminal.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use serde_json::json;

use crate::config;
use crate::config::Config;
use crate::config::dirs::Dirs;
use crate::domain::words::ErrorCode;
use crate::tui;
use crate::tui::keymap::Keymap;
use crate::tui::{Exit as TuiExit, Options, StartHost};
use crate::wire::host::{DetachedOthers, Find, SessionCreated};

use super::failure::{Exit, Failure, Result};
use super::{caller, host, local, logging, output, reach};

/// How the sessions are shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct How<'a> {
    /// Session to show first, by id, unique prefix or name.
    pub session: Option<&'a str>,
    /// Look only.
    pub read_only: bool,
    /// Every other screen is told to leave first.
    pub detach_others: bool,
    /// Where new sessions begin; `None`: where we are.
    pub place: Option<Place<'a>>,
}

/// Directory and environment of new sessions.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Directory, absolute.
    pub cwd: &'a str,
    /// Environment, scrubbed.
    pub env: &'a [(String, String)],
}

/// 128 and SIGHUP.
const HANGUP: u8 = 129;

/// Shows the sessions until the person detaches.
pub async fn run(dirs: &Dirs, how: How<'_>) -> Result<ExitCode> {
    let left = show(dirs, how).await?;
    match &left {
        TuiExit::Detached => output::line("detached; the agents go on (`relight` shows them again)")?,
        TuiExit::SentAway(why) => output::line(&format!("{why} The agents go on (`relight` shows them again)."))?,
        TuiExit::Quit => {
            host::stopped(dirs).await?;
            output::line("the host and the agents have ended; `relight` brings them back")?;
        }
        TuiExit::Refused(_) | TuiExit::TerminalGone | TuiExit::Signal(_) => {}
    }
    exit_code(left)
}

/// How the program ends after its screen did: as a shell reports it. The end of a terminal comes as SIGHUP or, to who has none
/// of its own, without.
///
/// # Errors
/// Why the host would not be spoken to.
pub fn exit_code(left: TuiExit) -> Result<ExitCode> {
    match left {
        TuiExit::TerminalGone => Ok(ExitCode::from(HANGUP)),
        TuiExit::Signal(signal) => Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))),
        TuiExit::Refused(why) => Err(Failure::coded(ErrorCode::ExecutorUnreachable, why)),
        TuiExit::Detached | TuiExit::SentAway(_) | TuiExit::Quit => Ok(ExitCode::SUCCESS),
    }
}

/// Refuses to go on without a terminal that can show the screen.
pub fn needs_terminal() -> Result<()> {
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        let failure = Failure::new("the screen needs a terminal on stdin and stdout");
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
    Ok(())
}

/// Shows the sessions, and gives how the person left.
pub async fn show(dirs: &Dirs, how: How<'_>) -> Result<TuiExit> {
    let config = config::load(dirs)?;
    let keys = local::keys(dirs, &config)?;
    needs_terminal()?;
    dirs.create()?;
    logging::start(&dirs.logs, "client", &config.log, None)?;
    let options = options(dirs, &config, keys, how)?;
    if how.detach_others {
        detach_others(dirs, how.session).await?;
    }
    tui::run(options).await.map_err(|error| Failure::new(error.to_string()))
}

/// Tells every other screen to leave: once it is known that there is something to show.
async fn detach_others(dirs: &Dirs, session: Option<&str>) -> Result<()> {
    let (client, _events) = reach::host(dirs).await?;
    if let Some(session) = session {
        client.call::<_, SessionCreated>("session.find", Find { session: session.into() }).await?;
    }
    client.call::<_, DetachedOthers>("client.detach_others", json!({})).await?;
    Ok(())
}

fn options(dirs: &Dirs, config: &Config, keys: Keymap, how: How<'_>) -> Result<Options> {
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
        session: how.session.map(String::from),
        read_only: how.read_only,
        keys,
        mouse: config.ui.mouse,
        agents: agents.into_iter().map(|(_, name, label)| (name, label)).collect(),
        executors,
        home: std::env::var("HOME").unwrap_or_default(),
        // Whoever looks from a directory that was removed still sees everything; new sessions begin at home then.
        cwd: match how.place {
            Some(place) => place.cwd.to_owned(),
            None => caller::directory(None).or_else(|failure| std::env::var("HOME").map_err(|_| failure))?,
        },
        env: how.place.map_or_else(|| caller::environment(config), |place| place.env.to_vec()),
        volatile: caller::volatile(config),
    })
}

fn start_host(dirs: Dirs) -> StartHost {
    Box::new(move || {
        let dirs = dirs.clone();
        Box::pin(async move { reach::host(&dirs).await.map(drop).map_err(|failure| failure.message) })
    })
}
