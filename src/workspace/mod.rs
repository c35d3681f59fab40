//! Files and git of a session's directory, read-only for clients. Everything is bounded: entries, bytes, time.
//!
//! Every path that a client names is below the session's directory, also after its links are resolved.

pub mod error;
pub mod files;
pub mod git;
pub mod repository;
pub mod root;
pub mod search;

pub use error::Error;
