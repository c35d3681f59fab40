//! Requests and streams as they should go, over each kind of connection.

use std::path::Path;

use axum::Router;
use axum::extract::ws::{Message, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::{get, post};
use relight::domain::ids::TerminalId;
use relight::domain::launch::{Exit, Size};
use relight::domain::words::ErrorCode;
use relight::link::Error;
use relight::link::agentctl::AgentctlClient;
use relight::link::endpoint::Endpoint;
use relight::link::server::{Answer, Body, answer, bounded};
use relight::link::terminal::StreamItem;
use relight::wire::agentctl::{Capabilities, Feed, SendRequest, StreamEvent};
use relight::wire::host::WireError;
use relight::wire::input::StreamInput;

use super::support::{Server, within};

fn router() -> Router {
    Router::new()
        .route("/capabilities", get(capabilities))
        .route("/terminals/{id}/input", post(input))
        .route("/terminals/{id}/stream", get(stream))
        .route("/journal/stream", get(feed))
}

async fn capabilities() -> Answer<Capabilities> {
    answer(Ok(Capabilities { supports_session_resume: true, supports_workspace_only: false }))
}

async fn input(Body(request): Body<SendRequest>) -> Answer<serde_json::Value> {
    match request.text.as_str() {
        "hello" => answer(Ok(serde_json::json!({}))),
        _ => answer(Err(WireError::new(ErrorCode::AgentNotRunning, "no agent").hint("resume it"))),
    }
}

async fn feed(upgrade: WebSocketUpgrade) -> Response {
    bounded(upgrade).on_upgrade(|mut socket| async move {
        let text = serde_json::to_string(&Feed::CaughtUp { seq: 7 }).unwrap();
        socket.send(Message::text(text)).await.unwrap();
    })
}

/// Answers each input with its number of bytes as a frame, and ends at `Keyframe`.
async fn stream(upgrade: WebSocketUpgrade) -> Response {
    bounded(upgrade).on_upgrade(|mut socket| async move {
        while let Some(Ok(Message::Text(text))) = socket.recv().await {
            match serde_json::from_str(&text).unwrap() {
                StreamInput::Keyframe => {
                    let event = serde_json::to_string(&StreamEvent::Exited { exit: Exit::Code(3) }).unwrap();
                    socket.send(Message::text(event)).await.unwrap();
                    return;
                }
                StreamInput::Text { text } => {
                    socket.send(Message::binary(text.len().to_string().into_bytes())).await.unwrap();
                }
                other => panic!("{other:?}"),
            }
        }
    })
}

async fn check(endpoint: Endpoint) {
    let client = AgentctlClient::new(endpoint, None);
    let terminal = TerminalId::new("t1").unwrap();
    assert!(client.capabilities().await.unwrap().supports_session_resume);

    let send = |text: &str| SendRequest { text: text.into(), enter: true, prompt: None };
    client.send(&terminal, &send("hello")).await.unwrap();
    let refused = client.send(&terminal, &send("other")).await.unwrap_err();
    assert!(
        matches!(&refused, Error::Remote(error) if error.code == ErrorCode::AgentNotRunning
            && error.hint.as_deref() == Some("resume it")),
        "{refused:?}"
    );
    let refused = client.resize(&terminal, Size::DEFAULT).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnknownMethod, "{refused}");
    let refused = client.feed(0).await.unwrap().next().await.unwrap();
    assert_eq!(refused, Feed::CaughtUp { seq: 7 });

    let mut stream = client.stream(&terminal).await.unwrap();
    // A megabyte arrives whole, whatever the buffers between are.
    for bytes in [1, 1_000_000] {
        stream.send(&StreamInput::Text { text: "x".repeat(bytes) }).await.unwrap();
        assert_eq!(stream.next().await.unwrap(), StreamItem::Frame(bytes.to_string().into_bytes().into()));
    }
    let refused = stream.send(&StreamInput::Text { text: "x".repeat(5_000_000) }).await.unwrap_err();
    assert!(matches!(refused, Error::Unsendable { .. }), "{refused}");
    stream.send(&StreamInput::Keyframe).await.unwrap();
    let end = StreamItem::Event(StreamEvent::Exited { exit: Exit::Code(3) });
    assert_eq!(stream.next().await.unwrap(), end);
    let closed = stream.next().await.unwrap_err();
    assert!(matches!(closed, Error::Closed { .. }), "{closed}");
}

#[tokio::test]
async fn requests_and_streams_go_over_a_unix_socket() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let server = Server::unix(&path, router());
    let url = server.endpoint.to_string();
    within("all requests", check(url.parse().unwrap())).await;
    server.stop().await;
    assert!(!path.exists(), "a listener that ends takes its path along");
    nobody(&path).await;
}

#[tokio::test]
async fn requests_and_streams_go_through_memory() {
    let server = Server::memory(router());
    let endpoint = server.endpoint.clone();
    within("all requests", check(endpoint.clone())).await;
    server.stop().await;
    let error = AgentctlClient::new(endpoint, None).capabilities().await.unwrap_err();
    assert!(matches!(error, Error::NobodyThere { .. }), "{error:?}");
}

async fn nobody(path: &Path) {
    let error = AgentctlClient::new(Endpoint::Unix(path.to_owned()), None).capabilities().await.unwrap_err();
    assert!(matches!(error, Error::NobodyThere { .. }), "{error:?}");
}

#[tokio::test]
async fn a_missing_socket_a_dead_one_and_a_missing_directory_are_nobody() {
    let dir = tempfile::tempdir().unwrap();
    nobody(&dir.path().join("none.sock")).await;
    nobody(&dir.path().join("none/none.sock")).await;
    nobody(&dir.path().join("n".repeat(150)).join("none.sock")).await;
    let dead = dir.path().join("dead.sock");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    nobody(&dead).await;
}

#[tokio::test]
async fn a_socket_that_is_bound_and_never_served_is_silent() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mute.sock");
    let _mute = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let client = AgentctlClient::new(Endpoint::Unix(path), None);
    let error = within("the deadline of health", client.health()).await.unwrap_err();
    assert!(matches!(error, Error::Silent { .. }), "{error:?}");
    assert_eq!(error.code(), ErrorCode::Timeout);
}

#[tokio::test]
async fn only_workspace_paths_are_passed_through() {
    let client = AgentctlClient::new(Server::memory(router()).endpoint, None);
    let error = client.workspace("/shutdown").await.unwrap_err();
    assert!(matches!(error, Error::Unsendable { .. }), "{error:?}");
}
