//! The project's words as plain values, and its rules as pure functions. No IO, no clock, no randomness.
//!
//! One word per thing: a *task* has *sessions*; a session has *terminals*; a *binding* ties a conversation to an
//! agent terminal; a *claim* takes a dead binding in order to resume it.

pub mod ending;
pub mod ids;
pub mod journal;
pub mod launch;
pub mod plain;
pub mod profile;
pub mod rows;
pub mod rules;
pub mod sentence;
pub mod status;
pub mod words;
