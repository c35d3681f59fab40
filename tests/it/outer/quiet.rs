//! What the screen costs: nothing while nothing happens, and for a key only the cells that it changes.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::Home;
use crate::support::home::text;
use crate::support::terminal::Terminal;
use crate::support::told::Told;

/// Times that any thread of a process has gone to sleep and been woken up.
fn woken(pid: i32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let of = |status: String| {
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:").map(str::to_owned));
        line.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok()).map(of).sum()
}

#[test]
fn an_idle_screen_writes_nothing_and_never_wakes_up() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let mut terminal = Terminal::new((80, 24));
    terminal.start(&home, &["attach", &told.id]);
    terminal.until_text(&home, "I will remember kiwi.");
    terminal.until_quiet();
    let pid = terminal.process().pid;
    // What was asked last is looked after for some seconds; then nothing is left to wait for.
    let mut last = (woken(pid), Instant::now());
    let deadline = Instant::now() + Duration::from_secs(30);
    while last.1.elapsed() < Duration::from_secs(4) {
        assert!(Instant::now() < deadline, "woken up again and again while nothing happened");
        terminal.pump(Duration::from_millis(200));
        if woken(pid) != last.0 {
            last = (woken(pid), Instant::now());
        }
    }
    let (written, before) = (terminal.raw.len(), woken(pid));
    terminal.pump(Duration::from_secs(5));
    assert_eq!(String::from_utf8_lossy(&terminal.raw[written..]), "", "written while nothing happened");
    assert_eq!(woken(pid) - before, 0, "woken up while nothing happened");
}

#[test]
fn a_key_costs_the_cells_that_it_changes() {
    let home = Home::new();
    let id = text(&home.json(&["new", "--agent", "shell", "--detach"]), "session_id");
    let mut terminal = Terminal::new((200, 50));
    terminal.start(&home, &["attach", &id]);
    terminal.until_text(&home, "ready");
    // A full screen, and a program that has been seen to work: what is measured is the key alone.
    terminal.keys("seq 1 3000 | paste -sd ' ' | cut -c 1-9000; cat\r");
    terminal.until_text(&home, "1700 1701");
    for key in ["a", "b", "c"] {
        terminal.keys(key);
        terminal.until_quiet();
        let before = terminal.raw.len();
        terminal.keys(key);
        terminal.until_text(&home, &key.repeat(2));
        terminal.until_quiet();
        let cost = String::from_utf8_lossy(&terminal.raw[before..]).into_owned();
        assert!(cost.len() < 200, "{} bytes for a key: {cost:?}", cost.len());
    }
}
