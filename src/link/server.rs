//! Serves a router on a listener: the version is checked first, and a bad client costs only its own connection.

use std::future::Future;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use bytes::Bytes;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::domain::words::ErrorCode;
use crate::wire::host::WireError;
use crate::wire::{MAX_MESSAGE_BYTES, PROTOCOL, PROTOCOL_HEADER};

/// A client must have sent the head of its request by then, also on a connection that it keeps open between requests.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);
/// A request must be read and answered by then. Longer than any client of ours waits.
const REQUEST_DEADLINE: Duration = Duration::from_secs(90);
/// At the end, requests under way have this long.
const DRAIN_DEADLINE: Duration = Duration::from_secs(2);
/// Longest head of a request, in bytes: ours have a few hundred.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Read buffer of a WebSocket, in bytes: made for each connection, and there may be hundreds.
pub const SOCKET_BUFFER_BYTES: usize = 4 * 1024;

/// Serves `router` until `stop` comes true; then accepts nothing more, lets requests under way end (2 s at most) and
/// returns. Upgraded connections (WebSockets) are on their own: their tasks must watch for the end themselves.
///
/// Around the router stand: the version check, [`MAX_MESSAGE_BYTES`] as limit of a body, a deadline for the whole request,
/// and a `bad_request` for unknown paths (which replaces the router's own fallback).
pub async fn serve<L>(mut listener: L, router: Router, stop: impl Future<Output = ()>)
where
    L: Listener,
{
    let router = router
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(DefaultBodyLimit::max(MAX_MESSAGE_BYTES))
        .layer(from_fn(speak));
    let (ending, ended) = watch::channel(false);
    let mut tasks = JoinSet::new();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            (io, _) = listener.accept() => {
                tasks.spawn(connection(io, router.clone(), ended.clone()));
            }
            Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
        }
    }
    drop(listener);
    ending.send_replace(true);
    let drained = tokio::time::timeout(DRAIN_DEADLINE, async { while tasks.join_next().await.is_some() {} });
    if drained.await.is_err() {
        tracing::debug!(left = tasks.len(), "requests under way are cut off");
    }
}

async fn connection<I>(io: I, router: Router, mut ended: watch::Receiver<bool>)
where
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .max_header_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(io), TowerToHyperService::new(router))
        .with_upgrades();
    tokio::pin!(served);
    let result = tokio::select! {
        result = served.as_mut() => result,
        () = over(&mut ended) => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// Waits for the end of the server, or for its disappearance.
async fn over(ended: &mut watch::Receiver<bool>) {
    if ended.wait_for(|ended| *ended).await.is_err() {
        tracing::debug!("the server is gone");
    }
}

async fn speak(request: Request, next: Next) -> Response {
    let mut response = match theirs(request.headers()) {
        Some(PROTOCOL) => tokio::time::timeout(REQUEST_DEADLINE, next.run(request)).await.unwrap_or_else(|_| {
            WireError::new(ErrorCode::Timeout, "the request took too long and was given up").into_response()
        }),
        other => mismatch(other).into_response(),
    };
    response.headers_mut().insert(PROTOCOL_HEADER, HeaderValue::from(PROTOCOL));
    response
}

/// The version that the other side names in its headers.
#[must_use]
pub fn theirs(headers: &HeaderMap) -> Option<u32> {
    headers.get(PROTOCOL_HEADER)?.to_str().ok()?.parse().ok()
}

fn mismatch(theirs: Option<u32>) -> WireError {
    let theirs = theirs.map_or_else(|| "names none".to_owned(), |theirs| format!("speaks protocol {theirs}"));
    WireError::new(
        ErrorCode::VersionMismatch,
        format!("this relight speaks protocol {PROTOCOL}, the one that asks {theirs}"),
    )
    .hint("use the same version on both sides: stop the older one and start it again with the newer program")
}

async fn unknown(request: Request) -> WireError {
    WireError::new(
        ErrorCode::UnknownMethod,
        format!("there is no `{} {}` here", request.method(), request.uri().path()),
    )
}

impl IntoResponse for WireError {
    fn into_response(self) -> Response {
        (status(self.code), axum::Json(self)).into_response()
    }
}

fn status(code: ErrorCode) -> StatusCode {
    use ErrorCode as E;
    match code {
        E::BadRequest => StatusCode::BAD_REQUEST,
        E::Forbidden => StatusCode::FORBIDDEN,
        E::SessionNotFound | E::TaskNotFound | E::TerminalNotFound | E::UnknownMethod => StatusCode::NOT_FOUND,
        E::VersionMismatch => StatusCode::UPGRADE_REQUIRED,
        E::TooManyConnections | E::ShuttingDown | E::ExecutorStarting => StatusCode::SERVICE_UNAVAILABLE,
        E::Timeout => StatusCode::GATEWAY_TIMEOUT,
        E::Internal | E::Database | E::DiskFull => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::CONFLICT,
    }
}

/// A handler's answer: JSON, or the error with its status.
///
/// # Errors
/// The handler's own, unchanged.
pub type Answer<T> = Result<axum::Json<T>, WireError>;

/// `T` as the answer of a handler.
///
/// # Errors
/// Those of `result`, unchanged.
pub fn answer<T: Serialize>(result: Result<T, WireError>) -> Answer<T> {
    result.map(axum::Json)
}

/// A JSON body, read whole; anything else is answered with `bad_request`.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = WireError;

    async fn from_request(request: Request, state: &S) -> Result<Self, WireError> {
        let path = request.uri().path().to_owned();
        let bad = |why: String| WireError::new(ErrorCode::BadRequest, format!("the body of `{path}`: {why}"));
        let bytes = Bytes::from_request(request, state).await.map_err(|error| bad(error.body_text()))?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| bad(error.to_string()))
    }
}

/// The one name in a path's pattern; what is no text is answered with `bad_request`.
#[derive(Debug)]
pub struct Name(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = WireError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, WireError> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(error) => Err(WireError::new(
                ErrorCode::BadRequest,
                format!("the path `{}`: {}", parts.uri.path(), error.body_text()),
            )),
        }
    }
}

/// Parameters of the query; anything else is answered with `bad_request`.
#[derive(Debug)]
pub struct Params<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = WireError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, WireError> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Self(params)),
            Err(error) => Err(WireError::new(
                ErrorCode::BadRequest,
                format!("the parameters of `{}`: {}", parts.uri.path(), error.body_text()),
            )),
        }
    }
}

/// Limits and buffers of a WebSocket on the server's side: messages of at most [`MAX_MESSAGE_BYTES`] come in, and each one
/// that goes out goes at once.
pub fn bounded<F>(upgrade: axum::extract::ws::WebSocketUpgrade<F>) -> axum::extract::ws::WebSocketUpgrade<F> {
    upgrade
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .read_buffer_size(SOCKET_BUFFER_BYTES)
        .write_buffer_size(0)
}
