//! Exactly once: claim, launch, confirm or unclaim, dispose. The only place that claims. What happens in a terminal comes in
//! as [`Terminals`], so that the order of things is tested without one.

use std::future::Future;

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::launch::Size;
use crate::domain::rows::{Millis, Pending, StartMode};
use crate::domain::words::{ErrorCode, Hold, ResumeReason, Trigger, Wanted};
use crate::proc::testpoint;
use crate::store::{ClaimBy, ClaimOutcome, ClaimRequest, Confirm, ConfirmOutcome, Error, Store, Unclaim};
use crate::wire::agentctl::LaunchReply;

/// Nobody can say what became of an order: the link broke or a deadline passed. The claim stays open; it is settled by asking
/// again, never by assuming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown(pub String);

/// Effects on the terminals of one session.
pub trait Terminals: Sync {
    /// Launches the pending terminal. A repeat with the same id starts nothing and answers with what it finds.
    fn launch(&self, pending: &Pending) -> impl Future<Output = Result<LaunchReply, Unknown>> + Send;
    /// What became of a terminal id.
    fn fate(&self, terminal: &TerminalId) -> impl Future<Output = Result<LaunchReply, Unknown>> + Send;
    /// Makes sure that an id is never launched; answers with what it finds.
    fn cancel(&self, terminal: &TerminalId) -> impl Future<Output = Result<LaunchReply, Unknown>> + Send;
    /// Size that a launch has.
    fn size(&self) -> Size;
    /// Ends a terminal and all it left; a terminal that is not there is none.
    fn dispose(&self, terminal: &TerminalId) -> impl Future<Output = Result<(), Unknown>> + Send;
}

/// Order to take a dead agent and start its successor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Session.
    pub session: SessionId,
    /// The dead terminal that the caller saw.
    pub dead: Option<TerminalId>,
    /// Chosen for the successor.
    pub successor: TerminalId,
    /// Conversation id for a fresh start of an agent that takes one.
    pub new_token: Option<String>,
    /// Who.
    pub by: ClaimBy,
    /// Why.
    pub trigger: Trigger,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A successor was started.
    Started {
        /// The successor.
        terminal: TerminalId,
        /// The dead one, if there was one.
        dead: Option<TerminalId>,
        /// How.
        mode: StartMode,
    },
    /// Nothing to claim, for this reason.
    Refused(ResumeReason),
    /// The launch provably did not happen; the candidate is back.
    Failed {
        /// Code.
        code: ErrorCode,
        /// In words.
        message: String,
    },
    /// A person ended the session meanwhile; the successor was ended.
    Stopped,
    /// Not known yet; the claim is open.
    Unknown(String),
}

/// Claims and starts.
///
/// # Errors
/// Those of the store; a claim that was made stays open and is settled later.
#[expect(clippy::disallowed_methods, reason = "the one place that claims")]
pub async fn restart(
    store: &Store,
    terminals: &impl Terminals,
    order: Order,
    now: impl Fn() -> Millis + Send + Sync,
) -> Result<Outcome, Error> {
    testpoint::reach("host.before_claim");
    let session = order.session.clone();
    let claim = ClaimRequest {
        session: order.session,
        dead: order.dead,
        successor: order.successor,
        new_token: order.new_token,
        by: order.by,
        trigger: order.trigger,
        now: now(),
    };
    match store.claim(claim).await?.value {
        ClaimOutcome::Refused(reason) => Ok(Outcome::Refused(reason)),
        ClaimOutcome::Claimed(pending) => {
            testpoint::reach("host.after_claim");
            carry_out(store, terminals, &session, pending, now).await
        }
    }
}

/// Launches what is pending and settles it.
///
/// # Errors
/// Those of the store.
pub async fn carry_out(
    store: &Store,
    terminals: &impl Terminals,
    session: &SessionId,
    pending: Pending,
    now: impl Fn() -> Millis + Send + Sync,
) -> Result<Outcome, Error> {
    match terminals.launch(&pending).await {
        Ok(reply) => finish(store, terminals, session, pending, reply, now).await,
        Err(Unknown(why)) => Ok(Outcome::Unknown(why)),
    }
}

/// Settles a start that was begun before: asks for its fate, and carries it out if nothing was ever heard of it, since a
/// launch with the same id happens at most once.
///
/// # Errors
/// Those of the store.
pub async fn settle(
    store: &Store,
    terminals: &impl Terminals,
    session: &SessionId,
    wanted: Wanted,
    pending: Pending,
    now: impl Fn() -> Millis + Send + Sync,
) -> Result<Outcome, Error> {
    let reply = match terminals.fate(&pending.terminal_id).await {
        Ok(LaunchReply::Unheard) if wanted == Wanted::Run => {
            return carry_out(store, terminals, session, pending, now).await;
        }
        Ok(LaunchReply::Unheard) => terminals.cancel(&pending.terminal_id).await,
        other => other,
    };
    match reply {
        Ok(reply) => finish(store, terminals, session, pending, reply, now).await,
        Err(Unknown(why)) => Ok(Outcome::Unknown(why)),
    }
}

async fn finish(
    store: &Store,
    terminals: &impl Terminals,
    session: &SessionId,
    pending: Pending,
    reply: LaunchReply,
    now: impl Fn() -> Millis + Send + Sync,
) -> Result<Outcome, Error> {
    let (code, message) = match reply {
        LaunchReply::Spawned { identity, token, .. } => {
            testpoint::reach("host.after_launch");
            let confirm = Confirm {
                session: session.clone(),
                terminal: pending.terminal_id.clone(),
                epoch: pending.epoch,
                identity,
                token,
                size: terminals.size(),
                now: now(),
            };
            testpoint::reach("host.before_confirm");
            return match store.confirm(confirm).await?.value {
                ConfirmOutcome::Confirmed => {
                    if let Some(dead) = &pending.dead {
                        // Idempotent, and repeated at the next start of the host if it fails now.
                        let _ = terminals.dispose(dead).await;
                    }
                    Ok(Outcome::Started { terminal: pending.terminal_id, dead: pending.dead, mode: pending.mode })
                }
                // Killed meanwhile; or no row knows it, so nobody would ever end it.
                ConfirmOutcome::StopWanted | ConfirmOutcome::NotPending => {
                    let _ = terminals.dispose(&pending.terminal_id).await;
                    Ok(Outcome::Stopped)
                }
            };
        }
        LaunchReply::Failed { code, message } => (code, message),
        LaunchReply::Cancelled => (ErrorCode::Cancelled, "its launch was called off".to_owned()),
        LaunchReply::Unheard => return Ok(Outcome::Unknown("its agentctl has not heard of it".to_owned())),
    };
    let now = now();
    let unclaim = Unclaim {
        session: session.clone(),
        successor: pending.terminal_id,
        epoch: pending.epoch,
        code,
        message: message.clone(),
        hold: hold(code),
        not_before: (code == ErrorCode::DiskFull).then_some(now + SPACE_MS),
        now,
    };
    store.unclaim(unclaim).await?;
    Ok(Outcome::Failed { code, message })
}

/// Pause after a launch that found no space: about what a person takes to free some.
const SPACE_MS: Millis = 15_000;

/// Why nothing is tried by itself after a failed launch. A launch that was called off (its agentctl died in the middle of it)
/// or found no space is no failure of the agent: it is tried again.
fn hold(code: ErrorCode) -> Option<Hold> {
    match code {
        ErrorCode::Cancelled | ErrorCode::DiskFull => None,
        ErrorCode::ConfigGone | ErrorCode::AgentNotFound | ErrorCode::AgentUnknown => Some(Hold::ConfigGone),
        ErrorCode::ResumeUnsupported => Some(Hold::ResumeUnsupported),
        _ => Some(Hold::LaunchFailed),
    }
}
