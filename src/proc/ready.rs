//! Registers an owned descriptor with the runtime, so that its readiness can be awaited.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers `fd` (which should be non-blocking where it is read or written). Must be called within a runtime.
///
/// # Errors
/// When the runtime's poller refuses the descriptor.
#[expect(
    deprecated,
    reason = "the safe form is deprecated because a foreign type may change its descriptor; an OwnedFd cannot"
)]
pub fn register(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, interest)
}
