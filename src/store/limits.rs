//! The store's bounds, each with its reason.

use std::time::Duration;

use crate::domain::plain::plain;

/// How long a statement waits for another connection's lock: longer than any transaction of ours, shorter than a person's
/// patience.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Jobs that wait for the writer thread: more than 100 sessions at once ask for, few enough to bound memory.
pub const QUEUE_JOBS: usize = 1_024;
/// Jobs in one transaction: one fsync for all of them, and none waits for more than these.
pub const BATCH_JOBS: usize = 64;
/// Events are kept this long at least in number.
pub const KEPT_EVENTS: i64 = 100_000;
/// And this long at most in time: 7 days.
pub const KEPT_EVENTS_MS: i64 = 7 * 24 * 3_600 * 1_000;
/// Events are pruned each time that this many were added: rarely enough to cost nothing.
pub const PRUNE_EVERY: u64 = 512;
/// Longest line of a message about a failure, in characters: what a status line can show, and some.
pub const MAX_LINE_CHARS: usize = 300;
/// Shortest id prefix that names a session: four hex digits tell a person's sessions apart.
pub const MIN_PREFIX_BYTES: usize = 4;
/// A file up to this size is checked page by page when it is opened: below 0.1 s on a slow disk.
pub const CHECKED_BYTES: u64 = 16 * 1024 * 1024;

/// `text` as one plain line, at most [`MAX_LINE_CHARS`] long.
#[must_use]
pub fn one_line(text: &str) -> String {
    let line: String = plain(text).chars().take(MAX_LINE_CHARS).collect();
    line.trim().to_owned()
}
