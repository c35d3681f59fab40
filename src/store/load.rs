//! The reads that changes begin with.

use rusqlite::{Connection, params};

use crate::domain::ids::{SessionId, TaskId, TerminalId};
use crate::domain::rows::{Binding, ExecutorRunning, Session, Task, Terminal};

use super::codec::{all, one};
use super::decode;
use super::error::{Error, Result};

/// A task that must exist.
pub(super) fn task(conn: &Connection, id: &TaskId) -> Result<Task> {
    one(conn, "SELECT * FROM tasks WHERE id = ?1", [id.as_str()], decode::task)?
        .ok_or_else(|| Error::not_found("task", id.as_str()))
}

/// A session that must exist.
pub(super) fn session(conn: &Connection, id: &SessionId) -> Result<Session> {
    one(conn, "SELECT * FROM task_sessions WHERE id = ?1", [id.as_str()], decode::session)?
        .ok_or_else(|| Error::not_found("session", id.as_str()))
}

/// The session's executor instance.
pub(super) fn executor(conn: &Connection, id: &SessionId) -> Result<Option<ExecutorRunning>> {
    one(conn, "SELECT * FROM executors_running WHERE session_id = ?1", [id.as_str()], decode::executor)
}

/// The session's newest agent binding.
pub(super) fn newest(conn: &Connection, id: &SessionId) -> Result<Option<Binding>> {
    let sql = "SELECT * FROM agent_bindings WHERE session_id = ?1 ORDER BY generation DESC LIMIT 1";
    one(conn, sql, [id.as_str()], decode::binding)
}

/// The binding of an agent terminal.
pub(super) fn binding(conn: &Connection, id: &TerminalId) -> Result<Option<Binding>> {
    one(conn, "SELECT * FROM agent_bindings WHERE terminal_id = ?1", [id.as_str()], decode::binding)
}

/// What the end of an agent terminal is judged by.
pub(super) fn end_facts(conn: &Connection, id: &TerminalId) -> Result<decode::EndFacts> {
    one(conn, "SELECT * FROM agent_bindings WHERE terminal_id = ?1", [id.as_str()], decode::end_facts)?
        .ok_or_else(|| Error::not_found("binding", id.as_str()))
}

/// A terminal.
pub(super) fn terminal(conn: &Connection, id: &TerminalId) -> Result<Option<Terminal>> {
    one(conn, "SELECT * FROM terminals WHERE id = ?1", [id.as_str()], decode::terminal)
}

/// The bindings of other sessions that are live on a conversation, or could resume it.
pub(super) fn other_holders(conn: &Connection, session: &SessionId, agent: &str, token: &str) -> Result<Vec<Binding>> {
    let sql = "SELECT * FROM agent_bindings WHERE agent_id = ?1 AND agent_session_id = ?2 AND session_id <> ?3
               AND (end_reason IS NULL OR end_reason = 'terminal-exited')";
    all(conn, sql, params![agent, token, session.as_str()], decode::binding)
}
