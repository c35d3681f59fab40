//! The host on its socket: dispatch and streams.
//!
//! `GET /hello` says who serves; `GET /ws` is a client's connection. Whatever one client does or leaves undone delays no
//! other client and never the host: what waits for it is bounded, frames give way to newer ones, and one that takes nothing
//! for too long is dropped and comes back by itself.

pub mod connection;
pub mod events;
pub mod outbox;
pub mod screens;
pub mod streams;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::{State, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use axum::serve::Listener;
use axum::{Json, Router};
use tokio::sync::{mpsc, watch};

use crate::host::api::{Api, ClientId};
use crate::link::server;
use crate::serve::connection::client;
use crate::serve::screens::Screens;
use crate::wire::host::Hello;

/// At the end, the clients have this long to take what waits for them and the goodbye.
const END_DEADLINE: Duration = Duration::from_secs(4);

#[derive(Debug)]
struct Shared<A> {
    api: Arc<A>,
    next: AtomicU64,
    screens: Arc<Screens>,
    ended: watch::Receiver<bool>,
    alive: mpsc::Sender<()>,
}

/// Serves `api` on `listener` until `stop` comes true. Then calls under way are answered (within a second), every client
/// gets a goodbye, and it returns: after 4 s at most, whatever the clients do.
pub async fn run<L: Listener, A: Api>(listener: L, api: Arc<A>, stop: impl Future<Output = ()>) {
    let (end, ended) = watch::channel(false);
    let (alive, mut gone) = mpsc::channel(1);
    let shared = Arc::new(Shared { api, next: AtomicU64::new(1), screens: Arc::default(), ended, alive });
    let router = Router::new().route("/hello", get(hello::<A>)).route("/ws", get(socket::<A>)).with_state(shared);
    let stopped = async {
        stop.await;
        end.send_replace(true);
    };
    server::serve(listener, router, stopped).await;
    // Every client's task holds a sender, and nothing is ever sent: this ends with the last of them.
    if tokio::time::timeout(END_DEADLINE, gone.recv()).await.is_err() {
        tracing::warn!("clients did not take their goodbye in time");
    }
}

async fn hello<A: Api>(State(shared): State<Arc<Shared<A>>>) -> Json<Hello> {
    Json(shared.api.hello())
}

async fn socket<A: Api>(State(shared): State<Arc<Shared<A>>>, upgrade: WebSocketUpgrade) -> Response {
    let id = ClientId(shared.next.fetch_add(1, Ordering::Relaxed));
    let (api, screens) = (Arc::clone(&shared.api), Arc::clone(&shared.screens));
    let (ended, alive) = (shared.ended.clone(), shared.alive.clone());
    server::bounded(upgrade).on_upgrade(move |socket| async move {
        client(socket, api, screens, id, ended).await;
        drop(alive);
    })
}
