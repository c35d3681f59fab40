//! Sockets at awkward paths, and at paths that vanish.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use relight::link::Error;
use relight::link::agentctl::AgentctlClient;
use relight::link::endpoint::Endpoint;
use relight::link::listen::{Options, UnixListener};
use relight::link::watch::WatchKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::support::{Server, until, within};

fn router() -> Router {
    Router::new().route("/capabilities", get(capabilities))
}

async fn capabilities() -> &'static str {
    r#"{"supports_session_resume": true, "supports_workspace_only": true}"#
}

async fn answers(path: &Path) -> bool {
    AgentctlClient::new(Endpoint::Unix(path.to_owned()), None).capabilities().await.is_ok()
}

#[tokio::test]
async fn a_path_longer_than_a_socket_address_works() {
    let dir = tempfile::tempdir().unwrap();
    let long = dir.path().join("d".repeat(120)).join("e".repeat(200));
    let path = long.join("agentctl.sock");
    assert!(path.as_os_str().len() > 300);
    let server = Server::unix(&path, router());
    assert!(answers(&path).await);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&long), mode(&path)), (0o700, 0o600));
    server.stop().await;
    assert!(!path.exists());
    let error = UnixListener::bind(&dir.path().join("n".repeat(120))).unwrap_err();
    assert!(matches!(error, Error::Bind { .. }), "{error:?}");
}

#[tokio::test]
async fn a_wide_open_directory_is_narrowed_and_a_shared_one_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    for (name, before, after) in [("wide", 0o755, 0o700), ("shared", 0o1777, 0o1777)] {
        let dir = dir.path().join(name);
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(before)).unwrap();
        let listener = UnixListener::bind(&dir.join("s.sock")).unwrap();
        assert_eq!((mode(&dir), mode(listener.path())), (after, 0o600), "{name}");
    }
}

#[tokio::test]
async fn a_stale_socket_is_replaced_and_a_newer_one_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    // What a crash in the middle of binding leaves.
    drop(std::os::unix::net::UnixListener::bind(dir.path().join(".s.sock.new")).unwrap());
    let first = UnixListener::bind(&path).unwrap();
    let second = UnixListener::bind(&path).unwrap();
    let node = fs::metadata(&path).unwrap().ino();
    drop(first);
    assert_eq!(fs::metadata(&path).unwrap().ino(), node, "the newer one's path stays");
    drop(second);
    assert!(!path.exists());
}

async fn comes_back(watch: WatchKind, vanish: impl Fn(&Path)) {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("state");
    let path = home.join("s.sock");
    let server = Server::unix_with(&path, router(), Options { watch, ..Options::default() });
    assert!(answers(&path).await);
    let mut open = UnixStream::connect(&path).await.unwrap();
    // Twice: the watch itself must survive.
    for _ in 0..2 {
        vanish(&path);
        until("the socket is there again", || path.exists()).await;
        assert!(answers(&path).await);
    }
    let ask = "GET /capabilities HTTP/1.1\r\nhost: x\r\nrelight-protocol: 1\r\nconnection: close\r\n\r\n";
    open.write_all(ask.as_bytes()).await.unwrap();
    let mut answer = String::new();
    within("an older connection lives on", open.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn a_socket_that_vanishes_comes_back() {
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    let directory_away = |path: &Path| {
        let dir = path.parent().unwrap();
        let free = ["away", "again"].map(|name| dir.with_extension(name)).into_iter().find(|to| !to.exists());
        fs::rename(dir, free.unwrap()).unwrap();
    };
    let rename = |path: &Path| fs::rename(path, path.with_extension("old")).unwrap();
    let replace = |path: &Path| {
        // Another file in its place: the path exists all the time, so it is looked for by its kind.
        fs::remove_file(path).unwrap();
    };
    for watch in [WatchKind::Inotify, WatchKind::Every(Duration::from_millis(50))] {
        comes_back(watch, remove).await;
        comes_back(watch, directory_away).await;
        comes_back(watch, rename).await;
        comes_back(watch, replace).await;
    }
}

/// Its owner's lock was removed with it: whoever comes next finds the lock free, so the owner has to know. Named by the fault.
#[tokio::test]
async fn a_directory_that_was_removed_is_told_and_not_made_again() {
    for watch in [WatchKind::Inotify, WatchKind::Every(Duration::from_millis(50))] {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("state");
        let listener = UnixListener::bind_with(&home.join("s.sock"), Options { watch, ..Options::default() }).unwrap();
        let removed = listener.removed();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(relight::link::server::serve(listener, router(), async move {
            stopped.await.ok();
        }));
        // A socket that is made again in between makes it not empty.
        until("the directory is removed", || fs::remove_dir_all(&home).is_ok() || !home.exists()).await;
        within("its owner is told", relight::link::listen::removal(removed)).await;
        assert!(!home.exists());
        stop.send(()).unwrap();
        within("the server ends", task).await.unwrap();
    }
}

#[tokio::test]
async fn something_else_at_its_path_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let options = Options { watch: WatchKind::Inotify, ..Options::default() };
    let server = Server::unix_with(&path, router(), options);
    let other = dir.path().join("other");
    fs::write(&other, "not a socket").unwrap();
    fs::rename(&other, &path).unwrap();
    until("it is a socket again", || fs::read(&path).is_err()).await;
    assert!(answers(&path).await);
    server.stop().await;
}
