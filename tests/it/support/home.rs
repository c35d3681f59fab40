//! An instance of relight of one test's own: its directory, its calls, and the end of everything it started.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use relight::domain::launch::ProcIdentity;
use relight::proc::lock;
use serde_json::Value;

use super::kill::{self, Signal};
use super::reply::Reply;
use super::wait::wait_for;

/// How long a test waits for what should take at most a second or two: many run at once on few cores.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// The built program.
pub const RELIGHT: &str = env!("CARGO_BIN_EXE_relight");

/// How many characters of each log a failure shows.
const LOG_TAIL: usize = 2_500;

/// A directory for one instance. When it is dropped, every process that was started for it is ended, by identity.
pub struct Home {
    dir: tempfile::TempDir,
    env: BTreeMap<String, String>,
}

impl Home {
    /// A fresh instance with nothing in it and nothing running.
    pub fn new() -> Self {
        Self::called("relight-it-")
    }

    /// The same in a directory whose name begins so.
    pub fn called(prefix: &str) -> Self {
        let dir = tempfile::Builder::new().prefix(prefix).tempdir().expect("a temporary directory");
        let home = Self { dir, env: BTreeMap::new() };
        fs::create_dir_all(home.path().join("project")).expect("a project directory");
        home
    }

    /// The same with one more variable for every process of it (`RELIGHT_TEST_…`).
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets or removes a variable for the calls from now on.
    pub fn set_env(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => _ = self.env.insert(name.into(), value.into()),
            None => _ = self.env.remove(name),
        }
    }

    /// `RELIGHT_HOME`.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A directory for sessions to work in.
    pub fn project(&self) -> PathBuf {
        self.path().join("project")
    }

    /// Writes `config.toml`.
    pub fn write_config(&self, text: &str) {
        fs::create_dir_all(self.path().join("config")).expect("a directory");
        fs::write(self.path().join("config/config.toml"), text).expect("a config file");
    }

    /// The program with this instance's environment and nothing else of ours.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(RELIGHT);
        command.args(args).current_dir(self.project()).env_clear().stdin(Stdio::null());
        command.env("RELIGHT_HOME", self.path()).env("HOME", self.path().join("home")).env("SHELL", "/bin/sh");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LANG", "C.UTF-8").envs(&self.env);
        command
    }

    /// Calls the program and waits for its end.
    pub fn run(&self, args: &[&str]) -> Reply {
        let output = self.command(args).output().expect("the built program starts");
        Reply::new(args.join(" "), &output)
    }

    /// Calls the program with `--json` and gives the one value it prints.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let mut all = vec!["--json"];
        all.extend(args);
        self.run(&all).ok().json()
    }

    /// Starts the program and does not wait. It belongs to this instance: dropping the instance ends it.
    pub fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the built program starts")
    }

    /// Starts a session of the demo agent with these arguments of its own; gives its id.
    #[track_caller]
    pub fn demo(&self, prompt: Option<&str>, agent_args: &[&str]) -> String {
        let mut args = vec!["new", "--agent", "demo", "--detach"];
        if let Some(prompt) = prompt {
            args.extend(["--prompt", prompt]);
        }
        args.push("--");
        args.extend(agent_args);
        text(&self.json(&args), "session_id")
    }

    /// `relight ls --json`.
    #[track_caller]
    pub fn ls(&self) -> Vec<Value> {
        self.json(&["ls"]).as_array().expect("a list").clone()
    }

    /// One line of `ls`.
    #[track_caller]
    pub fn session(&self, id: &str) -> Value {
        let found = self.ls().into_iter().find(|line| line["session_id"] == id);
        found.unwrap_or_else(|| panic!("no session {id} in `ls`"))
    }

    /// `relight status S --json`.
    #[track_caller]
    pub fn status(&self, id: &str) -> Value {
        self.json(&["status", id])
    }

    /// `relight capture S` with history, as one text. Empty while nothing can be captured.
    pub fn screen(&self, id: &str) -> String {
        self.run(&["capture", id, "--history", "2000"]).out
    }

    /// Every event kept, in order; panics when a number is missing.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        let events = self.run(&["events", "--json"]).ok().json_lines();
        for pair in events.windows(2) {
            let (a, b) = (pair[0]["seq"].as_u64(), pair[1]["seq"].as_u64());
            assert!(a.map(|a| a + 1) == b, "events {a:?} and {b:?} do not follow each other");
        }
        events
    }

    /// Types a line and waits until the screen shows `answer`.
    #[track_caller]
    pub fn ask(&self, id: &str, line: &str, answer: &str) {
        self.run(&["send", id, line]).ok();
        self.until_screen(id, answer);
    }

    /// Waits until the session's screen or history shows `text`.
    #[track_caller]
    pub fn until_screen(&self, id: &str, text: &str) {
        self.until(&format!("`{text}` on the screen of {id}"), || self.screen(id).contains(text));
    }

    /// Waits until the session's line in `ls` fits.
    #[track_caller]
    pub fn until_session(&self, id: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let line = || {
            let reply = self.run(&["ls", "--json"]);
            let lines: Vec<Value> = serde_json::from_str(&reply.out).unwrap_or_default();
            lines.into_iter().find(|line| line["session_id"] == id).filter(|line| fits(line))
        };
        wait_for(&format!("{what} ({id})"), PATIENCE, line, || self.report())
    }

    /// Waits until the session's agent lives in a terminal of at least this generation; gives its line in `ls`.
    #[track_caller]
    pub fn until_alive(&self, id: &str, generation: u64) -> Value {
        self.until_session(id, &format!("a live agent of generation {generation} or later"), |line| {
            line["pid"].is_number() && line["generation"].as_u64() >= Some(generation)
        })
    }

    /// Waits for a condition; a failure shows every session's screen and the end of every log.
    #[track_caller]
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        wait_for(what, PATIENCE, || holds().then_some(()), || self.report());
    }

    /// Waits until `probe` gives a value; a failure shows the same.
    #[track_caller]
    pub fn until_some<T>(&self, what: &str, probe: impl FnMut() -> Option<T>) -> T {
        wait_for(what, PATIENCE, probe, || self.report())
    }

    /// The session's live agent.
    #[track_caller]
    pub fn agent(&self, id: &str) -> ProcIdentity {
        self.process(id, "pid")
    }

    /// The session's agentctl.
    #[track_caller]
    pub fn agentctl(&self, id: &str) -> ProcIdentity {
        self.process(id, "agentctl_pid")
    }

    #[track_caller]
    fn process(&self, id: &str, field: &str) -> ProcIdentity {
        let line = self.session(id);
        let pid = line[field].as_i64().and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.unwrap_or_else(|| panic!("no {field} in {line}"));
        kill::identify(pid).unwrap_or_else(|| panic!("{field} {pid} of {id} is dead"))
    }

    /// The host that runs; `None` when none does. Asked of its lock: no host is started by it.
    pub fn host(&self) -> Option<ProcIdentity> {
        let path = self.path().join("state/host.lock");
        lock::is_held(&path).expect("the lock").then(|| lock::holder_info(&path)).flatten()
    }

    /// Kills the host with SIGKILL.
    #[track_caller]
    pub fn kill_host(&self) {
        kill::kill(&self.host().expect("a host runs"));
    }

    /// Arms the point `name` of `RELIGHT_TEST_KILL_AT` or `RELIGHT_TEST_STOP_AT`, for once; see [`Home::with_point`].
    pub fn arm(&self, name: &str) {
        fs::write(self.path().join(name), "").expect("a marker");
    }

    /// The same instance, whose processes kill or stop themselves at this point when it is armed.
    pub fn with_point(self, variable: &str, name: &str) -> Self {
        let order = format!("{name}={}", self.path().join(name).display());
        self.env(variable, order)
    }

    /// Kills the host and starts the next one; waits until it has recovered everything.
    #[track_caller]
    pub fn next_host(&self) {
        if let Some(host) = self.host() {
            kill::kill(&host);
        }
        self.until("a host that has recovered everything", || {
            let reply = self.run(&["ls"]);
            let status = self.run(&["host", "status", "--json"]);
            let status: Value = serde_json::from_str(&status.out).unwrap_or_default();
            reply.code == Some(0) && status["recovering"] == false
        });
    }

    /// Every living process of this instance, with its command line.
    pub fn living(&self) -> Vec<(ProcIdentity, String)> {
        kill::living_of(self.path())
    }

    /// Living agents of this instance whose command line holds `text`: a conversation's id, or `demo-agent`.
    pub fn agents_with(&self, text: &str) -> Vec<ProcIdentity> {
        let agents: Vec<_> =
            self.living().into_iter().filter(|(_, line)| line.contains("demo-agent") && line.contains(text)).collect();
        // A child that has not become its own program yet still has its agent's command line.
        let child = |of: &ProcIdentity, line: &str| {
            let parent = kill::parent(of);
            agents.iter().any(|(other, theirs)| Some(other.pid) == parent && theirs == line)
        };
        agents.iter().filter(|(process, line)| !child(process, line)).map(|(process, _)| process.clone()).collect()
    }

    /// The database, to be read only.
    #[track_caller]
    pub fn database(&self) -> rusqlite::Connection {
        let path = self.path().join("data/relight.db");
        let connection = rusqlite::Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY);
        let connection = connection.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        connection.busy_timeout(PATIENCE).expect("a timeout");
        connection
    }

    /// Rows of a query, each column as text (`NULL` as such).
    #[track_caller]
    pub fn rows(&self, query: &str) -> Vec<Vec<String>> {
        let connection = self.database();
        let mut statement = connection.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let columns = statement.column_count();
        let cell = |row: &rusqlite::Row<'_>, i: usize| {
            use rusqlite::types::ValueRef as V;
            Ok(match row.get_ref(i)? {
                V::Null => "NULL".to_owned(),
                V::Integer(n) => n.to_string(),
                V::Real(x) => x.to_string(),
                V::Text(text) | V::Blob(text) => String::from_utf8_lossy(text).into_owned(),
            })
        };
        let rows = statement.query_map([], |row| (0..columns).map(|i| cell(row, i)).collect());
        rows.expect("a query").collect::<Result<_, _>>().expect("rows")
    }

    /// Screens and ends of logs, for a failure's message.
    pub fn report(&self) -> String {
        let mut parts = vec![format!("--- ls\n{}", self.run(&["ls"]).out)];
        for line in serde_json::from_str::<Vec<Value>>(&self.run(&["ls", "--json"]).out).unwrap_or_default() {
            let id = line["session_id"].as_str().unwrap_or_default();
            parts.push(format!("--- {line}\n--- screen of {id}\n{}", self.screen(id)));
        }
        parts.extend(self.living().iter().map(|(process, line)| format!("--- process {}: {line}", process.pid)));
        for entry in fs::read_dir(self.path().join("logs")).into_iter().flatten().flatten() {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            let skip = text.chars().count().saturating_sub(LOG_TAIL);
            let tail: String = text.chars().skip(skip).collect();
            parts.push(format!("--- {}\n{tail}", entry.path().display()));
        }
        parts.join("\n")
    }

    /// Ends every process of this instance, hosts and agentctls first, so that nobody starts anything anew.
    pub fn end_everything(&self) {
        for _ in 0..20 {
            let mut living = self.living();
            if living.is_empty() {
                return;
            }
            living.sort_by_key(|(_, line)| !(line.contains("host run") || line.contains("agentctl")));
            for (process, _) in living {
                kill::signal(&process, Signal::KILL);
                // A child of ours stays a zombie until we wait for it; its death is enough.
                kill::kill(&process);
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.end_everything();
        let left = self.living();
        assert!(left.is_empty() || std::thread::panicking(), "these processes could not be ended: {left:?}");
    }
}

/// The text at `key`.
#[track_caller]
pub fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value}")).to_owned()
}
