//! Integration tests: one binary. Tests that need a real Docker engine, sshd or agent CLI name what is missing.

#![allow(
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too, and starts the built program"
)]

mod agentctl;
mod agents;
mod architecture;
mod bad;
mod cli;
mod clients;
mod demo;
mod demo_home;
mod detach;
mod doctor;
mod executor;
mod first_day;
mod link;
mod matrix;
mod model_server;
mod never;
mod once;
mod outer;
mod panels;
mod remembered;
mod serve;
mod shells;
mod states;
mod support;
mod workspace;
