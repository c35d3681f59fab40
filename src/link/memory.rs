//! Connections within one process, for tests and for whatever runs beside its client.

use std::io;

use tokio::io::DuplexStream;
use tokio::sync::mpsc;

use crate::link::stream::Stream;

/// Connections that wait to be accepted; more wait in `connect`.
const BACKLOG: usize = 16;
/// Bytes under way in each direction of a connection, as a unix socket has it by default.
const BUFFER_BYTES: usize = 208 * 1024;

/// The client's half: makes connections to one [`MemoryListener`].
#[derive(Debug, Clone)]
pub struct MemoryDialer {
    accept: mpsc::Sender<DuplexStream>,
}

/// The server's half.
#[derive(Debug)]
pub struct MemoryListener {
    accept: mpsc::Receiver<DuplexStream>,
}

/// Both halves of a place within this process.
#[must_use]
pub fn pair() -> (MemoryDialer, MemoryListener) {
    let (to, from) = mpsc::channel(BACKLOG);
    (MemoryDialer { accept: to }, MemoryListener { accept: from })
}

impl MemoryDialer {
    /// Connects.
    ///
    /// # Errors
    /// `ConnectionRefused` when the listener is gone.
    pub async fn dial(&self) -> io::Result<Stream> {
        let (ours, theirs) = tokio::io::duplex(BUFFER_BYTES);
        self.accept.send(theirs).await.map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        Ok(Box::new(ours))
    }
}

impl axum::serve::Listener for MemoryListener {
    type Io = DuplexStream;
    type Addr = ();

    async fn accept(&mut self) -> (DuplexStream, ()) {
        match self.accept.recv().await {
            Some(stream) => (stream, ()),
            // No dialer is left: nobody will ever connect.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}
