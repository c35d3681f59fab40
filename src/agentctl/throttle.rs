//! How fast a terminal that nobody watches is read. Pure.
//!
//! A flood costs others their processor; a burst must not feel anything. So: a bucket of bytes, full at first, refilled slowly.

use std::time::Duration;

use tokio::time::Instant;

/// An unwatched program may print this much at full speed: a large build's whole output.
const BURST_BYTES: u64 = 4 * 1024 * 1024;
/// After that it is read at this rate. Ten floods at this rate leave a keystroke its 4 ms.
const BYTES_PER_SECOND: u64 = 400 * 1024;
/// Reading goes on when the bucket holds this much: one small read, since larger ones at longer intervals hurt others more.
const READ_BYTES: u64 = 4 * 1024;

/// The bucket.
#[derive(Debug)]
pub struct Bucket {
    bytes: u64,
    at: Instant,
}

impl Bucket {
    /// A full bucket.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self { bytes: BURST_BYTES, at: now }
    }

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at);
        let more = u64::try_from(passed.as_micros()).unwrap_or(u64::MAX).saturating_mul(BYTES_PER_SECOND) / 1_000_000;
        if more > 0 {
            self.bytes = self.bytes.saturating_add(more).min(BURST_BYTES);
            self.at = now;
        }
    }

    /// So many bytes were read.
    pub fn spend(&mut self, bytes: usize, now: Instant) {
        self.refill(now);
        self.bytes = self.bytes.saturating_sub(bytes as u64);
    }

    /// When reading may go on; `None`: now.
    pub fn wait(&mut self, now: Instant) -> Option<Instant> {
        self.refill(now);
        let lacks = READ_BYTES.saturating_sub(self.bytes);
        (lacks > 0).then(|| now + Duration::from_micros(lacks * 1_000_000 / BYTES_PER_SECOND + 1))
    }

    /// Most bytes to read at once now.
    #[must_use]
    pub fn most(&self, full: usize) -> usize {
        if self.bytes > READ_BYTES * 16 { full } else { (READ_BYTES as usize).min(full) }
    }

    /// Whether the program has been calm long enough to be no flood any more.
    #[must_use]
    pub fn calm(&self) -> bool {
        self.bytes >= BURST_BYTES / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_a_flood_is_held_to_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(start);
        let mut now = start;
        bucket.spend(BURST_BYTES as usize - READ_BYTES as usize, now);
        assert_eq!(bucket.wait(now), None);
        let mut read = 0;
        while now < start + Duration::from_secs(10) {
            if let Some(at) = bucket.wait(now) {
                now = at;
            } else {
                bucket.spend(READ_BYTES as usize, now);
                read += READ_BYTES;
            }
        }
        let rate = read / 10;
        assert!((BYTES_PER_SECOND * 9 / 10..BYTES_PER_SECOND * 11 / 10).contains(&rate), "{rate}");
        assert!(!bucket.calm());
        now += Duration::from_secs(8);
        assert_eq!(bucket.wait(now), None);
        assert!(bucket.calm());
    }
}
