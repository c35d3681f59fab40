//! Lets a bounded number of launches happen at once; of those that wait, a session that somebody looks at goes first, and
//! among equals the one that came first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A gate with a number of places.
#[derive(Debug, Clone)]
pub struct Gate {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    free: u32,
    /// Those that wait, in order of arrival. As many as there are sessions, at most: each asks once.
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    viewed: bool,
    tell: oneshot::Sender<Place>,
}

/// A place behind the gate; free again when dropped.
#[derive(Debug)]
pub struct Place {
    inner: Arc<Mutex<Inner>>,
    taken: bool,
}

impl Gate {
    /// A gate with `places` places, at least one.
    #[must_use]
    pub fn new(places: u32) -> Self {
        Self { inner: Arc::new(Mutex::new(Inner { free: places.max(1), waiting: Vec::new() })) }
    }

    /// Waits for a place.
    pub async fn enter(&self, viewed: bool) -> Place {
        loop {
            let told = {
                let mut inner = lock(&self.inner);
                if inner.free > 0 {
                    inner.free -= 1;
                    return self.place();
                }
                let (tell, told) = oneshot::channel();
                inner.waiting.push(Waiting { viewed, tell });
                told
            };
            if let Ok(place) = told.await {
                return place;
            }
        }
    }

    fn place(&self) -> Place {
        Place { inner: Arc::clone(&self.inner), taken: true }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.taken {
            return;
        }
        let mut inner = lock(&self.inner);
        loop {
            let next =
                inner.waiting.iter().position(|w| w.viewed).or(if inner.waiting.is_empty() { None } else { Some(0) });
            let Some(next) = next else {
                inner.free += 1;
                return;
            };
            let waiting = inner.waiting.remove(next);
            let place = Self { inner: Arc::clone(&self.inner), taken: true };
            match waiting.tell.send(place) {
                Ok(()) => return,
                // Nobody waits there any more: that place is not one, the next in line is asked.
                Err(mut refused) => refused.taken = false,
            }
        }
    }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_viewed_session_goes_first_and_the_bound_holds() {
        let gate = Gate::new(1);
        let first = gate.enter(false).await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for (name, viewed) in [("a", false), ("b", false), ("seen", true)] {
            let (gate, order) = (gate.clone(), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let _place = gate.enter(viewed).await;
                order.lock().unwrap().push(name);
            }));
            tokio::task::yield_now().await;
        }
        assert!(order.lock().unwrap().is_empty());
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["seen", "a", "b"]);
    }

    #[tokio::test]
    async fn a_place_is_not_lost_with_a_caller_that_gave_up() {
        let gate = Gate::new(1);
        let first = gate.enter(false).await;
        let waiting = tokio::spawn({
            let gate = gate.clone();
            async move { gate.enter(false).await }
        });
        tokio::task::yield_now().await;
        waiting.abort();
        let _ = waiting.await;
        drop(first);
        let _second = gate.enter(false).await;
    }
}
