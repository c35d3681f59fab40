//! A full disk: agents go on, what cannot be done is said, and once there is space nothing is lost and nothing doubled.
//!
//! Each test runs again in a mount namespace of its own, where the instance lies on a disk of a few megabytes. What the demo
//! agent itself keeps is on another one: it is not relight's to save.

#![expect(clippy::disallowed_types, reason = "the tests start themselves again in a namespace")]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use relight::domain::launch::ProcIdentity;
use relight::proc::identity;

use crate::support::Home;
use crate::support::kill;
use crate::support::missing;
use crate::support::told::Told;

use super::support::is_root;

/// Names the larger disk, in the copy of the test that runs on a small one.
const INSIDE: &str = "RELIGHT_TEST_LARGE_DISK";
const MOUNT: &str = "mount -t tmpfs -o size=8m,mode=700 tmpfs \"$TMPDIR\" && exec \"$0\" \"$@\"";

fn on_small_disk(case: &str, test: fn(&Home)) {
    if let Some(large) = std::env::var_os(INSIDE) {
        let home = Home::new();
        let user = PathBuf::from(large).join("home");
        fs::create_dir_all(&user).unwrap();
        std::os::unix::fs::symlink(&user, home.path().join("home")).unwrap();
        return test(&home);
    }
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (small, large) = (dir.path().join("small"), dir.path().join("large"));
    for dir in [&small, &large] {
        fs::create_dir(dir).unwrap();
    }
    let case = format!("bad::disk::{case}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--", "sh", "-c", MOUNT]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", &case, "--nocapture", "--test-threads=1"]).env("TMPDIR", &small).env(INSIDE, &large);
    match command.output() {
        Err(error) => missing("root", &format!("`unshare` cannot be run: {error}")),
        Ok(out) => {
            let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
            if !said.contains("running 1 test") && (said.contains("not permitted") || said.contains("denied")) {
                return missing("root", "the right to mount a disk");
            }
            assert!(out.status.success() && said.contains("1 passed"), "on the small disk:\n{said}");
        }
    }
}

/// A file that takes all the space there is; dropped, it gives it back.
struct Full(PathBuf);

impl Full {
    fn of(home: &Home) -> Self {
        let full = Self(home.path().join("fill"));
        full.fill();
        full
    }

    /// Takes also what was given back since.
    fn fill(&self) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.0).unwrap();
        for size in [64 * 1024, 4096, 1] {
            let bytes = vec![0; size];
            while file.write_all(&bytes).is_ok() {}
        }
    }

    /// Gives back so many bytes.
    fn give_back(&self, bytes: u64) {
        let file = fs::OpenOptions::new().write(true).open(&self.0).unwrap();
        let size = file.metadata().unwrap().len();
        file.set_len(size.saturating_sub(bytes)).unwrap();
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
    }
}

const NO_SPACE: &[&str] = &["o space left", "free some space"];

/// How often the agent was told this line, by what it wrote down itself.
fn heard(home: &Home, told: &Told, line: &str) -> usize {
    let path = home.path().join(format!("home/.relight-demo/{}.jsonl", told.token));
    fs::read_to_string(path).unwrap_or_default().lines().filter(|text| text.contains(&format!("\"{line}\""))).count()
}

/// Who runs a session.
fn three(home: &Home, told: &Told) -> [ProcIdentity; 3] {
    [home.host().expect("a host"), home.agentctl(&told.id), home.agent(&told.id)]
}

#[test]
fn agents_go_on_and_take_input_and_what_needs_space_says_so() {
    on_small_disk("agents_go_on_and_take_input_and_what_needs_space_says_so", |home| {
        let told = Told::new(home, "kiwi");
        let all = three(home, &told);
        let full = Full::of(home);
        let mut typed = Vec::new();
        for number in 0..8 {
            let line = format!("line {number}");
            let reply = home.run(&["send", &told.id, &line]);
            if reply.code == Some(0) {
                home.until("the agent to hear it", || heard(home, &told, &line) > 0);
                typed.push(line);
            } else {
                reply.exits(7).says(NO_SPACE);
                assert_eq!(heard(home, &told, &line), 0, "refused, so not typed");
            }
            full.fill();
        }
        assert!(!typed.is_empty(), "an agent that waits takes input without any disk");
        let id = told.id.as_str();
        for args in [&["ls"][..], &["status", id], &["capture", id], &["events"], &["host", "status"]] {
            home.run(args).ok();
        }
        for args in [&["new", "--agent", "demo", "--detach"][..], &["rename", id, "x"], &["kill", id]] {
            home.run(args).exits(7).says(NO_SPACE);
            full.fill();
        }
        let error = home.run(&["--json", "kill", id]).exits(7).error();
        assert_eq!(
            (&error["code"], error["hint"].is_string() || error["message"].is_string()),
            (&"disk_full".into(), true)
        );
        assert_eq!(three(home, &told), all, "{}", home.report());
        drop(full);
        home.run(&["send", id, "after"]).ok();
        home.until_session(id, "the end of its turn", |line| line["state"] == "WAITING_FOR_INPUT");
        for line in typed.iter().map(String::as_str).chain(["after"]) {
            home.until("the agent to have heard it once", || heard(home, &told, line) == 1);
        }
        home.run(&["rename", id, "x"]).ok();
        assert_eq!(three(home, &told), all, "{}", home.report());
        // Not one record is behind.
        home.events();
        kill::kill(&all[2]);
        told.back_once(home, 2);
        told.token_is_kept(home);
        let other = Told::new(home, "plum");
        home.run(&["kill", &other.id]).ok();
        assert_eq!(home.ls().len(), 2, "what was refused left nothing");
    });
}

#[test]
fn an_agent_that_dies_meanwhile_comes_back_once_when_there_is_space() {
    on_small_disk("an_agent_that_dies_meanwhile_comes_back_once_when_there_is_space", |home| {
        let told = Told::new(home, "kiwi");
        let [host, agentctl, agent] = three(home, &told);
        let full = Full::of(home);
        kill::kill(&agent);
        // Time enough for every step that might be tried, and might give up.
        let begin = std::time::Instant::now();
        home.until("some tries", || {
            full.fill();
            assert_eq!(home.agents_with(&told.token), []);
            begin.elapsed().as_secs() >= 4
        });
        home.run(&["ls"]).ok();
        assert!(identity::alive(&host) && identity::alive(&agentctl), "{}", home.report());
        drop(full);
        told.back_once(home, 2);
        told.token_is_kept(home);
        assert_eq!(three(home, &told)[..2], [host, agentctl], "{}", home.report());
    });
}

#[test]
fn an_agentctl_that_dies_meanwhile_is_started_again_when_there_is_space() {
    on_small_disk("an_agentctl_that_dies_meanwhile_is_started_again_when_there_is_space", |home| {
        let told = Told::new(home, "kiwi");
        let [host, agentctl, agent] = three(home, &told);
        let full = Full::of(home);
        kill::kill(&agentctl);
        let begin = std::time::Instant::now();
        home.until("some tries", || {
            full.fill();
            begin.elapsed().as_secs() >= 4 && !identity::alive(&agent)
        });
        home.run(&["ls"]).ok();
        assert!(identity::alive(&host), "{}", home.report());
        drop(full);
        told.back_once(home, 2);
        told.token_is_kept(home);
    });
}

/// The database is on another disk, so that everything is decided, and only the launch finds no space. Named by the fault.
#[test]
fn a_resume_that_finds_no_space_is_tried_again_by_itself() {
    on_small_disk("a_resume_that_finds_no_space_is_tried_again_by_itself", |home| {
        let told = with_database_elsewhere(home);
        let agent = home.agent(&told.id);
        let full = Full::of(home);
        kill::kill(&agent);
        home.until_session(&told.id, "words about the space", |line| {
            full.fill();
            line["pid"].is_null() && line["why"].as_str().is_some_and(|why| why.contains("pace"))
        });
        assert_eq!(home.agents_with(&told.token), []);
        drop(full);
        told.back_once(home, 2);
        told.token_is_kept(home);
    });
}

#[test]
fn an_agentctl_that_finds_no_space_is_started_again_by_itself() {
    on_small_disk("an_agentctl_that_finds_no_space_is_started_again_by_itself", |home| {
        let told = with_database_elsewhere(home);
        let host = home.host();
        let full = Full::of(home);
        // Each start takes some of what room the journal's last block has, until there is none.
        let said = home.until_some("an agentctl that finds no space", || {
            full.fill();
            if let Some(pid) = home.session(&told.id)["agentctl_pid"].as_i64().and_then(|pid| i32::try_from(pid).ok())
                && let Some(agentctl) = kill::identify(pid)
            {
                kill::kill(&agentctl);
            }
            let line = home.session(&told.id);
            line["why"].as_str().filter(|why| why.contains("agentctl") && why.contains("no space")).map(str::to_owned)
        });
        assert!(said.contains("free some space"), "{said}");
        drop(full);
        told.back_once(home, 2);
        told.token_is_kept(home);
        assert_eq!(home.host(), host);
    });
}

fn with_database_elsewhere(home: &Home) -> Told {
    let data = fs::canonicalize(home.path().join("home")).unwrap().join("data");
    fs::create_dir(&data).unwrap();
    std::os::unix::fs::symlink(&data, home.path().join("data")).unwrap();
    Told::new(home, "kiwi")
}

#[test]
fn a_host_that_dies_meanwhile_says_why_it_cannot_start_and_starts_when_there_is_space() {
    on_small_disk("a_host_that_dies_meanwhile_says_why_it_cannot_start_and_starts_when_there_is_space", |home| {
        let told = Told::new(home, "kiwi");
        let all = three(home, &told);
        let full = Full::of(home);
        kill::kill(&all[0]);
        full.fill();
        for args in [&["ls"][..], &["host", "start"], &["status", &told.id]] {
            let reply = home.run(args);
            full.fill();
            if reply.code == Some(0) {
                // It found room in what the database has already: then it is a host like any other.
                home.kill_host();
            } else {
                reply.exits(7).says(NO_SPACE);
            }
        }
        assert!(all[1..].iter().all(identity::alive), "{}", home.report());
        drop(full);
        home.run(&["ls"]).ok();
        home.until_alive(&told.id, 1);
        assert_eq!(three(home, &told)[1..], all[1..], "{}", home.report());
        kill::kill(&all[2]);
        told.back_once(home, 2);
    });
}

#[test]
fn nothing_begins_on_a_full_disk_and_everything_works_when_there_is_space() {
    on_small_disk("nothing_begins_on_a_full_disk_and_everything_works_when_there_is_space", |home| {
        let full = Full::of(home);
        for args in [&["ls"][..], &["new", "--agent", "demo", "--detach"], &["host", "start"], &["host", "run"]] {
            home.run(args).exits(7).says(&["space"]);
            full.fill();
        }
        home.until("nothing to be left", || home.living().is_empty());
        drop(full);
        assert!(home.ls().is_empty());
        let told = Told::new(home, "kiwi");
        told.back_once(home, 1);
    });
}

/// With a little space, a start fails somewhere in its middle.
#[test]
fn a_start_that_fails_in_its_middle_says_so_and_can_be_tried_again() {
    on_small_disk("a_start_that_fails_in_its_middle_says_so_and_can_be_tried_again", |home| {
        let told = Told::new(home, "kiwi");
        let full = Full::of(home);
        let mut started = 0;
        for room in [4, 8, 16, 32, 64, 128, 256] {
            full.give_back(room * 1024);
            let reply = home.run(&["--json", "new", "--agent", "demo", "--detach"]);
            if reply.code == Some(0) {
                started += 1;
            } else {
                assert_eq!(reply.exits(7).error()["code"], "disk_full");
            }
            full.fill();
        }
        drop(full);
        let lines = home.ls();
        assert!(lines.len() > started, "{lines:?}");
        for line in lines {
            let id = line["session_id"].as_str().unwrap();
            if line["pid"].is_null() {
                let shown = home.until_session(id, "an error or an agent", |line| {
                    line["state"] == "ERROR" || line["pid"].is_number()
                });
                if shown["pid"].is_null() {
                    // Where the refusal itself could not be written down, the launch was called off by the next look at it.
                    let told = |why: &str| why.contains("space") || why.contains("called off");
                    assert!(shown["why"].as_str().is_some_and(told), "{shown}");
                    home.run(&["resume", id]).ok();
                }
            }
            home.until_alive(id, 1);
        }
        told.back_once(home, 1);
    });
}
