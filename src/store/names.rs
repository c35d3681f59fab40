//! Names of sessions: unique among the open ones, and how a person's text finds one.

use rusqlite::{Connection, params};

use crate::domain::ids::SessionId;

use super::codec::{all, one};
use super::error::Result;
use super::limits::MIN_PREFIX_BYTES;
use super::worker::Store;

/// Sessions that a person has not finished with.
const OPEN: &str = "state NOT IN ('COMPLETED', 'CANCELLED')";

/// What a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// One session.
    Found(SessionId),
    /// None.
    NotFound,
    /// Several: id and name of each, at most 20.
    Ambiguous(Vec<(SessionId, String)>),
}

impl Store {
    /// Finds the session that `text` names: by its whole id, else by a unique id prefix of at least four bytes or by its
    /// name, open sessions before closed ones.
    ///
    /// # Errors
    /// The database refused.
    pub async fn find(&self, text: String) -> Result<Found> {
        self.read(move |conn| find(conn, &text)).await
    }
}

fn find(conn: &Connection, text: &str) -> Result<Found> {
    let ids = |sql: &str, by: &str| {
        all(conn, sql, params![by], |row| {
            let c = super::codec::Columns::new(row, "task_sessions", "id");
            Ok((c.word::<SessionId>("id")?, c.get::<String>("name")?))
        })
    };
    if let Some((id, _)) = ids("SELECT id, name FROM task_sessions WHERE id = ?1", text)?.pop() {
        return Ok(Found::Found(id));
    }
    let mut hits = ids(&format!("SELECT id, name FROM task_sessions WHERE name = ?1 AND {OPEN} LIMIT 20"), text)?;
    if text.len() >= MIN_PREFIX_BYTES {
        let sql = "SELECT id, name FROM task_sessions WHERE substr(id, 1, length(?1)) = ?1 LIMIT 20";
        for hit in ids(sql, text)? {
            if !hits.contains(&hit) {
                hits.push(hit);
            }
        }
    }
    if hits.is_empty() {
        hits = ids("SELECT id, name FROM task_sessions WHERE name = ?1 ORDER BY updated_at DESC LIMIT 20", text)?;
    }
    Ok(match hits.len() {
        0 => Found::NotFound,
        1 => hits.pop().map_or(Found::NotFound, |(id, _)| Found::Found(id)),
        _ => Found::Ambiguous(hits),
    })
}

/// `wish`, or `wish-2`, `wish-3` and so on, whichever no open session but `own` has first.
pub(super) fn free_name(conn: &Connection, wish: &str, own: Option<&SessionId>) -> Result<String> {
    let sql = format!("SELECT 1 FROM task_sessions WHERE name = ?1 AND {OPEN} AND id IS NOT ?2");
    let mut name = wish.to_owned();
    let mut number = 1_u64;
    while one(conn, &sql, params![name, own.map(SessionId::as_str)], |_| Ok(()))?.is_some() {
        number += 1;
        name = format!("{wish}-{number}");
    }
    Ok(name)
}
