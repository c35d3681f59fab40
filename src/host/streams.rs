//! Relays terminals to clients: bytes of frames pass through unread. A stream that follows a session moves to the successor
//! of its agent, and waits while the agentctl is away.

use tokio::sync::{mpsc, watch};

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::launch::{Exit, Size};
use crate::domain::words::ErrorCode;
use crate::link::agentctl::AgentctlClient;
use crate::link::terminal::{StreamItem as Item, TerminalStream};
use crate::wire::agentctl::StreamEvent;
use crate::wire::input::StreamInput;

use super::api::{AttachedStream, StreamItem};
use super::core::Link;
use super::orders::Command;
use super::seen::Seen;
use super::shared::Handle;

/// Items towards one client's stream: two frames are in flight at most, the rest are events.
const ITEMS: usize = 16;
/// Inputs from one client: a fast typist, or the chunks of a paste, which wait when it is full.
const INPUTS: usize = 64;

/// What a stream shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The session's agent, and its successors.
    Agent,
    /// One terminal.
    Terminal(TerminalId),
}

/// Begins to relay.
pub fn attach(session: SessionId, handle: Handle, target: Target, size: Option<Size>) -> AttachedStream {
    let (items_in, items) = mpsc::channel(ITEMS);
    let (input, inputs) = mpsc::channel(INPUTS);
    let terminal_id = match &target {
        Target::Agent => handle.seen.borrow().terminal.clone(),
        Target::Terminal(id) => Some(id.clone()),
    };
    let relay = Relay {
        orders: handle.orders,
        seen: handle.seen,
        target,
        size,
        items: items_in,
        inputs,
        shown: None,
        exited: false,
    };
    tokio::spawn(relay.run());
    AttachedStream { session_id: session, terminal_id, items, input }
}

struct Relay {
    orders: mpsc::Sender<Command>,
    seen: watch::Receiver<Seen>,
    target: Target,
    size: Option<Size>,
    items: mpsc::Sender<StreamItem>,
    inputs: mpsc::Receiver<StreamInput>,
    shown: Option<TerminalId>,
    /// The client was told that what it looks at has ended.
    exited: bool,
}

/// Why one terminal's relay ended.
enum End {
    /// The client is gone.
    Client,
    /// The terminal's stream ended.
    Stream,
    /// Its agentctl has no such terminal, and never will again.
    Gone,
    /// Another terminal, or another agentctl, is to be shown.
    Moved,
}

impl Relay {
    async fn run(mut self) {
        let _ = self.orders.send(Command::Viewed(true)).await;
        self.follow().await;
        let _ = self.orders.send(Command::Viewed(false)).await;
    }

    async fn follow(&mut self) {
        let mut lost = false;
        loop {
            let seen = self.seen.borrow_and_update().clone();
            let terminal = match &self.target {
                Target::Agent => seen.terminal.clone(),
                Target::Terminal(id) => Some(id.clone()),
            };
            let (Some(client), Some(terminal), Link::Up) = (&seen.client, terminal, seen.link) else {
                if self.shown.is_some() && !lost {
                    lost = true;
                    if !self.tell(StreamEvent::Lost { why: "its executor is being recovered".into() }).await {
                        return;
                    }
                }
                if !self.wait().await {
                    return;
                }
                continue;
            };
            match self.show(client, &terminal, seen.epoch).await {
                End::Client => return,
                // What follows a session waits for the agent's successor.
                End::Gone if self.target != Target::Agent => {
                    if !self.exited {
                        self.tell(StreamEvent::Exited { exit: Exit::Unknown }).await;
                    }
                    return;
                }
                End::Moved => {}
                // After its end a terminal is kept until it is closed: it is looked whether it was.
                End::Stream if self.exited && self.target != Target::Agent => {}
                End::Stream | End::Gone => {
                    if !self.wait().await {
                        return;
                    }
                }
            }
            lost = false;
        }
    }

    /// Waits until the actor sees something else; input meanwhile goes nowhere, but the size is remembered.
    async fn wait(&mut self) -> bool {
        loop {
            tokio::select! {
                changed = self.seen.changed() => return changed.is_ok(),
                () = self.items.closed() => return false,
                input = self.inputs.recv() => match input {
                    Some(StreamInput::Resize(size)) => self.size = Some(size),
                    Some(_) => {}
                    None => return false,
                },
            }
        }
    }

    async fn show(&mut self, client: &AgentctlClient, terminal: &TerminalId, epoch: u64) -> End {
        let mut stream = match client.stream(terminal).await {
            Ok(stream) => stream,
            Err(error) => {
                let gone = error.code() == ErrorCode::TerminalNotFound;
                if gone && self.target != Target::Agent {
                    return End::Gone;
                }
                self.exited = false;
                let why = error.to_string();
                return if self.tell(StreamEvent::Lost { why }).await { End::Stream } else { End::Client };
            }
        };
        if let Some(from) = self.shown.take().filter(|from| from != terminal) {
            let moved = StreamEvent::Moved { from, terminal: terminal.clone() };
            if !self.tell(moved).await {
                return End::Client;
            }
        }
        self.shown = Some(terminal.clone());
        self.exited = false;
        if let Some(size) = self.size
            && stream.send(&StreamInput::Resize(size)).await.is_err()
        {
            return End::Stream;
        }
        self.relay(&mut stream, terminal, epoch).await
    }

    async fn relay(&mut self, stream: &mut TerminalStream, terminal: &TerminalId, epoch: u64) -> End {
        loop {
            tokio::select! {
                item = stream.next() => {
                    let item = match item {
                        Ok(Item::Frame(bytes)) => StreamItem::Frame(bytes),
                        Ok(Item::Event(event)) => {
                            self.exited |= matches!(event, StreamEvent::Exited { .. });
                            StreamItem::Event(event)
                        }
                        Err(_) => return End::Stream,
                    };
                    if self.items.send(item).await.is_err() {
                        return End::Client;
                    }
                }
                input = self.inputs.recv() => {
                    let Some(input) = input else { return End::Client };
                    if let StreamInput::Resize(size) = input {
                        self.size = Some(size);
                    }
                    if stream.send(&input).await.is_err() {
                        return End::Stream;
                    }
                }
                changed = self.seen.changed() => {
                    if changed.is_err() {
                        return End::Client;
                    }
                    let seen = self.seen.borrow();
                    let other = self.target == Target::Agent && seen.terminal.as_ref() != Some(terminal);
                    if other || seen.epoch != epoch && seen.link == Link::Up && seen.client.is_some() {
                        return End::Moved;
                    }
                }
                () = self.items.closed() => return End::Client,
            }
        }
    }

    async fn tell(&self, event: StreamEvent) -> bool {
        self.items.send(StreamItem::Event(event)).await.is_ok()
    }
}
