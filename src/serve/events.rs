//! One subscription of one client: first what it missed, then what comes, each event once.

use tokio::sync::broadcast::error::RecvError;

use crate::host::api::Subscription;
use crate::serve::outbox::{Gone, Outbox};
use crate::wire::host::{Push, Subscribe};

/// Answers call `id` and sends events until the client is gone or has fallen behind; then it is told to subscribe again.
///
/// # Errors
/// [`Gone`].
pub async fn pump(id: Option<u64>, subscription: Subscription, wanted: Subscribe, outbox: &Outbox) -> Result<(), Gone> {
    let Subscription { seq, replay, mut live } = subscription;
    outbox.reply(id, Ok(serde_json::json!({ "seq": seq }))).await?;
    let mut last = wanted.since.unwrap_or(seq);
    for event in replay {
        if event.seq > last && event.seq <= seq {
            last = event.seq;
            let push = Push::Event(event);
            if wants(&wanted, &push) {
                outbox.push_wait(&push).await?;
            }
        }
    }
    last = seq;
    loop {
        let push = tokio::select! {
            () = outbox.closed() => return Err(Gone),
            push = live.recv() => push,
        };
        match push {
            Ok(Push::Event(event)) if event.seq <= last => {}
            Ok(push) => {
                if let Push::Event(event) = &push {
                    last = event.seq;
                }
                if wants(&wanted, &push) {
                    outbox.push_wait(&push).await?;
                }
            }
            Err(RecvError::Lagged(_)) => return outbox.push_wait(&Push::Resync { seq: last }).await,
            Err(RecvError::Closed) => return Ok(()),
        }
    }
}

fn wants(wanted: &Subscribe, push: &Push) -> bool {
    let of = |session| wanted.session_id.as_ref().is_none_or(|wanted| wanted == session);
    match push {
        Push::Event(event) => of(&event.session_id),
        Push::Activity { session_id, .. } => wanted.activity && of(session_id),
        Push::Resync { .. } | Push::Stream { .. } | Push::Detached { .. } | Push::Goodbye { .. } => true,
    }
}
