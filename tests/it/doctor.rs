//! `relight doctor` in front of real trouble: it names it, says what to do, ends in time, starts and changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use relight::proc::lock::LockFile;
use serde_json::Value;

use crate::serve::fake::Host;
use crate::support::Home;
use crate::support::kill::{self, Signal};
use crate::support::tui::{SIZE, Tui};

/// Every look has a deadline, and all run side by side: far below this, even on a busy machine.
const AT_MOST: Duration = Duration::from_secs(25);

/// What it found about `topic`, worst first: level, and what it says with what to do.
#[track_caller]
fn found(home: &Home, topic: &str) -> (String, String) {
    let begin = Instant::now();
    let reply = home.run(&["doctor", "--json"]);
    assert!(begin.elapsed() < AT_MOST, "it took {:?}", begin.elapsed());
    let all = reply.json();
    let problems = all["problems"].as_u64().expect("a number");
    assert_eq!(reply.code, Some(i32::from(problems > 0)), "{reply:#?}");
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let about = all["findings"].as_array().expect("a list").iter().filter(|finding| finding["topic"] == topic);
    let mut about: Vec<(String, String)> =
        about.map(|f| (text(f, "level"), format!("{}; {}", text(f, "what"), text(f, "todo")))).collect();
    about.sort_by_key(|(level, _)| ["problem", "note", "ok"].iter().position(|word| word == level));
    about.into_iter().next().unwrap_or_else(|| panic!("nothing about {topic}: {reply:#?}"))
}

/// It finds exactly this level about `topic`, and says all of `words`.
#[track_caller]
fn finds(home: &Home, level: &str, topic: &str, words: &[&str]) {
    let (found, text) = found(home, topic);
    assert_eq!(found, level, "{topic}: {text}");
    assert!(words.iter().all(|word| text.contains(word)), "`{text}` should say {words:?}");
}

/// Path, kind, mode, length and time of change of everything below `dir`.
fn tree(dir: &Path, out: &mut BTreeMap<String, (u32, u64, i64, i64)>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let data = entry.path().symlink_metadata().expect("it is there");
        // Sockets have no length that means something.
        out.insert(entry.path().display().to_string(), (data.mode(), data.len(), data.mtime(), data.mtime_nsec()));
        if data.is_dir() {
            tree(&entry.path(), out);
        }
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
}

#[test]
fn on_a_fresh_machine_it_makes_and_starts_nothing() {
    let home = Home::new();
    let before = fs::read_dir(home.path()).expect("a directory").count();
    let reply = home.run(&["doctor"]);
    for line in ["host         none runs", "settings     ", "database     ", "does not exist"] {
        assert!(reply.out.contains(line), "`{line}` in {}", reply.out);
    }
    let rows: Vec<&str> = reply.out.lines().take_while(|line| !line.is_empty()).collect();
    let level = |row: &&str| ["ok       ", "note     ", "problem  "].iter().any(|level| row.starts_with(level));
    assert!(rows.len() > 20 && rows.iter().all(level), "{}", reply.out);
    assert_eq!(fs::read_dir(home.path()).expect("a directory").count(), before);
    assert!(home.living().is_empty());
    let help = home.run(&["doctor", "--help"]).ok().out;
    assert!(help.contains("Exit codes: 0 no problem"), "{help}");
}

#[test]
fn what_runs_well_is_left_exactly_as_it_is() {
    let home = Home::new();
    let id = home.demo(Some("remember wren"), &[]);
    home.until_screen(&id, "I will remember wren.");
    home.until_session(&id, "an agent that waits", |line| line["state"] == "WAITING_FOR_INPUT");
    let processes = |home: &Home| {
        let mut all: Vec<_> = home.living().into_iter().map(|(process, _)| (process.pid, process.start_time)).collect();
        all.sort_unstable();
        all
    };
    let before = processes(&home);
    finds(&home, "ok", "host", &[&format!("pid {}", home.host().expect("a host").pid)]);
    finds(&home, "ok", "sessions", &["1 agentctl"]);
    finds(&home, "ok", "database", &["is sound"]);
    finds(&home, "ok", "state", &["/state"]);
    assert_eq!(processes(&home), before);

    // Nothing runs any more: not a file changes.
    home.run(&["host", "stop", "--agents"]).ok();
    home.until("the end of everything", || home.living().is_empty());
    let (mut one, mut two) = (BTreeMap::new(), BTreeMap::new());
    tree(home.path(), &mut one);
    finds(&home, "note", "host", &["`relight host stop` ended it"]);
    finds(&home, "ok", "sessions", &["none runs"]);
    finds(&home, "ok", "database", &["is sound"]);
    tree(home.path(), &mut two);
    assert_eq!(one, two);
}

#[test]
fn a_host_that_is_stopped_or_has_lost_its_socket() {
    let home = Home::new();
    home.run(&["host", "start"]).ok();
    let host = home.host().expect("a host");
    kill::signal(&host, Signal::STOP);
    home.until("a host that stands still", || kill::is_stopped(&host));
    let cont = format!("`kill -CONT {}`", host.pid);
    finds(&home, "problem", "host", &["holds the lock and is stopped by a signal", &cont]);
    fs::remove_file(home.path().join("state/host.sock")).expect("its socket");
    finds(&home, "problem", "host", &["has lost its socket", "host.sock"]);
    assert_eq!(home.host().as_ref(), Some(&host), "nothing was started in its place");
    kill::signal(&host, Signal::CONT);
    home.until("its socket again", || home.path().join("state/host.sock").exists());
    finds(&home, "ok", "host", &["answers"]);
}

#[test]
fn a_session_whose_agentctl_is_stopped() {
    let home = Home::new();
    let id = home.demo(None, &[]);
    home.until_alive(&id, 1);
    let agentctl = home.agentctl(&id);
    kill::signal(&agentctl, Signal::STOP);
    home.until("an agentctl that stands still", || kill::is_stopped(&agentctl));
    let cont = format!("`kill -CONT {}`", agentctl.pid);
    finds(&home, "problem", "sessions", &[&id, "is stopped by a signal", &cont]);
    kill::signal(&agentctl, Signal::CONT);
    finds(&home, "ok", "sessions", &["1 agentctl"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_of_another_version_and_one_without_the_lock() {
    let home = Home::new();
    let state = home.path().join("state");
    fs::create_dir_all(&state).expect("a directory");
    mode(&state, 0o700);
    let other = Host::start();
    std::os::unix::fs::symlink(&other.path, state.join("host.sock")).expect("a link");
    let check = |level: &'static str, words: &'static [&'static str]| {
        tokio::task::block_in_place(|| finds(&home, level, "host", words));
    };
    check("problem", &["relight 0.0.0", "does not hold the lock"]);
    let lock = LockFile::try_take(&state.join("host.lock")).expect("a lock").expect("nobody else has it");
    check("note", &["is relight 0.0.0", "`relight host restart`"]);
    drop(lock);
    other.stop().await;
}

#[test]
fn a_host_that_could_not_start() {
    let home = Home::new();
    home.write_config("[log]\nlevel = \"loud\"\n");
    home.run(&["ls"]).exits(6);
    finds(&home, "problem", "settings", &["config.toml:2", "`relight config check`"]);
    finds(&home, "problem", "host", &["could not start", "log.level"]);
    home.write_config("");
    finds(&home, "ok", "settings", &["is valid"]);
    home.run(&["host", "start"]).ok();
    finds(&home, "ok", "host", &["answers"]);
}

#[test]
fn directories_that_others_may_enter_or_that_are_of_another_machine() {
    let mut home = Home::new();
    home.run(&["host", "start"]).ok();
    home.run(&["host", "stop"]).ok();
    let (state, data) = (home.path().join("state"), home.path().join("data"));
    finds(&home, "ok", "state", &[]);
    mode(&state, 0o755);
    finds(&home, "problem", "state", &["(0755)", &format!("`chmod 700 {}`", state.display())]);
    mode(&state, 0o700);
    mode(&data, 0o777);
    finds(&home, "problem", "data", &["written by other users"]);
    mode(&data, 0o700);
    mode(&data.join("relight.db"), 0o644);
    finds(&home, "problem", "database", &["read by other users"]);
    mode(&data.join("relight.db"), 0o600);
    fs::write(state.join("machine-id"), "another\n").expect("a mark");
    home.set_env("RELIGHT_TEST_MACHINE_ID", Some("this-one"));
    finds(&home, "problem", "machine", &["another machine", "RELIGHT_HOME"]);
}

#[test]
fn a_damaged_database() {
    let home = Home::new();
    home.run(&["host", "start"]).ok();
    home.run(&["host", "stop"]).ok();
    let path = home.path().join("data/relight.db");
    finds(&home, "ok", "database", &["is sound"]);
    fs::write(&path, "not what it was, and long enough to be looked at as a database would be").expect("damage");
    finds(&home, "problem", "database", &["damaged"]);
}

#[test]
fn long_paths() {
    let mut home = Home::new();
    let deep = home.path().join("a-directory-with-a-long-name/and-another-one-in-it/and-one-more");
    home.set_env("RELIGHT_HOME", Some(deep.to_str().expect("text")));
    finds(&home, "note", "sockets", &["107", "shorter RELIGHT_HOME"]);
    assert!(!deep.exists());
}

#[test]
fn terminals_and_locales() {
    let mut home = Home::new();
    home.set_env("LANG", Some("C"));
    finds(&home, "note", "locale", &["LANG=C is not UTF-8"]);
    home.set_env("LC_ALL", Some("en_US.UTF-8"));
    finds(&home, "ok", "locale", &["LC_ALL=en_US.UTF-8"]);
    let mut dumb = Tui::start(&home, &["doctor"], Some("dumb"), (SIZE.0, 60));
    let (code, shown) = dumb.ended(&home);
    assert!(code == 1 && shown.contains("problem  terminal     TERM=dumb"), "{code}\n{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= usize::from(SIZE.0)), "{shown}");
    let mut odd = Tui::start(&home, &["doctor"], Some("no-such-terminal"), (SIZE.0, 60));
    let (_, shown) = odd.ended(&home);
    assert!(shown.contains("note     terminal     TERM=no-such-terminal has no terminfo entry"), "{shown}");
}

/// A directory with programs of the test's own, in front of PATH.
fn programs(home: &mut Home, scripts: &[(&str, &str)]) {
    let dir = home.path().join("bin");
    fs::create_dir_all(&dir).expect("a directory");
    for (name, script) in scripts {
        fs::write(dir.join(name), format!("#!/bin/sh\n{script}\n")).expect("a script");
        mode(&dir.join(name), 0o755);
    }
    let path = std::env::var("PATH").unwrap_or_default();
    home.set_env("PATH", Some(&format!("{}:{path}", dir.display())));
}

#[test]
fn inside_a_tmux_with_the_same_prefix() {
    let mut home = Home::new().env("TMUX", "/tmp/none,1,0");
    programs(&mut home, &[("tmux", "case $3 in prefix) echo C-Space;; prefix2) echo None;; *) echo external;; esac")]);
    finds(&home, "problem", "multiplexer", &["tmux takes relight's prefix Ctrl-Space"]);
    finds(&home, "note", "clipboard", &["set-clipboard on"]);
    home.write_config("[keys]\nprefix = \"ctrl-b\"\n");
    finds(&home, "note", "multiplexer", &["inside tmux", "it takes Ctrl-Space, relight Ctrl-B"]);
    // One that hangs is not waited for.
    programs(&mut home, &[("tmux", "exec sleep 1000")]);
    finds(&home, "note", "multiplexer", &["inside tmux"]);
    home.until("the end of the one that hung", || home.living().is_empty());
}

#[test]
fn agents_are_asked_for_their_version_and_one_that_hangs_is_ended() {
    let mut home = Home::new();
    home.write_config(
        "[agents.quick]\nlabel = \"Quick\"\nprogram = \"quick\"\n[agents.quick.resume]\nargs = [\"--resume\", \"{token}\"]\n\
         [agents.hangs]\nlabel = \"Hangs\"\nprogram = \"hangs\"\n\
         [agents.fails]\nlabel = \"Fails\"\nprogram = \"fails\"\n",
    );
    programs(
        &mut home,
        &[
            ("quick", "[ \"$1\" = --version ] && echo 3.2.1"),
            ("hangs", "sleep 1000 & wait"),
            ("fails", "echo cannot load >&2; exit 3"),
        ],
    );
    let reply = home.run(&["doctor"]);
    let line = |what: &str| {
        let found = reply.out.lines().find(|line| line.contains(what));
        found.unwrap_or_else(|| panic!("{what} in {reply:#?}")).to_owned()
    };
    assert!(line("bin/quick)").ends_with("3.2.1; its conversations come back"), "{}", line("bin/quick)"));
    assert!(line("bin/hangs)").contains("within 5 s"), "{}", line("bin/hangs)"));
    assert!(line("bin/fails)").contains("cannot load"), "{}", line("bin/fails)"));
    assert!(line("bin/hangs)").starts_with("note"));
    home.until("the end of the one that hung", || home.living().is_empty());
}
