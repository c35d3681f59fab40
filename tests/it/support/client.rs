//! A client on the host's socket, as the screen is one: calls and events over one WebSocket.

use std::time::Duration;

use relight::domain::rows::Event;
use relight::link::endpoint::Endpoint;
use relight::link::host::{HostClient, HostEvents, HostItem};
use relight::wire::host::{Push, WireError};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::Home;
use super::home::PATIENCE;

/// A connected client.
pub struct Client {
    runtime: Runtime,
    host: HostClient,
    events: HostEvents,
}

impl Client {
    /// Connects to the host that runs.
    #[track_caller]
    pub fn connect(home: &Home) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let socket = Endpoint::Unix(home.path().join("state/host.sock"));
        let (host, events) = runtime.block_on(HostClient::connect(socket)).expect("a host to connect to");
        Self { runtime, host, events }
    }

    /// Calls, and tells what the host answers: a result, or its error.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Result<Value, WireError> {
        match self.runtime.block_on(self.host.call(method, params)) {
            Ok(value) => Ok(value),
            Err(relight::link::Error::Remote(error)) => Err(error),
            Err(other) => panic!("{method}: {other}"),
        }
    }

    /// Calls, and does not wait yet.
    pub fn begin(&self, method: &'static str, params: Value) -> JoinHandle<Result<Value, relight::link::Error>> {
        let host = self.host.clone();
        self.runtime.spawn(async move { host.call(method, params).await })
    }

    /// The result of a call that was begun.
    #[track_caller]
    pub fn end(&self, begun: JoinHandle<Result<Value, relight::link::Error>>) -> Value {
        self.runtime.block_on(begun).expect("no panic").expect("an answer")
    }

    /// The next event.
    #[track_caller]
    pub fn event(&mut self) -> Event {
        let next = async {
            loop {
                match self.events.next().await {
                    HostItem::Push(Push::Event(event)) => return event,
                    HostItem::Closed(why) => panic!("the host closed the connection: {why}"),
                    _ => {}
                }
            }
        };
        let limit = PATIENCE + Duration::from_secs(1);
        let next = async { tokio::time::timeout(limit, next).await };
        self.runtime.block_on(next).expect("an event in time")
    }
}
