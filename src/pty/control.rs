//! A terminal's size, signals and end.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::{Pid, kill_process_group};
use rustix::termios::{Winsize, tcgetpgrp, tcgetwinsize, tcsetwinsize};

use crate::domain::launch::{Exit, ProcIdentity, Size};
use crate::proc::error::Error as ProcError;
use crate::proc::pidfd::Signal;
use crate::pty::error::{Error, Result};
use crate::pty::exit::Life;

/// Handle on a terminal and its process. Clones are the same terminal; it is closed (and its processes get SIGHUP) when
/// every clone, the reader and the writer are dropped.
#[derive(Debug, Clone)]
pub struct Control {
    pub(super) identity: ProcIdentity,
    pub(super) master: Arc<OwnedFd>,
    pub(super) life: Arc<Life>,
}

impl Control {
    /// The terminal's process: leader of its session and of its first group.
    pub const fn identity(&self) -> &ProcIdentity {
        &self.identity
    }

    /// Sets the size; the foreground group gets SIGWINCH when it changes.
    ///
    /// # Errors
    /// [`Error::Terminal`] when the kernel refuses.
    pub fn resize(&self, size: Size) -> Result<()> {
        let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&*self.master, size)
            .map_err(|errno| Error::Terminal { what: "set the size of the terminal", source: errno.into() })
    }

    /// The size.
    ///
    /// # Errors
    /// [`Error::Terminal`] when the kernel refuses.
    pub fn size(&self) -> Result<Size> {
        let size = tcgetwinsize(&*self.master)
            .map_err(|errno| Error::Terminal { what: "ask for the size of the terminal", source: errno.into() })?;
        Ok(Size { cols: size.ws_col, rows: size.ws_row })
    }

    /// The process group that has the terminal's foreground.
    pub fn foreground_pgid(&self) -> Option<i32> {
        tcgetpgrp(&*self.master).ok().map(|pid| pid.as_raw_nonzero().get())
    }

    /// Signals the whole first group, in which an agent and its wrappers are; `false` when the process is gone.
    ///
    /// # Errors
    /// [`Error::Process`] when the kernel refuses.
    pub fn signal_group(&self, signal: Signal) -> Result<bool> {
        // Unreaped, the leader's number cannot be another group's.
        self.life.while_unreaped(|| to_group(self.identity.pid, signal)).unwrap_or(Ok(false))
    }

    /// Signals the group in the foreground (in a shell: the command that runs); `false` when there is none.
    ///
    /// # Errors
    /// [`Error::Process`] when the kernel refuses.
    pub fn signal_foreground(&self, signal: Signal) -> Result<bool> {
        match self.foreground_pgid() {
            Some(group) if group > 1 => to_group(group, signal),
            _ => Ok(false),
        }
    }

    /// How the process ended; `None` while it lives.
    pub fn exit(&self) -> Option<Exit> {
        self.life.exit()
    }

    /// Waits for the end of the process. Output may still come after it, see [`crate::pty::reader::Reader`].
    pub async fn wait_exit(&self) -> Exit {
        self.life.wait().await
    }
}

fn to_group(group: i32, signal: Signal) -> Result<bool> {
    let Some(raw) = Pid::from_raw(group) else { return Ok(false) };
    match kill_process_group(raw, signal) {
        Ok(()) => Ok(true),
        Err(Errno::SRCH) => Ok(false),
        Err(errno) => Err(ProcError::Signal { pid: group, signal: signal.as_raw(), source: errno.into() }.into()),
    }
}
