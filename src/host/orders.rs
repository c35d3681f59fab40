//! Orders to a session's actor.

use tokio::sync::oneshot;

use crate::domain::ids::TerminalId;
use crate::domain::launch::Size;
use crate::wire::host::{Resumed, WireError};

/// An order to a session's actor.
#[derive(Debug)]
pub enum Command {
    /// Resume, and tell what came of it.
    Resume {
        /// The dead terminal that the caller saw.
        terminal: Option<TerminalId>,
        /// Also what a person ended.
        reopen: bool,
        /// The answer.
        tell: oneshot::Sender<Result<Resumed, WireError>>,
    },
    /// Start the first agent, and tell whether it started.
    First {
        /// Size of the client's pane.
        size: Size,
        /// The answer.
        tell: oneshot::Sender<Result<(), WireError>>,
    },
    /// The rows were changed by a call (kill, dismiss, rename): look again.
    Changed,
    /// A client began (`true`) or ceased to look.
    Viewed(bool),
    /// Ask an unreachable executor at once.
    Retry,
}
