//! An instance of relight of a benchmark's own, ended with its agents when it is dropped.

#![allow(dead_code, reason = "each benchmark uses a part of it")]
#![allow(clippy::disallowed_types, reason = "it starts the built program")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use relight::link::endpoint::Endpoint;
use relight::link::host::{HostClient, HostEvents};
use relight::wire::host::{HostStatus, SessionCreate, SessionCreated, SessionLine, Stop};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::runtime::Runtime as Tokio;

/// The built program.
pub const RELIGHT: &str = env!("CARGO_BIN_EXE_relight");
/// Far more than anything here takes.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Shared by everything that a benchmark asks.
pub fn runtime() -> Tokio {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

/// Lets time pass: while idle processes are watched, or between two looks.
pub fn rest(time: Duration) {
    std::thread::sleep(time);
}

/// Looks at `holds` until it gives something.
pub fn until<T>(what: &str, mut holds: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(value) = holds() {
            return value;
        }
        assert!(begin.elapsed() < PATIENCE, "waited too long for: {what}");
        rest(Duration::from_millis(1));
    }
}

/// An instance.
pub struct Instance {
    dir: tempfile::TempDir,
    tokio: Tokio,
}

impl Instance {
    /// A started host without sessions.
    pub fn new() -> Self {
        Self::with_config("")
    }

    /// The same with these settings.
    pub fn with_config(config: &str) -> Self {
        let instance = Self { dir: tempfile::tempdir().expect("a directory"), tokio: runtime() };
        fs::create_dir(instance.path().join("config")).expect("a directory");
        fs::write(instance.path().join("config/config.toml"), config).expect("settings");
        instance.start_host();
        instance
    }

    /// `RELIGHT_HOME`.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Waits for something async.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.tokio.block_on(work)
    }

    /// The built program in this instance.
    pub fn relight(&self, args: &[&str]) -> Command {
        let mut command = Command::new(RELIGHT);
        command.args(args).env("RELIGHT_HOME", self.path()).env("HOME", self.path()).stdout(Stdio::null());
        command
    }

    /// `relight host start`.
    pub fn start_host(&self) {
        assert!(self.relight(&["host", "start"]).status().expect("relight runs").success(), "the host starts");
    }

    /// `relight host stop`: the agents go on.
    pub fn stop_host(&self) {
        assert!(self.relight(&["host", "stop"]).status().expect("relight runs").success(), "the host stops");
    }

    /// A connection to the host.
    pub fn connect(&self) -> (HostClient, HostEvents) {
        let endpoint = Endpoint::Unix(self.path().join("state/host.sock"));
        until("a host", || self.tokio.block_on(HostClient::connect(endpoint.clone())).ok())
    }

    /// Calls a method of the host.
    pub fn call<R: DeserializeOwned>(&self, client: &HostClient, method: &str, params: impl serde::Serialize) -> R {
        self.tokio.block_on(client.call(method, params)).expect("an answer of the host")
    }

    /// Starts a session with an agent of this profile.
    pub fn session(&self, client: &HostClient, agent: &str, args: &[&str]) -> SessionCreated {
        let dir = self.path().display().to_string();
        let env = [("PATH", std::env::var("PATH").unwrap_or_default()), ("HOME", dir.clone())];
        let create = SessionCreate {
            agent: agent.into(),
            name: None,
            task: None,
            cwd: dir,
            prompt: None,
            executor: None,
            args: args.iter().map(ToString::to_string).collect(),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            size: None,
        };
        self.call(client, "session.create", create)
    }

    /// The list of sessions.
    pub fn lines(&self, client: &HostClient) -> Vec<SessionLine> {
        self.call(client, "session.list", json!({}))
    }

    /// The first session of the list.
    pub fn line(&self, client: &HostClient) -> SessionLine {
        self.lines(client).into_iter().next().expect("a session")
    }

    /// The host's pid.
    pub fn host_pid(&self, client: &HostClient) -> i32 {
        let status: HostStatus = self.call(client, "host.status", json!({}));
        status.hello.identity.pid
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let (client, _events) = self.connect();
        let stop = Stop { agents: true, restart: false };
        let _: Result<Value, _> = self.tokio.block_on(client.call("host.stop", stop));
        until("the end of the host", || {
            let lock = self.path().join("state/host.lock");
            (!relight::proc::lock::is_held(&lock).unwrap_or(false)).then_some(())
        });
    }
}
