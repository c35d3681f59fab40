//! Which commands work now, and why the others do not.

use super::desk::Shows;
use super::keymap::Command;
use super::notice::Notice;
use super::state::State;
use crate::domain::words::ExecutorStatus;

impl State {
    /// Whether a command works now; why not, in words.
    ///
    /// # Errors
    /// What to tell the person.
    pub fn can(&self, command: Command) -> Result<(), &'static str> {
        let changes = matches!(
            command,
            Command::New
                | Command::Resume
                | Command::Dismiss
                | Command::Rename
                | Command::Reopen
                | Command::Kill
                | Command::Quit
                | Command::Shell
        );
        let agent = *self.desk().focused() == Shows::Agent;
        if self.setup.read_only && (changes || command == Command::Close && self.desk().focused().terminal()) {
            return Err("This client is read-only.");
        }
        match command {
            Command::Resume if !self.up() => Ok(()),
            _ if changes && !self.up() => Err("The host is away."),
            Command::Next | Command::Previous if self.tabs.len() < 2 => Err("There is no other tab."),
            Command::Last if self.last.as_ref().is_none_or(|id| self.tab(id).is_none()) => {
                Err("No other tab was chosen before.")
            }
            Command::Waiting if !self.tabs.iter().any(|t| t.urgency() > 0) => Err("No session waits for you."),
            Command::Jump(n) if usize::from(n) > self.tabs.len() => Err("There is no tab with that number."),
            Command::Resume
            | Command::Dismiss
            | Command::Rename
            | Command::Kill
            | Command::Close
            | Command::Explain
                if self.chosen().is_none() =>
            {
                Err("No session is chosen.")
            }
            Command::Resume if self.running() == Some(true) => Err("Its agent is running."),
            Command::Dismiss if !matches!(self.notice(), Notice::Failure(_) | Notice::Offer(_)) => {
                Err("There is no failure to put away.")
            }
            Command::Close if !agent && self.desk().focused().terminal() && !self.up() => Err("The host is away."),
            Command::SplitRight | Command::SplitDown if self.desk().beside.is_some() => Ok(()),
            Command::SplitRight | Command::SplitDown if self.setup.read_only => Err("This client is read-only."),
            // One that is open is closed, or gets the focus.
            Command::Git if self.desk().beside == Some(Shows::Git) => Ok(()),
            Command::Files if self.desk().beside == Some(Shows::Files) => Ok(()),
            Command::SplitRight
            | Command::SplitDown
            | Command::Shell
            | Command::NextShell
            | Command::Git
            | Command::Files => self.workspace(),
            Command::FocusLeft | Command::FocusRight | Command::FocusUp | Command::FocusDown | Command::FocusNext
                if self.desk().beside.is_none() =>
            {
                Err("There is only one pane.")
            }
            Command::Zoom if self.desk().beside.is_none() => Err("There is only one pane."),
            _ => Ok(()),
        }
    }

    /// Whether the chosen session's directory can be worked in: its agentctl answers, whatever its agent does.
    ///
    /// # Errors
    /// What to tell the person.
    pub fn workspace(&self) -> Result<(), &'static str> {
        let Some(tab) = self.chosen() else { return Err("No session is chosen.") };
        match tab.line.executor_status {
            _ if !self.up() => Err("The host is away."),
            Some(ExecutorStatus::Ready) => Ok(()),
            Some(ExecutorStatus::Starting) => Err("Its executor is starting."),
            _ => Err("Its executor does not answer."),
        }
    }
}
