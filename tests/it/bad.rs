//! Bad input: a clear error, a documented exit code, and nothing lost.

mod agents;
mod calls;
mod config;
mod database;
mod names;
mod places;
mod terminals;
