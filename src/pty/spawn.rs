//! Starts a program as the process of a new terminal.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use filedescriptor::FileDescriptor;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::termios::{InputModes, OptionalActions, tcgetattr, tcsetattr};

use crate::domain::launch::{ProcIdentity, Size};
use crate::proc::pidfd::PidFd;
use crate::proc::{identity, reap};
use crate::pty::control::Control;
use crate::pty::error::{Error, Result};
use crate::pty::reader::Reader;
use crate::pty::writer::Writer;
use crate::pty::{check, exit};

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnSpec {
    /// Program: a path, or a name that is looked up on the PATH of `env`.
    pub program: PathBuf,
    /// Arguments.
    pub args: Vec<String>,
    /// The whole environment. Nothing is inherited; only SHELL is added, from the user database, when it is missing.
    pub env: Vec<(String, String)>,
    /// Working directory, absolute.
    pub cwd: PathBuf,
    /// Size of the terminal.
    pub size: Size,
}

/// A program on its terminal. Take it apart: the three parts go to different tasks.
#[derive(Debug)]
pub struct Pty {
    /// Size, signals, end.
    pub control: Control,
    /// Output.
    pub reader: Reader,
    /// Input.
    pub writer: Writer,
}

/// Starts a program. Must be called within a runtime; blocks for some milliseconds.
///
/// # Errors
/// What [`check`] finds, [`Error::Open`] when there are no terminals or descriptors left, [`Error::Spawn`] when the
/// kernel refuses the start.
pub fn spawn(spec: &SpawnSpec) -> Result<Pty> {
    check::directory(&spec.cwd)?;
    let program = check::program(&spec.program, &spec.env, &spec.cwd)?;
    check::strings(&program, &spec.args, &spec.env)?;

    let size = PtySize { rows: spec.size.rows, cols: spec.size.cols, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).map_err(|error| Error::Open { why: format!("{error:#}") })?;
    // portable-pty's own writer is never taken: when dropped, it sends a newline and an end of file, by which a
    // half-typed command runs. Its own master is closed at the end of this function; ours are duplicates.
    let control_fd = duplicate(pair.master.as_ref())?;
    prepare(&control_fd).map_err(|source| Error::Terminal { what: "prepare the terminal", source })?;
    let read_fd = control_fd.try_clone().map_err(|source| Error::Open { why: source.to_string() })?;
    let write_fd = control_fd.try_clone().map_err(|source| Error::Open { why: source.to_string() })?;
    let reader = Reader::new(read_fd).map_err(|source| Error::Terminal { what: "read from the terminal", source })?;
    let writer = Writer::start(write_fd).map_err(|source| Error::Terminal { what: "write to the terminal", source })?;

    let mut command = CommandBuilder::new(&program);
    command.args(&spec.args);
    command.env_clear();
    for (name, value) in &spec.env {
        command.env(name, value);
    }
    command.cwd(&spec.cwd);
    let spawn_error = |why: String| Error::Spawn { program: program.clone(), why };
    let child = pair.slave.spawn_command(command).map_err(|error| spawn_error(format!("{error:#}")))?;
    // From here on it is our own unreaped child: its number is its own until we wait for it.
    let pid = child
        .process_id()
        .and_then(|pid| i32::try_from(pid).ok())
        .ok_or_else(|| spawn_error("it has no process id".into()))?;
    let registered = reap::waited(pid);
    let (identity, process) = hold(pid, &program)?;
    let life = exit::watch(process, registered)?;
    Ok(Pty { control: Control { identity, master: Arc::new(control_fd), life }, reader, writer })
}

fn hold(pid: i32, program: &std::path::Path) -> Result<(ProcIdentity, PidFd)> {
    let gone = || Error::Spawn { program: program.to_owned(), why: "somebody else waited for its end".into() };
    let identity = identity::of(pid)?.ok_or_else(gone)?;
    let process = PidFd::open(&identity)?.ok_or_else(gone)?;
    Ok((identity, process))
}

fn duplicate(master: &(dyn MasterPty + Send)) -> Result<OwnedFd> {
    let raw = master.as_raw_fd().ok_or_else(|| Error::Open { why: "it has no descriptor".into() })?;
    let file = FileDescriptor::dup(&raw)
        .and_then(|copy| copy.as_file())
        .map_err(|error| Error::Open { why: error.to_string() })?;
    Ok(file.into())
}

/// Makes the terminal non-blocking on our side, and lets its line editing know about UTF-8.
fn prepare(master: &OwnedFd) -> io::Result<()> {
    fcntl_setfl(master, fcntl_getfl(master)? | OFlags::NONBLOCK)?;
    let mut modes = tcgetattr(master)?;
    modes.input_modes |= InputModes::IUTF8;
    tcsetattr(master, OptionalActions::Now, &modes)?;
    Ok(())
}
