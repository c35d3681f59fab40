//! How a served host ends.

use std::time::{Duration, Instant};

use relight::link::Error;
use relight::link::host::{HostClient, HostItem};
use relight::wire::host::Push;
use serde_json::{Value, json};

use super::fake::{Host, attach, next};
use crate::link::support::{until, within};

#[tokio::test]
async fn calls_are_answered_and_clients_get_a_goodbye() {
    let mut host = Host::start();
    let (client, mut events) = host.client().await;
    let last = tokio::spawn({
        let client = client.clone();
        async move { client.call::<_, Value>("wait", json!("last")).await }
    });
    // The call is under way once a later one was answered.
    client.call::<_, Value>("echo", ()).await.unwrap();
    host.tell_to_stop();
    until("no new client is taken", || !host.path.exists()).await;
    host.api.gate.notify_one();
    assert_eq!(within("the last answer", last).await.unwrap().unwrap(), json!("last"));
    assert!(matches!(next(&mut events).await, HostItem::Push(Push::Goodbye { .. })));
    assert!(matches!(next(&mut events).await, HostItem::Closed(_)));
    assert!(matches!(next(&mut events).await, HostItem::Closed(_)), "it stays closed");
    let error = client.call::<_, Value>("echo", ()).await.unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error:?}");
    let error = HostClient::connect(host.endpoint.clone()).await.unwrap_err();
    assert!(matches!(error, Error::NobodyThere { .. }), "{error:?}");
    let api = host.api.clone();
    host.ended().await;
    assert_eq!(api.gone.lock().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_waits_neither_for_stuck_calls_nor_for_stuck_clients() {
    let host = Host::start();
    let (client, _unread) = host.client().await;
    client.call::<_, Value>("terminal.attach", attach("a")).await.unwrap();
    client.notify("wait", json!("never")).await.unwrap();
    client.call::<_, Value>("events.subscribe", json!({})).await.unwrap();
    for _ in 0..20_000 {
        host.api.publish("s");
    }
    let began = Instant::now();
    host.stop().await;
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_host_that_dies_closes_its_clients() {
    let host = Host::start();
    let (client, mut events) = host.client().await;
    let open = tokio::spawn(async move { client.call::<_, Value>("wait", json!(1)).await });
    let api = host.api.clone();
    host.stop().await;
    let error = within("the call ends", open).await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error:?}");
    while !matches!(next(&mut events).await, HostItem::Closed(_)) {}
    assert_eq!(api.gone.lock().unwrap().len(), 1);
}
