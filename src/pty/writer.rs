//! The input of a terminal: a bounded queue and a task of its own, so that a program that does not read blocks nobody.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{Semaphore, TryAcquireError, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::proc::ready;
use crate::pty::error::SendError;

/// Most bytes that wait for the program: two of the largest messages (4 MiB) that any socket accepts, so that one large
/// paste is never refused only for its size.
pub const QUEUE_BYTES: usize = 8 * 1024 * 1024;
/// Most pieces that wait. A piece is a key or a chunk of a paste; nobody types that many before they notice.
const QUEUE_PIECES: usize = 4096;

struct Piece {
    bytes: Bytes,
    written: Option<oneshot::Sender<()>>,
}

/// Takes bytes for a terminal, in order, each piece whole or not at all. When the last clone is dropped, what still
/// waits is dropped too; nothing else is sent (no newline, no end of file).
#[derive(Debug, Clone)]
pub struct Writer {
    queue: mpsc::Sender<Piece>,
    room: Arc<Semaphore>,
    _task: Arc<Task>,
}

#[derive(Debug)]
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Writer {
    pub(super) fn start(fd: OwnedFd) -> io::Result<Self> {
        let fd = ready::register(fd, Interest::WRITABLE)?;
        let (queue, pieces) = mpsc::channel(QUEUE_PIECES);
        let room = Arc::new(Semaphore::new(QUEUE_BYTES));
        let task = tokio::spawn(write_all(fd, pieces, Arc::clone(&room)));
        Ok(Self { queue, room, _task: Arc::new(Task(task)) })
    }

    /// Puts bytes in the queue, without waiting.
    ///
    /// # Errors
    /// [`SendError::Full`] when the program has not read for long, [`SendError::Closed`] when nobody reads any more.
    /// Nothing of `bytes` is sent then.
    pub fn try_send(&self, bytes: Bytes) -> Result<(), SendError> {
        self.put(bytes, None)
    }

    /// Puts bytes in the queue and waits until the terminal has taken the last of them. The program may still not have
    /// read them. Cancelling the wait takes nothing back.
    ///
    /// # Errors
    /// As [`Self::try_send`]; [`SendError::Closed`] also when the terminal closed before it took all.
    pub async fn send(&self, bytes: Bytes) -> Result<(), SendError> {
        let (written, all) = oneshot::channel();
        self.put(bytes, Some(written))?;
        all.await.map_err(|_| SendError::Closed)
    }

    /// Bytes that wait.
    #[must_use]
    pub fn queued(&self) -> usize {
        QUEUE_BYTES.saturating_sub(self.room.available_permits())
    }

    fn put(&self, bytes: Bytes, written: Option<oneshot::Sender<()>>) -> Result<(), SendError> {
        let full = || SendError::Full { queued: self.queued(), limit: QUEUE_BYTES };
        let place = match self.queue.try_reserve() {
            Ok(place) => place,
            Err(mpsc::error::TrySendError::Full(())) => return Err(full()),
            Err(mpsc::error::TrySendError::Closed(())) => return Err(SendError::Closed),
        };
        match self.room.try_acquire_many(u32::try_from(bytes.len()).unwrap_or(u32::MAX)) {
            Ok(permit) => permit.forget(), // Given back when they are written.
            Err(TryAcquireError::NoPermits) => return Err(full()),
            Err(TryAcquireError::Closed) => return Err(SendError::Closed),
        }
        place.send(Piece { bytes, written });
        Ok(())
    }
}

/// Writes until the last sender is gone or the terminal is closed. In both cases what waits is dropped, and with it the
/// promises to those who wait.
async fn write_all(fd: AsyncFd<OwnedFd>, mut pieces: mpsc::Receiver<Piece>, room: Arc<Semaphore>) {
    while let Some(piece) = pieces.recv().await {
        let mut rest = piece.bytes.as_ref();
        while !rest.is_empty() {
            match write_some(&fd, rest).await {
                Ok(count) => {
                    room.add_permits(count);
                    rest = rest.get(count..).unwrap_or_default();
                }
                Err(error) => {
                    tracing::debug!(%error, "a terminal takes no more input");
                    return;
                }
            }
        }
        if let Some(written) = piece.written {
            // Whoever waited may have gone.
            let _ = written.send(());
        }
    }
}

async fn write_some(fd: &AsyncFd<OwnedFd>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        let mut guard = fd.writable().await?;
        // Once the last holder has let the terminal go nobody reads what the kernel still takes; and when that is full,
        // it counts as ready for ever.
        if guard.ready().is_write_closed() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        match guard.try_io(|fd| write_now(fd.get_ref(), bytes)) {
            Ok(result) => return result,
            Err(_would_block) => {}
        }
    }
}

fn write_now(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match rustix::io::write(fd, bytes) {
            // A terminal that takes nothing says so; zero would spin.
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
