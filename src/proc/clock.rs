//! The two clocks: one that counts from boot and also while the machine sleeps, and the wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// Milliseconds since boot, sleep included. The same for every process of a boot; never set back.
pub fn boot_ms() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds * 1000 + nanos / 1_000_000
}

/// Milliseconds since the Unix epoch, by the wall clock; 0 when that stands before 1970.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boot_clock_agrees_with_the_kernel() {
        let before = boot_ms();
        let uptime: f64 = std::fs::read_to_string("/proc/uptime").unwrap().split(' ').next().unwrap().parse().unwrap();
        let after = boot_ms();
        // The file has two digits after the point.
        assert!(before as f64 <= uptime * 1000.0 + 10.0 && uptime * 1000.0 <= after as f64 + 10.0);
        assert!(now_ms() > 1_600_000_000_000);
    }
}
