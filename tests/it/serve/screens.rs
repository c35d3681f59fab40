//! Screens that are sent away, with and without a connection at that moment.

use relight::link::host::{HostClient, HostEvents, HostItem};
use relight::wire::host::{DetachedOthers, Push, Screen};
use serde_json::{Value, json};

use super::fake::{Host, next};
use crate::link::support::until;

async fn screen(host: &Host, name: &str) -> (HostClient, HostEvents) {
    let (client, events) = host.client().await;
    client.call::<_, ()>("client.screen", Screen { name: name.into() }).await.unwrap();
    (client, events)
}

async fn detach_others(client: &HostClient) -> u32 {
    client.call::<_, DetachedOthers>("client.detach_others", json!({})).await.unwrap().screens
}

async fn is_sent_away(events: &mut HostEvents) {
    match next(events).await {
        HostItem::Push(Push::Detached { why }) => assert_eq!(why, "Detached by another client."),
        other => panic!("{other:?}"),
    }
    assert!(matches!(next(events).await, HostItem::Closed(_)));
}

#[tokio::test]
async fn screens_leave_and_calls_under_way_are_answered() {
    let host = Host::start();
    let (asks, mut asks_events) = screen(&host, "asks").await;
    let (_other, mut other_events) = screen(&host, "other").await;
    let (calls, mut calls_events) = host.client().await;
    let open = tokio::spawn({
        let calls = calls.clone();
        async move { calls.call::<_, Value>("wait", json!("open")).await }
    });
    calls.call::<_, Value>("echo", ()).await.unwrap();
    assert_eq!(detach_others(&asks).await, 1);
    is_sent_away(&mut other_events).await;
    host.api.gate.notify_one();
    assert_eq!(open.await.unwrap().unwrap(), json!("open"));
    // Whoever stays hears nothing of it.
    for (client, events) in [(&asks, &mut asks_events), (&calls, &mut calls_events)] {
        client.call::<_, Value>("events.subscribe", json!({})).await.unwrap();
        let seq = host.api.publish("s");
        match next(events).await {
            HostItem::Push(Push::Event(event)) => assert_eq!(event.seq, seq),
            other => panic!("{other:?}"),
        }
    }
    host.stop().await;
}

#[tokio::test]
async fn a_screen_without_a_connection_at_that_moment_is_sent_away_when_it_is_back() {
    let host = Host::start();
    drop(screen(&host, "dozes").await);
    until("its connection is gone", || host.api.gone.lock().unwrap().len() == 1).await;
    let (asks, _events) = host.client().await;
    assert_eq!(detach_others(&asks).await, 0);
    let (back, mut events) = host.client().await;
    back.notify("client.screen", Screen { name: "dozes".into() }).await.unwrap();
    is_sent_away(&mut events).await;
    host.stop().await;
}
