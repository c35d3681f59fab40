//! The clients that look at one terminal: what each was sent, and what it is still drawing.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::screen::frames::Framer;
use crate::wire::agentctl::StreamEvent;

/// Messages that wait for one client's socket. Frames are bounded by what it acknowledges; a client that does not even take
/// so many events is let go, and comes back with a keyframe.
const QUEUE: usize = 64;
/// Frames that a client may have undrawn.
const IN_FLIGHT: usize = 2;
/// A client that takes longer than this to draw a frame gets one at a time.
const SLOW: Duration = Duration::from_millis(100);
/// Most bytes of unfinished pastes of one client.
const PASTE_MAX_BYTES: usize = 64 * 1024 * 1024;

/// One message to a client.
#[derive(Debug)]
pub enum Out {
    /// An encoded frame.
    Frame(Bytes),
    /// An event.
    Event(StreamEvent),
}

#[derive(Debug)]
struct Viewer {
    out: mpsc::Sender<Out>,
    sent: u64,
    flying: VecDeque<(u64, Instant)>,
    slow: bool,
    pastes: BTreeMap<u32, Paste>,
    paste_bytes: usize,
}

/// A paste that is not committed yet.
#[derive(Debug, Default)]
struct Paste {
    parts: u32,
    bytes: Vec<u8>,
    refused: bool,
}

/// All clients of one terminal.
#[derive(Debug, Default)]
pub struct Viewers {
    list: BTreeMap<u64, Viewer>,
    next: u64,
}

impl Viewers {
    /// A new client: its number, and where its messages come out. `hello` is the first one.
    pub fn attach(&mut self, hello: StreamEvent) -> (u64, mpsc::Receiver<Out>) {
        let (out, messages) = mpsc::channel(QUEUE);
        let _ = out.try_send(Out::Event(hello));
        self.next += 1;
        let viewer =
            Viewer { out, sent: 0, flying: VecDeque::new(), slow: false, pastes: BTreeMap::new(), paste_bytes: 0 };
        self.list.insert(self.next, viewer);
        (self.next, messages)
    }

    /// A client is gone.
    pub fn leave(&mut self, id: u64) {
        self.list.remove(&id);
    }

    /// Whether nobody looks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether this client is still here.
    #[must_use]
    pub fn has(&self, id: u64) -> bool {
        self.list.contains_key(&id)
    }

    /// Sends an event to every client.
    pub fn event(&mut self, event: &StreamEvent) {
        self.list.retain(|_, viewer| viewer.out.try_send(Out::Event(event.clone())).is_ok());
    }

    /// Sends an event to one client.
    pub fn event_to(&mut self, id: u64, event: StreamEvent) {
        if let Some(viewer) = self.list.get(&id)
            && viewer.out.try_send(Out::Event(event)).is_err()
        {
            self.list.remove(&id);
        }
    }

    /// Sends every client that has room the change since its own last state. Those that left are removed; their numbers.
    pub fn frames(&mut self, framer: &Framer, now: Instant) -> Vec<u64> {
        let mut gone = Vec::new();
        for (id, viewer) in &mut self.list {
            let room = if viewer.slow { 1 } else { IN_FLIGHT };
            if viewer.flying.len() >= room || (viewer.sent >= framer.state() && viewer.sent != 0) {
                continue;
            }
            let Some(frame) = framer.frame_since(viewer.sent) else { continue };
            viewer.sent = frame.head.state;
            viewer.flying.push_back((viewer.sent, now));
            if viewer.out.try_send(Out::Frame(frame.encode())).is_err() {
                gone.push(*id);
            }
        }
        for id in &gone {
            self.list.remove(id);
        }
        gone
    }

    /// A client has drawn everything up to `state`.
    pub fn ack(&mut self, id: u64, state: u64, now: Instant) {
        let Some(viewer) = self.list.get_mut(&id) else { return };
        while let Some((sent, at)) = viewer.flying.front().copied()
            && sent <= state
        {
            viewer.flying.pop_front();
            viewer.slow = now.saturating_duration_since(at) > SLOW;
        }
    }

    /// A client wants everything anew.
    pub fn keyframe(&mut self, id: u64) {
        if let Some(viewer) = self.list.get_mut(&id) {
            viewer.sent = 0;
            viewer.flying.clear();
        }
    }

    /// A part of a paste. Over the limit, or without the parts before it, the whole paste is refused.
    pub fn paste_chunk(&mut self, id: u64, paste: u32, part: u32, data: &[u8]) {
        let Some(viewer) = self.list.get_mut(&id) else { return };
        let whole = viewer.pastes.entry(paste).or_default();
        if whole.refused || whole.parts != part || viewer.paste_bytes + data.len() > PASTE_MAX_BYTES {
            self.paste_spoil(id, paste);
            return;
        }
        whole.parts += 1;
        whole.bytes.extend_from_slice(data);
        viewer.paste_bytes += data.len();
    }

    /// Refuses a paste, of which a part is unreadable or missing.
    pub fn paste_spoil(&mut self, id: u64, paste: u32) {
        let Some(viewer) = self.list.get_mut(&id) else { return };
        let whole = viewer.pastes.entry(paste).or_default();
        viewer.paste_bytes -= whole.bytes.len();
        *whole = Paste { refused: true, ..Paste::default() };
    }

    /// The whole paste of so many parts; `None` when it was refused or is not whole, which its client is told.
    pub fn paste_commit(&mut self, id: u64, paste: u32, parts: u32) -> Option<Vec<u8>> {
        let viewer = self.list.get_mut(&id)?;
        let whole = viewer.pastes.remove(&paste).unwrap_or_default();
        viewer.paste_bytes -= whole.bytes.len();
        if whole.refused || whole.parts != parts {
            let text = format!(
                "a paste was not typed: it is over {} MiB, or not all of it came; paste it again",
                PASTE_MAX_BYTES >> 20
            );
            self.event_to(id, StreamEvent::Notification { title: "relight".into(), text });
            return None;
        }
        Some(whole.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TerminalId;
    use crate::domain::launch::Size;

    fn hello() -> StreamEvent {
        StreamEvent::Attached { terminal: TerminalId::new("t").unwrap(), size: Size::DEFAULT }
    }

    #[test]
    fn a_paste_is_whole_or_nothing() {
        let mut viewers = Viewers::default();
        let (id, mut out) = viewers.attach(hello());
        viewers.paste_chunk(id, 1, 0, b"he");
        viewers.paste_chunk(id, 2, 0, b"other");
        viewers.paste_chunk(id, 1, 1, b"llo");
        assert_eq!(viewers.paste_commit(id, 1, 2).as_deref(), Some(&b"hello"[..]));
        let part = vec![0; PASTE_MAX_BYTES / 2];
        for n in 0..3 {
            viewers.paste_chunk(id, 3, n, &part);
        }
        assert!(matches!(out.try_recv(), Ok(Out::Event(StreamEvent::Attached { .. }))));
        let mut refused = |viewers: &mut Viewers, paste, parts| {
            assert_eq!(viewers.paste_commit(id, paste, parts), None);
            assert!(matches!(out.try_recv(), Ok(Out::Event(StreamEvent::Notification { .. }))));
        };
        refused(&mut viewers, 3, 3);
        assert_eq!(viewers.paste_commit(id, 2, 1).as_deref(), Some(&b"other"[..]));
        // It began at an agent that is dead now: here are only its rest, or only its end.
        viewers.paste_chunk(id, 4, 1, b"rest");
        refused(&mut viewers, 4, 2);
        refused(&mut viewers, 5, 2);
        assert_eq!(viewers.paste_commit(id, 6, 0).as_deref(), Some(&b""[..]), "an empty one is whole");
    }

    #[test]
    fn a_client_that_takes_nothing_is_let_go() {
        let mut viewers = Viewers::default();
        let (id, _out) = viewers.attach(hello());
        for _ in 0..QUEUE {
            viewers.event(&StreamEvent::Bell);
        }
        assert!(!viewers.has(id));
    }
}
