//! A terminal whose task failed: a fault in one terminal must not leave its agent alive and unseen.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::domain::ids::TerminalId;
use crate::domain::journal::Body;
use crate::proc::fence::{Fence, fence};
use crate::pty::control::Control;

use super::ledger::Ledger;
use super::order::Seen;

/// The program gets this long for its goodbye.
const GRACE: Duration = Duration::from_secs(2);

/// What is left of a terminal whose task failed: its program is ended and its end told, so that nobody takes it for alive.
pub struct Fallen {
    /// Id.
    pub id: TerminalId,
    /// Generation.
    pub generation: u32,
    /// Its process.
    pub control: Control,
    /// Journal.
    pub ledger: Arc<Ledger>,
    /// What is seen of it.
    pub seen: watch::Sender<Seen>,
}

impl Fallen {
    /// Ends the program and tells its end.
    pub async fn end(self) {
        tracing::error!(terminal = %self.id, "the terminal's task failed; its program is ended");
        let (marks, leaders) = (vec![self.id.to_string()], vec![self.control.identity().clone()]);
        if let Err(error) = fence(Fence { marks, leaders, grace: GRACE }).await {
            tracing::error!(terminal = %self.id, %error, "its program cannot be ended");
        }
        let exit = self.control.wait_exit().await;
        let told = self.ledger.facts(|facts| facts.terminal(&self.id).is_some_and(|fact| fact.exit.is_some()));
        if !told {
            self.ledger.note(Body::Exit {
                terminal: self.id,
                generation: self.generation,
                exit,
                quit_input: false,
                failure: None,
                last_line: String::new(),
            });
        }
        self.seen.send_modify(|seen| seen.exit = Some(exit));
    }
}
