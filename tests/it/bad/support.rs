//! What these tests need: raw talk on a socket, servers and locks of somebody else, a small disk, and what must be unharmed.

#![expect(clippy::disallowed_types, reason = "the tests start programs, and themselves again in a namespace")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use relight::domain::launch::ProcIdentity;

use crate::support::Home;
use crate::support::kill;
use crate::support::missing;
use crate::support::told::Told;
use crate::support::wait::wait_for;

/// Silence after which an answer counts as complete.
const QUIET: Duration = Duration::from_millis(300);
/// A connection that is to be ended must be by then.
const END: Duration = Duration::from_secs(30);

/// Whether we are root; says what is missing if not.
pub fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        missing("root", "only root can do this");
    }
    root
}

/// Sends bytes and reads until the other side ends or is quiet.
pub fn say(path: &Path, bytes: &[u8]) -> Vec<u8> {
    let mut stream = UnixStream::connect(path).expect("a socket that listens");
    // The other side may end it before it has read everything.
    let _ = stream.write_all(bytes);
    answer(&mut stream)
}

/// What comes until the other side ends or is quiet.
pub fn answer(stream: &mut UnixStream) -> Vec<u8> {
    stream.set_read_timeout(Some(QUIET)).expect("a timeout");
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        all.extend_from_slice(&buffer[..read]);
    }
    all
}

/// Waits until the other side ends the connection; what it said before.
#[track_caller]
pub fn ends(mut stream: UnixStream, what: &str) -> Vec<u8> {
    stream.set_read_timeout(Some(END)).expect("a timeout");
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => all,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => all,
        Err(error) => panic!("{what}: not ended within {} s: {error}", END.as_secs()),
    }
}

/// A request of a peer that speaks `protocol`.
pub fn request(method: &str, path: &str, protocol: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nrelight-protocol: {protocol}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A WebSocket, upgraded.
#[track_caller]
pub fn upgraded(socket: &Path, path: &str) -> UnixStream {
    let mut stream = UnixStream::connect(socket).expect("a socket that listens");
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: x\r\nrelight-protocol: 1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("a request");
    stream.set_read_timeout(Some(END)).expect("a timeout");
    let mut said = Vec::new();
    let mut byte = [0];
    while !said.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("the answer to an upgrade");
        said.push(byte[0]);
    }
    let said = String::from_utf8_lossy(&said);
    assert!(said.starts_with("HTTP/1.1 101"), "{said}");
    stream
}

/// The socket of a session's agentctl.
pub fn agentctl_socket(home: &Home, id: &str) -> PathBuf {
    home.path().join("state/sessions").join(id).join("agentctl.sock")
}

/// A server that answers everything with these bytes, until the test ends; dropped, nobody reaches it any more.
pub struct Fake(PathBuf);

impl Fake {
    /// Serves at `path`, in place of what is there.
    pub fn answering(path: PathBuf, answer: &'static str) -> Self {
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).expect("a socket");
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let mut request = [0; 4096];
                // One that asks nothing gets no answer.
                if stream.read(&mut request).is_ok_and(|read| read > 0) {
                    let _ = stream.write_all(answer.as_bytes());
                }
            }
        });
        Self(path)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A process that holds a lock file and does nothing else.
pub struct Holder(Child);

impl Holder {
    /// Starts it and waits until it holds the lock, with its identity written in it.
    pub fn of(lock: &Path) -> Self {
        let script = "exec 9<>\"$0\"; flock -n 9 || exit 1; exec sleep 1000";
        let mut command = Command::new("sh");
        let child = command.args(["-c", script]).arg(lock).stdin(Stdio::null()).spawn().expect("sh");
        let holder = Self(child);
        let held = || relight::proc::lock::is_held(lock).expect("a lock").then_some(());
        wait_for("a process to hold the lock", END, held, String::new);
        fs::write(lock, serde_json::to_string(&holder.identity()).expect("JSON")).expect("a lock file");
        holder
    }

    /// Who it is.
    pub fn identity(&self) -> ProcIdentity {
        kill::identify(i32::try_from(self.0.id()).expect("a pid")).expect("it lives")
    }

    /// Whether it lives.
    pub fn lives(&mut self) -> bool {
        self.0.try_wait().expect("a child").is_none()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It may have been ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Who runs, and how many descriptors they have: what bad input must leave as it was.
pub struct Unharmed<'a> {
    home: &'a Home,
    told: &'a Told,
    host: ProcIdentity,
    agentctl: ProcIdentity,
    agent: ProcIdentity,
    descriptors: [usize; 2],
}

impl<'a> Unharmed<'a> {
    /// Remembers what is there.
    #[track_caller]
    pub fn new(home: &'a Home, told: &'a Told) -> Self {
        let (host, agentctl, agent) = (home.host().expect("a host"), home.agentctl(&told.id), home.agent(&told.id));
        let count = || [descriptors(&host), descriptors(&agentctl)];
        // Calls of a moment ago may still be open.
        let mut last = count();
        let mut same = 0;
        let rest = || {
            let now = count();
            same = if now == last { same + 1 } else { 0 };
            last = now;
            (same >= 5).then_some(now)
        };
        let descriptors = wait_for("host and agentctl at rest", END, rest, String::new);
        Self { home, told, host, agentctl, agent, descriptors }
    }

    /// The same processes live, answer and know what they knew, and hold nothing that they did not hold before.
    #[track_caller]
    pub fn check(self) {
        let Self { home, told, .. } = &self;
        told.back_once(home, 1);
        assert_eq!(home.host().as_ref(), Some(&self.host), "{}", home.report());
        assert_eq!((home.agentctl(&told.id), home.agent(&told.id)), (self.agentctl.clone(), self.agent.clone()));
        for (name, process, before) in
            [("host", &self.host, self.descriptors[0]), ("agentctl", &self.agentctl, self.descriptors[1])]
        {
            home.until(&format!("the {name} to have its {before} descriptors again"), || {
                descriptors(process) <= before
            });
        }
    }
}

/// How many descriptors a process has open.
pub fn descriptors(process: &ProcIdentity) -> usize {
    fs::read_dir(format!("/proc/{}/fd", process.pid)).map_or(0, Iterator::count)
}

/// All log lines of an instance.
pub fn logs(home: &Home) -> String {
    let files = fs::read_dir(home.path().join("logs")).into_iter().flatten().flatten();
    files.map(|file| fs::read_to_string(file.path()).unwrap_or_default()).collect()
}
