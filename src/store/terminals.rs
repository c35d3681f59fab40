//! Terminals, the chain of successors, and resume attempts.

use rusqlite::{Connection, params};

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::launch::{Exit, ProcIdentity, Size};
use crate::domain::rows::{Binding, Millis, ResumeAttempt, Session, Terminal};

use super::codec::{all, one, run};
use super::ends::{self, AgentEnd, Ended, Seen};
use super::error::Result;
use super::tx::{Committed, Tx};
use super::worker::Store;
use super::{decode, load};

impl Store {
    /// The session's terminals, newest first.
    ///
    /// # Errors
    /// The database refused.
    pub async fn terminals(&self, session: SessionId) -> Result<Vec<Terminal>> {
        self.read(move |conn| of_session(conn, &session)).await
    }

    /// One terminal.
    ///
    /// # Errors
    /// The database refused.
    pub async fn terminal(&self, id: TerminalId) -> Result<Option<Terminal>> {
        self.read(move |conn| load::terminal(conn, &id)).await
    }

    /// The session's bindings, newest first.
    ///
    /// # Errors
    /// The database refused.
    pub async fn bindings(&self, session: SessionId) -> Result<Vec<Binding>> {
        let sql = "SELECT * FROM agent_bindings WHERE session_id = ?1 ORDER BY generation DESC";
        self.read(move |conn| all(conn, sql, [session.as_str()], decode::binding)).await
    }

    /// The terminal that continues `id` now: the end of its chain of confirmed successors, itself when it has none.
    /// `None`: no such terminal.
    ///
    /// # Errors
    /// The database refused.
    pub async fn current_of(&self, id: TerminalId) -> Result<Option<Terminal>> {
        self.read(move |conn| current_of(conn, &id)).await
    }

    /// The session's resume attempts, newest first.
    ///
    /// # Errors
    /// The database refused.
    pub async fn attempts(&self, session: SessionId) -> Result<Vec<ResumeAttempt>> {
        let sql = "SELECT * FROM resume_attempts WHERE session_id = ?1 ORDER BY id DESC";
        self.read(move |conn| all(conn, sql, [session.as_str()], decode::attempt)).await
    }

    /// Adds a shell terminal; one that is there stays as it is. The journal does the same by itself.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn add_shell(
        &self,
        session: SessionId,
        terminal: TerminalId,
        identity: Option<ProcIdentity>,
        now: Millis,
    ) -> Result<Committed<()>> {
        self.write(move |tx| {
            let session = load::session(tx, &session)?;
            add_shell(tx, &session, &terminal, identity.as_ref(), now)
        })
        .await
    }

    /// A person closed a shell: its row is `disposed`. How it ended comes with the journal. An agent's row stays as it is.
    ///
    /// # Errors
    /// The database refused.
    pub async fn shell_closed(&self, terminal: TerminalId) -> Result<Committed<()>> {
        let sql = "UPDATE terminals SET status = 'disposed' WHERE id = ?1 AND kind = 'shell'";
        self.write(move |tx| run(tx, sql, [terminal.as_str()]).map(|_| ())).await
    }

    /// A terminal is gone for good, and no journal will tell: its container or its journal is lost. A live agent becomes
    /// `terminal-exited`; an end that is named stays. `None`: that changed nothing.
    ///
    /// # Errors
    /// No such session, or the database refused.
    pub async fn terminal_lost(
        &self,
        session: SessionId,
        terminal: TerminalId,
        max_attempts: u32,
        now: Millis,
    ) -> Result<Committed<Option<AgentEnd>>> {
        self.write(move |tx| {
            let mut session = load::session(tx, &session)?;
            let binding = load::binding(tx, &terminal)?.filter(|b| b.session_id == session.id);
            match binding {
                Some(binding) if binding.end_reason.is_none() => {
                    let seen = Seen { record: None, max_attempts, now };
                    ends::agent_ended(tx, &mut session, &binding, Ended::UNSEEN, seen).map(Some)
                }
                other => {
                    let reason = other.and_then(|b| b.end_reason);
                    ends::terminal_gone(tx, &mut session, &terminal, Exit::Unknown, reason, now)?;
                    Ok(None)
                }
            }
        })
        .await
    }
}

/// See [`Store::terminals`].
pub(super) fn of_session(conn: &Connection, session: &SessionId) -> Result<Vec<Terminal>> {
    let sql = "SELECT * FROM terminals WHERE session_id = ?1 ORDER BY created_at DESC, rowid DESC";
    all(conn, sql, [session.as_str()], decode::terminal)
}

fn current_of(conn: &Connection, id: &TerminalId) -> Result<Option<Terminal>> {
    // The generation grows along the chain, so that even a damaged one ends.
    let sql = "WITH RECURSIVE chain (id, generation) AS (
             SELECT t.id, t.generation FROM terminals t WHERE t.id = ?1
             UNION
             SELECT t.id, t.generation FROM chain c
             JOIN agent_bindings b ON b.terminal_id = c.id
             JOIN terminals t ON t.id = b.successor_terminal_id AND t.generation > c.generation)
         SELECT t.* FROM terminals t JOIN chain c ON c.id = t.id ORDER BY c.generation DESC LIMIT 1";
    one(conn, sql, [id.as_str()], decode::terminal)
}

/// See [`Store::add_shell`].
pub(super) fn add_shell(
    tx: &Tx<'_>,
    session: &Session,
    terminal: &TerminalId,
    identity: Option<&ProcIdentity>,
    at: Millis,
) -> Result<()> {
    run(
        tx,
        "INSERT INTO terminals (id, session_id, kind, generation, pid, pid_start_time, boot_id, cols, rows, status, created_at)
         VALUES (?1, ?2, 'shell', 0, ?3, ?4, ?5, ?6, ?7, 'active', ?8)
         ON CONFLICT (id) DO NOTHING",
        params![
            terminal.as_str(),
            session.id.as_str(),
            identity.map(|i| i.pid),
            identity.map(|i| i.start_time as i64),
            identity.map(|i| i.boot_id.as_str()),
            Size::DEFAULT.cols,
            Size::DEFAULT.rows,
            at
        ],
    )?;
    Ok(())
}
