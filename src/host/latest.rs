//! What is known of sessions beyond their rows, on its way to the database: the latest wins, and is written in one go, at most
//! every ten seconds, when something changed. Nothing here wakes up while nothing changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::domain::ids::SessionId;
use crate::store::{Store, Transient};

/// A busy agent's title changes many times a second; who reads the rows after a crash wants to know where it was about then.
const PAUSE: Duration = Duration::from_secs(10);

/// The latest of every session.
#[derive(Debug, Default)]
pub struct Latest {
    known: Mutex<Known>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Known {
    latest: BTreeMap<SessionId, Transient>,
    /// Sessions whose latest is not written.
    changed: BTreeSet<SessionId>,
}

impl Latest {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what is known of a session now. The same as before, whatever its time, is no news.
    pub fn put(&self, now: Transient) {
        let mut known = self.known();
        if let Some(before) = known.latest.get(&now.session) {
            let (last_seen_at, same) = (now.last_seen_at, before.clone());
            if (Transient { last_seen_at, ..same }) == now {
                return;
            }
        }
        known.changed.insert(now.session.clone());
        known.latest.insert(now.session.clone(), now);
        self.news.notify_one();
    }

    /// Writes what waits.
    pub async fn write(&self, store: &Store) {
        let (ids, latest) = {
            let mut known = self.known();
            let ids = std::mem::take(&mut known.changed);
            let latest: Vec<Transient> = ids.iter().filter_map(|id| known.latest.get(id).cloned()).collect();
            (ids, latest)
        };
        if latest.is_empty() {
            return;
        }
        if let Err(error) = store.put_transient(latest).await {
            tracing::warn!(%error, "what is known of sessions beyond their rows is not written");
            // With the next change.
            self.known().changed.extend(ids);
        }
    }

    /// Writes for as long as the host lives.
    pub async fn run(&self, store: &Store) {
        self.every(PAUSE, store).await;
    }

    async fn every(&self, pause: Duration, store: &Store) {
        loop {
            self.news.notified().await;
            if self.known().changed.is_empty() {
                // News of what was written meanwhile.
                continue;
            }
            tokio::time::sleep(pause).await;
            self.write(store).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::words::Activity;
    use crate::host::resume_scene::Scene;

    fn title(title: &str, last_seen_at: i64) -> Transient {
        Transient {
            session: SessionId::new("s1").unwrap(),
            activity: Activity::Working,
            why: "it works".into(),
            title: title.into(),
            progress: None,
            last_seen_at,
        }
    }

    #[tokio::test]
    async fn the_latest_is_written_in_one_go_and_nothing_when_nothing_changed() {
        let scene = Scene::started().await;
        let latest = Latest::default();
        let rows = || async { scene.store.transients().await.unwrap() };
        for n in 0..100 {
            latest.put(title(&format!("title {n}"), n));
        }
        assert_eq!(rows().await, []);
        latest.write(&scene.store).await;
        assert_eq!(rows().await, [title("title 99", 99)]);
        latest.put(title("title 99", 500));
        assert!(latest.known().changed.is_empty(), "only its time is another");
        latest.write(&scene.store).await;
        assert_eq!(rows().await, [title("title 99", 99)]);
        latest.put(title("title 100", 600));
        latest.write(&scene.store).await;
        assert_eq!(rows().await, [title("title 100", 600)]);
    }

    #[tokio::test]
    async fn it_waits_before_it_writes_and_rests_until_there_is_news() {
        let scene = Scene::started().await;
        let latest = Latest::default();
        let pause = Duration::from_millis(100);
        let check = async {
            for n in [1, 2] {
                let begin = tokio::time::Instant::now();
                latest.put(title(&format!("title {n}"), n));
                while scene.store.transients().await.unwrap() != [title(&format!("title {n}"), n)] {
                    assert!(begin.elapsed() < Duration::from_mins(1), "never written");
                    tokio::task::yield_now().await;
                }
                assert!(begin.elapsed() >= pause);
            }
        };
        tokio::select! {
            () = latest.every(pause, &scene.store) => {}
            () = check => {}
        }
    }

    #[tokio::test]
    async fn what_the_database_refused_is_written_with_the_next_change() {
        let scene = Scene::started().await;
        let latest = Latest::default();
        latest.put(title("mine", 1));
        latest.put(Transient { session: SessionId::new("nobodys").unwrap(), ..title("no such session", 1) });
        latest.write(&scene.store).await;
        assert_eq!(scene.store.transients().await.unwrap(), []);
        assert_eq!(latest.known().changed.len(), 2);
    }
}
