//! Messages between the processes, as plain serde types with a version. Pure: nothing here reads or writes a stream.

pub mod agentctl;
pub mod frame;
pub mod host;
pub mod input;
pub mod journal;

/// Version of every message here. Both sides name theirs first; a different one is refused with words.
pub const PROTOCOL: u32 = 1;

/// Header that carries [`PROTOCOL`] in every HTTP request, and in the reply to one that was refused for it.
pub const PROTOCOL_HEADER: &str = "relight-protocol";

/// Longest JSON message accepted on any socket, in bytes: a prompt of 1 MiB and its quoting fit.
pub const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;
