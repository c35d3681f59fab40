//! The typed client of the host: calls with replies, and what the host sends by itself, over one WebSocket.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::tungstenite::Message;

use crate::link::endpoint::Endpoint;
use crate::link::error::Error;
use crate::link::http::{Ask, DEADLINE, Remote};
use crate::link::lane::{Bounds, Item, Lane, Shut};
use crate::link::socket::{Incoming, Ws, incoming, open, text, why};
use crate::wire::frame::Frame;
use crate::wire::host::{Hello, Push, Reply, ReplyOutcome, Request};

/// Calls under way before further ones wait: what one key burst makes.
const OUTGOING: usize = 64;
/// Pushes that wait for a reader; with more, the socket is not read either, and the host waits.
const EVENTS: Bounds = Bounds { events: 1024, bytes: 32 * 1024 * 1024 };
/// A reader that makes no room for this long has stopped reading: the connection ends, since replies wait as well.
const READER_DEADLINE: Duration = Duration::from_secs(5);
/// Calls that wait for a launch, a fence or git.
const SLOW_DEADLINE: Duration = Duration::from_secs(45);
/// Who serves there is known at once.
const HELLO_DEADLINE: Duration = Duration::from_secs(3);

/// Something that the host sends by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum HostItem {
    /// An event, activity, or something of a stream.
    Push(Push),
    /// A frame of an attached stream. The first ones may come before the call of `terminal.attach` returned: keep them.
    Frame {
        /// Stream.
        stream: u32,
        /// Frame. Older ones that were not read in time are left out.
        frame: Frame,
    },
    /// The connection ended, for this reason; nothing follows.
    Closed(String),
}

type Lanes = Lane<Push, Frame>;
type Waiting = oneshot::Sender<ReplyOutcome>;

#[derive(Debug, Default)]
struct Calls {
    waiting: HashMap<u64, Waiting>,
    ended: Option<String>,
}

#[derive(Debug)]
struct Shared {
    at: String,
    next_id: AtomicU64,
    calls: Mutex<Calls>,
}

impl Shared {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> Error {
        let why = self.calls().ended.clone().unwrap_or_else(|| "the connection is gone".into());
        Error::Closed { at: self.at.clone(), why }
    }
}

/// The calling half. Cheap to clone. The connection ends when every clone and the [`HostEvents`] are dropped.
#[derive(Debug, Clone)]
pub struct HostClient {
    shared: Arc<Shared>,
    out: mpsc::Sender<Message>,
}

/// The listening half.
#[derive(Debug)]
pub struct HostEvents {
    lane: Arc<Lanes>,
}

/// Asks who serves at `endpoint`, within 3 s.
///
/// # Errors
/// As [`Remote::ask`]; [`Error::VersionMismatch`] names the version of the host there.
pub async fn hello(endpoint: &Endpoint) -> Result<Hello, Error> {
    Remote::new(endpoint.clone(), None).ask(Ask::get("/hello").within(HELLO_DEADLINE)).await
}

impl HostClient {
    /// Connects.
    ///
    /// # Errors
    /// As [`Remote::ask`].
    pub async fn connect(endpoint: Endpoint) -> Result<(Self, HostEvents), Error> {
        let at = endpoint.to_string();
        let ws = open(&Remote::new(endpoint, None), "/ws").await?;
        let (out, outgoing) = mpsc::channel(OUTGOING);
        let lane = Arc::new(Lane::new(EVENTS));
        let shared = Arc::new(Shared { at, next_id: AtomicU64::new(1), calls: Mutex::default() });
        tokio::spawn(run(ws, outgoing, Arc::clone(&shared), Arc::clone(&lane)));
        Ok((Self { shared, out }, HostEvents { lane }))
    }

    /// Calls `method` and waits for the reply: 10 s, or 45 s where a launch, an end or git is waited for.
    ///
    /// # Errors
    /// [`Error::Remote`] as the host answered; [`Error::Silent`] (its fate is unknown), [`Error::Closed`],
    /// [`Error::Unsendable`], [`Error::Unreadable`].
    pub async fn call<P: Serialize, R: DeserializeOwned>(&self, method: &str, params: P) -> Result<R, Error> {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let message = request(Some(id), method, params)?;
        let (reply, answered) = oneshot::channel();
        let _forget = {
            let mut calls = self.shared.calls();
            if calls.ended.is_some() {
                drop(calls);
                return Err(self.shared.closed());
            }
            calls.waiting.insert(id, reply);
            Forget { shared: &self.shared, id }
        };
        let outcome = self.within(method, deadline(method), async {
            self.out.send(message).await.map_err(|_| self.shared.closed())?;
            answered.await.map_err(|_| self.shared.closed())
        });
        match outcome.await? {
            ReplyOutcome::Error(error) => Err(Error::Remote(error)),
            ReplyOutcome::Result(value) => read(value).map_err(|error| Error::Unreadable {
                at: self.shared.at.clone(),
                what: method.to_owned(),
                why: error.to_string(),
            }),
        }
    }

    /// Sends `method` without waiting for a reply; waits only while the host does not read, 10 s at most. What one caller
    /// sends stays in order.
    ///
    /// # Errors
    /// [`Error::Silent`], [`Error::Closed`], [`Error::Unsendable`].
    pub async fn notify<P: Serialize>(&self, method: &str, params: P) -> Result<(), Error> {
        let message = request(None, method, params)?;
        self.within(method, DEADLINE, async { self.out.send(message).await.map_err(|_| self.shared.closed()) }).await
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.out.is_closed()
    }

    async fn within<T>(
        &self,
        method: &str,
        deadline: Duration,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::time::timeout(deadline, work).await.unwrap_or_else(|_| {
            Err(Error::Silent { at: self.shared.at.clone(), what: method.to_owned(), after: deadline })
        })
    }
}

/// Nobody waits for the reply to a call any more.
struct Forget<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.shared.calls().waiting.remove(&self.id);
    }
}

fn deadline(method: &str) -> Duration {
    match method {
        "session.create" | "session.adopt" | "session.resume" | "session.kill" | "session.shell" | "session.send"
        | "session.workspace" | "terminal.close" | "host.stop" => SLOW_DEADLINE,
        _ => DEADLINE,
    }
}

fn request(id: Option<u64>, method: &str, params: impl Serialize) -> Result<Message, Error> {
    let unsendable = |error: serde_json::Error| Error::Unsendable { what: method.to_owned(), why: error.to_string() };
    let params = serde_json::to_value(params).map_err(unsendable)?;
    text(method, &Request { id, method: method.to_owned(), params })
}

/// An empty result may be read as `()`.
fn read<R: DeserializeOwned>(value: serde_json::Value) -> Result<R, serde_json::Error> {
    if value.as_object().is_some_and(serde_json::Map::is_empty)
        && let Ok(unit) = serde_json::from_value(serde_json::Value::Null)
    {
        return Ok(unit);
    }
    serde_json::from_value(value)
}

impl HostEvents {
    /// The next item; after the end always [`HostItem::Closed`]. Dropping the future loses nothing.
    pub async fn next(&mut self) -> HostItem {
        match self.lane.next().await {
            Ok(Item::Event(push)) => HostItem::Push(push),
            Ok(Item::Frame(stream, frame)) => HostItem::Frame { stream, frame },
            Err(why) => HostItem::Closed(why),
        }
    }
}

impl Drop for HostEvents {
    fn drop(&mut self) {
        self.lane.abandon("nobody listens");
    }
}

async fn run(ws: Ws, mut outgoing: mpsc::Receiver<Message>, shared: Arc<Shared>, lane: Arc<Lanes>) {
    let (mut sink, mut stream) = ws.split();
    let ended = tokio::select! {
        ended = send(&mut sink, &mut outgoing, &lane) => ended,
        ended = receive(&mut stream, &shared, &lane) => ended,
    };
    outgoing.close();
    lane.close(ended.clone());
    let mut calls = shared.calls();
    calls.ended = Some(ended);
    calls.waiting.clear();
}

async fn send(sink: &mut SplitSink<Ws, Message>, outgoing: &mut mpsc::Receiver<Message>, lane: &Lanes) -> String {
    while let Some(message) = outgoing.recv().await {
        if let Err(error) = sink.send(message).await {
            return why(Some(&error));
        }
    }
    // No caller is left; somebody may still listen.
    lane.closed().await;
    "no longer used".into()
}

async fn receive(stream: &mut SplitStream<Ws>, shared: &Shared, lane: &Lanes) -> String {
    loop {
        let message = match stream.next().await {
            Some(Ok(message)) => message,
            Some(Err(error)) => return why(Some(&error)),
            None => return why(None),
        };
        let taken = match incoming(message) {
            Some(Incoming::Text(text)) => take_text(&text, shared, lane).await,
            Some(Incoming::Binary(bytes)) => take_frame(bytes, lane),
            None => Ok(()),
        };
        if let Err(ended) = taken {
            return ended;
        }
    }
}

/// What tells a reply from a push.
#[derive(serde::Deserialize)]
struct Probe {
    push: Option<IgnoredAny>,
}

async fn take_text(text: &Bytes, shared: &Shared, lane: &Lanes) -> Result<(), String> {
    let bad = |error: serde_json::Error| format!("a message of the host cannot be read: {error}");
    if serde_json::from_slice::<Probe>(text).map_err(bad)?.push.is_none() {
        let reply: Reply = serde_json::from_slice(text).map_err(bad)?;
        let waiting = shared.calls().waiting.remove(&reply.id);
        if let Some(waiting) = waiting
            && waiting.send(reply.outcome).is_err()
        {
            tracing::debug!(id = reply.id, "a reply came too late");
        }
        return Ok(());
    }
    let push = match serde_json::from_slice::<Push>(text) {
        Ok(push) => push,
        Err(error) => {
            tracing::warn!(%error, "a push of the host cannot be read and is left out");
            return Ok(());
        }
    };
    // That nobody listens any more is no reason to end: there may be calls.
    match tokio::time::timeout(READER_DEADLINE, lane.push_wait(push, text.len())).await {
        Ok(Ok(()) | Err(Shut)) => Ok(()),
        Err(_) => Err(format!("fell behind: no event was read for {} s", READER_DEADLINE.as_secs())),
    }
}

fn take_frame(mut bytes: Bytes, lane: &Lanes) -> Result<(), String> {
    if bytes.len() < 4 {
        return Err(format!("a binary message of {} bytes names no stream", bytes.len()));
    }
    let stream = bytes.get_u32();
    match Frame::decode(&bytes) {
        Ok(frame) => {
            let key = frame.head.base == 0;
            lane.frame(stream, frame, || key);
        }
        // The next one builds on a state that the viewer lacks, so it will ask for everything.
        Err(error) => tracing::warn!(stream, %error, "a frame cannot be read and is left out"),
    }
    Ok(())
}
