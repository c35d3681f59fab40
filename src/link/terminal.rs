//! One terminal of an agentctl: what it shows comes out, what is typed goes in.

use bytes::Bytes;

use crate::link::error::Error;
use crate::link::socket::{Incoming, Socket};
use crate::wire::agentctl::StreamEvent;
use crate::wire::input::StreamInput;

/// Something that a terminal's stream says.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamItem {
    /// An encoded frame (`wire::frame`).
    Frame(Bytes),
    /// Anything else.
    Event(StreamEvent),
}

/// The stream of one terminal. Ends when it is dropped.
#[derive(Debug)]
pub struct TerminalStream {
    socket: Socket,
}

impl TerminalStream {
    pub(in crate::link) fn new(socket: Socket) -> Self {
        Self { socket }
    }

    /// The next item; waits without limit. Dropping the future loses nothing.
    ///
    /// # Errors
    /// [`Error::Closed`] when the terminal or its agentctl is gone, [`Error::Unreadable`] for what is none of the protocol.
    pub async fn next(&mut self) -> Result<StreamItem, Error> {
        match self.socket.next().await? {
            Incoming::Text(text) => self.socket.read(&text).map(StreamItem::Event),
            Incoming::Binary(frame) => Ok(StreamItem::Frame(frame)),
        }
    }

    /// Types, pastes, resizes, acknowledges. Waits while the agentctl does not read.
    ///
    /// # Errors
    /// [`Error::Unsendable`] or [`Error::Closed`].
    pub async fn send(&mut self, input: &StreamInput) -> Result<(), Error> {
        self.socket.send(input).await
    }
}
