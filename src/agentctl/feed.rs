//! The journal feed over a WebSocket: records after a cursor, then what happens, as it happens.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use tokio::time::timeout;

use crate::wire::agentctl::Feed;

use super::shared::{Phase, Shared};

/// Records read at once: some hundred KiB.
const BATCH: usize = 256;
/// A reader that takes nothing for this long is let go; it comes back with its cursor.
const SEND_MAX: Duration = Duration::from_secs(10);

/// Sends the feed until the reader is gone or everything has ended and was sent.
pub async fn serve(shared: Arc<Shared>, mut socket: WebSocket, after: u64) {
    let _guard = shared.feed();
    let (mut records, mut reports) = (shared.ledger.follow(), shared.board.follow());
    let mut phase = shared.phase();
    let (mut cursor, mut caught_up, mut reported) = (after, false, 0);
    loop {
        let ended = *phase.borrow_and_update() == Phase::Ended;
        records.mark_unchanged();
        let Some(sent) = send_records(&shared, &mut socket, cursor).await else { return };
        cursor = sent;
        if !caught_up {
            caught_up = true;
            if !send(&mut socket, &Feed::CaughtUp { seq: shared.ledger.seq() }).await {
                return;
            }
        }
        let (changes, fresh) = {
            let reports = reports.borrow_and_update();
            (reports.changes(), reports.since(reported).cloned().collect::<Vec<_>>())
        };
        reported = changes;
        for report in fresh {
            if !send(&mut socket, &Feed::Activity(report)).await {
                return;
            }
        }
        if ended {
            // The end was told before; a failed farewell changes nothing.
            let _ = socket.send(Message::Close(None)).await;
            return;
        }
        tokio::select! {
            _ = records.changed() => {}
            _ = reports.changed() => {}
            _ = phase.changed() => {}
            message = socket.recv() => match message {
                None | Some(Err(_) | Ok(Message::Close(_))) => return,
                Some(Ok(_)) => {}
            }
        }
    }
}

async fn send_records(shared: &Shared, socket: &mut WebSocket, mut cursor: u64) -> Option<u64> {
    loop {
        let batch = match shared.ledger.read(cursor, BATCH) {
            Ok(batch) => batch,
            Err(error) => {
                tracing::error!(%error, "the journal feed ends");
                return None;
            }
        };
        if batch.is_empty() {
            return Some(cursor);
        }
        for record in batch {
            cursor = record.seq;
            if !send(socket, &Feed::Record(record)).await {
                return None;
            }
        }
    }
}

async fn send(socket: &mut WebSocket, feed: &Feed) -> bool {
    let Ok(text) = serde_json::to_string(feed) else { return false };
    matches!(timeout(SEND_MAX, socket.send(Message::Text(text.into()))).await, Ok(Ok(())))
}
