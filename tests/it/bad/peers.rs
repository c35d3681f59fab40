//! Another user at our sockets: refused with words, told in the log, and nobody is harmed.

#![expect(clippy::disallowed_types, reason = "another user is another process")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Home;
use crate::support::home::RELIGHT;
use crate::support::reply::Reply;
use crate::support::told::Told;

use super::support::{Unharmed, agentctl_socket, is_root, logs};

/// Any user but ours.
const OTHER: u32 = 65_534;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The program and a directory where another user reaches them.
struct Other {
    _dir: tempfile::TempDir,
    program: PathBuf,
}

impl Other {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        mode(dir.path(), 0o755);
        let program = dir.path().join("relight");
        fs::copy(RELIGHT, &program).unwrap();
        Self { _dir: dir, program }
    }

    /// Calls the program on `home` as the other user.
    fn run(&self, home: &Home, args: &[&str]) -> Reply {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir("/").env_clear().env("RELIGHT_HOME", home.path()).env("HOME", "/");
        let output = command.uid(OTHER).gid(OTHER).output().expect("the program starts as another user");
        Reply::new(args.join(" "), &output)
    }

    /// What a socket says to a request of the other user.
    fn ask(path: &Path, at: &str) -> String {
        let (path, at) = (path.to_owned(), at.to_owned());
        // The kernel has a user for each thread; who connects is the thread.
        let thread = std::thread::spawn(move || {
            let other = rustix::process::Uid::from_raw(OTHER);
            rustix::thread::set_thread_res_uid(other, other, other).expect("root may");
            let said = super::support::say(&path, &super::support::request("GET", &at, "1", ""));
            String::from_utf8_lossy(&said).into_owned()
        });
        thread.join().expect("the other user's thread")
    }
}

#[test]
fn another_user_is_refused_at_every_socket_and_told_of_in_the_log() {
    if !is_root() {
        return;
    }
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let unharmed = Unharmed::new(&home, &told);
    let other = Other::new();
    // The modes alone keep the other one out.
    for args in [&["ls"][..], &["host", "stop"], &["kill", &told.id]] {
        let reply = other.run(&home, args);
        assert!(matches!(reply.code, Some(6 | 8)), "{reply:#?}");
        assert!(reply.err.contains("ermission denied"), "{reply:#?}");
    }
    // Wide open, the check of the peer must.
    let (host, agentctl) = (home.path().join("state/host.sock"), agentctl_socket(&home, &told.id));
    for socket in [&host, &agentctl] {
        mode(socket, 0o777);
        for dir in socket.ancestors().skip(1).take_while(|dir| dir.starts_with(home.path())) {
            mode(dir, 0o755);
        }
    }
    for args in [&["ls"][..], &["send", &told.id, "mine"], &["kill", &told.id], &["host", "status"]] {
        other.run(&home, args).exits(8).says(&["user with id 0", "RELIGHT_HOME"]);
    }
    other.run(&home, &["host", "stop"]).exits(8);
    for (socket, at) in [(&host, "/hello"), (&host, "/ws"), (&agentctl, "/health"), (&agentctl, "/journal")] {
        let said = Other::ask(socket, at);
        assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("\"code\":\"forbidden\""), "{at}: {said}");
        assert!(!said.contains("identity") && !said.contains(&told.token), "{at}: {said}");
    }
    let log = logs(&home);
    let lines: Vec<_> = log.lines().filter(|line| line.contains("another user was refused")).collect();
    assert!(lines.iter().all(|line| line.contains(&format!("uid={OTHER}"))), "{lines:?}");
    // Each once: many tries do not fill the log.
    for socket in ["host.sock", "agentctl.sock"] {
        assert_eq!(lines.iter().filter(|line| line.contains(socket)).count(), 1, "{lines:?}");
    }
    unharmed.check();
}
