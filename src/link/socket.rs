//! The client's half of a WebSocket: whole messages, bounded, without a task of its own.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as WsError, Message};

use crate::link::error::Error;
use crate::link::http::Remote;
use crate::wire::MAX_MESSAGE_BYTES;
use crate::wire::frame::MAX_FRAME_BYTES;

/// Longest message read, in bytes: a frame and the number of its stream.
const MAX_INCOMING_BYTES: usize = MAX_FRAME_BYTES + 64;
/// Read buffer, in bytes: one per connection, and a host has hundreds.
const READ_BUFFER_BYTES: usize = 8 * 1024;

/// What carries a WebSocket.
pub type Ws = WebSocketStream<TokioIo<Upgraded>>;

/// A message that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// JSON.
    Text(Bytes),
    /// Anything else.
    Binary(Bytes),
}

/// Opens a WebSocket at `path`.
///
/// # Errors
/// As [`Remote::ask`].
pub async fn open(remote: &Remote, path: impl Into<String>) -> Result<Ws, Error> {
    let io = remote.upgrade(path).await?;
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(0)
        .max_message_size(Some(MAX_INCOMING_BYTES))
        .max_frame_size(Some(MAX_INCOMING_BYTES));
    Ok(WebSocketStream::from_raw_socket(io, Role::Client, Some(config)).await)
}

/// A message as its sender meant it; `None` for what only keeps the connection.
#[must_use]
pub fn incoming(message: Message) -> Option<Incoming> {
    match message {
        Message::Text(text) => Some(Incoming::Text(text.into())),
        Message::Binary(bytes) => Some(Incoming::Binary(bytes)),
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => None,
    }
}

/// Why a WebSocket ended, in words.
#[must_use]
pub fn why(error: Option<&WsError>) -> String {
    match error {
        None | Some(WsError::ConnectionClosed | WsError::AlreadyClosed) => "the other side closed it".into(),
        Some(WsError::Protocol(_)) => "the other side is gone".into(),
        Some(error) => error.to_string(),
    }
}

/// `value` as a text message.
///
/// # Errors
/// [`Error::Unsendable`] when it is no JSON or too long.
pub fn text(what: &str, value: &impl Serialize) -> Result<Message, Error> {
    let unsendable = |why: String| Error::Unsendable { what: what.to_owned(), why };
    let text = serde_json::to_string(value).map_err(|error| unsendable(error.to_string()))?;
    if text.len() > MAX_MESSAGE_BYTES {
        return Err(unsendable(format!("it has {} bytes, at most {MAX_MESSAGE_BYTES} are accepted", text.len())));
    }
    Ok(Message::text(text))
}

/// A WebSocket used by one owner.
#[derive(Debug)]
pub struct Socket {
    at: String,
    path: String,
    ws: Ws,
}

impl Socket {
    /// Opens one at `path`.
    ///
    /// # Errors
    /// As [`Remote::ask`].
    pub async fn open(remote: &Remote, path: impl Into<String>) -> Result<Self, Error> {
        let path = path.into();
        Ok(Self { at: remote.endpoint().to_string(), ws: open(remote, path.clone()).await?, path })
    }

    /// The next message. Dropping the future loses nothing.
    ///
    /// # Errors
    /// [`Error::Closed`] when the connection ended.
    pub async fn next(&mut self) -> Result<Incoming, Error> {
        loop {
            match self.ws.next().await {
                Some(Ok(message)) => {
                    if let Some(incoming) = incoming(message) {
                        return Ok(incoming);
                    }
                }
                Some(Err(error)) => return Err(self.closed(Some(&error))),
                None => return Err(self.closed(None)),
            }
        }
    }

    /// Sends `value` as JSON; waits while the other side does not read.
    ///
    /// # Errors
    /// [`Error::Unsendable`] or [`Error::Closed`].
    pub async fn send(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let message = text(&self.path, value)?;
        self.ws.send(message).await.map_err(|error| self.closed(Some(&error)))
    }

    /// Reads `bytes` as JSON.
    ///
    /// # Errors
    /// [`Error::Unreadable`].
    pub fn read<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(bytes).map_err(|error| self.unreadable(error.to_string()))
    }

    /// That a message of this connection cannot be read.
    #[must_use]
    pub fn unreadable(&self, why: impl Into<String>) -> Error {
        Error::Unreadable { at: self.at.clone(), what: self.path.clone(), why: why.into() }
    }

    fn closed(&self, error: Option<&WsError>) -> Error {
        Error::Closed { at: self.at.clone(), why: why(error) }
    }
}
