//! Byte streams between the processes: both halves, and the typed clients.
//!
//! One protocol over any stream: HTTP/1.1 with JSON, and WebSockets. [`endpoint`] says where a server is reached and
//! connects; [`listen`] accepts on unix sockets, [`memory`] within the process; [`server`] serves a router on either;
//! [`agentctl`] and [`host`] are the typed clients. Every request names the protocol version, every reply as well.

pub mod agentctl;
pub mod endpoint;
pub mod error;
pub mod feed;
pub mod host;
pub mod http;
pub mod lane;
pub mod listen;
pub mod memory;
pub mod place;
pub mod reach;
pub mod server;
pub mod socket;
pub mod stream;
pub mod terminal;
pub mod watch;

pub use error::Error;
