//! The journal in use: one writer, what its records add up to, and readers that are told only what is on disk.
//!
//! A record is published when the disk has it, never before: a sequence number that a reader saw is never used again. A
//! durable record is waited for; the others reach the disk by a flush of their own, a moment later.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::domain::journal::{Body, Record};
use crate::proc::clock;

use super::error::Error;
use super::facts::Facts;
use super::journal::{Damage, Journal, Stamp};

/// Records that could not be written wait for the disk, at most so many: hours of an agent's life.
const BACKLOG_MAX: usize = 4096;
/// How often waiting records are tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The journal of one session, shared by everything in its agentctl.
#[derive(Debug)]
pub struct Ledger {
    inner: Mutex<Inner>,
    published: watch::Sender<u64>,
}

#[derive(Debug)]
struct Inner {
    journal: Journal,
    facts: Facts,
    boot_id: String,
    /// Facts that the disk refused so far, in order.
    backlog: VecDeque<Body>,
    flushing: bool,
    retrying: bool,
}

impl Ledger {
    /// Opens the journal at `path`.
    ///
    /// # Errors
    /// Those of [`Journal::open`].
    pub fn open(path: &Path, boot_id: String) -> Result<(Arc<Self>, Damage), Error> {
        let mut facts = Facts::default();
        let (journal, damage) = Journal::open(path, &mut |record| facts.apply(record))?;
        // What an earlier incarnation left in the page cache was never told to anyone.
        journal.sync()?;
        let published = watch::Sender::new(journal.seq());
        let inner = Inner { journal, facts, boot_id, backlog: VecDeque::new(), flushing: false, retrying: false };
        Ok((Arc::new(Self { inner: Mutex::new(inner), published }), damage))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records something that must not be lost before what follows: on return it is on disk and published.
    ///
    /// # Errors
    /// When the disk refuses; then nothing was recorded.
    pub fn record(&self, body: Body) -> Result<(), Error> {
        let seq = {
            let mut inner = self.lock();
            inner.clear_backlog()?;
            inner.append(body)?;
            inner.journal.sync()?;
            inner.journal.seq()
        };
        self.publish(seq);
        Ok(())
    }

    /// Records something that has happened and cannot be undone. A refusing disk is tried again until it takes it.
    pub fn note(self: &Arc<Self>, body: Body) {
        let durable = body.is_durable();
        let mut inner = self.lock();
        let done = inner.clear_backlog().and_then(|()| inner.append(body.clone()));
        let done = done.and_then(|()| if durable { inner.journal.sync() } else { Ok(()) });
        match done {
            Ok(()) if durable => {
                let seq = inner.journal.seq();
                drop(inner);
                self.publish(seq);
            }
            Ok(()) => self.flush_later(&mut inner),
            Err(error) => {
                tracing::error!(%error, "the journal does not take a record; it is kept and tried again");
                if inner.backlog.len() < BACKLOG_MAX {
                    inner.backlog.push_back(body);
                }
                self.retry_later(&mut inner);
            }
        }
    }

    fn publish(&self, seq: u64) {
        self.published.send_if_modified(|now| {
            let newer = seq > *now;
            *now = seq.max(*now);
            newer
        });
    }

    /// Brings what was appended to disk in the background, and publishes it then.
    fn flush_later(self: &Arc<Self>, inner: &mut Inner) {
        if std::mem::replace(&mut inner.flushing, true) {
            return;
        }
        let ledger = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                let (seq, file) = {
                    let inner = ledger.lock();
                    (inner.journal.seq(), inner.journal.file())
                };
                let synced = tokio::task::spawn_blocking(move || file.sync_data()).await;
                if let Ok(Err(error)) = &synced {
                    tracing::error!(%error, "the journal does not reach the disk");
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
                ledger.publish(seq);
                let mut inner = ledger.lock();
                if inner.journal.seq() == seq {
                    inner.flushing = false;
                    return;
                }
            }
        });
    }

    fn retry_later(self: &Arc<Self>, inner: &mut Inner) {
        if std::mem::replace(&mut inner.retrying, true) {
            return;
        }
        let ledger = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(RETRY).await;
                let mut inner = ledger.lock();
                let done = inner.clear_backlog().and_then(|()| inner.journal.sync());
                if done.is_ok() {
                    inner.retrying = false;
                    let seq = inner.journal.seq();
                    drop(inner);
                    ledger.publish(seq);
                    return;
                }
            }
        });
    }

    /// Waits until everything recorded is on disk and published, as at the end.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn settle(&self) -> Result<(), Error> {
        let mut inner = self.lock();
        inner.clear_backlog()?;
        inner.journal.sync()?;
        let seq = inner.journal.seq();
        drop(inner);
        self.publish(seq);
        Ok(())
    }

    /// Reads what is known.
    pub fn facts<R>(&self, read: impl FnOnce(&Facts) -> R) -> R {
        read(&self.lock().facts)
    }

    /// Published records after `after`, at most `limit`, oldest first; empty when there are none.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, Error> {
        let until = *self.published.borrow();
        self.lock().journal.read(after, until, limit)
    }

    /// Follows the sequence number of the newest published record.
    #[must_use]
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.published.subscribe()
    }

    /// Id of the journal.
    #[must_use]
    pub fn id(&self) -> String {
        self.lock().journal.id().to_owned()
    }

    /// This incarnation.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.lock().journal.incarnation()
    }

    /// Sequence number of the newest published record.
    #[must_use]
    pub fn seq(&self) -> u64 {
        *self.published.borrow()
    }
}

impl Inner {
    fn append(&mut self, body: Body) -> Result<(), Error> {
        let stamp = Stamp { boot_ms: clock::boot_ms(), boot_id: self.boot_id.clone(), at: clock::now_ms() };
        let record = self.journal.append(&stamp, body)?;
        self.facts.apply(&record);
        Ok(())
    }

    fn clear_backlog(&mut self) -> Result<(), Error> {
        while let Some(body) = self.backlog.front().cloned() {
            self.append(body)?;
            self.backlog.pop_front();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TerminalId;
    use crate::domain::journal::Signal;

    fn terminal() -> TerminalId {
        TerminalId::new("t").unwrap()
    }

    #[tokio::test]
    async fn a_durable_record_is_published_at_once_and_another_soon() {
        let dir = tempfile::tempdir().unwrap();
        let (ledger, _) = Ledger::open(&dir.path().join("journal"), "b".into()).unwrap();
        let mut follow = ledger.follow();
        ledger.record(Body::Cancelled { terminal: terminal() }).unwrap();
        assert_eq!((ledger.seq(), ledger.read(0, 10).unwrap().len()), (1, 1));
        ledger.note(Body::Signal { terminal: terminal(), generation: 1, signal: Signal::Ready, spool: None });
        assert_eq!(ledger.read(0, 10).unwrap().len(), 1, "not told before it is on disk");
        tokio::time::timeout(Duration::from_secs(10), follow.wait_for(|seq| *seq == 2)).await.unwrap().unwrap();
        assert_eq!(ledger.read(1, 10).unwrap().len(), 1);
        assert!(ledger.facts(|f| f.terminal(&terminal()).unwrap().cancelled));
    }

    #[tokio::test]
    async fn what_waits_for_the_disk_keeps_its_order() {
        let dir = tempfile::tempdir().unwrap();
        let (ledger, _) = Ledger::open(&dir.path().join("journal"), "b".into()).unwrap();
        ledger.lock().backlog.push_back(Body::Prompted { terminal: terminal(), generation: 1 });
        ledger.record(Body::Cancelled { terminal: terminal() }).unwrap();
        let bodies: Vec<Body> = ledger.read(0, 10).unwrap().into_iter().map(|r| r.body).collect();
        assert!(matches!(bodies[..], [Body::Prompted { .. }, Body::Cancelled { .. }]), "{bodies:?}");
    }
}
