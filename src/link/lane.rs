//! A bounded queue towards one reader: events are kept in order or the lane is full, frames of a stream give way to newer
//! ones.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Frames of one stream that wait at most. A sender that is acknowledged has two under way; with more than this the
/// reader is slow, and only the newest is kept.
const FRAMES_PER_STREAM: usize = 4;

/// What stands in a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item<E, F> {
    /// Kept in any case.
    Event(E),
    /// A frame of a stream.
    Frame(u32, F),
}

/// How much a lane holds.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Events.
    pub events: usize,
    /// Bytes of the events together, beyond one.
    pub bytes: usize,
}

#[derive(Debug)]
struct State<E, F> {
    queue: VecDeque<(Item<E, F>, usize)>,
    events: usize,
    bytes: usize,
    closed: Option<String>,
}

/// The queue. One reader, any number of writers.
#[derive(Debug)]
pub struct Lane<E, F> {
    state: Mutex<State<E, F>>,
    filled: Notify,
    drained: Notify,
    shut: Notify,
    bounds: Bounds,
}

/// The lane is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shut;

impl<E, F> Lane<E, F> {
    /// An empty lane.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        let state = State { queue: VecDeque::new(), events: 0, bytes: 0, closed: None };
        Self { state: Mutex::new(state), filled: Notify::new(), drained: Notify::new(), shut: Notify::new(), bounds }
    }

    fn state(&self) -> MutexGuard<'_, State<E, F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends an event of `bytes` bytes.
    ///
    /// # Errors
    /// Gives it back when the lane is full or closed.
    pub fn push(&self, event: E, bytes: usize) -> Result<(), E> {
        let mut state = self.state();
        let full = state.events >= self.bounds.events
            || (state.events > 0 && state.bytes.saturating_add(bytes) > self.bounds.bytes);
        if full || state.closed.is_some() {
            return Err(event);
        }
        state.events += 1;
        state.bytes += bytes;
        state.queue.push_back((Item::Event(event), bytes));
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Appends an event as soon as there is room.
    ///
    /// # Errors
    /// [`Shut`] when the lane is or becomes closed.
    pub async fn push_wait(&self, mut event: E, bytes: usize) -> Result<(), Shut> {
        loop {
            // Made before the try, so that room made in between is not missed.
            let room = self.drained.notified();
            match self.push(event, bytes) {
                Ok(()) => return Ok(()),
                Err(back) => event = back,
            }
            if self.is_closed() {
                return Err(Shut);
            }
            room.await;
        }
    }

    /// Appends a frame. A frame that builds on nothing (`key`) replaces every older one of its stream; so does any frame
    /// when too many wait.
    pub fn frame(&self, stream: u32, frame: F, key: impl FnOnce() -> bool) {
        let mut state = self.state();
        if state.closed.is_some() {
            return;
        }
        let waiting = state.queue.iter().filter(|(item, _)| is_of(item, stream)).count();
        if waiting > 0 && (waiting >= FRAMES_PER_STREAM || key()) {
            state.queue.retain(|(item, _)| !is_of(item, stream));
        }
        state.queue.push_back((Item::Frame(stream, frame), 0));
        drop(state);
        self.filled.notify_one();
    }

    /// Drops what waits of a stream.
    pub fn forget(&self, stream: u32) {
        self.state().queue.retain(|(item, _)| !is_of(item, stream));
    }

    /// Lets nothing more in. What waits is still read, then `why`. The first reason counts.
    pub fn close(&self, why: impl Into<String>) {
        self.state().closed.get_or_insert_with(|| why.into());
        self.filled.notify_one();
        self.drained.notify_waiters();
        self.shut.notify_waiters();
    }

    /// Closes and drops what waits: nobody reads any more.
    pub fn abandon(&self, why: impl Into<String>) {
        self.close(why);
        let mut state = self.state();
        (state.events, state.bytes) = (0, 0);
        state.queue.clear();
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.state().closed.is_some()
    }

    /// Waits until it is closed.
    pub async fn closed(&self) {
        loop {
            let change = self.shut.notified();
            if self.is_closed() {
                return;
            }
            change.await;
        }
    }

    /// The oldest item. Dropping the future loses nothing.
    ///
    /// # Errors
    /// Why it was closed, once everything was read.
    pub async fn next(&self) -> Result<Item<E, F>, String> {
        loop {
            match self.take() {
                Some(result) => return result,
                None => self.filled.notified().await,
            }
        }
    }

    fn take(&self) -> Option<Result<Item<E, F>, String>> {
        let mut state = self.state();
        let Some((item, bytes)) = state.queue.pop_front() else {
            return state.closed.clone().map(Err);
        };
        if matches!(item, Item::Event(_)) {
            state.events -= 1;
            state.bytes -= bytes;
            drop(state);
            self.drained.notify_waiters();
        }
        Some(Ok(item))
    }
}

fn is_of<E, F>(item: &Item<E, F>, stream: u32) -> bool {
    matches!(item, Item::Frame(of, _) if *of == stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { events: 3, bytes: 100 };

    fn drain(lane: &Lane<u32, u32>) -> Vec<Item<u32, u32>> {
        std::iter::from_fn(|| lane.take().and_then(Result::ok)).collect()
    }

    #[test]
    fn frames_give_way_and_events_stay_in_order() {
        let lane = Lane::<u32, u32>::new(BOUNDS);
        lane.push(1, 0).unwrap();
        for frame in 0..4 {
            lane.frame(7, frame, || false);
        }
        lane.frame(8, 80, || false);
        lane.push(2, 0).unwrap();
        lane.frame(7, 4, || false);
        let want = [Item::Event(1), Item::Frame(8, 80), Item::Event(2), Item::Frame(7, 4)];
        assert_eq!(drain(&lane), want);
        lane.frame(7, 5, || false);
        lane.frame(7, 6, || true);
        assert_eq!(drain(&lane), [Item::Frame(7, 6)]);
        lane.frame(7, 7, || true);
        lane.forget(7);
        assert_eq!(drain(&lane), []);
    }

    #[test]
    fn it_is_full_by_count_and_by_bytes() {
        let lane = Lane::<u32, u32>::new(BOUNDS);
        assert_eq!(lane.push(1, 500), Ok(()), "one event is always taken");
        assert_eq!(lane.push(2, 1), Err(2));
        assert_eq!(drain(&lane).len(), 1);
        for event in 0..3 {
            lane.push(event, 10).unwrap();
        }
        assert_eq!(lane.push(3, 0), Err(3));
    }

    #[tokio::test]
    async fn a_writer_waits_for_room_and_a_reader_for_items() {
        let lane = std::sync::Arc::new(Lane::<u32, u32>::new(Bounds { events: 1, bytes: 100 }));
        let writer = std::sync::Arc::clone(&lane);
        let task = tokio::spawn(async move {
            for event in 0..1000 {
                writer.push_wait(event, 1).await.unwrap();
            }
            writer.close("done");
            writer.push_wait(0, 0).await
        });
        for event in 0..1000 {
            assert_eq!(lane.next().await, Ok(Item::Event(event)));
        }
        assert_eq!(lane.next().await, Err("done".into()));
        assert_eq!(task.await.unwrap(), Err(Shut));
        lane.closed().await;
    }
}
