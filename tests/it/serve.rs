//! The host's socket with a fake host behind it: calls, events, streams, slow and bad clients, the end.

mod calls;
mod end;
mod events;
pub mod fake;
mod screens;
mod streams;
