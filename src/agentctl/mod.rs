//! The supervisor of one session: its terminals, the journal of what happened in them, the agent's hooks, files and git.

pub mod error;
pub mod facts;
pub mod journal;
