//! Decides, recovers, resumes, queues, records, publishes. `core` and `recovery` are pure; `session` drives one session.

pub mod api;
pub mod calls;
mod common;
pub mod core;
pub mod create;
mod elsewhere;
mod feed;
pub mod gate;
pub mod ids;
pub mod jobs;
pub mod latest;
pub mod orders;
pub mod recovery;
pub mod resume;
#[cfg(test)]
mod resume_scene;
#[cfg(test)]
mod resume_tests;
pub mod run;
#[cfg(test)]
mod samples;
pub mod seen;
pub mod session;
pub mod shared;
mod shells;
pub mod streams;
pub mod terminals;
pub mod volatile;
mod waiters;
