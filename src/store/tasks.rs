//! Tasks.

use rusqlite::{Connection, params};

use crate::domain::ids::{SessionId, TaskId};
use crate::domain::rows::{Millis, Task};
use crate::domain::words::TaskState;

use super::codec::{all, run};
use super::error::Result;
use super::tx::{Committed, Tx};
use super::worker::Store;
use super::{decode, load};

impl Store {
    /// Adds a task.
    ///
    /// # Errors
    /// The id is taken, or the database refused.
    pub async fn create_task(&self, task: Task) -> Result<Committed<Task>> {
        self.write(move |tx| {
            insert(tx, &task)?;
            Ok(task)
        })
        .await
    }

    /// Every task, oldest first.
    ///
    /// # Errors
    /// The database refused.
    pub async fn tasks(&self) -> Result<Vec<Task>> {
        self.read(|conn| all(conn, "SELECT * FROM tasks ORDER BY created_at, id", [], decode::task)).await
    }

    /// One task.
    ///
    /// # Errors
    /// No such task, or the database refused.
    pub async fn task(&self, id: TaskId) -> Result<Task> {
        self.read(move |conn: &Connection| load::task(conn, &id)).await
    }
}

fn insert(tx: &Tx<'_>, task: &Task) -> Result<()> {
    run(
        tx,
        "INSERT INTO tasks (id, title, state, repository_path, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            task.id.as_str(),
            task.title,
            task.state.as_str(),
            task.repository_path,
            task.created_at,
            task.updated_at
        ],
    )?;
    Ok(())
}

/// Moves a task from one state to another; told as an event of the session that moved it. In any other state it stays.
pub(super) fn move_task(
    tx: &Tx<'_>,
    task: &TaskId,
    from: TaskState,
    to: TaskState,
    by: &SessionId,
    now: Millis,
) -> Result<()> {
    let moved = run(
        tx,
        "UPDATE tasks SET state = ?3, updated_at = ?4 WHERE id = ?1 AND state = ?2",
        params![task.as_str(), from.as_str(), to.as_str(), now],
    )?;
    if moved == 1 {
        tx.emit("task.state_changed", by, task, now, serde_json::json!({ "state": to, "previous": from }))?;
    }
    Ok(())
}
