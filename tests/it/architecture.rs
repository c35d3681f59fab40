//! The rules of the source tree: which room may import which, and what may stand where. ARCHITECTURE.md says why.

mod graph;
mod source;

use std::collections::BTreeSet;
use std::path::Path;

use graph::Modules;
use source::{PathRef, Source, tokens};

/// Most lines of a file. Longer ones hold more than one topic.
const MAX_LINES: usize = 400;

/// Each room: name, rank, rooms it may import. Every import goes to a strictly lower rank.
const ROOMS: &[(&str, u8, &[&str])] = &[
    ("domain", 0, &[]),
    ("config", 1, &["domain"]),
    ("store", 1, &["domain"]),
    ("wire", 1, &["domain"]),
    ("proc", 1, &["domain"]),
    ("demo", 1, &[]),
    ("screen", 2, &["domain", "wire"]),
    ("pty", 2, &["domain", "proc"]),
    ("workspace", 2, &["domain", "wire", "proc"]),
    ("link", 2, &["domain", "wire", "proc"]),
    ("agent", 3, &["domain", "config", "wire", "screen"]),
    ("agentctl", 4, &["domain", "wire", "proc", "screen", "pty", "workspace", "link", "agent"]),
    ("executor", 4, &["domain", "config", "wire", "proc", "workspace", "link"]),
    ("host", 5, &["domain", "config", "store", "wire", "proc", "link", "agent", "executor"]),
    ("serve", 6, &["domain", "wire", "link", "host"]),
    ("tui", 6, &["domain", "config", "wire", "screen", "link"]),
    (
        "cli",
        7,
        &[
            "domain",
            "config",
            "store",
            "wire",
            "proc",
            "demo",
            "screen",
            "pty",
            "workspace",
            "link",
            "agent",
            "agentctl",
            "executor",
            "host",
            "serve",
            "tui",
        ],
    ),
];

/// Module paths without IO, clock, randomness and async runtime.
const PURE: &[&[&str]] = &[
    &["domain"],
    &["wire"],
    &["screen"],
    &["agent"],
    &["host", "core"],
    &["host", "recovery"],
    &["tui", "state"],
    &["tui", "msg"],
    &["tui", "panel"],
    &["tui", "update"],
    &["tui", "view"],
    &["tui", "keymap"],
    &["cli", "doctor", "facts"],
    &["cli", "doctor", "finding"],
    &["cli", "doctor", "judge"],
];

/// Beginnings of paths that a pure room has no use for.
const IMPURE: &[&str] = &[
    "tokio",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::env",
    "std::thread",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::time::Instant",
    "std::time::SystemTime",
    "rustix",
    "getrandom",
    "crossterm::terminal",
    "crossterm::execute",
    "crossterm::event::read",
    "crossterm::event::poll",
    "portable_pty",
    "rusqlite",
    "axum",
    "hyper",
];

/// Calls that read a clock or make chance, by their last two segments.
const IMPURE_CALLS: &[&str] = &[
    "Instant::now",
    "SystemTime::now",
    "Timestamp::now",
    "Zoned::now",
    "Uuid::new_v4",
    "Uuid::now_v7",
    "fs::read",
    "fs::write",
    "env::var",
    "env::vars",
    "thread::sleep",
    "thread::spawn",
];

/// Rooms that start processes. `demo` is an agent: it runs its own hooks and tools.
const STARTERS: &[&str] = &["proc", "pty", "executor", "workspace", "demo"];

/// Where tests and benchmarks wait: a test for a condition, a benchmark also for time in which nothing happens.
const WAITERS: &[&str] = &["tests/it/support/wait.rs", "benches/instance.rs"];

/// Every breach of a rule in `files`, as sentences.
fn breaches(files: &[Source]) -> Vec<String> {
    let only_tests = test_files(files);
    let shipped: Vec<Source> = files
        .iter()
        .filter(|f| f.path.starts_with("src/") && !only_tests.iter().any(|t| f.module().starts_with(t)))
        .cloned()
        .collect();
    let modules = Modules::new(&shipped);
    let mut out = Vec::new();
    for file in files {
        every_file(file, &mut out);
    }
    for file in &shipped {
        imports(file, &modules, &mut out);
        places(file, &mut out);
        purity(file, &mut out);
    }
    for (room, ..) in ROOMS {
        if let Some(circle) = modules.circle(room) {
            out.push(format!("files of `{room}` depend on each other in a circle: {}", circle.join(" → ")));
        }
    }
    out
}

/// Module paths that are declared under `#[cfg(test)]`.
fn test_files(files: &[Source]) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for file in files.iter().filter(|f| f.path.starts_with("src/")) {
        for name in &file.test_modules {
            let mut path = file.module();
            path.push(name.clone());
            out.push(path);
        }
    }
    out
}

/// Rules for every Rust file, tests included.
fn every_file(file: &Source, out: &mut Vec<String>) {
    let path = &file.path;
    if !file.text.starts_with("//! ") {
        out.push(format!("{path}: the first line says the purpose: `//! …`"));
    }
    let lines = file.text.lines().count();
    if lines > MAX_LINES {
        out.push(format!("{path}: {lines} lines; split it by topic at {MAX_LINES}"));
    }
    if file.code.contains("#[ignore") || file.code.contains("ignore = ") {
        out.push(format!("{path}: a test is never ignored; it names what is missing"));
    }
    let words = tokens(&file.code);
    let tests = path.starts_with("tests/") || path.starts_with("benches/");
    if tests && !WAITERS.contains(&path.as_str()) {
        for pair in words.windows(2).filter(|w| w[0].text == "sleep" && w[1].text == "(") {
            out.push(format!("{path}:{}: tests wait for a condition (`wait_until`), they do not sleep", pair[0].line));
        }
    }
    if path.starts_with("tests/") && path.matches('/').count() == 1 {
        out.push(format!("{path}: there is one integration binary, tests/it"));
    }
    if path.starts_with("src/") && room_of(file) != Some("store") {
        for word in words.iter().filter(|t| t.text == "rusqlite") {
            out.push(format!("{path}:{}: only `store` speaks SQLite", word.line));
        }
    }
}

fn room_of(file: &Source) -> Option<&'static str> {
    let module = file.module();
    ROOMS.iter().map(|(name, ..)| *name).find(|name| module.first().is_some_and(|m| m == name))
}

/// The table of rooms.
fn imports(file: &Source, modules: &Modules<'_>, out: &mut Vec<String>) {
    let path = &file.path;
    let Some((room, rank, allowed)) = ROOMS.iter().find(|(name, ..)| Some(*name) == room_of(file)) else {
        let root = matches!(path.as_str(), "src/lib.rs" | "src/main.rs");
        if !root {
            out.push(format!("{path}: is in no room of the table"));
        }
        for used in &file.paths {
            let text = used.segments.join("::");
            let ours = path == "src/main.rs" && text.starts_with("relight::cli::");
            if (path == "src/lib.rs" && used.import) || (used.segments[0] == "relight" && !ours) {
                let line = used.line;
                out.push(format!(
                    "{path}:{line}: `{text}`: the root re-exports nothing; main uses only `relight::cli`"
                ));
            }
        }
        return;
    };
    for used in &file.paths {
        let text = used.segments.join("::");
        let line = used.line;
        if used.segments[0] == "relight" {
            out.push(format!("{path}:{line}: `{text}`: inside the crate it is `crate::room`"));
        }
        if used.segments.windows(2).any(|pair| pair[0] == "super" && pair[1] == "super") {
            out.push(format!("{path}:{line}: `{text}`: name the room instead of climbing"));
        }
        let Some(absolute) = modules.absolute(file, used) else { continue };
        let Some(target) = absolute.first() else {
            out.push(format!("{path}:{line}: `{text}` names the root of the crate"));
            continue;
        };
        if target == room {
            continue;
        }
        match ROOMS.iter().find(|(name, ..)| name == target) {
            None => out.push(format!("{path}:{line}: `{text}` is in no room of the table")),
            Some((_, theirs, _)) if theirs >= rank => {
                out.push(format!(
                    "{path}:{line}: `{room}` (rank {rank}) imports `{target}` (rank {theirs}): never up or sideways"
                ));
            }
            Some(_) if !allowed.contains(&target.as_str()) => {
                out.push(format!("{path}:{line}: `{room}` has no use for `{target}` by the table"));
            }
            Some(_) => {}
        }
    }
    let words = tokens(&file.shipped);
    for three in words.windows(3) {
        if three[0].text == "crate" && three[1].text == "::" && three[2].text == "{" {
            out.push(format!("{path}:{}: no `crate::{{…}}` groups: one `use crate::room::…` each", three[0].line));
        }
        if three[0].text == "crate" && three[1].text == "as" {
            out.push(format!("{path}:{}: the crate has no second name", three[0].line));
        }
    }
}

/// Things that stand only in certain rooms.
fn places(file: &Source, out: &mut Vec<String>) {
    let path = &file.path;
    let room = room_of(file).unwrap_or_default();
    let words = tokens(&file.shipped);
    if room != "store" && !path.starts_with("src/host/resume") {
        for three in words.windows(3).filter(|w| w[0].text == "." && w[1].text == "claim" && w[2].text == "(") {
            out.push(format!("{path}:{}: only `host::resume` claims", three[0].line));
        }
    }
    if !STARTERS.contains(&room) {
        let starts = |p: &&PathRef| {
            p.segments.windows(2).any(|w| w[0] == "process" && w[1] == "Command")
                || p.segments.iter().any(|s| s == "CommandBuilder" || s == "execve" || s == "posix_spawn")
        };
        for used in file.paths.iter().filter(starts) {
            out.push(format!(
                "{path}:{}: `{}`: processes are started in {STARTERS:?}",
                used.line,
                used.segments.join("::")
            ));
        }
    }
    let std_channels = file.paths.iter().any(|p| p.segments.join("::").starts_with("std::sync::mpsc"));
    for word in words.iter().filter(|t| t.text.starts_with("unbounded") || t.text.starts_with("Unbounded")) {
        out.push(format!("{path}:{}: `{}`: channels are bounded", word.line, word.text));
    }
    for used in file.paths.iter().filter(|p| std_channels && p.segments.ends_with(&["mpsc".into(), "channel".into()])) {
        out.push(format!("{path}:{}: std's `mpsc::channel` has no bound; use `sync_channel`", used.line));
    }
}

/// Pure rooms, and what the view may change.
fn purity(file: &Source, out: &mut Vec<String>) {
    let path = &file.path;
    let module = file.module();
    let below = |place: &[&str]| module.len() >= place.len() && module.iter().zip(place).all(|(a, b)| a == b);
    if !PURE.iter().any(|place| below(place)) {
        return;
    }
    for used in &file.paths {
        let text = used.segments.join("::");
        let tail = used.segments[used.segments.len().saturating_sub(2)..].join("::");
        let begins = |what: &&&str| text == ***what || text.starts_with(&format!("{what}::"));
        if IMPURE.iter().any(|what| begins(&what)) || IMPURE_CALLS.contains(&tail.as_str()) {
            out.push(format!("{path}:{}: `{text}` in a pure room", used.line));
        }
    }
    let words: Vec<String> = tokens(&file.shipped).into_iter().map(|t| t.text).collect();
    let has = |what: &[&str]| words.windows(what.len()).any(|w| w == what);
    if below(&["tui", "view"]) && has(&["&", "mut", "State"]) {
        out.push(format!("{path}: the view only reads the state"));
    }
    if below(&["tui", "msg"]) || below(&["host", "core"]) {
        for what in ["Fn", "FnOnce", "FnMut", "Any"].iter().filter(|what| has(&["dyn", what])) {
            out.push(format!("{path}: `dyn {what}`: messages and effects are plain values"));
        }
    }
}

/// Words that say how the tree came about and not what it is.
fn foreign_words(path: &str, text: &str) -> Vec<String> {
    let words = [concat!("/wo", "rk/"), concat!("sha", "red/")];
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in words.iter().filter(|word| line.contains(**word)) {
            out.push(format!("{path}:{}: `{word}` means nothing to who reads this", number + 1));
        }
    }
    out
}

/// Every file below `dir` whose name ends with one of `endings`, as path below `top` and text.
fn files_below(top: &Path, dir: &Path, endings: &[&str], out: &mut Vec<(String, String)>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            files_below(top, &path, endings, out);
        } else if endings.iter().any(|end| path.to_string_lossy().ends_with(end)) {
            let name = path.strip_prefix(top).expect("below the top").to_string_lossy().into_owned();
            out.push((name, std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))));
        }
    }
}

fn repository() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut out = Vec::new();
    let endings = [".rs", ".toml", ".md", ".sh", ".py", ".snap", ".json", "run"];
    for dir in ["src", "tests", "benches", "fuzz/fuzz_targets", "assets", "docs", ".ci"] {
        files_below(top, &top.join(dir), &endings, &mut out);
    }
    for name in ["README.md", "ARCHITECTURE.md", "Cargo.toml", "clippy.toml", "deny.toml", "config.example.toml"] {
        if let Ok(text) = std::fs::read_to_string(top.join(name)) {
            out.push((name.into(), text));
        }
    }
    assert!(out.len() > 30, "the scan found almost nothing below {}", top.display());
    out
}

#[test]
fn the_tree_keeps_its_rules() {
    let all = repository();
    let rust: Vec<Source> = all
        .iter()
        .filter(|(path, _)| Path::new(path).extension().is_some_and(|e| e == "rs"))
        .map(|(path, text)| Source::new(path, text))
        .collect();
    let mut found = breaches(&rust);
    found.extend(all.iter().flat_map(|(path, text)| foreign_words(path, text)));
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn every_room_is_in_the_table_and_the_table_goes_down_only() {
    let lib = include_str!("../../src/lib.rs");
    let declared: BTreeSet<&str> =
        lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert_eq!(declared, ROOMS.iter().map(|(name, ..)| *name).collect());
    for (room, rank, allowed) in ROOMS {
        for target in *allowed {
            let theirs = ROOMS.iter().find(|(name, ..)| name == target).expect("a room").1;
            assert!(theirs < *rank, "{room} → {target}");
        }
    }
}

#[cfg(test)]
mod rules;
