//! Named points at which a test may kill or stop this process, in debug builds only.

use rustix::process::{Signal, getpid, kill_process};

/// Environment variable `NAME=MARKER[,NAME=MARKER…]`: at the point NAME, if the file MARKER can be removed, the process
/// kills itself by SIGKILL. The file makes it happen once.
pub const KILL_AT: &str = "RELIGHT_TEST_KILL_AT";
/// The same with SIGSTOP.
pub const STOP_AT: &str = "RELIGHT_TEST_STOP_AT";

/// The program has come to the point `name`. Does nothing in release builds.
pub fn reach(name: &str) {
    if cfg!(debug_assertions) {
        act(name, KILL_AT, Signal::KILL);
        act(name, STOP_AT, Signal::STOP);
    }
}

fn act(name: &str, variable: &str, signal: Signal) {
    let Ok(orders) = std::env::var(variable) else { return };
    if fires(&orders, name) && kill_process(getpid(), signal).is_err() {
        std::process::abort();
    }
}

fn fires(orders: &str, name: &str) -> bool {
    orders
        .split(',')
        .filter_map(|order| order.split_once('='))
        .any(|(point, marker)| point == name && std::fs::remove_file(marker).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_fires_once_per_marker() {
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().join("m");
        let orders = format!("other=/nowhere,here={}", marker.display());
        assert!(!fires(&orders, "here"), "no marker, no order");
        std::fs::write(&marker, "").unwrap();
        assert!(!fires(&orders, "elsewhere"));
        assert!(fires(&orders, "here"));
        assert!(!fires(&orders, "here"), "the marker is used up");
        reach("here");
    }
}
