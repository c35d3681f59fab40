//! What everything in one agentctl shares: its journal, its terminals, and how far it is in its life.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::launch::ProcIdentity;
use crate::domain::words::ErrorCode;
use crate::link::place::SessionDir;
use crate::wire::host::WireError;

use super::board::Board;
use super::courtesy::Courtesy;
use super::ledger::Ledger;
use super::order::{Handle, not_found};

/// How far an agentctl is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It serves.
    Serving,
    /// It was told to end and ends its terminals.
    Ending,
    /// Everything has ended and is in the journal.
    Ended,
}

/// What is shared.
#[derive(Debug)]
pub struct Shared {
    /// Session.
    pub session: SessionId,
    /// Its directory.
    pub dir: SessionDir,
    /// The relight program, for hooks.
    pub relight: PathBuf,
    /// Lines of history that each terminal keeps.
    pub history_lines: usize,
    /// This process.
    pub me: ProcIdentity,
    /// Journal.
    pub ledger: Arc<Ledger>,
    /// Badges.
    pub board: Arc<Board>,
    /// Floods.
    pub courtesy: Arc<Courtesy>,
    /// Held by the one launch, or question about a launch, that is being answered.
    pub launching: tokio::sync::Mutex<()>,
    /// Oldest first; a session has a handful.
    terminals: Mutex<Vec<Arc<Handle>>>,
    directory: Mutex<Option<PathBuf>>,
    phase: watch::Sender<Phase>,
    feeds: watch::Sender<usize>,
}

/// A reader of the journal feed, for as long as it lives.
#[derive(Debug)]
pub struct FeedGuard(Arc<Shared>);

impl Drop for FeedGuard {
    fn drop(&mut self) {
        self.0.feeds.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// What a [`Shared`] is made of.
#[derive(Debug)]
pub struct Make {
    /// Session.
    pub session: SessionId,
    /// Its directory.
    pub dir: SessionDir,
    /// The relight program.
    pub relight: PathBuf,
    /// Directory that files and git show.
    pub directory: Option<PathBuf>,
    /// Lines of history.
    pub history_lines: usize,
    /// This process.
    pub me: ProcIdentity,
    /// Journal.
    pub ledger: Arc<Ledger>,
}

impl Shared {
    /// Puts it together.
    #[must_use]
    pub fn new(make: Make) -> Arc<Self> {
        Arc::new(Self {
            session: make.session,
            dir: make.dir,
            relight: make.relight,
            directory: Mutex::new(make.directory),
            history_lines: make.history_lines,
            me: make.me,
            ledger: make.ledger,
            board: Arc::default(),
            courtesy: Arc::default(),
            launching: tokio::sync::Mutex::new(()),
            terminals: Mutex::default(),
            phase: watch::Sender::new(Phase::Serving),
            feeds: watch::Sender::new(0),
        })
    }

    fn table(&self) -> MutexGuard<'_, Vec<Arc<Handle>>> {
        self.terminals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The terminal with this id.
    ///
    /// # Errors
    /// `terminal_not_found`.
    pub fn terminal(&self, id: &TerminalId) -> Result<Arc<Handle>, WireError> {
        self.table().iter().find(|handle| handle.id == *id).cloned().ok_or_else(|| not_found(id))
    }

    /// All terminals, oldest first.
    #[must_use]
    pub fn terminals(&self) -> Vec<Arc<Handle>> {
        self.table().clone()
    }

    /// Enters a terminal.
    pub fn enter(&self, handle: Arc<Handle>) {
        self.table().push(handle);
    }

    /// Removes a terminal.
    pub fn remove(&self, id: &TerminalId) {
        self.table().retain(|handle| handle.id != *id);
    }

    /// Directory that files and git show.
    #[must_use]
    pub fn directory(&self) -> Option<PathBuf> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The agent's directory is what files and git show from now on.
    pub fn set_directory(&self, directory: PathBuf) {
        *self.directory.lock().unwrap_or_else(PoisonError::into_inner) = Some(directory);
    }

    /// How far its life is.
    #[must_use]
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Goes over to a later phase; `false` when it is there already.
    pub fn advance(&self, to: Phase) -> bool {
        self.phase.send_if_modified(|phase| {
            let later = (*phase as u8) < to as u8;
            if later {
                *phase = to;
            }
            later
        })
    }

    /// Refuses what begins something while it ends.
    ///
    /// # Errors
    /// `shutting_down`.
    pub fn serving(&self) -> Result<(), WireError> {
        match *self.phase.borrow() {
            Phase::Serving => Ok(()),
            Phase::Ending | Phase::Ended => {
                let text = format!("the agentctl of session `{}` is ending", self.session);
                Err(WireError::new(ErrorCode::ShuttingDown, text).hint("try again in a moment"))
            }
        }
    }

    /// A host begins to read the journal feed.
    #[must_use]
    pub fn feed(self: &Arc<Self>) -> FeedGuard {
        self.feeds.send_modify(|count| *count += 1);
        FeedGuard(Arc::clone(self))
    }

    /// Follows how many hosts read the journal feed.
    #[must_use]
    pub fn feeds(&self) -> watch::Receiver<usize> {
        self.feeds.subscribe()
    }
}
