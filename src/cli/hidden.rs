//! Commands that relight gives to itself. Their arguments are taken as they are; no `--help` lists them.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::demo;
use crate::proc::detach;

use super::demo::guide;
use super::failure::{Failure, Result};
use super::supervise;

/// Runs the hidden command that `raw`, the whole command line, names; `None` when it names none.
pub fn run(raw: &[OsString]) -> Option<Result<ExitCode>> {
    let (name, rest) = raw.get(1..)?.split_first()?;
    match name.to_str()? {
        "detach" => Some(detach::run_intermediate(rest).map(|()| ExitCode::SUCCESS).map_err(Failure::from)),
        "demo-agent" => Some(Ok(demo_agent(rest))),
        "agentctl" => Some(supervise::agentctl(rest)),
        "demo-guide" => Some(guide::main()),
        "hook" => Some(Ok(supervise::hook(rest))),
        _ => None,
    }
}

fn demo_agent(args: &[OsString]) -> ExitCode {
    let args = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    u8::try_from(demo::run(args)).map_or(ExitCode::FAILURE, ExitCode::from)
}
