//! relight keeps coding-agent terminal sessions alive: a terminal multiplexer whose sessions come back by themselves.
//!
//! Rooms, lowest first; imports go only downward (`tests/it/architecture.rs` holds that):
//! `domain` the words and rules · `config` · `store` the database · `wire` messages · `proc` processes · `demo` the demo
//! agent · `screen` terminal model, frames, keys · `pty` · `workspace` files and git · `link` byte streams and typed
//! clients · `agent` what is known about agent CLIs · `agentctl` the supervisor of one session · `executor` where an
//! agentctl runs · `host` decides, recovers, resumes · `serve` the host's socket · `tui` · `cli`.

pub mod agent;
pub mod agentctl;
pub mod cli;
pub mod config;
pub mod demo;
pub mod domain;
pub mod executor;
pub mod host;
pub mod link;
pub mod proc;
pub mod pty;
pub mod screen;
pub mod serve;
pub mod store;
pub mod tui;
pub mod wire;
pub mod workspace;
