//! Both halves of a connection over real unix sockets and in memory: versions, limits, bad clients, paths.

mod basics;
mod support;
