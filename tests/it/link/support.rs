//! Servers and clients for these tests.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use relight::link::endpoint::Endpoint;
use relight::link::listen::{Options, UnixListener};
use relight::link::server::serve;
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
