//! Subscriptions: the seam between replay and what comes, filters, readers that lag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use relight::domain::ids::TaskId;
use relight::domain::words::Activity;
use relight::link::host::{HostClient, HostEvents, HostItem};
use relight::wire::host::{Push, Subscribe};
use serde_json::{Value, json};

use super::fake::{Host, next, next_seq, session};
use crate::link::support::{until, within};

async fn subscribe(client: &HostClient, subscribe: Subscribe) -> u64 {
    let answer: Value = client.call("events.subscribe", subscribe).await.unwrap();
    answer["seq"].as_u64().unwrap()
}

fn since(since: u64) -> Subscribe {
    Subscribe { since: Some(since), ..Subscribe::default() }
}

/// Reads on from `seen`, subscribing again whenever told to, until `last`; each number exactly once.
async fn follow(client: &HostClient, events: &mut HostEvents, mut seen: u64, last: u64) -> u32 {
    let mut again = 0;
    while seen < last {
        match next(events).await {
            HostItem::Push(Push::Event(event)) => {
                assert_eq!(event.seq, seen + 1, "no gap and no duplicate");
                seen = event.seq;
            }
            HostItem::Push(Push::Resync { seq }) => {
                assert_eq!(seq, seen, "it is told the last one that it got");
                again += 1;
                subscribe(client, since(seen)).await;
            }
            other => panic!("{other:?}"),
        }
    }
    again
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replay_and_what_comes_meet_without_gap_or_duplicate() {
    const ALL: u64 = 3_000;
    let host = Host::start();
    for _ in 0..50 {
        host.api.publish("s");
    }
    let go_on = Arc::new(AtomicBool::new(true));
    let publisher = std::thread::spawn({
        let (api, go_on) = (Arc::clone(&host.api), Arc::clone(&go_on));
        move || {
            while go_on.load(Ordering::Relaxed) && api.publish("s") < ALL {
                std::thread::yield_now();
            }
        }
    });
    let mut readers = Vec::new();
    for from in [0, 10, 50, 0, 49, 25] {
        let (client, mut events) = host.client().await;
        readers.push(tokio::spawn(async move {
            subscribe(&client, since(from)).await;
            follow(&client, &mut events, from, ALL).await
        }));
    }
    for reader in readers {
        within("a reader has seen everything", reader).await.unwrap();
    }
    go_on.store(false, Ordering::Relaxed);
    publisher.join().unwrap();
    host.stop().await;
}

#[tokio::test]
async fn without_a_number_only_what_comes_is_sent() {
    let host = Host::start();
    host.api.publish("s");
    let (client, mut events) = host.client().await;
    assert_eq!(subscribe(&client, Subscribe::default()).await, 1);
    assert_eq!(host.api.publish("s"), 2);
    assert_eq!(next_seq(&mut events).await, 2);
    host.stop().await;
}

fn activity(of: &str) -> Push {
    Push::Activity {
        session_id: session(of),
        task_id: TaskId::new("task").unwrap(),
        activity: Activity::Working,
        why: "a turn is running".into(),
        title: String::new(),
        progress: None,
    }
}

#[tokio::test]
async fn a_subscription_has_its_session_and_its_activity() {
    let host = Host::start();
    host.api.publish("a");
    host.api.publish("b");
    let (one, mut one_events) = host.client().await;
    let (all, mut all_events) = host.client().await;
    let wanted = Subscribe { session_id: Some(session("b")), since: Some(0), activity: true };
    subscribe(&one, wanted).await;
    subscribe(&all, since(0)).await;
    for of in ["a", "b"] {
        host.api.tell(activity(of));
        host.api.publish(of);
    }
    assert_eq!(next_seq(&mut one_events).await, 2);
    assert_eq!(next(&mut one_events).await, HostItem::Push(activity("b")));
    assert_eq!(next_seq(&mut one_events).await, 4);
    for seq in 1..=4 {
        assert_eq!(next_seq(&mut all_events).await, seq, "without activity");
    }
    host.stop().await;
}

#[tokio::test]
async fn several_subscriptions_live_on_one_connection() {
    let host = Host::start();
    let (client, mut events) = host.client().await;
    for of in ["a", "b"] {
        subscribe(&client, Subscribe { session_id: Some(session(of)), ..Subscribe::default() }).await;
    }
    for of in ["b", "c", "a"] {
        host.api.publish(of);
    }
    let mut seen = [next_seq(&mut events).await, next_seq(&mut events).await];
    seen.sort_unstable();
    assert_eq!(seen, [1, 3]);
    host.stop().await;
}

/// The reader is not read from while far more is published than any buffer holds; then it catches up by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_lags_is_told_to_subscribe_again_and_misses_nothing() {
    const ALL: u64 = 20_000;
    let host = Host::start();
    let (client, mut events) = host.client().await;
    subscribe(&client, since(0)).await;
    let (fast, mut fast_events) = host.client().await;
    while host.api.publish("s") < ALL {}
    // Nobody waited for the slow one.
    assert_eq!(within("a call of another", fast.call::<_, Value>("echo", json!(1))).await.unwrap(), json!(1));
    subscribe(&fast, since(ALL - 1)).await;
    assert_eq!(next_seq(&mut fast_events).await, ALL);
    let again = follow(&client, &mut events, 0, ALL).await;
    assert!(again > 0, "it fell behind");
    drop((client, events));
    until("the host knows that it is gone", || host.api.gone.lock().unwrap().len() == 1).await;
    host.stop().await;
}
