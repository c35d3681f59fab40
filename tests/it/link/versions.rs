//! Both sides name their version, and a different one is refused with both numbers.

use std::path::Path;

use axum::Router;
use axum::routing::get;
use relight::link::Error;
use relight::link::agentctl::AgentctlClient;
use relight::link::endpoint::Endpoint;
use relight::link::host::{HostClient, hello};
use relight::wire::{PROTOCOL, PROTOCOL_HEADER};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{Server, raw, within};

#[tokio::test]
async fn a_client_of_another_version_is_refused_with_words() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let server = Server::unix(&path, Router::new().route("/health", get(async || "fine")));
    let ask = |header: &str| format!("GET /health HTTP/1.1\r\nhost: x\r\n{header}connection: close\r\n\r\n");
    let good = raw(&path, ask(&format!("{PROTOCOL_HEADER}: {PROTOCOL}\r\n")).as_bytes()).await;
    assert!(good.starts_with("HTTP/1.1 200") && good.ends_with("fine"), "{good}");
    for (header, says) in [
        (format!("{PROTOCOL_HEADER}: 999\r\n"), "speaks protocol 999"),
        (format!("{PROTOCOL_HEADER}: x\r\n"), "names none"),
        (String::new(), "names none"),
    ] {
        let answer = raw(&path, ask(&header).as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 426"), "{answer}");
        assert!(answer.contains(&format!("{PROTOCOL_HEADER}: {PROTOCOL}\r\n")), "{answer}");
        assert!(answer.contains("version_mismatch") && answer.contains(says), "{answer}");
        assert!(answer.contains(&format!("speaks protocol {PROTOCOL}")), "{answer}");
    }
    server.stop().await;
}

/// A server that answers everything with these bytes.
fn answering(path: &Path, answer: &'static str) {
    let listener = tokio::net::UnixListener::bind(path).unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
}

async fn all(path: &Path, check: impl Fn(&Error)) {
    let endpoint = Endpoint::Unix(path.to_owned());
    within("the answers", async {
        check(&AgentctlClient::new(endpoint.clone(), None).health().await.unwrap_err());
        check(&AgentctlClient::new(endpoint.clone(), None).feed(0).await.unwrap_err());
        check(&hello(&endpoint).await.unwrap_err());
        check(&HostClient::connect(endpoint).await.unwrap_err());
    })
    .await;
}

#[tokio::test]
async fn a_server_of_another_version_is_named_with_both_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let refused = dir.path().join("refused.sock");
    answering(&refused, "HTTP/1.1 426 Upgrade Required\r\nrelight-protocol: 999\r\ncontent-length: 2\r\n\r\n{}");
    let fine = dir.path().join("fine.sock");
    answering(&fine, "HTTP/1.1 200 OK\r\nrelight-protocol: 999\r\ncontent-length: 2\r\n\r\n{}");
    for path in [refused, fine] {
        all(&path, |error| {
            assert!(matches!(error, Error::VersionMismatch { ours: PROTOCOL, theirs: 999 }), "{error:?}");
            let text = error.to_string();
            assert!(text.contains("999") && text.contains(&PROTOCOL.to_string()), "{text}");
        })
        .await;
    }
}

#[tokio::test]
async fn what_is_no_relight_is_unreadable() {
    let dir = tempfile::tempdir().unwrap();
    for (name, answer) in [
        ("other", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
        ("garbage", "\u{0}\u{1}garbage that is no HTTP at all\r\n\r\n"),
        ("bad-json", "HTTP/1.1 200 OK\r\nrelight-protocol: 1\r\ncontent-length: 3\r\n\r\n{x}"),
        ("no-error", "HTTP/1.1 500 No\r\nrelight-protocol: 1\r\ncontent-length: 3\r\n\r\n{x}"),
        ("no-socket", "HTTP/1.1 101 Yes\r\nrelight-protocol: 1\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"),
    ] {
        let path = dir.path().join(name);
        answering(&path, answer);
        all(&path, |error| match name {
            // An upgrade that was not asked for ends the connection.
            "no-socket" => assert!(matches!(error, Error::Unreadable { .. } | Error::Io { .. }), "{name}: {error:?}"),
            _ => assert!(matches!(error, Error::Unreadable { .. }), "{name}: {error:?}"),
        })
        .await;
    }
    let path = dir.path().join("closing");
    answering(&path, "");
    all(&path, |error| assert!(matches!(error, Error::Io { .. }), "{error:?}")).await;
}
