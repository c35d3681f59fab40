//! A client's view of one terminal over a WebSocket: frames and events out, keys in.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::wire::input::StreamInput;

use super::order::{Handle, Order};
use super::shared::{Phase, Shared};
use super::viewers::Out;

/// A client that takes nothing for this long is let go; it comes back with a keyframe.
const SEND_MAX: Duration = Duration::from_secs(30);

/// Serves one client until it, or the terminal, is gone.
pub async fn serve(shared: Arc<Shared>, handle: Arc<Handle>, mut socket: WebSocket) {
    let Ok((viewer, out)) = handle.ask(Order::Attach).await else { return };
    carry(&shared, &handle, &mut socket, viewer, out).await;
    // A closed terminal has forgotten its clients.
    let _ = handle.order(Order::Leave(viewer)).await;
}

async fn carry(shared: &Shared, handle: &Handle, socket: &mut WebSocket, viewer: u64, mut out: mpsc::Receiver<Out>) {
    let mut phase = shared.phase();
    loop {
        tokio::select! {
            message = out.recv() => {
                let message = match message {
                    None => break,
                    Some(Out::Frame(bytes)) => Message::Binary(bytes),
                    Some(Out::Event(event)) => match serde_json::to_string(&event) {
                        Ok(text) => Message::Text(text.into()),
                        Err(_) => continue,
                    },
                };
                if !matches!(timeout(SEND_MAX, socket.send(message)).await, Ok(Ok(()))) {
                    return;
                }
            }
            message = socket.recv() => match message {
                None | Some(Err(_) | Ok(Message::Close(_))) => return,
                Some(Ok(Message::Text(text))) => {
                    let Ok(input) = serde_json::from_str::<StreamInput>(&text) else {
                        tracing::warn!(terminal = %handle.id, "a client sent what is no input; it is let go");
                        break;
                    };
                    if handle.order(Order::Input(viewer, input)).await.is_err() {
                        break;
                    }
                }
                Some(Ok(Message::Binary(_))) => {
                    tracing::warn!(terminal = %handle.id, "a client sent a binary message; it is let go");
                    break;
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            },
            () = ended(&mut phase) => break,
        }
    }
    // A failed farewell changes nothing.
    let _ = timeout(SEND_MAX, socket.send(Message::Close(None))).await;
}

async fn ended(phase: &mut watch::Receiver<Phase>) {
    // An error would mean that everything shared is gone, which is the end as well.
    let _ = phase.wait_for(|phase| *phase == Phase::Ended).await;
}
