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
    pastes: BTreeMap<u32, Option<Vec<u8>>>,
    paste_bytes: usize,
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

    /// A part of a paste. Over the limit the whole paste is refused.
    pub fn paste_chunk(&mut self, id: u64, paste: u32, data: &[u8]) {
        let Some(viewer) = self.list.get_mut(&id) else { return };
        let whole = viewer.pastes.entry(paste).or_insert_with(|| Some(Vec::new()));
        let Some(bytes) = whole else { return };
        if viewer.paste_bytes + data.len() > PASTE_MAX_BYTES {
            viewer.paste_bytes -= bytes.len();
            *whole = None;
            return;
        }
        viewer.paste_bytes += data.len();
        bytes.extend_from_slice(data);
    }

    /// Refuses a paste, of which a part was unreadable.
    pub fn paste_spoil(&mut self, id: u64, paste: u32) {
        let Some(viewer) = self.list.get_mut(&id) else { return };
        if let Some(Some(bytes)) = viewer.pastes.insert(paste, None) {
            viewer.paste_bytes -= bytes.len();
        }
    }

    /// The whole paste; `None` when it is unknown or was refused, which its client is told.
    pub fn paste_commit(&mut self, id: u64, paste: u32) -> Option<Vec<u8>> {
        let viewer = self.list.get_mut(&id)?;
        let Some(whole) = viewer.pastes.remove(&paste)? else {
            let text = format!("a paste over {} MiB, or with unreadable parts, was refused", PASTE_MAX_BYTES >> 20);
            self.event_to(id, StreamEvent::Notification { title: "relight".into(), text });
            return None;
        };
        viewer.paste_bytes -= whole.len();
        Some(whole)
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
        viewers.paste_chunk(id, 1, b"he");
        viewers.paste_chunk(id, 2, b"other");
        viewers.paste_chunk(id, 1, b"llo");
        assert_eq!(viewers.paste_commit(id, 1).as_deref(), Some(&b"hello"[..]));
        assert_eq!(viewers.paste_commit(id, 1), None);
        let part = vec![0; PASTE_MAX_BYTES / 2];
        for _ in 0..3 {
            viewers.paste_chunk(id, 3, &part);
        }
        assert_eq!(viewers.paste_commit(id, 3), None, "too long");
        assert_eq!(viewers.paste_commit(id, 2).as_deref(), Some(&b"other"[..]));
        assert!(matches!(out.try_recv(), Ok(Out::Event(StreamEvent::Attached { .. }))));
        assert!(matches!(out.try_recv(), Ok(Out::Event(StreamEvent::Notification { .. }))));
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
