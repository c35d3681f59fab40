//! A socket serves its own user only, and a client trusts its own user only: tried as another user, in a process of its own.

#![expect(clippy::disallowed_types, reason = "another user is another process")]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use axum::Router;
use axum::routing::get;
use relight::domain::words::ErrorCode;
use relight::link::Error;
use relight::link::agentctl::AgentctlClient;
use relight::link::endpoint::Endpoint;

use super::support::{Server, until, within};

/// Any user but ours; nobody has this one on the systems at hand.
const OTHER: u32 = 65_534;
const ACT: &str = "RELIGHT_TEST_OTHER_USER";
const PATH: &str = "RELIGHT_TEST_OTHER_PATH";

/// Starts one part of this test as another user; `None` says what is missing.
fn other(act: &str, path: &Path, home: &Path) -> Option<Child> {
    if rustix::process::geteuid().as_raw() != 0 {
        eprintln!("not tried: only root can become another user");
        return None;
    }
    // The other user may not read the directory where this program lies.
    let exe = home.join("it");
    if !exe.exists() {
        fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    }
    let id = OTHER.to_string();
    let started = Command::new("setpriv")
        .args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"])
        .arg(&exe)
        .args(["--exact", "link::users::the_other_user", "--nocapture"])
        .env(ACT, act)
        .env(PATH, path)
        .stdout(Stdio::piped())
        .spawn();
    match started {
        Ok(child) => Some(child),
        Err(error) => {
            eprintln!("not tried: setpriv cannot be started: {error}");
            None
        }
    }
}

/// The part of the other user. Run by itself it does nothing.
#[test]
fn the_other_user() {
    let (Ok(act), Ok(path)) = (std::env::var(ACT), std::env::var(PATH)) else { return };
    if act == "serve" {
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let mut nothing = Vec::new();
        stream.read_to_end(&mut nothing).unwrap();
        assert!(nothing.is_empty(), "it was told something");
        return;
    }
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"GET /capabilities HTTP/1.1\r\nhost: x\r\nrelight-protocol: 1\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    println!("ANSWER {answer}");
}

#[tokio::test]
async fn a_client_of_another_user_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(dir.path(), 0o755);
    let path = dir.path().join("state/s.sock");
    let server = Server::unix(&path, Router::new().route("/capabilities", get(async || "secret")));
    // The modes alone keep the other one out. Wide open, the check of the peer must.
    open(&dir.path().join("state"), 0o755);
    open(&path, 0o777);
    let Some(child) = other("connect", &path, dir.path()) else { return };
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = within("the other user's process", output).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("ANSWER HTTP/1.1 403") && said.contains("forbidden"), "{said}");
    assert!(!said.contains("secret"), "{said}");
    server.stop().await;
}

#[tokio::test]
async fn a_server_of_another_user_is_told_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let path = dir.path().join("s.sock");
    let Some(child) = other("serve", &path, dir.path()) else { return };
    until("the other user's socket is open", || {
        fs::metadata(&path).is_ok_and(|meta| meta.permissions().mode() & 0o777 == 0o777)
    })
    .await;
    let error = AgentctlClient::new(Endpoint::Unix(path), None).capabilities().await.unwrap_err();
    assert!(matches!(error, Error::OtherOwner { uid: OTHER, .. }), "{error:?}");
    assert_eq!(error.code(), ErrorCode::Forbidden);
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = within("the other user's process", output).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
