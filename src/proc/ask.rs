//! Asks a program for a few words, as `PROGRAM --version` does: bounded in time and output.

#![expect(clippy::disallowed_types, reason = "this room starts processes")]

use std::ffi::OsStr;
use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::domain::plain::plain;
use crate::proc::error::{Error, Result};
use crate::proc::reap;

/// More than anybody says of a version, in bytes.
const MAX_BYTES: u64 = 4 * 1024;
/// What an ended program wrote is read within this time.
const DRAIN: Duration = Duration::from_millis(100);
/// Longest line given back, in characters.
const MAX_LINE_CHARS: usize = 120;

/// The first line that `program ARGS` prints, on stdout or else on stderr: plain, at most 120 characters. It gets no input
/// and no terminal; after `limit` it is ended, with what it started.
///
/// # Errors
/// [`Error::Start`] when it cannot be started, [`Error::Answer`] when it fails or takes too long.
pub async fn first_line(program: &Path, args: &[impl AsRef<OsStr>], limit: Duration) -> Result<String> {
    let failed = |why: String| Error::Answer { program: program.to_owned(), why };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    let mut group =
        Group::start(&mut command).map_err(|source| Error::Start { program: program.to_owned(), source })?;
    let said = tokio::time::timeout(limit, group.said());
    let Ok(said) = said.await else {
        return Err(failed(format!("no answer within {} s", limit.as_secs_f32())));
    };
    let (out, err, status) = said.map_err(|error| failed(error.to_string()))?;
    let line = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        plain(line).chars().take(MAX_LINE_CHARS).collect::<String>()
    };
    let (out, err) = (line(&out), line(&err));
    let said = if out.is_empty() { err } else { out };
    if status.success() {
        return Ok(said);
    }
    Err(failed(if said.is_empty() { status.to_string() } else { format!("{status}: {said}") }))
}

/// The program and what it started: all end when this is dropped before the program's own end was seen.
struct Group {
    child: Child,
    pid: Option<Pid>,
    _waited: Option<reap::Waited>,
}

impl Group {
    fn start(command: &mut Command) -> std::io::Result<Self> {
        let child = command.spawn()?;
        let raw = child.id().and_then(|pid| i32::try_from(pid).ok());
        Ok(Self { child, pid: raw.and_then(Pid::from_raw), _waited: raw.map(reap::waited) })
    }

    async fn said(&mut self) -> std::io::Result<(Vec<u8>, Vec<u8>, std::process::ExitStatus)> {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = {
            let mut both = pin!(async { tokio::join!(read(stdout, &mut out), read(stderr, &mut err)) });
            tokio::select! {
                _ = &mut both => self.child.wait().await?,
                status = self.child.wait() => {
                    // What it wrote is there; somebody else may hold the other ends open for ever.
                    let _ = tokio::time::timeout(DRAIN, both).await;
                    status?
                }
            }
        };
        self.pid = None;
        Ok((out, err, status))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.pid
            && let Err(error) = kill_process_group(pid, Signal::KILL)
        {
            tracing::debug!(%error, "nothing of it was left");
        }
    }
}

/// Reads to the end, and keeps the beginning.
async fn read(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> std::io::Result<()> {
    let Some(mut from) = from else { return Ok(()) };
    (&mut from).take(MAX_BYTES).read_to_end(into).await?;
    tokio::io::copy(&mut from, &mut tokio::io::sink()).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long enough for any of these.
    const LIMIT: Duration = Duration::from_secs(20);

    async fn sh(script: &str, limit: Duration) -> Result<String> {
        first_line(Path::new("/bin/sh"), &["-c", script], limit).await
    }

    #[tokio::test]
    async fn the_first_line_is_given_back_plain() {
        assert_eq!(sh("echo; echo '  1.2.3 (x)'; echo more", LIMIT).await.unwrap(), "1.2.3 (x)");
        assert_eq!(sh("printf '1.2\\033[2J\\n'", LIMIT).await.unwrap(), "1.2 [2J");
        assert_eq!(sh("echo there >&2", LIMIT).await.unwrap(), "there");
        assert_eq!(sh("true", LIMIT).await.unwrap(), "");
        assert_eq!(sh("yes v | head -c 100000", LIMIT).await.unwrap(), "v");
        assert_eq!(sh("cat", LIMIT).await.unwrap(), "", "it has no input");
        // Whoever holds its output open is not waited for.
        assert_eq!(sh("sleep 5 & echo v", LIMIT).await.unwrap(), "v");
    }

    #[tokio::test]
    async fn what_fails_is_told() {
        let failed = sh("echo no such option >&2; exit 3", LIMIT).await.unwrap_err().to_string();
        assert!(failed.contains("/bin/sh") && failed.contains('3') && failed.contains("no such option"), "{failed}");
        let missing = first_line(Path::new("/no/such"), &["-v"], LIMIT).await.unwrap_err();
        assert!(matches!(missing, Error::Start { .. }), "{missing}");
    }

    #[tokio::test]
    async fn what_takes_too_long_is_ended_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("pid");
        let script = format!("sleep 1000 & echo $! >{0}.new; mv {0}.new {0}; wait", mark.display());
        let silent = sh(&script, Duration::from_secs(2)).await.unwrap_err();
        assert!(silent.to_string().contains("within 2 s"), "{silent}");
        let child: i32 = std::fs::read_to_string(&mark).unwrap().trim().parse().unwrap();
        let ended = async {
            while crate::proc::table::stat(child).unwrap().is_some_and(|stat| !stat.dead()) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LIMIT, ended).await.expect("what it started ends");
    }
}
