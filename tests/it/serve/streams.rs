//! Attached terminals: what they say and what is typed, slow viewers and stuck terminals.

use bytes::Bytes;
use relight::domain::launch::Size;
use relight::domain::words::ErrorCode;
use relight::host::api::StreamItem;
use relight::link::host::{HostClient, HostEvents, HostItem};
use relight::wire::agentctl::StreamEvent;
use relight::wire::frame::{Frame, FrameHead};
use relight::wire::host::{Attached, OfStream, Push, TerminalInput};
use relight::wire::input::StreamInput;
use serde_json::{Value, json};

use super::fake::{Host, Terminal, attach, next};
use crate::link::support::{until, within};

fn frame(state: u64, base: u64, bytes: usize) -> Frame {
    let head = FrameHead { state, base, cols: 80, rows: 24, ..FrameHead::default() };
    Frame { head, vt: Bytes::from(vec![b'x'; bytes]) }
}

fn said(state: u64, base: u64, bytes: usize) -> StreamItem {
    StreamItem::Frame(frame(state, base, bytes).encode())
}

async fn attached(host: &mut Host, client: &HostClient, name: &str) -> (u32, Terminal) {
    let answer: Attached = client.call("terminal.attach", attach(name)).await.unwrap();
    assert_eq!(answer.session_id.as_str(), name);
    (answer.stream, host.terminal().await)
}

fn typed(stream: u32, text: &str) -> TerminalInput {
    TerminalInput { stream, input: StreamInput::Text { text: text.into() } }
}

async fn next_frame(events: &mut HostEvents) -> (u32, u64) {
    match next(events).await {
        HostItem::Frame { stream, frame } => (stream, frame.head.state),
        other => panic!("not a frame: {other:?}"),
    }
}

#[tokio::test]
async fn terminals_speak_and_are_typed_into_by_number() {
    let mut host = Host::start();
    let (client, mut events) = host.client().await;
    let (one, mut first) = attached(&mut host, &client, "a").await;
    let (two, mut second) = attached(&mut host, &client, "b").await;
    assert_ne!(one, two);
    first.say.send(said(1, 0, 10)).await.unwrap();
    assert_eq!(next(&mut events).await, HostItem::Frame { stream: one, frame: frame(1, 0, 10) });
    second.say.send(StreamItem::Event(StreamEvent::Bell)).await.unwrap();
    let bell = Push::Stream { stream: two, event: StreamEvent::Bell };
    assert_eq!(next(&mut events).await, HostItem::Push(bell));
    for number in 0..100 {
        client.notify("terminal.input", typed(one, &number.to_string())).await.unwrap();
        let StreamInput::Text { text } = within("input", first.typed.recv()).await.unwrap() else { panic!() };
        assert_eq!(text, number.to_string(), "in order");
    }
    let size = StreamInput::Resize(Size::DEFAULT);
    client.call::<_, ()>("terminal.input", TerminalInput { stream: two, input: size.clone() }).await.unwrap();
    assert_eq!(within("input", second.typed.recv()).await.unwrap(), size);

    client.call::<_, ()>("terminal.detach", OfStream { stream: one }).await.unwrap();
    within("the host sees it", first.say.closed()).await;
    assert_eq!(within("no more input", first.typed.recv()).await, None);
    let error = client.call::<_, ()>("terminal.input", typed(one, "x")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TerminalNotFound);
    client.call::<_, ()>("terminal.detach", OfStream { stream: one }).await.unwrap();
    let error = client.call::<_, Value>("terminal.attach", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SessionNotFound);

    // A terminal that has nothing more to say is gone from the table.
    drop(second);
    within("its stream ends", async { while client.call::<_, ()>("terminal.input", typed(two, "x")).await.is_ok() {} })
        .await;
    let (_, third) = attached(&mut host, &client, "c").await;
    drop((client, events));
    within("a client that is gone has nothing attached", third.say.closed()).await;
    until("the host is told", || host.api.gone.lock().unwrap().len() == 1).await;
    host.stop().await;
}

/// One client reads nothing at all, with a terminal that floods it; another one beside it feels nothing, and neither does
/// the terminal. When the slow one reads again, it gets the newest state and no backlog.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_viewer_delays_nobody_and_gets_the_newest_state() {
    const FRAMES: u64 = 5_000;
    const BYTES: usize = 20_000;
    let mut host = Host::start();
    let (slow, mut slow_events) = host.client().await;
    let (fast, mut fast_events) = host.client().await;
    let (_, flooding) = attached(&mut host, &slow, "a").await;
    let (stream, mut quiet) = attached(&mut host, &fast, "b").await;
    let flood = tokio::spawn(async move {
        for state in 1..=FRAMES {
            flooding.say.send(said(state, state - 1, BYTES)).await.unwrap();
        }
        flooding
    });
    for state in 1..=200 {
        fast.notify("terminal.input", typed(stream, "k")).await.unwrap();
        within("a key arrives", quiet.typed.recv()).await.unwrap();
        quiet.say.send(said(state, state - 1, 100)).await.unwrap();
        assert_eq!(next_frame(&mut fast_events).await, (stream, state));
    }
    let flooding = within("100 MB of frames are said", flood).await.unwrap();
    let mut seen = 0;
    let mut count = 0;
    while seen < FRAMES {
        let (_, state) = next_frame(&mut slow_events).await;
        assert!(state > seen, "in order");
        (seen, count) = (state, count + 1);
    }
    assert!(count < FRAMES / 2, "{count} of {FRAMES} frames came: a backlog");
    assert_eq!(slow.call::<_, Value>("echo", json!(1)).await.unwrap(), json!(1));
    drop(flooding);
    host.stop().await;
}

#[tokio::test]
async fn a_terminal_that_takes_no_input_loses_its_stream_and_no_other() {
    let mut host = Host::start();
    let (client, mut events) = host.client().await;
    let (stuck, first) = attached(&mut host, &client, "a").await;
    let (other, mut second) = attached(&mut host, &client, "b").await;
    for number in 0..5 {
        client.notify("terminal.input", typed(stuck, &number.to_string())).await.unwrap();
    }
    client.notify("terminal.input", typed(other, "still")).await.unwrap();
    within("the other one gets its input", second.typed.recv()).await.unwrap();
    match next(&mut events).await {
        HostItem::Push(Push::Stream { stream, event: StreamEvent::Lost { .. } }) => assert_eq!(stream, stuck),
        other => panic!("{other:?}"),
    }
    within("the stuck one is let go", first.say.closed()).await;
    host.stop().await;
}
