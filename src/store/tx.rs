//! One job's view of the open transaction: the connection, and the events that it adds.

use std::cell::RefCell;
use std::ops::Deref;

use rusqlite::{Connection, params};

use crate::domain::ids::{SessionId, TaskId};
use crate::domain::rows::{Event, Millis, Session};
use crate::domain::words::SessionState;

use super::codec::{run, to_json};
use super::error::Result;
use super::limits::{KEPT_EVENTS, KEPT_EVENTS_MS, PRUNE_EVERY};

/// A change that is on disk, and the numbered events to publish now.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed<T> {
    /// What the change came to.
    pub value: T,
    /// Its events, in order of their numbers.
    pub events: Vec<Event>,
}

/// The open transaction.
pub(super) struct Tx<'c> {
    conn: &'c Connection,
    events: RefCell<Vec<Event>>,
}

impl Deref for Tx<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.conn
    }
}

impl<'c> Tx<'c> {
    /// A job's view of `conn`, inside a transaction.
    pub(super) fn new(conn: &'c Connection) -> Self {
        Self { conn, events: RefCell::new(Vec::new()) }
    }

    /// The events that were added.
    pub(super) fn into_events(self) -> Vec<Event> {
        self.events.into_inner()
    }

    /// Adds a numbered event.
    pub(super) fn emit(
        &self,
        kind: &str,
        session_id: &SessionId,
        task_id: &TaskId,
        at: Millis,
        data: serde_json::Value,
    ) -> Result<()> {
        run(
            self,
            "INSERT INTO events (kind, session_id, task_id, at, data) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![kind, session_id.as_str(), task_id.as_str(), at, to_json("event", &data)?],
        )?;
        let seq = self.last_insert_rowid().unsigned_abs();
        if seq.is_multiple_of(PRUNE_EVERY) {
            run(
                self,
                "DELETE FROM events WHERE seq <= ?1 OR at < ?2",
                params![seq as i64 - KEPT_EVENTS, at - KEPT_EVENTS_MS],
            )?;
        }
        let (session_id, task_id, kind) = (session_id.clone(), task_id.clone(), kind.to_owned());
        self.events.borrow_mut().push(Event { seq, kind, session_id, task_id, at, data });
        Ok(())
    }

    /// Adds an event of `session`.
    pub(super) fn tell(&self, session: &Session, kind: &str, at: Millis, data: serde_json::Value) -> Result<()> {
        self.emit(kind, &session.id, &session.task_id, at, data)
    }

    /// Sets state and error message of `session`, in the row and in the value; an event if either changes.
    pub(super) fn set_state(
        &self,
        session: &mut Session,
        state: SessionState,
        error_message: Option<&str>,
        at: Millis,
    ) -> Result<()> {
        if session.state == state && session.error_message.as_deref() == error_message {
            return Ok(());
        }
        run(
            self,
            "UPDATE task_sessions SET state = ?2, error_message = ?3, updated_at = ?4 WHERE id = ?1",
            params![session.id.as_str(), state.as_str(), error_message, at],
        )?;
        let data = serde_json::json!({ "state": state, "previous": session.state, "error_message": error_message });
        session.state = state;
        session.error_message = error_message.map(str::to_owned);
        self.tell(session, "session.state_changed", at, data)
    }
}
