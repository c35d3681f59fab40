//! `relight agentctl serve` and `relight hook`: what hosts and agents call, never a person.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::agentctl::hook::{self, Said};
use crate::agentctl::payload;
use crate::agentctl::{self, HostStart, Options};
use crate::config::settings::{Level, Log};
use crate::domain::ids::{SessionId, TerminalId};
use crate::link::place::SessionDir;
use crate::proc::detach;

use super::failure::{Failure, Result};
use super::{logging, reach};

/// Lines of history that a terminal keeps in memory when nothing else is said.
const HISTORY_LINES: usize = 2_000;

#[derive(Debug, Parser)]
#[command(name = "relight agentctl")]
enum Agentctl {
    /// Supervises one session.
    Serve {
        #[arg(long)]
        session: SessionId,
        #[arg(long)]
        state: PathBuf,
        #[arg(long)]
        logs: PathBuf,
        #[arg(long, default_value_t = HISTORY_LINES)]
        history: usize,
        /// Directory that files and git show before a launch names one.
        #[arg(long)]
        workspace: Option<PathBuf>,
        #[arg(long, default_value = Log::default().level.as_str())]
        log_level: Level,
        /// Daily log files that are kept.
        #[arg(long, default_value_t = Log::default().keep)]
        log_keep: u32,
    },
}

/// Is the agentctl of a session until it is told to end.
pub fn agentctl(args: &[OsString]) -> Result<ExitCode> {
    let Agentctl::Serve { session, state, logs, history, workspace, log_level, log_keep } = read(args)?;
    logging::start(&logs, "agentctl", &Log { level: log_level, keep: log_keep }, Some(&session))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start the runtime: {error}")))?;
    let options = Options {
        dir: SessionDir::new(&state, &session),
        session,
        relight: detach::own_program()?,
        directory: workspace,
        history_lines: history,
        host: Some(HostStart {
            args: ["host", "run"].map(OsString::from).to_vec(),
            // Our environment is that of whoever started our first host, which may be long gone.
            env: vec![(reach::STARTED_BY.into(), "agentctl".into())],
            log: logs.join("host.stderr"),
            stopped: state.join("host.stopped"),
        }),
    };
    match runtime.block_on(agentctl::run(options)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            tracing::error!(%error, "the agentctl ends");
            let code = error.exit_code();
            Failure::new(error.to_string()).tell(false);
            Ok(ExitCode::from(code))
        }
    }
}

#[derive(Debug, Parser)]
#[command(name = "relight hook")]
struct Hook {
    #[arg(long)]
    dir: PathBuf,
    #[arg(long)]
    terminal: TerminalId,
    /// Event name, for agents that do not say it in the payload.
    event: Option<String>,
    /// Payload, for agents that append it to the command; else it is read from stdin.
    payload: Option<String>,
}

/// Puts what an agent says into its terminal's spool. Ends well whatever happens: a hook never stands in an agent's way.
pub fn hook(args: &[OsString]) -> ExitCode {
    let Ok(hook) = read::<Hook>(args) else { return ExitCode::SUCCESS };
    // One word that is no name of an event is the payload.
    let (event, payload) = match (hook.event, hook.payload) {
        (Some(word), None) if word.trim_start().starts_with('{') => (None, Some(word)),
        other => other,
    };
    let payload = payload.unwrap_or_else(|| payload::read(std::io::stdin(), payload::DEADLINE));
    let generation = std::env::var("RELIGHT_GENERATION").ok().and_then(|text| text.parse().ok());
    let said = Said { event, generation, payload };
    if let Err(error) = hook::run(&SessionDir::at(hook.dir), &hook.terminal, said) {
        Failure::new(error.to_string()).tell(false);
    }
    ExitCode::SUCCESS
}

fn read<T: Parser>(args: &[OsString]) -> Result<T> {
    let program = OsString::from("relight");
    T::try_parse_from(std::iter::once(&program).chain(args)).map_err(|error| Failure::new(error.to_string()))
}
