//! The output of a terminal, until the last process that holds it has let it go.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::proc::ready;

/// Reads a terminal's output.
#[derive(Debug)]
pub struct Reader {
    fd: AsyncFd<OwnedFd>,
}

impl Reader {
    pub(super) fn new(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self { fd: ready::register(fd, Interest::READABLE)? })
    }

    /// Waits for output and puts it into `buffer`; 0: the last holder has let the terminal go, nothing more comes. Safe
    /// to cancel: nothing read is lost.
    ///
    /// # Errors
    /// When the kernel refuses to read.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut guard = self.fd.readable().await?;
            let closed = guard.ready().is_read_closed();
            match guard.try_io(|fd| read_now(fd.get_ref(), buffer)) {
                Ok(result) => return result,
                // The last holder had let it go; that somebody opened it anew by its name does not undo the end, and the
                // runtime would call it ready for ever.
                Err(_would_block) if closed => return Ok(0),
                Err(_would_block) => {}
            }
        }
    }

    /// Puts what is there now into `buffer`, without waiting; `None`: nothing is there.
    ///
    /// # Errors
    /// When the kernel refuses to read.
    pub fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match read_now(self.fd.get_ref(), buffer) {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn read_now(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(fd, &mut *buffer) {
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            // What Linux says once no process has the terminal open any more.
            Err(Errno::IO) => return Ok(0),
            Err(errno) => return Err(errno.into()),
        }
    }
}
