//! Runs git for reading only: without locks, hooks, pagers and helpers of the repository's own choice, bounded in time and
//! output.

#![expect(clippy::disallowed_types, reason = "git is a process, and this room runs it")]

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::domain::plain::steers;
use crate::proc::reap;
use crate::workspace::error::Error;
use crate::workspace::root::Root;

/// A repository too large for this is not worth waiting for.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// Diagnostics kept, in bytes: the last line is what is shown.
const MAX_DIAGNOSTICS_BYTES: usize = 8 * 1024;

/// Settings that stand above the repository's own: it may come from anywhere.
const SETTINGS: &[&str] = &[
    // A container's or another user's checkout is read, not trusted.
    "safe.directory=*",
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "color.ui=false",
    "log.showSignature=false",
];

/// What git said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Standard output, at most the limit.
    pub bytes: Vec<u8>,
    /// There was more.
    pub truncated: bool,
    /// It ended with exit code 0, or was ended because the limit was reached.
    pub success: bool,
    /// The line of its diagnostics that says what is wrong.
    pub why: String,
}

/// Runs `git ARGS` in `root`; at most `limit` bytes of output are read, and it is ended when it has more.
///
/// # Errors
/// [`Error::NoGit`], [`Error::Slow`]. That git itself failed is in the [`Output`].
pub async fn run(root: &Root, args: &[&str], limit: usize) -> Result<Output, Error> {
    let mut group = Group::start(command(root, args))?;
    let work = group.outcome(limit);
    match tokio::time::timeout(DEADLINE, work).await {
        Ok(output) => output.map_err(|source| Error::NoGit { source }),
        Err(_) => Err(Error::Slow { what: format!("git {}", name(args)), after: DEADLINE }),
    }
}

/// The subcommand among arguments.
#[must_use]
pub fn name(args: &[&str]) -> String {
    args.first().copied().unwrap_or_default().to_owned()
}

fn command(root: &Root, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(["--no-optional-locks", "--no-pager", "--literal-pathspecs"]);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.args(args).current_dir(root.path());
    for (key, _) in std::env::vars_os().filter(|(key, _)| key.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(key);
    }
    command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    command
}

/// git and what it started: all end when this is dropped before git's own end was seen.
struct Group {
    child: Child,
    pid: Option<Pid>,
    _waited: Option<reap::Waited>,
}

impl Group {
    fn start(mut command: Command) -> Result<Self, Error> {
        let child = command.spawn().map_err(|source| Error::NoGit { source })?;
        let raw = child.id().and_then(|pid| i32::try_from(pid).ok());
        Ok(Self { child, pid: raw.and_then(Pid::from_raw), _waited: raw.map(reap::waited) })
    }

    async fn outcome(&mut self, limit: usize) -> std::io::Result<Output> {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let out = async {
            let out = read(stdout, limit).await?;
            if out.1 {
                self.end();
            }
            std::io::Result::Ok(out)
        };
        let ((bytes, truncated), (why, _)) = tokio::try_join!(out, read(stderr, MAX_DIAGNOSTICS_BYTES))?;
        let status = self.child.wait().await?;
        self.pid = None;
        Ok(Output { bytes, truncated, success: truncated || status.success(), why: reason(&why) })
    }

    fn end(&self) {
        if let Some(pid) = self.pid
            && let Err(error) = kill_process_group(pid, Signal::KILL)
        {
            tracing::debug!(%error, "git had ended already");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// The line of git's diagnostics that says what is wrong.
fn reason(diagnostics: &[u8]) -> String {
    let text = String::from_utf8_lossy(diagnostics);
    let blames = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
    let line = text.lines().find(blames).or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    line.unwrap_or_default().chars().filter(|c| !steers(*c)).take(300).collect()
}

/// Reads at most `limit` bytes, and whether there was more. What lies beyond is not read.
async fn read(from: Option<impl AsyncRead + Unpin>, limit: usize) -> std::io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(limit as u64 + 1).read_to_end(&mut bytes).await?;
    }
    let more = bytes.len() > limit;
    bytes.truncate(limit);
    Ok((bytes, more))
}
