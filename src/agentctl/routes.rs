//! The interface of one agentctl: paths, bodies and answers. What they do is elsewhere.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::response::Response;
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::domain::ids::TerminalId;
use crate::domain::journal::Record;
use crate::domain::launch::Size;
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::link::server::{Answer, Body, Name, Params, answer, bounded};
use crate::wire::PROTOCOL;
use crate::wire::agentctl::{
    Capabilities, Captured, CloseReply, CloseRequest, Health, LaunchReply, LaunchRequest, SendRequest, TerminalInfo,
};
use crate::wire::host::WireError;

use super::order::{Handle, Order};
use super::shared::Shared;
use super::{ending, feed, files, launch, stream};

/// Records in one answer.
const RECORDS: usize = 1000;

type Here = State<Arc<Shared>>;
type Empty = Map<String, Value>;

/// The router.
pub fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/capabilities", get(capabilities))
        .route("/terminals", get(terminals).post(launch_terminal))
        .route("/terminals/{id}/fate", get(fate))
        .route("/terminals/{id}/cancel", post(cancel))
        .route("/terminals/{id}/input", post(input))
        .route("/terminals/{id}/resize", post(resize))
        .route("/terminals/{id}/close", post(close))
        .route("/terminals/{id}/capture", get(capture))
        .route("/terminals/{id}/stream", get(stream_terminal))
        .route("/journal", get(journal))
        .route("/journal/stream", get(journal_stream))
        .route("/hooks", post(hooks))
        .route("/shutdown", post(shutdown))
        .merge(files::router())
        .with_state(shared)
}

/// Does the work in a task of its own: it goes on to its end even if the one who asked hangs up.
async fn whole<T: Send + 'static>(
    work: impl Future<Output = Result<T, WireError>> + Send + 'static,
) -> Result<T, WireError> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|error| Err(WireError::new(ErrorCode::Internal, format!("the request failed: {error}"))))
}

fn terminal(shared: &Shared, id: &str) -> Result<Arc<Handle>, WireError> {
    shared.terminal(&terminal_id(id)?)
}

fn terminal_id(id: &str) -> Result<TerminalId, WireError> {
    TerminalId::new(id).map_err(|error| WireError::new(ErrorCode::BadRequest, error.to_string()))
}

async fn health(State(shared): Here) -> Answer<Health> {
    answer(Ok(Health {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        session_id: shared.session.clone(),
        identity: shared.me.clone(),
        incarnation: shared.ledger.incarnation(),
        journal: shared.ledger.id(),
        journal_seq: shared.ledger.seq(),
        terminals: shared.terminals().iter().map(|handle| handle.info()).collect(),
    }))
}

async fn capabilities() -> Answer<Capabilities> {
    answer(Ok(Capabilities { supports_session_resume: true, supports_workspace_only: true }))
}

async fn terminals(State(shared): Here) -> Answer<Vec<TerminalInfo>> {
    answer(Ok(shared.terminals().iter().map(|handle| handle.info()).collect()))
}

async fn launch_terminal(State(shared): Here, Body(request): Body<LaunchRequest>) -> Answer<LaunchReply> {
    answer(whole(async move { launch::launch(&shared, request).await }).await)
}

async fn fate(State(shared): Here, Name(id): Name) -> Answer<LaunchReply> {
    answer(Ok(launch::fate(&shared, &terminal_id(&id)?).await))
}

async fn cancel(State(shared): Here, Name(id): Name) -> Answer<LaunchReply> {
    let id = terminal_id(&id)?;
    answer(whole(async move { launch::cancel(&shared, &id).await }).await)
}

async fn input(State(shared): Here, Name(id): Name, Body(request): Body<SendRequest>) -> Answer<Empty> {
    shared.serving()?;
    let handle = terminal(&shared, &id)?;
    let typed = |tell: oneshot::Sender<Result<(), WireError>>| Order::Type {
        text: request.text,
        enter: request.enter,
        prompt: request.prompt,
        tell,
    };
    answer(handle.ask(typed).await?.map(|()| Empty::new()))
}

async fn resize(State(shared): Here, Name(id): Name, Body(size): Body<Size>) -> Answer<Empty> {
    terminal(&shared, &id)?.order(Order::Resize(size)).await?;
    answer(Ok(Empty::new()))
}

async fn close(State(shared): Here, Name(id): Name, Body(request): Body<CloseRequest>) -> Answer<CloseReply> {
    let id = terminal_id(&id)?;
    answer(whole(async move { ending::close(&shared, &id, request).await }).await)
}

/// What of a terminal is wanted.
#[derive(Debug, Deserialize)]
struct CaptureParams {
    #[serde(default)]
    history: usize,
    #[serde(default)]
    ansi: bool,
}

async fn capture(State(shared): Here, Name(id): Name, Params(params): Params<CaptureParams>) -> Answer<Captured> {
    let handle = terminal(&shared, &id)?;
    let lines = handle.ask(|tell| Order::Capture(params.history, params.ansi, tell)).await?;
    answer(Ok(Captured { lines }))
}

async fn stream_terminal(
    State(shared): Here,
    Name(id): Name,
    upgrade: WebSocketUpgrade,
) -> Result<Response, WireError> {
    let handle = terminal(&shared, &id)?;
    Ok(bounded(upgrade).on_upgrade(move |socket| stream::serve(shared, handle, socket)))
}

/// From where records are wanted.
#[derive(Debug, Deserialize)]
struct After {
    #[serde(default)]
    after: u64,
}

async fn journal(State(shared): Here, Params(params): Params<After>) -> Answer<Vec<Record>> {
    answer(shared.ledger.read(params.after, RECORDS).map_err(|error| error.wire()))
}

async fn journal_stream(
    State(shared): Here,
    Params(params): Params<After>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, WireError> {
    Ok(bounded(upgrade).on_upgrade(move |socket| feed::serve(shared, socket, params.after)))
}

async fn hooks(State(shared): Here) -> Answer<Empty> {
    for handle in shared.terminals().iter().filter(|handle| handle.kind == TerminalKind::Agent) {
        // A closed terminal has no hooks to read.
        let _ = handle.order(Order::Hooks).await;
    }
    answer(Ok(Empty::new()))
}

async fn shutdown(State(shared): Here) -> Answer<Empty> {
    answer(
        whole(async move {
            ending::end(&shared, "shutdown").await;
            Ok(Empty::new())
        })
        .await,
    )
}
