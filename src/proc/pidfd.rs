//! A process held by a descriptor: signals reach this very process or nobody, and its end can be waited for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};
use tokio::io::Interest;

use crate::domain::launch::ProcIdentity;
use crate::proc::error::{Error, Result};
use crate::proc::{identity, ready, table};

pub use rustix::process::Signal;

/// A process that we hold.
#[derive(Debug)]
pub struct PidFd {
    identity: ProcIdentity,
    fd: OwnedFd,
}

impl PidFd {
    /// Holds the process; `None` when it is gone (zombies can be held until they are waited for).
    ///
    /// # Errors
    /// [`Error::Pidfd`] when the kernel refuses, [`Error::Read`] when `/proc` cannot be read.
    pub fn open(identity: &ProcIdentity) -> Result<Option<Self>> {
        if identity::boot_id()? != identity.boot_id {
            return Ok(None);
        }
        let pid = identity.pid;
        let Some(raw) = Pid::from_raw(pid).filter(|_| pid > 0) else { return Ok(None) };
        let fd = match pidfd_open(raw, PidfdFlags::empty()) {
            Ok(fd) => fd,
            Err(Errno::SRCH) => return Ok(None),
            Err(errno) => return Err(Error::Pidfd { pid, source: errno.into() }),
        };
        // Held first, then looked at: the pid cannot be reused between the two unnoticed, since a reused one has
        // another start time.
        match table::stat(pid)? {
            Some(stat) if stat.start_time == identity.start_time => Ok(Some(Self { identity: identity.clone(), fd })),
            _ => Ok(None),
        }
    }

    /// Who it is.
    pub const fn identity(&self) -> &ProcIdentity {
        &self.identity
    }

    /// Sends a signal; `false` when the process is gone.
    ///
    /// # Errors
    /// [`Error::Signal`] when the kernel refuses.
    pub fn signal(&self, signal: Signal) -> Result<bool> {
        match pidfd_send_signal(&self.fd, signal) {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(errno) => Err(Error::Signal { pid: self.identity.pid, signal: signal.as_raw(), source: errno.into() }),
        }
    }

    /// Whether it has ended. A zombie has.
    ///
    /// # Errors
    /// [`Error::Wait`] when the kernel refuses.
    pub fn has_exited(&self) -> Result<bool> {
        self.wait_exit(Duration::ZERO)
    }

    /// Blocks until it has ended or `limit` is over; says which.
    ///
    /// # Errors
    /// [`Error::Wait`] when the kernel refuses.
    pub fn wait_exit(&self, limit: Duration) -> Result<bool> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            match poll(&mut [PollFd::new(&self.fd, PollFlags::IN)], Some(&timeout)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.wait_error(errno.into())),
            }
        }
    }

    /// Waits until it has ended. A zombie has. Several may wait at once.
    ///
    /// # Errors
    /// [`Error::Wait`] when there are no descriptors left or no runtime is there.
    pub async fn exited(&self) -> Result<()> {
        let fd = self.fd.try_clone().map_err(|source| self.wait_error(source))?;
        let ready = ready::register(fd, Interest::READABLE).map_err(|source| self.wait_error(source))?;
        ready.readable().await.map(|_| ()).map_err(|source| self.wait_error(source))
    }

    fn wait_error(&self, source: io::Error) -> Error {
        Error::Wait { pid: self.identity.pid, source }
    }
}

impl AsFd for PidFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "real processes are what is tested")]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[tokio::test]
    async fn an_end_is_seen_and_a_signal_after_it_reaches_nobody() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let who = identity::of(child.id() as i32).unwrap().unwrap();
        let held = PidFd::open(&who).unwrap().unwrap();
        assert!(!held.has_exited().unwrap());
        let stranger = ProcIdentity { start_time: who.start_time + 1, ..who.clone() };
        assert!(PidFd::open(&stranger).unwrap().is_none());
        assert!(held.signal(Signal::KILL).unwrap());
        tokio::time::timeout(Duration::from_secs(10), async {
            let (one, two) = tokio::join!(held.exited(), held.exited());
            one.unwrap();
            two.unwrap();
        })
        .await
        .expect("killed, so both waiters see the end");
        assert!(held.has_exited().unwrap());
        child.wait().unwrap();
        assert!(!held.signal(Signal::KILL).unwrap());
        assert!(PidFd::open(&who).unwrap().is_none());
    }
}
