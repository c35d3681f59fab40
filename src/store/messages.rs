//! Messages of a session's conversation.

use rusqlite::params;

use crate::domain::ids::SessionId;
use crate::domain::rows::{Millis, Session, SessionMessage};

use super::codec::{all, one, run};
use super::decode;
use super::error::Result;
use super::tx::Tx;
use super::worker::Store;

/// The newest `limit` messages, oldest first.
const NEWEST: &str = "SELECT * FROM (SELECT *, rowid AS place FROM session_messages WHERE session_id = ?1
     ORDER BY created_at DESC, rowid DESC LIMIT ?2) ORDER BY created_at, place";

impl Store {
    /// The session's newest messages, at most `limit`, oldest first.
    ///
    /// # Errors
    /// The database refused.
    pub async fn messages(&self, session: SessionId, limit: u32) -> Result<Vec<SessionMessage>> {
        self.read(move |conn| newest(conn, &session, limit)).await
    }
}

/// See [`Store::messages`].
pub(super) fn newest(conn: &rusqlite::Connection, session: &SessionId, limit: u32) -> Result<Vec<SessionMessage>> {
    all(conn, NEWEST, params![session.as_str(), limit], decode::message)
}

/// Adds a message, or replaces the text of the one with the same id.
pub(super) fn put_message(tx: &Tx<'_>, session: &Session, id: &str, role: &str, text: &str, at: Millis) -> Result<()> {
    let sql = "SELECT text FROM session_messages WHERE session_id = ?1 AND id = ?2";
    let before = one(tx, sql, [session.id.as_str(), id], |row| Ok(row.get::<_, String>(0)?))?;
    if before.as_deref() == Some(text) {
        return Ok(());
    }
    run(
        tx,
        "INSERT INTO session_messages (session_id, id, role, text, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
         ON CONFLICT (session_id, id) DO UPDATE SET role = ?3, text = ?4, updated_at = ?5",
        params![session.id.as_str(), id, role, text, at],
    )?;
    let kind = if before.is_some() { "session.message.updated" } else { "session.message.added" };
    tx.tell(session, kind, at, serde_json::json!({ "message_id": id, "role": role, "text": text }))
}
