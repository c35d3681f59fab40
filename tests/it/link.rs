//! Both halves of a connection over real unix sockets and in memory: versions, limits, bad clients, paths.

mod basics;
mod limits;
mod paths;
pub mod support;
mod users;
mod versions;
