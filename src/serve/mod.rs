//! The host on its socket: dispatch and streams.
