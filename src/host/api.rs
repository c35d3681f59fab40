//! What the host offers to the room that serves its socket. `serve` is generic over it, so that it can be tested with
//! another one.

use std::fmt;
use std::future::Future;

use bytes::Bytes;
use tokio::sync::{broadcast, mpsc};

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::rows::Event;
use crate::wire::agentctl::StreamEvent;
use crate::wire::host::{Attach, Hello, Push, Subscribe, WireError};
use crate::wire::input::StreamInput;

/// One connected client, numbered in the order of connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {}", self.0)
    }
}

/// Something that an attached terminal says.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamItem {
    /// An encoded frame, as agentctl sent it.
    Frame(Bytes),
    /// Anything else.
    Event(StreamEvent),
}

/// An attached terminal. It is detached when both halves are dropped.
#[derive(Debug)]
pub struct AttachedStream {
    /// Session.
    pub session_id: SessionId,
    /// Terminal that it shows now; none: nothing runs yet.
    pub terminal_id: Option<TerminalId>,
    /// What it says. Ends when there will be nothing more.
    pub items: mpsc::Receiver<StreamItem>,
    /// What is typed.
    pub input: mpsc::Sender<StreamInput>,
}

/// A subscription to events. Between `replay` and `live` there is no gap: every event after `seq` comes over `live`.
#[derive(Debug)]
pub struct Subscription {
    /// Newest event that is part of `replay`, or would be.
    pub seq: u64,
    /// Events asked for, oldest first, up to `seq`.
    pub replay: Vec<Event>,
    /// What comes, of every session; may begin with events up to `seq`, which are left out.
    pub live: broadcast::Receiver<Push>,
}

/// The host, as its socket sees it.
pub trait Api: Send + Sync + 'static {
    /// Who serves.
    fn hello(&self) -> Hello;

    /// A client connected. Called before anything else for it.
    fn client_came(&self, client: ClientId) {
        let _ = client;
    }

    /// Every method but those below (`terminal.*`, `events.subscribe`). Runs to its end, also when its client is gone.
    ///
    /// # Errors
    /// What the client is told; `unknown_method` for a method that there is not, `bad_request` for wrong parameters.
    fn call(
        &self,
        client: ClientId,
        method: &str,
        params: serde_json::Value,
    ) -> impl Future<Output = Result<serde_json::Value, WireError>> + Send;

    /// `terminal.attach`.
    ///
    /// # Errors
    /// What the client is told.
    fn attach(
        &self,
        client: ClientId,
        attach: Attach,
    ) -> impl Future<Output = Result<AttachedStream, WireError>> + Send;

    /// `events.subscribe`.
    ///
    /// # Errors
    /// What the client is told.
    fn subscribe(&self, subscribe: Subscribe) -> impl Future<Output = Result<Subscription, WireError>> + Send;

    /// A client is gone. Its streams are dropped, calls under way still end. Called once.
    fn client_gone(&self, client: ClientId);
}
