//! What waits to be sent to one client, and the writer that sends it.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use serde::Serialize;

use crate::domain::words::ErrorCode;
use crate::link::lane::{Bounds, Item, Lane};
use crate::wire::frame::{Frame, MAX_FRAME_BYTES};
use crate::wire::host::{Push, Reply, ReplyOutcome, WireError};

/// Messages besides frames that wait for a client: a burst of events and replies fits, and a client that is further behind
/// than this sees nothing in time anyway.
const BOUNDS: Bounds = Bounds { events: 1024, bytes: 8 * 1024 * 1024 };
/// A client that takes nothing of one message for this long is dropped (a stopped one, for example) and connects again when
/// it goes on.
const WRITE_DEADLINE: Duration = Duration::from_secs(30);
/// A reason in a WebSocket's close message has at most 123 bytes.
const MAX_REASON_BYTES: usize = 123;
/// Close code for "the endpoint goes away".
const GOING_AWAY: u16 = 1001;

/// The outgoing side of one client.
#[derive(Debug)]
pub struct Outbox {
    lane: Lane<String, Bytes>,
}

/// The client is gone; nobody needs to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

impl Default for Outbox {
    fn default() -> Self {
        Self { lane: Lane::new(BOUNDS) }
    }
}

impl Outbox {
    /// Sends the answer of call `id` as soon as there is room. Without an id nobody wants it.
    ///
    /// # Errors
    /// [`Gone`].
    pub async fn reply(&self, id: Option<u64>, outcome: Result<serde_json::Value, WireError>) -> Result<(), Gone> {
        let Some(id) = id else { return Ok(()) };
        let outcome = match outcome {
            Ok(value) => ReplyOutcome::Result(value),
            Err(error) => ReplyOutcome::Error(error),
        };
        let mut text = json(&Reply { id, outcome });
        if text.len() > MAX_FRAME_BYTES {
            let why = format!("the answer has {} bytes and is too long to be sent", text.len());
            text = json(&Reply { id, outcome: ReplyOutcome::Error(WireError::new(ErrorCode::Internal, why)) });
        }
        self.wait(text).await
    }

    /// Sends `push` as soon as there is room.
    ///
    /// # Errors
    /// [`Gone`].
    pub async fn push_wait(&self, push: &Push) -> Result<(), Gone> {
        self.wait(json(push)).await
    }

    async fn wait(&self, text: String) -> Result<(), Gone> {
        let bytes = text.len();
        self.lane.push_wait(text, bytes).await.map_err(|_| Gone)
    }

    /// Sends `push` now. A client without room for it has fallen behind too far, and its connection ends.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn push(&self, push: &Push) -> Result<(), Gone> {
        let text = json(push);
        let bytes = text.len();
        self.lane.push(text, bytes).map_err(|_| {
            self.lane.close("this client fell behind");
            Gone
        })
    }

    /// Sends a frame, in place of older ones where they pile up.
    pub fn frame(&self, stream: u32, frame: Bytes) {
        let same = frame.clone();
        self.lane.frame(stream, frame, || Frame::decode(&same).is_ok_and(|frame| frame.head.base == 0));
    }

    /// Drops the frames of a stream that was detached.
    pub fn forget(&self, stream: u32) {
        self.lane.forget(stream);
    }

    /// Ends the connection once what waits is sent.
    pub fn close(&self, why: &str) {
        self.lane.close(why);
    }

    /// Ends the connection at once.
    pub fn abandon(&self, why: &str) {
        self.lane.abandon(why);
    }

    /// Whether nothing more is taken.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lane.is_closed()
    }

    /// Waits until the connection ends.
    pub async fn closed(&self) {
        self.lane.closed().await;
    }

    /// Sends what comes until it is closed or the client takes nothing; why it ended.
    pub async fn write(&self, mut sink: SplitSink<WebSocket, Message>) -> String {
        loop {
            let message = match self.lane.next().await {
                Ok(Item::Event(text)) => Message::text(text),
                Ok(Item::Frame(stream, frame)) => Message::binary(numbered(stream, &frame)),
                Err(why) => {
                    let close = Message::Close(Some(CloseFrame { code: GOING_AWAY, reason: reason(&why).into() }));
                    if send(&mut sink, close).await.is_err() {
                        tracing::debug!("a client was gone before it could be told why");
                    }
                    return why;
                }
            };
            if let Err(why) = send(&mut sink, message).await {
                return why;
            }
        }
    }
}

async fn send(sink: &mut SplitSink<WebSocket, Message>, message: Message) -> Result<(), String> {
    match tokio::time::timeout(WRITE_DEADLINE, sink.send(message)).await {
        Ok(sent) => sent.map_err(|error| error.to_string()),
        Err(_) => Err(format!("the client took nothing for {} s", WRITE_DEADLINE.as_secs())),
    }
}

fn numbered(stream: u32, frame: &Bytes) -> Bytes {
    let mut message = BytesMut::with_capacity(4 + frame.len());
    message.put_u32(stream);
    message.extend_from_slice(frame);
    message.freeze()
}

fn reason(why: &str) -> &str {
    let mut end = why.len().min(MAX_REASON_BYTES);
    while !why.is_char_boundary(end) {
        end -= 1;
    }
    why.get(..end).unwrap_or_default()
}

/// These messages have no map with keys that are not text, so they are always JSON.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
