//! The terminals that one client has attached.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::task::AbortHandle;

use crate::domain::words::ErrorCode;
use crate::host::api::{AttachedStream, StreamItem};
use crate::serve::outbox::{Gone, Outbox};
use crate::wire::agentctl::StreamEvent;
use crate::wire::host::{Attached, Push, WireError};
use crate::wire::input::StreamInput;

/// Streams of one client at most: far more panes than a screen shows.
const MAX_STREAMS: usize = 128;
/// How long a terminal may take no input before its stream is detached. Nothing else of this client is read meanwhile, so
/// that what is typed stays in order.
const INPUT_DEADLINE: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct Entry {
    input: mpsc::Sender<StreamInput>,
    pump: AbortHandle,
}

#[derive(Debug, Default)]
struct Table {
    next: u32,
    closed: bool,
    entries: HashMap<u32, Entry>,
}

/// The attached terminals of one client, by the number of their stream.
#[derive(Debug, Default)]
pub struct Streams {
    table: Mutex<Table>,
}

impl Streams {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `attached`, answers call `id` with its number, and sends what it says from then on.
    ///
    /// # Errors
    /// `too_many_connections` when the client has too many.
    pub fn attach(
        self: &Arc<Self>,
        id: Option<u64>,
        attached: AttachedStream,
        outbox: &Arc<Outbox>,
    ) -> Result<(), WireError> {
        let mut table = self.table();
        if table.closed {
            return Ok(());
        }
        if table.entries.len() >= MAX_STREAMS {
            let text = format!("this client has {MAX_STREAMS} terminals attached, more are not accepted");
            return Err(WireError::new(ErrorCode::TooManyConnections, text).hint("close some panes"));
        }
        table.next += 1;
        let stream = table.next;
        let AttachedStream { session_id, terminal_id, items, input } = attached;
        let answer = Attached { stream, session_id, terminal_id };
        let (streams, outbox) = (Arc::clone(self), Arc::clone(outbox));
        let pump = tokio::spawn(async move {
            if pump(id, answer, items, &outbox).await.is_ok() {
                streams.table().entries.remove(&stream);
            }
        });
        // The table stays locked until here, so input for a number that was just answered finds it.
        table.entries.insert(stream, Entry { input, pump: pump.abort_handle() });
        Ok(())
    }

    /// Ends a stream; one that is not there is no error, since it may just have ended.
    pub fn detach(&self, stream: u32, outbox: &Outbox) {
        if let Some(entry) = self.table().entries.remove(&stream) {
            entry.pump.abort();
        }
        outbox.forget(stream);
    }

    /// Passes `input` to a stream. A terminal that takes none for 2 s loses the stream, which says so.
    ///
    /// # Errors
    /// `terminal_not_found` for a stream that is not there, `timeout` for one that was lost.
    pub async fn input(&self, stream: u32, input: StreamInput, outbox: &Outbox) -> Result<(), WireError> {
        let gone = || {
            let text = format!("there is no stream {stream} on this connection");
            WireError::new(ErrorCode::TerminalNotFound, text).hint("attach again")
        };
        let sender = self.table().entries.get(&stream).map(|entry| entry.input.clone()).ok_or_else(gone)?;
        let input = match sender.try_send(input) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Closed(_)) => return Err(gone()),
            Err(TrySendError::Full(input)) => input,
        };
        match tokio::time::timeout(INPUT_DEADLINE, sender.send(input)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(gone()),
            Err(_) => {
                let why = format!("the terminal took no input for {} s", INPUT_DEADLINE.as_secs());
                self.detach(stream, outbox);
                if outbox.push(&Push::Stream { stream, event: StreamEvent::Lost { why: why.clone() } }).is_err() {
                    tracing::debug!(stream, "the client is gone as well");
                }
                Err(WireError::new(ErrorCode::Timeout, why).hint("attach again"))
            }
        }
    }

    /// Ends every stream, also one that is being attached.
    pub fn close(&self) {
        let mut table = self.table();
        table.closed = true;
        for (_, entry) in table.entries.drain() {
            entry.pump.abort();
        }
    }
}

async fn pump(
    id: Option<u64>,
    answer: Attached,
    mut items: mpsc::Receiver<StreamItem>,
    outbox: &Outbox,
) -> Result<(), Gone> {
    let stream = answer.stream;
    outbox.reply(id, serde_json::to_value(answer).map_err(|error| broken(&error))).await?;
    loop {
        let item = tokio::select! {
            () = outbox.closed() => return Err(Gone),
            item = items.recv() => item,
        };
        match item {
            Some(StreamItem::Frame(frame)) => outbox.frame(stream, frame),
            Some(StreamItem::Event(event)) => outbox.push(&Push::Stream { stream, event })?,
            None => return Ok(()),
        }
    }
}

fn broken(error: &serde_json::Error) -> WireError {
    WireError::new(ErrorCode::Internal, format!("the answer cannot be written: {error}"))
}
