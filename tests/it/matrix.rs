//! The kill matrix: whatever dies, by SIGKILL unless said otherwise, each conversation is alive again once, and knows its
//! code word. Real processes, the demo agent, the built program.

mod agent;
mod agentctl;
mod check;
mod client;
mod everything;
mod host;
mod many;
mod storm;
