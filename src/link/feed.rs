//! The journal of an agentctl as it grows.

use crate::link::error::Error;
use crate::link::socket::{Incoming, Socket};
use crate::wire::agentctl::Feed;

/// The records of one journal after a number, and the transient activity between them. Ends when it is dropped.
#[derive(Debug)]
pub struct JournalFeed {
    socket: Socket,
}

impl JournalFeed {
    pub(in crate::link) fn new(socket: Socket) -> Self {
        Self { socket }
    }

    /// The next one; waits without limit. Dropping the future loses nothing.
    ///
    /// # Errors
    /// [`Error::Closed`] when the agentctl is gone, [`Error::Unreadable`] for what is none of the protocol.
    pub async fn next(&mut self) -> Result<Feed, Error> {
        match self.socket.next().await? {
            Incoming::Text(text) => self.socket.read(&text),
            Incoming::Binary(bytes) => {
                Err(self.socket.unreadable(format!("a binary message of {} bytes", bytes.len())))
            }
        }
    }
}
