//! What clients see and type: frames, keys, pastes, prompts.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::time::timeout;

use super::bed::{Bed, LONG, exit_of, id, kinds, records, request};
use super::serving::serve;
use crate::domain::ids::PromptId;
use crate::domain::journal::Body;
use crate::domain::launch::{Exit, Size};
use crate::domain::words::ErrorCode;
use crate::link;
use crate::link::terminal::{StreamItem, TerminalStream};
use crate::screen::view::View;
use crate::wire::agentctl::{CloseRequest, SendRequest, StreamEvent};
use crate::wire::frame::Frame;
use crate::wire::input::StreamInput;

/// A client as the TUI is one: draws frames and acknowledges them.
struct Eye {
    stream: TerminalStream,
    view: View,
    frames: usize,
    bytes: usize,
    exit: Option<Exit>,
}

impl Eye {
    fn new(stream: TerminalStream) -> Self {
        Self { stream, view: View::new(Size::DEFAULT), frames: 0, bytes: 0, exit: None }
    }

    fn text(&self) -> String {
        let size = self.view.size();
        (0..size.rows).map(|row| self.view.text(row, 0, size.cols)).collect::<Vec<_>>().join("\n")
    }

    async fn step(&mut self) {
        match timeout(LONG, self.stream.next()).await.expect("something of the terminal").unwrap() {
            StreamItem::Frame(bytes) => {
                let frame = Frame::decode(&bytes).unwrap();
                self.view.apply(&frame).unwrap();
                (self.frames, self.bytes) = (self.frames + 1, self.bytes + bytes.len());
                self.stream.send(&StreamInput::Ack { state: frame.head.state }).await.unwrap();
            }
            StreamItem::Event(StreamEvent::Exited { exit }) => self.exit = Some(exit),
            StreamItem::Event(_) => {}
        }
    }

    async fn until(&mut self, what: &str, seen: impl Fn(&Self) -> bool) {
        let begin = tokio::time::Instant::now();
        while !seen(self) {
            assert!(begin.elapsed() < LONG, "not seen: {what}\n{}", self.text());
            self.step().await;
        }
    }
}

#[tokio::test]
async fn a_client_sees_the_screen_types_and_sees_the_end() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let served = serve(&bed, &shared);
    let script = "printf 'name? '; read name; echo \"hello $name\"; exit 7";
    served.client.launch(&request("t1", 1, script)).await.unwrap();
    let mut eye = Eye::new(served.client.stream(&id("t1")).await.unwrap());
    eye.until("the question", |eye| eye.text().contains("name?")).await;
    eye.stream.send(&StreamInput::Text { text: "bob\r".into() }).await.unwrap();
    eye.until("the answer", |eye| eye.text().contains("hello bob")).await;
    eye.until("the end", |eye| eye.exit == Some(Exit::Code(7))).await;
    let lines = served.client.capture(&id("t1"), 0, false).await.unwrap().lines;
    assert!(lines.iter().any(|line| line == "hello bob"), "readable after its death: {lines:?}");
    let exits: Vec<_> = records(&shared)
        .into_iter()
        .filter_map(|r| match r.body {
            Body::Exit { last_line, failure, .. } => Some((last_line, failure)),
            _ => None,
        })
        .collect();
    assert_eq!(exits, [("hello bob".to_owned(), None)]);
}

#[tokio::test]
async fn last_words_name_a_failure() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let script = "echo 'Error: Login expired'; exit 1";
    crate::agentctl::launch::launch(&shared, request("t1", 1, script)).await.unwrap();
    exit_of(&shared, "t1").await;
    let failure = records(&shared).into_iter().find_map(|r| match r.body {
        Body::Exit { failure, .. } => failure,
        _ => None,
    });
    assert_eq!(failure, Some(ErrorCode::LoginExpired));
}

#[tokio::test]
async fn a_paste_reaches_the_program_whole_and_only_when_it_is() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let served = serve(&bed, &shared);
    let out = bed.home.path().join("out");
    let script = format!("stty raw -echo; printf ready; head -c 300001 > {}; printf got", out.display());
    served.client.launch(&request("t1", 1, &script)).await.unwrap();
    let mut eye = Eye::new(served.client.stream(&id("t1")).await.unwrap());
    eye.until("it reads", |eye| eye.text().contains("ready")).await;
    let text: Vec<u8> = (0..300_000u32).map(|n| b'a' + (n % 26) as u8).collect();
    let mut parts = 0;
    for part in text.chunks(40_000) {
        let chunk = StreamInput::PasteChunk { paste: 1, part: parts, data: STANDARD.encode(part) };
        eye.stream.send(&chunk).await.unwrap();
        parts += 1;
    }
    // An uncommitted paste of a client that is gone never arrives.
    let mut other = Eye::new(served.client.stream(&id("t1")).await.unwrap());
    other.stream.send(&StreamInput::PasteChunk { paste: 1, part: 0, data: STANDARD.encode("XXXX") }).await.unwrap();
    drop(other);
    eye.stream.send(&StreamInput::Text { text: "!".into() }).await.unwrap();
    eye.stream.send(&StreamInput::PasteCommit { paste: 1, parts }).await.unwrap();
    eye.until("it has read", |eye| eye.text().contains("got")).await;
    let got = std::fs::read(&out).unwrap();
    assert_eq!(got[0], b'!', "nothing of the paste before its commit");
    assert_eq!(got[1..], text[..]);
}

#[tokio::test]
async fn a_prompt_is_typed_once_with_its_enter_apart() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let served = serve(&bed, &shared);
    let script = "while read -r line; do echo \"got:$line\"; done";
    served.client.launch(&request("t1", 1, script)).await.unwrap();
    let prompt = PromptId::new("p1").unwrap();
    let send = SendRequest { text: "do it".into(), enter: true, prompt: Some(prompt) };
    served.client.send(&id("t1"), &send).await.unwrap();
    served.client.send(&id("t1"), &send).await.unwrap();
    let last = SendRequest { text: "last".into(), enter: true, prompt: None };
    served.client.send(&id("t1"), &last).await.unwrap();
    let mut eye = Eye::new(served.client.stream(&id("t1")).await.unwrap());
    eye.until("the last", |eye| eye.text().contains("got:last")).await;
    assert_eq!(eye.text().matches("got:do it").count(), 1);
    let kinds = kinds(&records(&shared));
    assert_eq!(kinds.iter().filter(|k| *k == "prompt").count(), 2, "begun and done, once: {kinds:?}");
    crate::agentctl::ending::close(&shared, &id("t1"), CloseRequest::default()).await.unwrap();
    let error = served.client.send(&id("t1"), &last).await.unwrap_err();
    assert!(matches!(error, link::Error::Remote(e) if e.code == ErrorCode::TerminalNotFound));
}

#[tokio::test]
async fn a_flood_costs_a_client_a_few_screens_and_ends_with_the_last_line() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let served = serve(&bed, &shared);
    let script = "read go; seq 1 200000; echo the-very-end; read stop";
    served.client.launch(&request("t1", 1, script)).await.unwrap();
    let mut eye = Eye::new(served.client.stream(&id("t1")).await.unwrap());
    eye.stream.send(&StreamInput::Text { text: "\r".into() }).await.unwrap();
    eye.until("the end", |eye| eye.text().contains("the-very-end")).await;
    let printed = 1_288_895;
    assert!(eye.bytes < printed, "{} bytes in {} frames", eye.bytes, eye.frames);
    crate::agentctl::ending::close(&shared, &id("t1"), CloseRequest::default()).await.unwrap();
}

#[tokio::test]
async fn a_client_that_draws_nothing_gets_two_frames_and_then_the_newest_state() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let served = serve(&bed, &shared);
    let script =
        "read a; for i in 1 2 3 4 5 6 7 8 9; do echo line$i; sleep 0.03; done; printf '\\033]2;done\\007'; read b";
    served.client.launch(&request("t1", 1, script)).await.unwrap();
    let mut stream = served.client.stream(&id("t1")).await.unwrap();
    stream.send(&StreamInput::Text { text: "\r".into() }).await.unwrap();
    let mut states = Vec::new();
    loop {
        match timeout(LONG, stream.next()).await.expect("the title").unwrap() {
            StreamItem::Frame(bytes) => states.push(Frame::decode(&bytes).unwrap()),
            StreamItem::Event(StreamEvent::Title { text }) if text == "done" => break,
            StreamItem::Event(_) => {}
        }
    }
    assert!(states.len() <= 2, "{}", states.len());
    let mut view = View::new(Size::DEFAULT);
    for frame in &states {
        view.apply(frame).unwrap();
    }
    let last = states.last().map_or(0, |frame| frame.head.state);
    stream.send(&StreamInput::Ack { state: last }).await.unwrap();
    let StreamItem::Frame(bytes) = timeout(LONG, stream.next()).await.expect("the newest").unwrap() else {
        panic!("a frame")
    };
    view.apply(&Frame::decode(&bytes).unwrap()).unwrap();
    let text: Vec<String> = (0..24).map(|row| view.text(row, 0, 80)).collect();
    assert!(text.iter().any(|line| line.trim() == "line9"), "{text:?}");
    crate::agentctl::ending::close(&shared, &id("t1"), CloseRequest::default()).await.unwrap();
}

#[tokio::test]
async fn a_flood_that_nobody_watches_is_read_on_slowly_and_its_end_is_seen() {
    let bed = Bed::new();
    let shared = bed.start().await;
    let begin = std::time::Instant::now();
    crate::agentctl::launch::launch(&shared, request("t1", 1, "seq 1 300000; exit 5")).await.unwrap();
    assert_eq!(exit_of(&shared, "t1").await, Exit::Code(5));
    assert!(begin.elapsed() < Duration::from_secs(25), "a burst is not held back");
}
