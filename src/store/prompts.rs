//! Prompts that wait for their agent: typed at most once.

use rusqlite::{Connection, params};

use crate::domain::ids::{PromptId, SessionId};
use crate::domain::rows::{PromptState, QueuedPrompt};

use super::codec::{all, one, run, to_variant};
use super::error::Result;
use super::tx::{Committed, Tx};
use super::worker::Store;
use super::{decode, load};

impl Store {
    /// Puts a prompt in the queue, in the state that it names. One that is there stays as it is.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn enqueue_prompt(&self, prompt: QueuedPrompt) -> Result<Committed<()>> {
        self.write(move |tx| {
            load::session(tx, &prompt.session_id)?;
            enqueue(tx, &prompt)
        })
        .await
    }

    /// The oldest prompt that was never typed.
    ///
    /// # Errors
    /// The database refused.
    pub async fn next_prompt(&self, session: SessionId) -> Result<Option<QueuedPrompt>> {
        let sql = "SELECT * FROM queued_prompts WHERE session_id = ?1 AND state = 'queued'
                   ORDER BY created_at, rowid LIMIT 1";
        self.read(move |conn| one(conn, sql, [session.as_str()], decode::prompt)).await
    }

    /// The session's prompts, oldest first.
    ///
    /// # Errors
    /// The database refused.
    pub async fn prompts(&self, session: SessionId) -> Result<Vec<QueuedPrompt>> {
        self.read(move |conn| of_session(conn, &session)).await
    }

    /// Notes that typing a prompt began (`done` false: maybe delivered) or ended (`done` true: delivered), as the journal
    /// does. A delivered one stays so. `false`: nothing changed.
    ///
    /// # Errors
    /// The database refused.
    pub async fn prompt_typed(&self, session: SessionId, id: PromptId, done: bool) -> Result<Committed<bool>> {
        self.write(move |tx| typed(tx, &session, &id, done)).await
    }

    /// Takes a prompt out of the queue. `false`: it was not there.
    ///
    /// # Errors
    /// The database refused.
    pub async fn drop_prompt(&self, session: SessionId, id: PromptId) -> Result<Committed<bool>> {
        let sql = "DELETE FROM queued_prompts WHERE session_id = ?1 AND id = ?2";
        self.write(move |tx| Ok(run(tx, sql, [session.as_str(), id.as_str()])? == 1)).await
    }
}

/// See [`Store::prompts`].
pub(super) fn of_session(conn: &Connection, session: &SessionId) -> Result<Vec<QueuedPrompt>> {
    let sql = "SELECT * FROM queued_prompts WHERE session_id = ?1 ORDER BY created_at, rowid";
    all(conn, sql, [session.as_str()], decode::prompt)
}

/// See [`Store::enqueue_prompt`].
pub(super) fn enqueue(tx: &Tx<'_>, prompt: &QueuedPrompt) -> Result<()> {
    run(
        tx,
        "INSERT INTO queued_prompts (id, session_id, text, state, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO NOTHING",
        params![
            prompt.id.as_str(),
            prompt.session_id.as_str(),
            prompt.text,
            to_variant("prompt state", &prompt.state)?,
            prompt.created_at
        ],
    )?;
    Ok(())
}

/// See [`Store::prompt_typed`].
pub(super) fn typed(tx: &Tx<'_>, session: &SessionId, id: &PromptId, done: bool) -> Result<bool> {
    let state = if done { PromptState::Delivered } else { PromptState::MaybeDelivered };
    let changed = run(
        tx,
        "UPDATE queued_prompts SET state = ?3 WHERE session_id = ?1 AND id = ?2 AND state <> 'delivered' AND state <> ?3",
        params![session.as_str(), id.as_str(), to_variant("prompt state", &state)?],
    )?;
    Ok(changed == 1)
}
