//! One client: reads its requests, runs them side by side, and ends with it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures_util::stream::SplitStream;
use futures_util::{FutureExt, StreamExt};
use serde::de::DeserializeOwned;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::domain::words::ErrorCode;
use crate::host::api::{Api, ClientId};
use crate::serve::events;
use crate::serve::outbox::Outbox;
use crate::serve::screens::Screens;
use crate::serve::streams::Streams;
use crate::wire::host::{DetachedOthers, OfStream, Push, Request, Screen, Subscribe, TerminalInput, WireError};

/// Calls of one client that run at the same time; a client of ours has a handful.
const MAX_CALLS: u32 = 64;
/// Subscriptions of one client at most: one for everything and one for each session that it looks at.
const MAX_SUBSCRIPTIONS: usize = 64;
/// At the end of the host, calls under way have this long to be answered.
const CALLS_DEADLINE: Duration = Duration::from_secs(1);
/// Then the client has this long to take what waits for it.
const FLUSH_DEADLINE: Duration = Duration::from_secs(2);

/// Serves one client until it is gone or the host ends.
pub async fn client<A: Api>(
    socket: WebSocket,
    api: Arc<A>,
    screens: Arc<Screens>,
    id: ClientId,
    mut ended: watch::Receiver<bool>,
) {
    api.client_came(id);
    let connection = Arc::new(Connection {
        api,
        screens,
        id,
        outbox: Arc::default(),
        streams: Arc::default(),
        calls: Arc::new(Semaphore::new(MAX_CALLS as usize)),
        subscriptions: AtomicUsize::new(0),
    });
    let _leave = Leave(Arc::clone(&connection));
    let (sink, stream) = socket.split();
    let writer = connection.outbox.write(sink);
    tokio::pin!(writer);
    let why = tokio::select! {
        why = &mut writer => why,
        why = read(stream, &connection) => {
            connection.outbox.close(&why);
            if tokio::time::timeout(FLUSH_DEADLINE, &mut writer).await.is_err() {
                tracing::debug!(client = %id, "the client did not take what waited for it");
            }
            why
        }
        () = over(&mut ended) => {
            let farewell = farewell(&connection);
            let flushed = tokio::time::timeout(CALLS_DEADLINE + FLUSH_DEADLINE, &mut writer);
            if tokio::join!(farewell, flushed).1.is_err() {
                tracing::debug!(client = %id, "the client did not take its goodbye");
            }
            "the host ends".to_owned()
        }
    };
    tracing::debug!(client = %id, why, "a client is gone");
}

struct Connection<A: Api> {
    api: Arc<A>,
    screens: Arc<Screens>,
    id: ClientId,
    outbox: Arc<Outbox>,
    streams: Arc<Streams>,
    calls: Arc<Semaphore>,
    subscriptions: AtomicUsize,
}

/// Whatever ends a client's task, its streams end and the host is told.
struct Leave<A: Api>(Arc<Connection<A>>);

impl<A: Api> Drop for Leave<A> {
    fn drop(&mut self) {
        self.0.outbox.abandon("the client is gone");
        self.0.streams.close();
        self.0.screens.left(self.0.id);
        self.0.api.client_gone(self.0.id);
    }
}

async fn over(ended: &mut watch::Receiver<bool>) {
    if ended.wait_for(|ended| *ended).await.is_err() {
        tracing::debug!("the server is gone");
    }
}

async fn farewell<A: Api>(connection: &Connection<A>) {
    let calls = connection.calls.acquire_many(MAX_CALLS);
    if tokio::time::timeout(CALLS_DEADLINE, calls).await.is_err() {
        tracing::debug!(client = %connection.id, "calls under way are not answered any more");
    }
    let goodbye = Push::Goodbye { why: "the host ends".into() };
    if connection.outbox.push(&goodbye).is_ok() {
        connection.outbox.close("the host ends");
    }
}

/// Reads requests until the client is gone or says something that is none; why it ended.
async fn read<A: Api>(mut stream: SplitStream<WebSocket>, connection: &Arc<Connection<A>>) -> String {
    loop {
        let text = match stream.next().await {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Binary(_))) => return "it sent a binary message, which means nothing here".into(),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
            Some(Ok(Message::Close(_))) | None => return "it closed the connection".into(),
            Some(Err(error)) => return error.to_string(),
        };
        match serde_json::from_str::<Request>(&text) {
            Ok(request) => take(connection, request).await,
            Err(error) => return format!("it sent what is no request: {error}"),
        }
    }
}

/// Input, detaching and what a client is are done here, in the order of the client; everything else by a task of its own.
async fn take<A: Api>(connection: &Arc<Connection<A>>, request: Request) {
    let Request { id, method, params } = request;
    let outcome = match method.as_str() {
        "terminal.input" => match read_params::<TerminalInput>(&method, params) {
            Ok(TerminalInput { stream, input }) => connection.streams.input(stream, input, &connection.outbox).await,
            Err(error) => Err(error),
        },
        "terminal.detach" => read_params::<OfStream>(&method, params)
            .map(|OfStream { stream }| connection.streams.detach(stream, &connection.outbox)),
        "client.screen" => read_params::<Screen>(&method, params)
            .map(|Screen { name }| connection.screens.came(connection.id, name, &connection.outbox)),
        _ => match Arc::clone(&connection.calls).try_acquire_owned() {
            Ok(permit) => {
                tokio::spawn(run(Arc::clone(connection), id, method, params, permit));
                return;
            }
            Err(_) => Err(WireError::new(
                ErrorCode::TooManyConnections,
                format!("`{method}` is refused: {MAX_CALLS} calls of this client are still without an answer"),
            )
            .hint("try again when some were answered")),
        },
    };
    // The reader waits for room: a client that reads no replies is not read either.
    if connection.outbox.reply(id, outcome.map(|()| serde_json::json!({}))).await.is_err() {
        tracing::debug!(client = %connection.id, "gone before its reply");
    }
}

/// One call, to its end, also when its client is gone. One that panics is answered like any other that fails.
async fn run<A: Api>(
    connection: Arc<Connection<A>>,
    id: Option<u64>,
    method: String,
    params: serde_json::Value,
    permit: OwnedSemaphorePermit,
) {
    let answered = AssertUnwindSafe(answer(&connection, id, &method, params)).catch_unwind().await;
    let failed = match answered {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error),
        Err(_) => {
            tracing::error!(method, "a call panicked");
            let text = format!("`{method}` failed inside the host; its log says where");
            Some(WireError::new(ErrorCode::Internal, text).hint("please report it with the host's log"))
        }
    };
    if let Some(error) = failed
        && connection.outbox.reply(id, Err(error)).await.is_err()
    {
        tracing::debug!(client = %connection.id, method, "gone before its reply");
    }
    drop(permit);
}

/// Runs the call and sends what came of it, but for errors.
async fn answer<A: Api>(
    connection: &Arc<Connection<A>>,
    id: Option<u64>,
    method: &str,
    params: serde_json::Value,
) -> Result<(), WireError> {
    match method {
        "terminal.attach" => {
            let attached = connection.api.attach(connection.id, read_params(method, params)?).await?;
            connection.streams.attach(id, attached, &connection.outbox)
        }
        "events.subscribe" => subscribe(connection, id, params).await,
        _ => {
            let result = match method {
                "client.detach_others" => detach_others(connection)?,
                _ => connection.api.call(connection.id, method, params).await?,
            };
            if connection.outbox.reply(id, Ok(result)).await.is_err() {
                tracing::debug!(client = %connection.id, method, "gone before its reply");
            }
            Ok(())
        }
    }
}

fn detach_others<A: Api>(connection: &Connection<A>) -> Result<serde_json::Value, WireError> {
    let screens = connection.screens.detach_others(connection.id);
    serde_json::to_value(DetachedOthers { screens })
        .map_err(|error| WireError::new(ErrorCode::Internal, format!("the answer cannot be written: {error}")))
}

async fn subscribe<A: Api>(
    connection: &Arc<Connection<A>>,
    id: Option<u64>,
    params: serde_json::Value,
) -> Result<(), WireError> {
    let wanted = if params.is_null() { Subscribe::default() } else { read_params("events.subscribe", params)? };
    let counted = Counted::new(Arc::clone(connection)).ok_or_else(|| {
        let text = format!("this client has {MAX_SUBSCRIPTIONS} subscriptions, more are not accepted");
        WireError::new(ErrorCode::TooManyConnections, text)
    })?;
    let subscription = connection.api.subscribe(wanted.clone()).await?;
    tokio::spawn(async move {
        if events::pump(id, subscription, wanted, &counted.0.outbox).await.is_err() {
            tracing::debug!(client = %counted.0.id, "its subscription ended with it");
        }
    });
    Ok(())
}

/// A subscription that counts while it lives.
struct Counted<A: Api>(Arc<Connection<A>>);

impl<A: Api> Counted<A> {
    fn new(connection: Arc<Connection<A>>) -> Option<Self> {
        let one_more = |count| (count < MAX_SUBSCRIPTIONS).then_some(count + 1);
        connection.subscriptions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(Self(connection))
    }
}

impl<A: Api> Drop for Counted<A> {
    fn drop(&mut self) {
        self.0.subscriptions.fetch_sub(1, Ordering::Relaxed);
    }
}

fn read_params<T: DeserializeOwned>(method: &str, params: serde_json::Value) -> Result<T, WireError> {
    serde_json::from_value(params).map_err(|error| {
        WireError::new(ErrorCode::BadRequest, format!("the parameters of `{method}` cannot be read: {error}"))
    })
}
