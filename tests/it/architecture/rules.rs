//! Each rule of the tree is broken once on purpose, so that the scan is known to see it.

use super::{Source, breaches, foreign_words};

/// Asserts that the only breach in a tree of these files says `words`; none when `words` is empty.
#[track_caller]
fn check(files: &[(&str, &str)], words: &str) {
    let files: Vec<Source> =
        files.iter().map(|(path, text)| Source::new(path, &format!("//! Purpose.\n{text}"))).collect();
    let found = breaches(&files);
    match words {
        "" => assert!(found.is_empty(), "{found:?}"),
        words => assert!(found.len() == 1 && found[0].contains(words), "{found:?} should say `{words}` once"),
    }
}

#[test]
fn imports_go_down_by_the_table() {
    check(&[("src/store/mod.rs", "use crate::domain::ids;")], "");
    check(&[("src/store/mod.rs", "use crate::host::core;")], "never up or sideways");
    check(&[("src/store/mod.rs", "fn f() { let x: Vec<crate::config::C>; }")], "never up or sideways");
    check(&[("src/store/mod.rs", "use super::config::C;")], "never up or sideways");
    check(&[("src/tui/mod.rs", "use crate::store::Store;")], "no use for `store`");
    check(&[("src/store/mod.rs", "use crate::{domain::ids};")], "no `crate::{…}` groups");
    check(&[("src/store/mod.rs", "use crate::Thing;")], "in no room");
    check(&[("src/store/mod.rs", "use relight::domain::ids;")], "inside the crate");
    check(&[("src/store/a/b.rs", "use super::super::c;")], "instead of climbing");
    check(&[("src/store/mod.rs", "mod supervise;"), ("src/store/a.rs", "use super::supervise;")], "");
    check(&[("src/odd.rs", "")], "in no room");
    check(&[("src/lib.rs", "pub use store::Store;")], "re-exports nothing");
    check(&[("src/main.rs", "fn main() { relight::cli::main() }")], "");
    check(&[("src/main.rs", "fn main() { relight::store::open() }")], "re-exports nothing");
}

#[test]
fn what_only_tests_and_comments_name_is_free() {
    check(&[("src/store/mod.rs", "// use crate::host::x;\nconst A: &str = \"crate::tui\";")], "");
    check(&[("src/store/mod.rs", "#[cfg(test)]\nmod tests { use crate::tui::x; }")], "");
    check(&[("src/store/mod.rs", "#[cfg(test)]\nmod far;"), ("src/store/far.rs", "use crate::tui::x;")], "");
}

#[test]
fn things_stand_only_in_their_rooms() {
    check(&[("src/store/a.rs", "use rusqlite::Connection;")], "");
    check(&[("src/host/a.rs", "fn f(e: rusqlite::Error) {}")], "only `store`");
    check(&[("src/host/resume.rs", "fn f() { store.claim(x) }")], "");
    check(&[("src/host/resume/now.rs", "fn f() { store.claim(x) }")], "");
    check(&[("src/serve/a.rs", "fn f() { store.claim(x) }")], "only `host::resume` claims");
    check(&[("src/proc/a.rs", "use std::process::Command;")], "");
    check(&[("src/agentctl/a.rs", "use std::process::{Command, Stdio};")], "processes are started in");
    check(&[("src/cli/a.rs", "fn f() { tokio::process::Command::new(x) }")], "processes are started in");
    check(&[("src/cli/a.rs", "type C = tokio::process::Command;")], "processes are started in");
    check(&[("src/link/a.rs", "fn f() { mpsc::unbounded_channel() }")], "channels are bounded");
    check(&[("src/link/a.rs", "use std::sync::mpsc; fn f() { mpsc::channel() }")], "has no bound");
    check(&[("src/link/a.rs", "use tokio::sync::mpsc; fn f() { mpsc::channel(SOME) }")], "");
}

#[test]
fn pure_rooms_do_nothing() {
    check(&[("src/domain/a.rs", "use std::time::Duration;")], "");
    check(&[("src/domain/a.rs", "use std::time::{Duration, Instant};")], "in a pure room");
    check(&[("src/screen/a.rs", "fn f() { std::fs::read(p) }")], "in a pure room");
    check(&[("src/host/core.rs", "use tokio::sync::mpsc;")], "in a pure room");
    check(&[("src/host/core/a.rs", "fn f() { Uuid::new_v4() }")], "in a pure room");
    check(&[("src/host/drive.rs", "use tokio::sync::mpsc;")], "");
    check(&[("src/tui/view/a.rs", "fn f(s: &mut State) {}")], "only reads");
    check(&[("src/tui/msg.rs", "enum M { A(Box<dyn FnOnce()>) }")], "plain values");
}

#[test]
fn every_file_is_short_and_says_what_it_is_for() {
    let long = "\n".repeat(400);
    check(&[("src/store/a.rs", &long)], "split it by topic");
    let silent = breaches(&[Source::new("benches/a.rs", "fn main() {}")]);
    assert!(silent.len() == 1 && silent[0].contains("purpose"), "{silent:?}");
}

#[test]
fn tests_wait_and_are_never_ignored() {
    check(&[("tests/it/support/wait.rs", "fn f() { std::thread::sleep(x) }")], "");
    check(&[("benches/instance.rs", "fn f() { std::thread::sleep(x) }")], "");
    check(&[("benches/a.rs", "fn f() { std::thread::sleep(x) }")], "do not sleep");
    check(&[("tests/it/a.rs", "async fn f() { tokio::time::sleep(x).await }")], "do not sleep");
    check(&[("tests/it/a.rs", "#[test]\n#[ignore]\nfn f() {}")], "never ignored");
    check(&[("tests/other.rs", "")], "one integration binary");
}

#[test]
fn foreign_words_are_seen() {
    assert_eq!(foreign_words("a", concat!("x\nin /wo", "rk/y")).len(), 1);
    assert!(foreign_words("a", "a shared thing, the work").is_empty());
}
