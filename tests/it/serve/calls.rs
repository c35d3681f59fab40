//! Calls and replies, and clients that send what is none.

use futures_util::{SinkExt, StreamExt};
use relight::domain::words::ErrorCode;
use relight::link::Error;
use relight::link::host::{HostItem, hello};
use relight::link::http::Remote;
use relight::link::socket::open;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message;

use super::fake::{Host, next};
use crate::link::support::{raw, until, within};

#[tokio::test]
async fn calls_are_answered_side_by_side() {
    let host = Host::start();
    assert_eq!(hello(&host.endpoint).await.unwrap().identity.pid, 7);
    let (client, _events) = host.client().await;
    let slow = tokio::spawn({
        let client = client.clone();
        async move { client.call::<_, Value>("wait", json!("slow")).await }
    });
    assert_eq!(client.call::<_, Value>("echo", json!({"a": [1, "x"]})).await.unwrap(), json!({"a": [1, "x"]}));
    client.call::<_, ()>("empty", ()).await.unwrap();
    let error = client.call::<_, Value>("nothing", ()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownMethod, "{error}");
    let error = client.call::<_, Value>("terminal.attach", json!({"session": 3})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::BadRequest, "{error}");
    let error = client.call::<_, Value>("terminal.input", json!({"stream": 9, "input": "keyframe"})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TerminalNotFound, "{error}");
    let error = client.call::<_, Value>("panic", ()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal, "{error}");
    let error = client.call::<_, u32>("echo", "text").await.unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error:?}");
    assert!(!slow.is_finished());
    host.api.gate.notify_one();
    assert_eq!(within("the slow call", slow).await.unwrap().unwrap(), json!("slow"));
    host.stop().await;
}

#[tokio::test]
async fn a_message_that_is_too_long_is_an_error_of_its_call_only() {
    let host = Host::start();
    let (client, _events) = host.client().await;
    assert_eq!(client.call::<_, String>("long", 12_000_000).await.unwrap().len(), 12_000_000);
    let error = client.call::<_, String>("long", 20_000_000).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal, "{error}");
    let error = client.call::<_, String>("echo", "x".repeat(5_000_000)).await.unwrap_err();
    assert!(matches!(error, Error::Unsendable { .. }), "{error:?}");
    client.call::<_, ()>("empty", ()).await.unwrap();
    host.stop().await;
}

#[tokio::test]
async fn more_calls_than_are_run_are_refused_at_once() {
    let host = Host::start();
    let (client, _events) = host.client().await;
    let mut calls: Vec<_> = (0..65)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { client.call::<_, Value>("wait", json!(number)).await })
        })
        .collect();
    until("one too many is refused", || calls.iter().any(tokio::task::JoinHandle::is_finished)).await;
    let refused = calls.remove(calls.iter().position(tokio::task::JoinHandle::is_finished).unwrap());
    assert_eq!(refused.await.unwrap().unwrap_err().code(), ErrorCode::TooManyConnections);
    let error = client.call::<_, Value>("echo", ()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TooManyConnections, "{error}");
    // Input is no call.
    let error = client.call::<_, Value>("terminal.input", json!({"stream": 9, "input": "keyframe"})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TerminalNotFound, "{error}");
    host.api.gate.notify_waiters();
    for call in calls {
        within("an answer", call).await.unwrap().unwrap();
    }
    client.call::<_, Value>("echo", ()).await.unwrap();
    host.stop().await;
}

#[tokio::test]
async fn a_call_runs_to_its_end_when_its_client_is_gone() {
    let host = Host::start();
    let (client, events) = host.client().await;
    client.notify("wait", json!("orphan")).await.unwrap();
    client.call::<_, Value>("echo", ()).await.unwrap();
    drop((client, events));
    until("the host is told", || host.api.gone.lock().unwrap().len() == 1).await;
    assert_eq!(*host.api.came.lock().unwrap(), *host.api.gone.lock().unwrap());
    host.api.gate.notify_one();
    until("the call ends", || *host.api.finished.lock().unwrap() == [json!("orphan")]).await;
    host.stop().await;
}

#[tokio::test]
async fn garbage_costs_only_its_connection() {
    let host = Host::start();
    let (client, _events) = host.client().await;
    let fine = async || client.call::<_, Value>("echo", json!(1)).await.unwrap();
    for bytes in ["", "\u{0}\u{1}", "GET /ws HTTP/1.1\r\n", "GET /ws HTTP/1.1\r\nrelight-protocol: 1\r\n\r\n"] {
        raw(&host.path, bytes.as_bytes()).await;
        fine().await;
    }
    let said =
        raw(&host.path, b"GET /none HTTP/1.1\r\nhost: x\r\nrelight-protocol: 1\r\nconnection: close\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 404") && said.contains("unknown_method"), "{said}");
    let remote = Remote::new(host.endpoint.clone(), None);
    for message in [
        Message::text("no json"),
        Message::text("{}"),
        Message::text(r#"{"id": -1, "method": "echo"}"#),
        Message::binary(vec![0, 1, 2]),
        Message::text("x".repeat(5 * 1024 * 1024)),
    ] {
        let mut ws = open(&remote, "/ws").await.unwrap();
        // The last one may be refused while it is being sent.
        let _sent = ws.send(message).await;
        within("its connection ends", async { while let Some(Ok(_)) = ws.next().await {} }).await;
        fine().await;
    }
    // Bytes that are no WebSocket message, after a proper handshake.
    let mut io = remote.upgrade("/ws").await.unwrap();
    io.write_all(&[0xff; 64]).await.unwrap();
    fine().await;
    // All of them but one are gone again.
    drop(io);
    until("the host knows", || host.api.gone.lock().unwrap().len() + 1 == host.api.came.lock().unwrap().len()).await;
    host.stop().await;
}

#[tokio::test]
async fn nothing_is_left_of_dropped_clients() {
    let host = Host::start();
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = alive();
    for _ in 0..5 {
        let (client, mut events) = host.client().await;
        client.call::<_, Value>("events.subscribe", json!({})).await.unwrap();
        let other = client.clone();
        drop(client);
        // Someone who only listens keeps the connection.
        drop(other);
        host.api.publish("s");
        assert!(matches!(next(&mut events).await, HostItem::Push(_)));
        drop(events);
    }
    for _ in 0..5 {
        // Someone who only calls keeps it as well.
        let (client, events) = host.client().await;
        drop(events);
        client.call::<_, Value>("echo", ()).await.unwrap();
    }
    until("every task has ended", || alive() == before).await;
    assert_eq!(host.api.gone.lock().unwrap().len(), 10);
    host.stop().await;
}
