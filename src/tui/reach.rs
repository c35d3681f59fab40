//! The link to the host as the driver uses it: connect, call, send, listen; and timers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::calls;
use super::complete;
use super::msg::{Call, Msg, Refusal, Timer};
use super::options::StartHost;
use crate::link::Error as LinkError;
use crate::link::endpoint::Endpoint;
use crate::link::host::{HostClient, HostEvents, HostItem};
use crate::wire::host::{ClientEnvironment, TerminalInput};
use crate::wire::input::StreamInput;

/// Inputs handed to the sender before the outer terminal is left unread: a burst of keys.
const SENDING: usize = 64;

/// What tasks tell the driver.
pub enum News {
    /// Something happened.
    Msg(Msg),
    /// Something happened to the connection with this number.
    Of(u64, Msg),
    /// Connected.
    Connected(u64, HostClient, HostEvents),
}

/// The link.
pub struct Reach {
    endpoint: Endpoint,
    start_host: Option<Arc<StartHost>>,
    /// Told at each connection.
    environment: Option<ClientEnvironment>,
    news: mpsc::Sender<News>,
    /// Number of the newest connection: what older ones say is void.
    number: u64,
    connecting: Option<JoinHandle<()>>,
    line: Option<Line>,
}

struct Line {
    client: HostClient,
    events: HostEvents,
    sender: mpsc::Sender<TerminalInput>,
}

impl Reach {
    /// Not connected yet.
    #[must_use]
    pub fn new(
        endpoint: Endpoint,
        start_host: Option<StartHost>,
        environment: Option<ClientEnvironment>,
        news: mpsc::Sender<News>,
    ) -> Self {
        let start_host = start_host.map(Arc::new);
        Self { endpoint, start_host, environment, news, number: 0, connecting: None, line: None }
    }

    /// Connects after a pause, in the background; a try under way is given up.
    pub fn connect(&mut self, after: Duration, start: bool) {
        self.number += 1;
        self.line = None;
        if let Some(task) = self.connecting.take() {
            task.abort();
        }
        let (number, news, endpoint) = (self.number, self.news.clone(), self.endpoint.clone());
        let start_host = self.start_host.clone().filter(|_| start);
        let environment = self.environment.clone();
        self.connecting = Some(tokio::spawn(async move {
            sleep(after).await;
            let item = match connect(endpoint, start_host).await {
                Ok((client, events)) => {
                    if let Some(environment) = environment {
                        // A link that broke already is seen by the next call.
                        let _broken = client.notify("client.environment", environment).await;
                    }
                    News::Connected(number, client, events)
                }
                Err((why, refused)) => News::Of(number, Msg::NoHost { why, refused }),
            };
            let _driver_gone = news.send(item).await;
        }));
    }

    /// Looks for directories whose names begin with `text`, in the background.
    pub fn complete(&self, text: String, cwd: &str, home: &str) {
        let (news, base) = (self.news.clone(), complete::place(&text, cwd, home));
        tokio::task::spawn_blocking(move || {
            let found = complete::directories(&text, &base);
            let _driver_gone = news.blocking_send(News::Msg(Msg::Completed(text, found)));
        });
    }

    /// What a task told; `None` when it is void by now.
    pub fn news(&mut self, news: News) -> Option<Msg> {
        match news {
            News::Msg(msg) => Some(msg),
            News::Of(number, msg) if number == self.number => {
                if matches!(msg, Msg::Lost(_)) {
                    self.line.take()?;
                }
                Some(msg)
            }
            News::Connected(number, client, events) if number == self.number => {
                let (sender, inputs) = mpsc::channel(SENDING);
                tokio::spawn(send(client.clone(), inputs, number, self.news.clone()));
                self.line = Some(Line { client, events, sender });
                Some(Msg::Connected)
            }
            News::Of(..) | News::Connected(..) => None,
        }
    }

    /// The next thing that the host says; `None` when there is room for input again, if `sending`.
    pub async fn next(&mut self, sending: bool) -> Option<HostItem> {
        let Some(line) = &mut self.line else { return std::future::pending().await };
        tokio::select! {
            biased;
            Ok(_permit) = line.sender.reserve(), if sending => None,
            item = line.events.next() => Some(item),
        }
    }

    /// What the host said, as something that happened.
    pub fn item(&mut self, item: HostItem) -> Msg {
        match item {
            HostItem::Push(push) => Msg::Push(push),
            HostItem::Frame { stream, frame } => Msg::Frame(stream, frame),
            HostItem::Closed(why) => {
                self.line = None;
                Msg::Lost(why)
            }
        }
    }

    /// Gives as much input to the sender as it takes now. Without a connection it is void: its streams are gone.
    pub fn hand_over(&mut self, backlog: &mut VecDeque<(u32, StreamInput)>) {
        let Some(line) = &self.line else {
            backlog.clear();
            return;
        };
        while let Some((stream, input)) = backlog.pop_front() {
            match line.sender.try_send(TerminalInput { stream, input }) {
                Ok(()) => {}
                Err(mpsc::error::TrySendError::Full(back)) => {
                    backlog.push_front((back.stream, back.input));
                    return;
                }
                Err(mpsc::error::TrySendError::Closed(_)) => {
                    backlog.clear();
                    return;
                }
            }
        }
    }

    /// Asks the host in the background.
    pub fn call(&self, call: Call) {
        let (number, news) = (self.number, self.news.clone());
        let client = self.line.as_ref().map(|line| line.client.clone());
        tokio::spawn(async move {
            let outcome = match client {
                Some(client) => calls::call(&client, &call).await,
                None => Err(Refusal { code: None, message: "The host is away.".into(), hint: None }),
            };
            let _driver_gone = news.send(News::Of(number, Msg::Answered(call, outcome))).await;
        });
    }

    /// Starts a timer.
    pub fn timer(&self, timer: Timer, life: u64, after: Duration) {
        let news = self.news.clone();
        tokio::spawn(async move {
            sleep(after).await;
            let _driver_gone = news.send(News::Msg(Msg::Timer(timer, life))).await;
        });
    }
}

/// Connects; starts a host when nobody listens. The error says whether another try is of no use.
async fn connect(
    endpoint: Endpoint,
    start_host: Option<Arc<StartHost>>,
) -> Result<(HostClient, HostEvents), (String, bool)> {
    let refused = |error: &LinkError| {
        matches!(error, LinkError::VersionMismatch { .. } | LinkError::OtherOwner { .. } | LinkError::BadUrl { .. })
    };
    match (HostClient::connect(endpoint.clone()).await, start_host) {
        (Ok(connected), _) => Ok(connected),
        (Err(LinkError::NobodyThere { .. }), Some(start)) => {
            start().await.map_err(|why| (why, false))?;
            HostClient::connect(endpoint).await.map_err(|error| (error.to_string(), refused(&error)))
        }
        (Err(LinkError::NobodyThere { .. }), None) => Err(("nobody answers at its socket".into(), false)),
        (Err(error), _) => Err((error.to_string(), refused(&error))),
    }
}

/// Sends input in order.
async fn send(client: HostClient, mut inputs: mpsc::Receiver<TerminalInput>, number: u64, news: mpsc::Sender<News>) {
    while let Some(input) = inputs.recv().await {
        if let Err(error) = client.notify("terminal.input", input).await {
            let _driver_gone = news.send(News::Of(number, Msg::Lost(error.to_string()))).await;
            return;
        }
    }
}
