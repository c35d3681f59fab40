//! Servers and clients for these tests.

#![expect(clippy::disallowed_types, reason = "some tests need a process of their own")]

use std::future::Future;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use axum::Router;
use relight::link::endpoint::Endpoint;
use relight::link::listen::{Options, UnixListener};
use relight::link::server::serve;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A server that ends when told, or with the test's runtime.
pub struct Server {
    pub endpoint: Endpoint,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Server {
    pub fn unix(path: &Path, router: Router) -> Self {
        Self::unix_with(path, router, Options::default())
    }

    pub fn unix_with(path: &Path, router: Router, options: Options) -> Self {
        let listener = UnixListener::bind_with(path, options).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(serve(listener, router, async move {
            stopped.await.ok();
        }));
        Self { endpoint: Endpoint::Unix(path.to_owned()), stop, task }
    }

    pub fn memory(router: Router) -> Self {
        let (dialer, listener) = relight::link::memory::pair();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(serve(listener, router, async move {
            stopped.await.ok();
        }));
        Self { endpoint: Endpoint::Memory(dialer), stop, task }
    }

    pub async fn stop(self) {
        self.stop.send(()).unwrap();
        within("the server ends", self.task).await.unwrap();
    }
}

/// Waits for `work`, and fails with words when it takes longer than a loaded machine explains.
pub async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(Duration::from_secs(20), work).await;
    done.unwrap_or_else(|_| panic!("not within 20 s: {what}"))
}

/// Looks until `holds`, and fails with words when it never does.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    within(what, async {
        let mut tick = tokio::time::interval(Duration::from_millis(5));
        while !holds() {
            tick.tick().await;
        }
    })
    .await;
}

/// Sends raw bytes and reads whatever comes until the other side closes; half a second of silence ends it too.
pub async fn raw(path: &Path, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(path).await.unwrap();
    // The server may close before it has read everything.
    let _sent = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _quiet = tokio::time::timeout(Duration::from_millis(500), stream.read_to_end(&mut answer)).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// Runs this test alone in a process of its own, which finds `key` in its environment; true in that process.
pub fn alone(key: &str, test: &str, prefix: &[&str]) -> bool {
    if std::env::var_os(key).is_some() {
        return true;
    }
    let exe = std::env::current_exe().unwrap();
    let mut words = prefix.iter().map(Into::into).collect::<Vec<std::ffi::OsString>>();
    words.push(exe.into());
    words.extend(["--exact", test, "--nocapture"].map(Into::into));
    let output = Command::new(&words[0]).args(&words[1..]).env(key, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{why}");
    false
}
