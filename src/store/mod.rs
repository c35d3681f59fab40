//! The only room that speaks SQLite: migrations, typed rows, one transaction per change.
//!
//! [`Store`] is a handle to the one thread that owns the connection. Every change answers with the numbered events that it
//! wrote in the same transaction ([`Committed`]); they are published after it. The rule of who may be claimed is one SQL
//! text (`predicate`), held equal to `domain::rules` by a test.

mod apply;
mod bundles;
mod claim;
mod codec;
mod confirm;
mod decode;
mod dispose;
mod ends;
mod error;
mod executors;
mod inspect;
mod limits;
mod load;
mod messages;
mod names;
mod open;
mod predicate;
mod prompts;
mod sessions;
mod tasks;
mod terminals;
mod tokens;
mod transient;
mod tx;
mod unclaim;
mod worker;

pub use apply::{Applied, ApplyRules, Change};
pub use bundles::{Bundle, Whole};
pub use claim::{ClaimBy, ClaimOutcome, ClaimRequest, FirstStart};
pub use confirm::{Confirm, ConfirmOutcome};
pub use dispose::Disposed;
pub use ends::AgentEnd;
pub use error::{Error, Result};
pub use executors::ExecutorReady;
pub use inspect::{Inspection, inspect};
pub use names::Found;
pub use open::{SCHEMA, network_filesystem};
pub use sessions::{Adopt, Adopted, NewSession, Worktree};
pub use tokens::TokenRepair;
pub use transient::Transient;
pub use tx::Committed;
pub use unclaim::{Unclaim, UnclaimOutcome};
pub use worker::Store;

#[cfg(test)]
mod claim_tests;
#[cfg(test)]
mod death_tests;
#[cfg(test)]
mod end_tests;
#[cfg(test)]
mod guard_tests;
#[cfg(test)]
mod open_tests;
#[cfg(test)]
mod row_tests;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod testing;
