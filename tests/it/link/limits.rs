//! What clients do wrong, or too much of, costs only their own connection.

use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use relight::domain::ids::TerminalId;
use relight::domain::words::ErrorCode;
use relight::link::Error;
use relight::link::agentctl::AgentctlClient;
use relight::link::endpoint::Endpoint;
use relight::link::listen::Options;
use relight::link::server::{Answer, Body, answer};
use relight::link::watch::WatchKind;
use relight::wire::MAX_MESSAGE_BYTES;
use relight::wire::agentctl::{Capabilities, SendRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::support::{Server, alone, raw, until, within};

fn router() -> Router {
    Router::new().route("/capabilities", get(capabilities)).route("/terminals/{id}/input", post(input))
}

async fn capabilities() -> Answer<Capabilities> {
    answer(Ok(Capabilities { supports_session_resume: true, supports_workspace_only: true }))
}

async fn input(Body(request): Body<SendRequest>) -> Answer<serde_json::Value> {
    assert_ne!(request.text, "panic");
    answer(Ok(serde_json::json!({})))
}

async fn fine(path: &Path) {
    let client = AgentctlClient::new(Endpoint::Unix(path.to_owned()), None);
    within("an answer", client.capabilities()).await.unwrap();
}

#[tokio::test]
async fn garbage_and_half_requests_cost_only_their_connection() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let server = Server::unix(&path, router());
    let head = "relight-protocol: 1\r\nhost: x\r\n";
    let long = "x".repeat(100_000);
    for bytes in [
        String::new(),
        "\u{0}\u{1}\u{2}".into(),
        "GET".into(),
        "GET /capabilities HTTP/1.1\r\nrelight-pro".into(),
        format!("GET /{long} HTTP/1.1\r\n{head}\r\n"),
        format!("GET / HTTP/1.1\r\n{head}x: {long}\r\n\r\n"),
        format!("POST /terminals/t/input HTTP/1.1\r\n{head}content-length: 5\r\n\r\n{{"),
        format!("POST /terminals/t/input HTTP/1.1\r\n{head}content-length: -5\r\n\r\n{{"),
        format!("POST /terminals/t/input HTTP/1.1\r\n{head}transfer-encoding: chunked\r\n\r\nzz\r\n"),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(),
    ] {
        raw(&path, bytes.as_bytes()).await;
        fine(&path).await;
    }
    let bad = format!("POST /terminals/t/input HTTP/1.1\r\n{head}content-length: 3\r\n\r\n{{x}}");
    let said = raw(&path, bad.as_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 400") && said.contains("bad_request"), "{said}");
    let long = MAX_MESSAGE_BYTES + 1;
    let bad = format!("POST /terminals/t/input HTTP/1.1\r\n{head}content-length: {long}\r\n\r\n");
    let said = raw(&path, format!("{bad}{}", "x".repeat(long)).as_bytes()).await;
    assert!(said.starts_with("HTTP/1.1 400") && said.contains("bad_request"), "{said}");
    fine(&path).await;
    server.stop().await;
}

/// Ours is not to panic, but one that does costs its own connection only.
#[tokio::test]
async fn a_handler_that_panics_ends_its_connection() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let server = Server::unix(&path, router());
    let client = AgentctlClient::new(server.endpoint.clone(), None);
    let request = SendRequest { text: "panic".into(), enter: false, prompt: None };
    let error = within("an end", client.send(&TerminalId::new("t").unwrap(), &request)).await.unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    fine(&path).await;
    server.stop().await;
}

#[tokio::test]
async fn a_half_request_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let server = Server::unix(&path, router());
    let mut half = UnixStream::connect(&path).await.unwrap();
    half.write_all(b"GET /capabilities HTTP/1.1\r\nhost").await.unwrap();
    let mut rest = Vec::new();
    within("the server closes it", half.read_to_end(&mut rest)).await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn too_many_connections_are_refused_with_words_until_one_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let options = Options { max_connections: 3, ..Options::default() };
    let server = Server::unix_with(&path, router(), options);
    let mut idle = Vec::new();
    for _ in 0..3 {
        idle.push(UnixStream::connect(&path).await.unwrap());
    }
    let client = AgentctlClient::new(server.endpoint.clone(), None);
    let error = within("a refusal", client.capabilities()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TooManyConnections, "{error:?}");
    // Many at once are refused as well, one way or the other.
    let crowd: Vec<_> = (0..50)
        .map(|_| {
            tokio::spawn({
                let c = client.clone();
                async move { c.capabilities().await }
            })
        })
        .collect();
    for one in crowd {
        within("a refusal", one).await.unwrap().unwrap_err();
    }
    idle.pop();
    within("room again", async {
        while client.capabilities().await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    server.stop().await;
}

#[tokio::test]
async fn four_hundred_idle_connections_are_no_burden() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let server = Server::unix(&path, router());
    let mut idle = Vec::new();
    within("400 connections", async {
        for _ in 0..400 {
            let endpoint = server.endpoint.clone();
            idle.push(endpoint.connect().await.unwrap());
        }
    })
    .await;
    fine(&path).await;
    drop(idle);
    fine(&path).await;
    server.stop().await;
}

/// In a process of its own: it takes all descriptors.
#[tokio::test]
async fn it_survives_running_out_of_descriptors() {
    let name = "link::limits::it_survives_running_out_of_descriptors";
    if !alone("RELIGHT_TEST_DESCRIPTORS", name, &[]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let limit = rustix::process::Rlimit { current: Some(64), maximum: Some(64) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let server = Server::unix(&path, router());
    fine(&path).await;
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    until("the server is at rest", || alive() == 1).await;
    let mut held = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        held.push(file);
    }
    held.pop();
    // One descriptor is left, for the client's end: the server cannot accept it.
    let mut waiting = UnixStream::connect(&path).await.unwrap();
    waiting.write_all(b"GET /capabilities HTTP/1.1\r\nhost: x\r\nrelight-protocol: 1\r\n\r\n").await.unwrap();
    let mut answer = [0; 12];
    let early = tokio::time::timeout(Duration::from_millis(300), waiting.read_exact(&mut answer)).await;
    assert!(early.is_err(), "nothing can be accepted yet");
    held.truncate(held.len() / 2);
    within("the answer", waiting.read_exact(&mut answer)).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    fine(&path).await;
    server.stop().await;
}

#[tokio::test]
async fn nothing_is_left_of_clients_that_are_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let options = Options { watch: WatchKind::Inotify, ..Options::default() };
    let server = Server::unix_with(&path, router(), options);
    fine(&path).await;
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    until("the server is at rest", || alive() == 1).await;
    for _ in 0..10 {
        fine(&path).await;
        let client = AgentctlClient::new(server.endpoint.clone(), None);
        // Given up in the middle.
        let _given_up = tokio::time::timeout(Duration::from_micros(100), client.capabilities()).await;
        drop(UnixStream::connect(&path).await.unwrap());
    }
    until("only the server is left", || alive() == 1).await;
    server.stop().await;
}
