//! Lets a session's processes step back behind others by the scheduler's autogroup, where it exists.

use std::fs;

/// Gives the autogroup of `pid` (its terminal session) this nice value, -20 to 19. Best effort: `false` where the
/// kernel has no autogroups, refuses, or asks to be tried again later.
///
/// Plain `nice` has no clear effect here, because each terminal session is a group of its own.
pub fn set_nice(pid: i32, nice: i32) -> bool {
    fs::write(format!("/proc/{pid}/autogroup"), nice.clamp(-20, 19).to_string()).is_ok()
}

/// Whether the kernel schedules terminal sessions as groups.
#[must_use]
pub fn enabled() -> bool {
    fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled").is_ok_and(|text| text.trim() == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_process_is_no_error() {
        assert!(!set_nice(i32::MAX, 5));
    }
}
