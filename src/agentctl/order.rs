//! What can be asked of a running terminal, and what is seen of it.

use tokio::sync::{mpsc, oneshot, watch};

use crate::domain::ids::{PromptId, TerminalId};
use crate::domain::launch::{Exit, ProcIdentity, Size};
use crate::domain::words::{ErrorCode, SessionState, TerminalKind};
use crate::proc::program;
use crate::pty::control::Control;
use crate::wire::agentctl::TerminalInfo;
use crate::wire::host::WireError;
use crate::wire::input::StreamInput;

use super::viewers::Out;

/// Orders that may wait for one terminal: a fast typist's keys while it handles a burst of output.
pub const ORDERS: usize = 256;

/// An order to a terminal.
#[derive(Debug)]
pub enum Order {
    /// A client begins to look.
    Attach(oneshot::Sender<(u64, mpsc::Receiver<Out>)>),
    /// What a client sends.
    Input(u64, StreamInput),
    /// A client is gone.
    Leave(u64),
    /// Type a text.
    Type {
        /// Text.
        text: String,
        /// Press Enter afterwards.
        enter: bool,
        /// Queued prompt that it is.
        prompt: Option<PromptId>,
        /// Told when it was typed to its end.
        tell: oneshot::Sender<Result<(), WireError>>,
    },
    /// Set the size, whoever looks.
    Resize(Size),
    /// Lines of the screen and so many of the history before it, with SGR sequences or without.
    Capture(usize, bool, oneshot::Sender<Vec<String>>),
    /// Look at the hook spool.
    Hooks,
    /// The conversation id was read from a file.
    Token(String, &'static str),
    /// Let everything go: the terminal was closed.
    End,
}

/// What is seen of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Size.
    pub size: Size,
    /// Title.
    pub title: String,
    /// Conversation id.
    pub token: Option<String>,
    /// For an agent: the state that its signals say.
    pub state: Option<SessionState>,
    /// How it ended; set when its exit is in the journal.
    pub exit: Option<Exit>,
    /// Somebody looks at it.
    pub watched: bool,
}

/// A running terminal, or one that ended and is still readable.
#[derive(Debug)]
pub struct Handle {
    /// Id.
    pub id: TerminalId,
    /// Agent or shell.
    pub kind: TerminalKind,
    /// Generation.
    pub generation: u32,
    /// Its process.
    pub identity: ProcIdentity,
    /// The terminal itself, for what runs in its foreground.
    pub control: Control,
    /// Orders to it.
    pub orders: mpsc::Sender<Order>,
    /// What is seen of it.
    pub seen: watch::Receiver<Seen>,
}

impl Handle {
    /// Gives an order; waits while the terminal is busy.
    ///
    /// # Errors
    /// `terminal_not_found` when it is closed.
    pub async fn order(&self, order: Order) -> Result<(), WireError> {
        self.orders.send(order).await.map_err(|_| self.gone())
    }

    /// Gives an order and waits for its answer.
    ///
    /// # Errors
    /// `terminal_not_found` when it is closed.
    pub async fn ask<T>(&self, order: impl FnOnce(oneshot::Sender<T>) -> Order) -> Result<T, WireError> {
        let (tell, answer) = oneshot::channel();
        self.order(order(tell)).await?;
        answer.await.map_err(|_| self.gone())
    }

    fn gone(&self) -> WireError {
        not_found(&self.id)
    }

    /// The exit, once it is in the journal.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.seen.borrow().exit
    }

    /// Waits for the exit to be in the journal.
    pub async fn ended(&self) -> Option<Exit> {
        let mut seen = self.seen.clone();
        seen.wait_for(|seen| seen.exit.is_some()).await.ok().and_then(|seen| seen.exit)
    }

    /// Name of the program in the foreground, when that is not the terminal's own process.
    #[must_use]
    pub fn foreground(&self) -> Option<String> {
        if self.control.exit().is_some() {
            return None;
        }
        let group = self.control.foreground_pgid().filter(|group| *group != self.identity.pid)?;
        program::of_group(group)
    }

    /// The terminal as the interface shows it.
    #[must_use]
    pub fn info(&self) -> TerminalInfo {
        let seen = self.seen.borrow().clone();
        TerminalInfo {
            id: self.id.clone(),
            kind: self.kind,
            generation: self.generation,
            identity: Some(self.identity.clone()),
            exit: seen.exit,
            size: seen.size,
            title: seen.title,
            token: seen.token,
            state: seen.state,
            foreground: self.foreground(),
        }
    }
}

/// The error for a terminal that is not here.
#[must_use]
pub fn not_found(terminal: &TerminalId) -> WireError {
    WireError::new(ErrorCode::TerminalNotFound, format!("this session has no terminal `{terminal}`"))
}
