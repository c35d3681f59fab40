//! A host that keeps numbered events in memory, echoes, and hands its terminals to the test.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use relight::domain::ids::{SessionId, TaskId, TerminalId};
use relight::domain::launch::ProcIdentity;
use relight::domain::rows::Event;
use relight::domain::words::ErrorCode;
use relight::host::api::{Api, AttachedStream, ClientId, StreamItem, Subscription};
use relight::link::endpoint::Endpoint;
use relight::link::host::{HostClient, HostEvents, HostItem};
use relight::link::listen::UnixListener;
use relight::wire::PROTOCOL;
use relight::wire::host::{Attach, Hello, Push, Subscribe, WireError};
use relight::wire::input::StreamInput;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Notify, broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::link::support::within;

/// Events that a subscriber may lag behind; small, so that lagging is easily reached.
const LIVE: usize = 16;

/// The other side of an attached terminal.
pub struct Terminal {
    pub say: mpsc::Sender<StreamItem>,
    pub typed: mpsc::Receiver<StreamInput>,
}

pub struct Fake {
    events: Mutex<Vec<Event>>,
    live: broadcast::Sender<Push>,
    attached: mpsc::Sender<Terminal>,
    pub gate: Notify,
    pub came: Mutex<Vec<ClientId>>,
    pub gone: Mutex<Vec<ClientId>>,
    pub finished: Mutex<Vec<Value>>,
}

pub fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

impl Fake {
    /// Numbers and publishes, as a host does after its commit: under one lock with [`Api::subscribe`].
    pub fn publish(&self, of: &str) -> u64 {
        let mut events = self.events.lock().unwrap();
        let event = Event {
            seq: events.len() as u64 + 1,
            kind: "session.state_changed".into(),
            session_id: session(of),
            task_id: TaskId::new("task").unwrap(),
            at: 0,
            data: json!({}),
        };
        events.push(event.clone());
        // Without subscribers there is nobody to tell.
        self.live.send(Push::Event(event)).ok();
        events.len() as u64
    }

    pub fn tell(&self, push: Push) {
        self.live.send(push).ok();
    }
}

impl Api for Fake {
    fn hello(&self) -> Hello {
        let identity = ProcIdentity { boot_id: "boot".into(), pid: 7, start_time: 8 };
        Hello { protocol: PROTOCOL, version: "0.0.0".into(), identity }
    }

    fn client_came(&self, client: ClientId) {
        self.came.lock().unwrap().push(client);
    }

    async fn call(&self, _: ClientId, method: &str, params: Value) -> Result<Value, WireError> {
        match method {
            "echo" => Ok(params),
            "empty" => Ok(json!({})),
            "long" => Ok(json!("x".repeat(usize::try_from(params.as_u64().unwrap()).unwrap()))),
            "wait" => {
                self.gate.notified().await;
                self.finished.lock().unwrap().push(params.clone());
                Ok(params)
            }
            "panic" => panic!("on purpose"),
            other => Err(WireError::new(ErrorCode::UnknownMethod, format!("there is no method `{other}`"))),
        }
    }

    fn attach(&self, _: ClientId, attach: Attach) -> impl Future<Output = Result<AttachedStream, WireError>> + Send {
        let attached = self.attached.clone();
        async move {
            let Some(session) = attach.session else {
                return Err(WireError::new(ErrorCode::SessionNotFound, "there is no such session"));
            };
            let ((say, items), (input, typed)) = (mpsc::channel(4), mpsc::channel(4));
            attached.send(Terminal { say, typed }).await.unwrap();
            let terminal_id = Some(TerminalId::new("terminal").unwrap());
            Ok(AttachedStream { session_id: SessionId::new(session).unwrap(), terminal_id, items, input })
        }
    }

    async fn subscribe(&self, subscribe: Subscribe) -> Result<Subscription, WireError> {
        let events = self.events.lock().unwrap();
        let live = self.live.subscribe();
        let replay = match subscribe.since {
            Some(since) => events.iter().filter(|event| event.seq > since).cloned().collect(),
            None => Vec::new(),
        };
        Ok(Subscription { seq: events.len() as u64, replay, live })
    }

    fn client_gone(&self, client: ClientId) {
        self.gone.lock().unwrap().push(client);
    }
}

/// A served fake host.
pub struct Host {
    pub api: Arc<Fake>,
    pub path: PathBuf,
    pub endpoint: Endpoint,
    pub terminals: mpsc::Receiver<Terminal>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    _dir: TempDir,
}

impl Host {
    pub fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("host.sock");
        let (attached, terminals) = mpsc::channel(64);
        let api = Arc::new(Fake {
            events: Mutex::default(),
            live: broadcast::channel(LIVE).0,
            attached,
            gate: Notify::new(),
            came: Mutex::default(),
            gone: Mutex::default(),
            finished: Mutex::default(),
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let listener = UnixListener::bind(&path).unwrap();
        let task = tokio::spawn(relight::serve::run(listener, Arc::clone(&api), async move {
            stopped.await.ok();
        }));
        let endpoint = Endpoint::Unix(path.clone());
        Self { api, path, endpoint, terminals, stop: Some(stop), task, _dir: dir }
    }

    pub async fn client(&self) -> (HostClient, HostEvents) {
        within("a connection", HostClient::connect(self.endpoint.clone())).await.unwrap()
    }

    pub async fn terminal(&mut self) -> Terminal {
        within("a terminal is attached", self.terminals.recv()).await.unwrap()
    }

    pub fn tell_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub async fn ended(self) {
        within("the host ends", self.task).await.unwrap();
    }

    pub async fn stop(mut self) {
        self.tell_to_stop();
        self.ended().await;
    }
}

pub fn attach(name: &str) -> Attach {
    Attach { session: Some(name.into()), terminal: None, size: None }
}

/// The next thing that the host sends.
pub async fn next(events: &mut HostEvents) -> HostItem {
    within("something from the host", events.next()).await
}

/// The number of the next event.
pub async fn next_seq(events: &mut HostEvents) -> u64 {
    match next(events).await {
        HostItem::Push(Push::Event(event)) => event.seq,
        other => panic!("not an event: {other:?}"),
    }
}
