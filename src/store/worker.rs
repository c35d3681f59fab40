//! The one thread that owns the connection, and the handle that others hold. The changes that wait are run as one transaction
//! with a savepoint for each, and answered only after the commit; then what only reads, as another: a change that fails (for
//! want of space, say) costs no reader its answer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::domain::rows::Event;

use super::error::{Error, Result};
use super::limits::{BATCH_JOBS, QUEUE_JOBS};
use super::tx::{Committed, Tx};

/// One job: it runs inside a savepoint, and is answered once the transaction's fate is known.
trait Work: Send {
    /// Does the work; an error when what it did must not stay.
    fn run(&mut self, conn: &Connection) -> Result<()>;
    /// Tells the asker how it went, or that the whole transaction failed.
    fn answer(self: Box<Self>, failed: Option<Error>);
}

struct Ask<T, F> {
    work: Option<F>,
    result: Result<T>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T, F> Work for Ask<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T> + Send,
{
    fn run(&mut self, conn: &Connection) -> Result<()> {
        if let Some(work) = self.work.take() {
            self.result = work(conn);
        }
        self.result.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn answer(self: Box<Self>, failed: Option<Error>) {
        let result = match failed {
            // Its own error says more than that of the transaction.
            Some(_) if self.work.is_none() && self.result.is_err() => self.result,
            Some(error) => Err(error),
            None => self.result,
        };
        // Nobody may wait any more: what was committed stays committed.
        let _ = self.reply.send(result);
    }
}

enum Job {
    Read(Box<dyn Work>),
    Write(Box<dyn Work>),
    Close(oneshot::Sender<()>),
}

/// The opened database. Clones share it; it closes when the last is gone.
#[derive(Clone)]
pub struct Store {
    jobs: mpsc::Sender<Job>,
    places: Arc<Places>,
}

/// Gets the events of each commit, in the order of their numbers.
type Sink = Box<dyn Fn(&[Event]) + Send + Sync>;

struct Places {
    /// Events of the open transaction.
    fresh: Mutex<Vec<Event>>,
    sink: OnceLock<Sink>,
    path: PathBuf,
    backups: PathBuf,
    // Held for a database that lives only as long as its store.
    temporary: bool,
}

impl Places {
    fn fresh(&self) -> MutexGuard<'_, Vec<Event>> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.places.path).finish_non_exhaustive()
    }
}

impl Store {
    /// Takes an opened and migrated connection into a thread of its own.
    pub(super) fn start(conn: Connection, path: &Path, backups: &Path, temporary: bool) -> Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE_JOBS);
        let (path, backups) = (path.to_owned(), backups.to_owned());
        let places =
            Arc::new(Places { fresh: Mutex::default(), sink: OnceLock::new(), path: path.clone(), backups, temporary });
        let of_thread = Arc::clone(&places);
        std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || serve(conn, queue, &of_thread))
            .map_err(|e| Error::Open { path, detail: format!("no thread for it: {e}") })?;
        Ok(Self { jobs, places })
    }

    /// Publishes: `sink` is called on the database's own thread after each commit, in the order of the commits, before who
    /// asked is answered. It must not block. Only the first call counts.
    pub fn on_commit(&self, sink: impl Fn(&[Event]) + Send + Sync + 'static) {
        let _ = self.places.sink.set(Box::new(sink));
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.places.path
    }

    /// Whether the database is gone with its last handle.
    pub fn is_temporary(&self) -> bool {
        self.places.temporary
    }

    /// Ends the thread after what waits before; folds the write-ahead log into the file. Later calls answer
    /// [`Error::Closed`].
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.jobs.send(Job::Close(done)).await.is_ok() {
            // The sender is dropped only when the thread has ended.
            let _ = closed.await;
        }
    }

    /// Runs `work` as a change of its own, all or nothing.
    pub(super) async fn write<T, F>(&self, work: F) -> Result<Committed<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Result<T> + Send + 'static,
    {
        let places = Arc::clone(&self.places);
        let run = move |conn: &Connection| {
            let tx = Tx::new(conn);
            let value = work(&tx)?;
            let events = tx.into_events();
            places.fresh().extend_from_slice(&events);
            Ok(Committed { value, events })
        };
        self.ask(run, Job::Write).await
    }

    /// Runs `work`, which changes nothing.
    pub(super) async fn read<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.ask(work, Job::Read).await
    }

    async fn ask<T, F>(&self, work: F, job: fn(Box<dyn Work>) -> Job) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let ask = Ask { work: Some(work), result: Err(Error::Closed), reply };
        self.jobs.send(job(Box::new(ask))).await.map_err(|_| Error::Closed)?;
        let result = answer.await.unwrap_or(Err(Error::Closed));
        result.map_err(|e| e.at(&self.places.path, &self.places.backups))
    }
}

fn serve(conn: Connection, mut queue: mpsc::Receiver<Job>, places: &Places) {
    let mut closing = None;
    while closing.is_none() {
        let Some(first) = queue.blocking_recv() else { break };
        let (mut changes, mut reads) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(job) = next.take() {
            match job {
                Job::Close(done) => {
                    closing = Some(done);
                    break;
                }
                Job::Write(work) => changes.push(work),
                Job::Read(work) => reads.push(work),
            }
            if changes.len() + reads.len() < BATCH_JOBS {
                next = queue.try_recv().ok();
            }
        }
        // A reader that waited for a change of its own asks only after that was answered: the order of those here is free.
        for (batch, begin) in [(changes, "BEGIN IMMEDIATE"), (reads, "BEGIN")] {
            if !batch.is_empty() {
                transact(&conn, batch, begin, places);
            }
        }
    }
    if let Err((_, error)) = conn.close() {
        tracing::warn!(path = %places.path.display(), %error, "the database did not close cleanly");
    }
    drop(queue);
    drop(closing);
}

/// Runs a batch as one transaction, then answers.
fn transact(conn: &Connection, mut batch: Vec<Box<dyn Work>>, begin: &str, places: &Places) {
    let error = in_transaction(conn, &mut batch, begin).err();
    if let Some(error) = &error {
        tracing::warn!(%error, jobs = batch.len(), "a database transaction failed");
        if !conn.is_autocommit() {
            // SQLite has rolled back by itself after some errors, and else does now.
            let _ = conn.execute_batch("ROLLBACK");
        }
    }
    let fresh = std::mem::take(&mut *places.fresh());
    if let (None, false, Some(sink)) = (&error, fresh.is_empty(), places.sink.get()) {
        sink(&fresh);
    }
    for work in batch {
        work.answer(error.clone());
    }
}

fn in_transaction(conn: &Connection, batch: &mut [Box<dyn Work>], begin: &str) -> Result<()> {
    conn.execute_batch(begin)?;
    for work in batch {
        conn.execute_batch("SAVEPOINT job")?;
        // A job that panics is rolled back; its asker sees a closed database, the others nothing.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.run(conn)));
        let result = outcome.unwrap_or(Err(Error::Closed));
        if conn.is_autocommit() {
            // A full disk ends the whole transaction at once.
            return Err(result.err().unwrap_or(Error::Closed));
        }
        conn.execute_batch(if result.is_ok() { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" })?;
    }
    Ok(conn.execute_batch("COMMIT")?)
}
