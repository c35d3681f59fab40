//! The supervisor of one session: its terminals, the journal of what happened in them, the agent's hooks, files and git.

mod board;
mod courtesy;
pub mod error;
mod facts;
mod journal;
mod kept;
mod ledger;
mod order;
mod scribe;
mod sizes;
mod spool;
mod throttle;
mod token_file;
mod typing;
mod viewers;
