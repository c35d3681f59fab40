//! Transient facts of sessions: the latest wins, no event, written at most every 10 s by who calls.

use rusqlite::params;

use crate::domain::ids::SessionId;
use crate::domain::rows::Millis;
use crate::domain::words::Activity;

use super::codec::{Columns, all, run};
use super::error::Result;
use super::tx::Committed;
use super::worker::Store;

/// What was last known of a session beyond its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transient {
    /// Session.
    pub session: SessionId,
    /// Badge.
    pub activity: Activity,
    /// In words.
    pub why: String,
    /// Title of its agent's terminal.
    pub title: String,
    /// Percent.
    pub progress: Option<u8>,
    /// When it was known.
    pub last_seen_at: Millis,
}

impl Store {
    /// Writes what is known of these sessions, in one go.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn put_transient(&self, latest: Vec<Transient>) -> Result<Committed<()>> {
        let sql = "INSERT INTO session_transient (session_id, activity, why, title, progress, last_seen_at)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                   ON CONFLICT (session_id) DO UPDATE SET activity = ?2, why = ?3, title = ?4, progress = ?5,
                       last_seen_at = ?6";
        self.write(move |tx| {
            for t in &latest {
                let row = params![t.session.as_str(), t.activity.as_str(), t.why, t.title, t.progress, t.last_seen_at];
                run(tx, sql, row)?;
            }
            Ok(())
        })
        .await
    }

    /// What was last known of every session.
    ///
    /// # Errors
    /// The database refused.
    pub async fn transients(&self) -> Result<Vec<Transient>> {
        self.read(|conn| {
            all(conn, "SELECT * FROM session_transient", [], |row| {
                let c = Columns::new(row, "session_transient", "session_id");
                Ok(Transient {
                    session: c.word("session_id")?,
                    activity: c.word("activity")?,
                    why: c.get("why")?,
                    title: c.get("title")?,
                    progress: c.opt_int("progress")?,
                    last_seen_at: c.get("last_seen_at")?,
                })
            })
        })
        .await
    }
}
