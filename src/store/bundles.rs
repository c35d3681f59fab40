//! What the host reads of sessions at once, and the events.

use rusqlite::{Connection, params};

use crate::domain::ids::SessionId;
use crate::domain::rows::{Binding, Event, ExecutorRunning, QueuedPrompt, Session, SessionMessage, Task, Terminal};

use super::codec::{all, one};
use super::error::Result;
use super::worker::Store;
use super::{decode, load, messages, prompts, terminals};

/// Messages in a snapshot, at most.
const SNAPSHOT_MESSAGES: u32 = 500;
/// Events of one read, at most: bounds the memory of one answer.
const READ_EVENTS: u32 = 10_000;

/// A session with what its status is derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The session.
    pub session: Session,
    /// Its task.
    pub task: Task,
    /// Its executor instance.
    pub executor: Option<ExecutorRunning>,
    /// Its newest agent binding.
    pub newest: Option<Binding>,
    /// That binding's terminal.
    pub terminal: Option<Terminal>,
}

/// Everything of a session, of one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// Session, task, executor, newest binding.
    pub bundle: Bundle,
    /// Its terminals, newest first.
    pub terminals: Vec<Terminal>,
    /// Its newest 500 messages, oldest first.
    pub messages: Vec<SessionMessage>,
    /// Its prompts, oldest first.
    pub prompts: Vec<QueuedPrompt>,
    /// Newest event of all at that moment.
    pub seq: u64,
}

impl Store {
    /// One session with what belongs to it.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn bundle(&self, session: SessionId) -> Result<Bundle> {
        self.read(move |conn| of_session(conn, load::session(conn, &session)?)).await
    }

    /// Every session with what belongs to it, oldest first. A row that cannot be read costs no other: it is logged and left
    /// out.
    ///
    /// # Errors
    /// The database refused.
    pub async fn bundles(&self) -> Result<Vec<Bundle>> {
        self.read(every).await
    }

    /// Everything of one session, and the newest event's number, of one transaction.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn snapshot(&self, session: SessionId) -> Result<Whole> {
        self.read(move |conn| {
            Ok(Whole {
                bundle: of_session(conn, load::session(conn, &session)?)?,
                terminals: terminals::of_session(conn, &session)?,
                messages: messages::newest(conn, &session, SNAPSHOT_MESSAGES)?,
                prompts: prompts::of_session(conn, &session)?,
                seq: newest_seq(conn)?,
            })
        })
        .await
    }

    /// Events after number `seq`, of one session or of all, oldest first, at most `limit` and never more than 10,000.
    ///
    /// # Errors
    /// The database refused.
    pub async fn events_after(&self, seq: u64, session: Option<SessionId>, limit: u32) -> Result<Vec<Event>> {
        let sql = "SELECT * FROM events WHERE seq > ?1 AND (?2 IS NULL OR session_id = ?2) ORDER BY seq LIMIT ?3";
        self.read(move |conn| {
            let session = session.as_ref().map(SessionId::as_str);
            // Beyond the largest number there is nothing.
            let after = i64::try_from(seq).unwrap_or(i64::MAX);
            all(conn, sql, params![after, session, limit.min(READ_EVENTS)], decode::event)
        })
        .await
    }

    /// Number of the newest event ever added; 0: none was.
    ///
    /// # Errors
    /// The database refused.
    pub async fn newest_seq(&self) -> Result<u64> {
        self.read(newest_seq).await
    }
}

/// What belongs to a session just read.
pub(super) fn of_session(conn: &Connection, session: Session) -> Result<Bundle> {
    let task = load::task(conn, &session.task_id)?;
    let executor = load::executor(conn, &session.id)?;
    let newest = load::newest(conn, &session.id)?;
    let terminal = match &newest {
        Some(binding) => load::terminal(conn, &binding.terminal_id)?,
        None => None,
    };
    Ok(Bundle { session, task, executor, newest, terminal })
}

fn every(conn: &Connection) -> Result<Vec<Bundle>> {
    let ids =
        all(conn, "SELECT id FROM task_sessions ORDER BY created_at, rowid", [], |row| Ok(row.get::<_, String>(0)?))?;
    let mut bundles = Vec::with_capacity(ids.len());
    for id in ids {
        let session = one(conn, "SELECT * FROM task_sessions WHERE id = ?1", [&id], decode::session);
        match session.and_then(|found| found.map(|session| of_session(conn, session)).transpose()) {
            Ok(found) => bundles.extend(found),
            Err(error @ super::error::Error::BadColumn { .. }) => {
                tracing::error!(session = %id, %error, "a session cannot be read and is left out");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(bundles)
}

fn newest_seq(conn: &Connection) -> Result<u64> {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'events'";
    Ok(one(conn, sql, [], |row| Ok(row.get::<_, i64>(0)?))?.unwrap_or(0).unsigned_abs())
}
