//! Persons who wait for what a session's actor does: all who ask during one start share its result.

use tokio::sync::oneshot;

use crate::domain::ids::TerminalId;
use crate::domain::rows::StartMode;
use crate::domain::words::{ErrorCode, ResumeReason};
use crate::wire::host::{Resumed, WireError};

use super::core::Wish;

type Tell<T> = oneshot::Sender<Result<T, WireError>>;

struct Waiter {
    dead: Option<TerminalId>,
    tell: Tell<Resumed>,
}

/// Everybody who waits on one session.
#[derive(Default)]
pub struct Waiters {
    wish: Option<Wish>,
    resumes: Vec<Waiter>,
    firsts: Vec<Tell<()>>,
}

/// The answer that nothing was resumed.
#[must_use]
pub fn not_resumed(reason: ResumeReason, current: Option<TerminalId>, dead: Option<TerminalId>) -> Resumed {
    Resumed { resumed: false, reason, terminal_id: current, old_terminal_id: dead, message: None }
}

impl Waiters {
    /// What those who wait wish for that is not on its way yet.
    #[must_use]
    pub fn wish(&self) -> Option<Wish> {
        self.wish
    }

    /// One more waits for a resume; with a wish when none is on its way.
    pub fn join(&mut self, dead: Option<TerminalId>, tell: Tell<Resumed>, wish: Option<Wish>) {
        self.resumes.push(Waiter { dead, tell });
        if wish.is_some() && self.wish != Some(Wish::Reopen) {
            self.wish = wish;
        }
    }

    /// One more waits for the first start.
    pub fn join_first(&mut self, tell: Tell<()>) {
        self.firsts.push(tell);
    }

    /// A successor, or the first agent, was started. If it has died by now, who asked after its death waits for the next start.
    pub fn started(&mut self, terminal: &TerminalId, dead: Option<&TerminalId>, mode: StartMode, died: bool) {
        let after = |waiter: &Waiter| died && waiter.dead.as_ref() == Some(terminal);
        let (again, shared): (Vec<_>, Vec<_>) = std::mem::take(&mut self.resumes).into_iter().partition(after);
        self.resumes = again;
        if self.resumes.is_empty() {
            self.wish = None;
        }
        let reason = match mode {
            StartMode::Resume => ResumeReason::Resumed,
            StartMode::First | StartMode::Fresh => ResumeReason::StartedFresh,
        };
        for waiter in shared {
            let _ = waiter.tell.send(Ok(Resumed {
                resumed: true,
                reason,
                terminal_id: Some(terminal.clone()),
                // Who joined as the launch ended saw the successor already.
                old_terminal_id: waiter.dead.filter(|seen| seen != terminal).or_else(|| dead.cloned()),
                message: None,
            }));
        }
        for tell in self.firsts.drain(..) {
            let _ = tell.send(Ok(()));
        }
    }

    /// There was nothing to take, for this reason.
    pub fn refuse(&mut self, reason: ResumeReason, current: Option<&TerminalId>) {
        self.wish = None;
        for waiter in self.resumes.drain(..) {
            let _ = waiter.tell.send(Ok(not_resumed(reason, current.cloned(), waiter.dead)));
        }
        for tell in self.firsts.drain(..) {
            let why = format!("it was not started: {reason}");
            let _ = tell.send(Err(WireError::new(ErrorCode::Cancelled, why)));
        }
    }

    /// The launch provably did not happen.
    pub fn failed(&mut self, error: &WireError, current: Option<&TerminalId>) {
        self.wish = None;
        let reason = match error.code {
            ErrorCode::ConfigGone | ErrorCode::AgentNotFound | ErrorCode::AgentUnknown => ResumeReason::ConfigGone,
            ErrorCode::ResumeUnsupported => ResumeReason::ResumeUnsupported,
            _ => ResumeReason::LaunchFailed,
        };
        for waiter in self.resumes.drain(..) {
            let answer = not_resumed(reason, current.cloned(), waiter.dead);
            let _ = waiter.tell.send(Ok(Resumed { message: Some(error.message.clone()), ..answer }));
        }
        self.fail(error);
    }

    /// Nothing could be tried.
    pub fn fail(&mut self, error: &WireError) {
        self.wish = None;
        for waiter in self.resumes.drain(..) {
            let _ = waiter.tell.send(Err(error.clone()));
        }
        for tell in self.firsts.drain(..) {
            let _ = tell.send(Err(error.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Named by the fault: who asked just as the launch ended was told of the new terminal in both places.
    #[test]
    fn all_who_share_a_start_are_told_of_the_same_dead_terminal() {
        let [dead, successor] = ["x1", "x2"].map(|id| TerminalId::new(id).unwrap());
        let mut waiters = Waiters::default();
        let told: Vec<_> = [Some(&dead), Some(&successor), None]
            .map(|seen| {
                let (tell, told) = oneshot::channel();
                waiters.join(seen.cloned(), tell, Some(Wish::Resume));
                told
            })
            .into();
        waiters.started(&successor, Some(&dead), StartMode::Resume, false);
        for mut told in told {
            let answer = told.try_recv().unwrap().unwrap();
            assert_eq!((answer.old_terminal_id, answer.terminal_id), (Some(dead.clone()), Some(successor.clone())));
        }
        assert_eq!(waiters.wish(), None);
    }

    /// Named by the fault: a retry just after the successor had died was answered with that start, and nothing was tried.
    #[test]
    fn who_asks_after_the_successor_died_waits_for_the_next_start() {
        let [dead, successor, next] = ["x1", "x2", "x3"].map(|id| TerminalId::new(id).unwrap());
        let mut waiters = Waiters::default();
        let join = |waiters: &mut Waiters, seen: &TerminalId| {
            let (tell, told) = oneshot::channel();
            waiters.join(Some(seen.clone()), tell, Some(Wish::Resume));
            told
        };
        let (mut early, mut late) = (join(&mut waiters, &dead), join(&mut waiters, &successor));
        waiters.started(&successor, Some(&dead), StartMode::Resume, true);
        assert_eq!(early.try_recv().unwrap().unwrap().terminal_id, Some(successor.clone()));
        assert!(late.try_recv().is_err());
        assert_eq!(waiters.wish(), Some(Wish::Resume));
        waiters.started(&next, Some(&successor), StartMode::Resume, false);
        let answer = late.try_recv().unwrap().unwrap();
        assert_eq!((answer.old_terminal_id, answer.terminal_id), (Some(successor), Some(next)));
        assert_eq!(waiters.wish(), None);
    }
}
