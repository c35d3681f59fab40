//! A pane on one terminal, as the screen has them: attached over a connection of its own, drawing what comes.

use std::time::{Duration, Instant};

use relight::domain::launch::{Exit, Size};
use relight::link::endpoint::Endpoint;
use relight::link::host::{HostClient, HostEvents, HostItem};
use relight::screen::view::View;
use relight::wire::agentctl::StreamEvent;
use relight::wire::host::{Attached, OfStream, Push, TerminalInput, WireError};
use relight::wire::input::StreamInput;
use serde_json::json;
use tokio::runtime::Runtime;

use super::Home;
use super::home::PATIENCE;

/// How long it looks for more at once.
const LOOK: Duration = Duration::from_millis(50);

/// An attached terminal. It is detached when dropped.
pub struct Pane {
    runtime: Runtime,
    host: HostClient,
    events: HostEvents,
    stream: u32,
    view: View,
    /// Every end that it was told of.
    pub exits: Vec<Exit>,
}

impl Pane {
    /// Attaches to a terminal, at its own size.
    #[track_caller]
    pub fn attach(home: &Home, terminal: &str) -> Result<Self, WireError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let socket = Endpoint::Unix(home.path().join("state/host.sock"));
        let (host, events) = runtime.block_on(HostClient::connect(socket)).expect("a host to connect to");
        match runtime.block_on(host.call::<_, Attached>("terminal.attach", json!({ "terminal": terminal }))) {
            Ok(Attached { stream, .. }) => {
                let view = View::new(Size::DEFAULT);
                Ok(Self { runtime, host, events, stream, view, exits: Vec::new() })
            }
            Err(relight::link::Error::Remote(error)) => Err(error),
            Err(other) => panic!("terminal.attach: {other}"),
        }
    }

    /// What it shows.
    pub fn text(&self) -> String {
        let size = self.view.size();
        (0..size.rows).map(|row| self.view.text(row, 0, size.cols)).collect::<Vec<_>>().join("\n")
    }

    fn input(&self, input: StreamInput) -> Result<(), relight::link::Error> {
        self.runtime.block_on(self.host.call("terminal.input", TerminalInput { stream: self.stream, input }))
    }

    /// Types a line.
    #[track_caller]
    pub fn line(&self, text: &str) {
        self.input(StreamInput::Text { text: format!("{text}\r") }).expect("the stream takes input");
    }

    /// Whether the host has ended the stream.
    pub fn is_over(&self) -> bool {
        self.input(StreamInput::Keyframe).is_err()
    }

    fn take(&mut self, item: HostItem) {
        match item {
            HostItem::Frame { stream, frame } if stream == self.stream => {
                // After a gap it asks for everything. The stream may have ended meanwhile.
                _ = match self.view.apply(&frame) {
                    Ok(()) => self.input(StreamInput::Ack { state: frame.head.state }),
                    Err(_) => self.input(StreamInput::Keyframe),
                };
            }
            HostItem::Push(Push::Stream { stream, event: StreamEvent::Exited { exit } }) if stream == self.stream => {
                self.exits.push(exit);
            }
            HostItem::Closed(why) => panic!("the host closed the connection: {why}"),
            _ => {}
        }
    }

    /// Looks on until `holds`.
    #[track_caller]
    pub fn until(&mut self, home: &Home, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "the pane waited for {what}:\n{}\n{}", self.text(), home.report());
            let next = async { tokio::time::timeout(LOOK, self.events.next()).await };
            if let Ok(item) = self.runtime.block_on(next) {
                self.take(item);
            }
        }
    }

    /// Looks on until it shows `text`.
    #[track_caller]
    pub fn until_text(&mut self, home: &Home, text: &str) {
        self.until(home, &format!("`{text}`"), |pane| pane.text().contains(text));
    }

    /// Looks on until it is told of an end.
    #[track_caller]
    pub fn until_exit(&mut self, home: &Home) -> Exit {
        self.until(home, "the end of its program", |pane| !pane.exits.is_empty());
        self.exits[0]
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        // The connection may have ended before.
        _ = self.runtime.block_on(self.host.notify("terminal.detach", OfStream { stream: self.stream }));
    }
}
