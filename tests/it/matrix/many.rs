//! Many sessions die at once: they come back in turn, and all of them.

use crate::support::Home;

use super::check::{Case, check, kill_everything};

/// Sessions.
const MANY: usize = 20;
/// Starts at the same time, at most.
const PARALLEL: usize = 4;
/// A resumed agent says nothing for this long: so long its start counts.
const SLOW_MS: i64 = 250;

#[test]
fn many_sessions_at_once_no_more_than_the_bound_at_a_time() {
    let home = Home::new();
    home.write_config(&format!("[resume]\nparallel = {PARALLEL}\n"));
    let slow = format!("--resume:slow-start={SLOW_MS}");
    let words: Vec<String> = (0..MANY).map(|n| format!("bird{n}")).collect();
    // The first one starts the host.
    let mut cases = vec![Case::begin(&home, &words[0], &[&slow])];
    std::thread::scope(|scope| {
        let begin =
            |words: &'_ [String]| words.iter().map(|word| Case::begin(&home, word, &[&slow])).collect::<Vec<_>>();
        let parts: Vec<_> = words[1..].chunks(5).map(|part| scope.spawn(move || begin(part))).collect();
        cases.extend(parts.into_iter().flat_map(|part| part.join().expect("sessions begin")));
    });
    kill_everything(&home);
    let cases: Vec<&Case> = cases.iter().collect();
    check(&home, &cases, 2);
    let rows = home.rows("SELECT started_at FROM resume_attempts ORDER BY started_at");
    let starts: Vec<i64> = rows.iter().map(|row| row[0].parse().expect("a time")).collect();
    assert_eq!(starts.len(), MANY, "one start each");
    for pair in starts.windows(PARALLEL + 1) {
        assert!(pair[PARALLEL] - pair[0] >= SLOW_MS, "more than {PARALLEL} at a time: {pair:?} of {starts:?}");
    }
}
