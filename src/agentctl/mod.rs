//! The supervisor of one session: its terminals, the journal of what happened in them, the agent's hooks, files and git.
//!
//! [`run()`] is one agentctl's whole life. It holds the session's lock, ends what an earlier one left (`recover`), serves
//! (`routes`) and ends when it is told to (`ending`). A terminal is a task of its own (`actor`); what happened goes
//! into the journal (`ledger`) before anybody hears of it.

mod actor;
mod actor_input;
mod actor_output;
mod board;
mod courtesy;
mod ending;
pub mod error;
mod facts;
mod fallen;
mod feed;
mod files;
pub mod hook;
mod input;
mod journal;
mod kept;
mod launch;
mod ledger;
mod order;
pub mod payload;
mod recover;
mod routes;
mod run;
mod scribe;
mod shared;
mod sizes;
mod spool;
mod starter;
mod stream;
mod throttle;
mod token_file;
mod typing;
mod viewers;

pub use run::{Options, run};
pub use starter::HostStart;

#[cfg(test)]
mod tests;
