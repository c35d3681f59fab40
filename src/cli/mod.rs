//! Arguments, subcommands, and the one place where rooms are wired together.

mod args;
mod attach;
mod caller;
mod demo;
mod doctor;
mod events;
mod failure;
mod hidden;
mod host;
mod host_run;
mod list;
mod local;
mod logging;
mod lost;
mod output;
mod reach;
mod session;
mod supervise;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

use crate::config::dirs::Dirs;

use args::{Args, Command, HostCommand};
use failure::{Failure, Result};

/// Runs the program: reads the arguments, does what they say, tells how it went by the exit code.
#[must_use]
pub fn main() -> ExitCode {
    quiet_panics();
    let raw: Vec<OsString> = std::env::args_os().collect();
    if let Some(result) = hidden::run(&raw) {
        return finish(result, false);
    }
    let args = Args::parse_from(raw);
    finish(run(&args), args.json)
}

fn finish(result: Result<ExitCode>, json: bool) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(failure) => {
            failure.tell(json);
            failure.code.into()
        }
    }
}

/// A fault of ours shows as a few words and where it happened, without the environment of the person.
fn quiet_panics() {
    let hook = color_eyre::config::HookBuilder::blank()
        .panic_section("This is a fault of relight. Your agents go on: `relight ls` shows them.")
        .display_env_section(false);
    let (panics, errors) = hook.into_hooks();
    // Installed once, before anything else of the program runs.
    if let Err(error) = errors.install() {
        tracing::debug!(%error, "the error hook stands already");
    }
    // Not by `eprintln!`: when stderr is a file on a full disk, a fault of one task would end the whole process.
    std::panic::set_hook(Box::new(move |info| _ = writeln!(io::stderr(), "{}", panics.panic_report(info))));
}

fn run(args: &Args) -> Result<ExitCode> {
    match args.command.as_ref() {
        Some(Command::Completions { shell }) => return local::completions(*shell),
        Some(Command::Config { command }) => return local::config(command, args.json),
        _ => {}
    }
    let dirs = Dirs::resolve(|name| std::env::var_os(name))?;
    if let Some(Command::Agents) = args.command {
        return local::agents(&dirs, args.json);
    }
    let runtime = runtime()?;
    let result = runtime.block_on(dispatch(args, &dirs));
    // Nothing of ours needs to end first, and a blocked read of the terminal never would.
    runtime.shutdown_background();
    result
}

/// One thread for ourselves: everything here waits for something.
fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start the async runtime: {error}")))
}

async fn dispatch(args: &Args, dirs: &Dirs) -> Result<ExitCode> {
    let json = args.json;
    match args.command.as_ref() {
        None => attach::run(dirs, attach::How::default()).await,
        Some(Command::Attach { session, read_only, detach_others }) => {
            let how = attach::How {
                session: session.as_deref(),
                read_only: *read_only,
                detach_others: *detach_others,
                place: None,
            };
            attach::run(dirs, how).await
        }
        Some(Command::Demo { keep }) => demo::run(*keep).await,
        Some(Command::New(new)) => session::new(dirs, new, json).await,
        Some(Command::Ls) => list::run(dirs, json).await,
        Some(Command::Status { session }) => session::status(dirs, session, json).await,
        Some(Command::Send(send)) => session::send(dirs, send, json).await,
        Some(Command::Capture { session, history, ansi }) => {
            session::capture(dirs, session, *history, *ansi, json).await
        }
        Some(Command::Resume { session, reopen }) => session::resume(dirs, session, *reopen, json).await,
        Some(Command::Adopt(adopt)) => session::adopt(dirs, adopt, json).await,
        Some(Command::Kill { session }) => session::kill(dirs, session, json).await,
        Some(Command::Dismiss { session }) => session::dismiss(dirs, session, json).await,
        Some(Command::Rename { session, name }) => session::rename(dirs, session, name, json).await,
        Some(Command::Events { since, follow }) => events::run(dirs, *since, *follow, json).await,
        Some(Command::Doctor) => Box::pin(doctor::run(dirs, json)).await,
        Some(Command::Host { command }) => match command {
            HostCommand::Run => host_run::run(dirs).await,
            HostCommand::Start => host::start(dirs, json).await,
            HostCommand::Stop { agents } => host::stop(dirs, *agents, json).await,
            HostCommand::Restart => host::restart(dirs, json).await,
            HostCommand::Status => host::status(dirs, json).await,
        },
        // These ran without a runtime already.
        Some(Command::Config { .. } | Command::Agents | Command::Completions { .. }) => Ok(ExitCode::SUCCESS),
    }
}
