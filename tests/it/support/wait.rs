//! Waiting for a condition: the only place of the tests that sleeps.

use std::time::{Duration, Instant};

/// Pause between two looks.
const POLL: Duration = Duration::from_millis(20);

/// Looks at `probe` until it gives a value, or panics after `limit` with what was awaited and what `report` says (the
/// last screen, the end of the log).
pub fn wait_for<T>(
    what: &str,
    limit: Duration,
    mut probe: impl FnMut() -> Option<T>,
    report: impl FnOnce() -> String,
) -> T {
    let begin = Instant::now();
    loop {
        if let Some(value) = probe() {
            return value;
        }
        assert!(begin.elapsed() < limit, "waited {} s for: {what}\n{}", limit.as_secs_f32(), report());
        std::thread::sleep(POLL);
    }
}

/// Looks at `holds` until it is true, or panics after `limit`.
pub fn wait_until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    wait_for(what, limit, || holds().then_some(()), String::new);
}

#[test]
fn a_condition_that_comes_is_awaited() {
    let begin = Instant::now();
    wait_until("50 ms", Duration::from_secs(5), || begin.elapsed() > Duration::from_millis(50));
}

#[test]
#[should_panic(expected = "for: never\nthe last screen")]
fn a_condition_that_never_comes_says_what_was_awaited() {
    wait_for("never", Duration::from_millis(30), || None::<()>, || "the last screen".into());
}
