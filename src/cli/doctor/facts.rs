//! What `relight doctor` looked at, as plain values. Nothing here judges.

use std::path::PathBuf;

/// What a look found; else in words why it found nothing ("no answer within 3 s").
pub type Probe<T> = Result<T, String>;

/// Everything that was looked at.
#[derive(Debug, Clone)]
pub struct Facts {
    /// This program.
    pub program: Program,
    /// The host.
    pub host: Host,
    /// Every session's directory.
    pub sessions: Probe<Vec<Session>>,
    /// What is around this terminal.
    pub terminal: Terminal,
    /// Multiplexers that this call runs in, the innermost first.
    pub around: Vec<Around>,
    /// Logout.
    pub login: Login,
    /// Directories.
    pub dirs: Vec<Dir>,
    /// Settings file.
    pub settings: Settings,
    /// File systems that state and data lie on.
    pub disks: Vec<Disk>,
    /// Whether the state directory is this machine's.
    pub machine: Probe<()>,
    /// The longest name that a socket of ours has, in bytes.
    pub socket_bytes: usize,
    /// Database.
    pub database: Database,
    /// Kernel and limits.
    pub kernel: Kernel,
    /// Agents among the profiles.
    pub agents: Vec<Agent>,
    /// The agent of new sessions when none is named.
    pub default_agent: String,
    /// What git says of its version; `None`: it is not on PATH.
    pub git: Option<Probe<String>>,
}

/// This program.
#[derive(Debug, Clone)]
pub struct Program {
    /// Version.
    pub version: String,
    /// Where it is.
    pub path: PathBuf,
}

/// How an owner of a lock and a socket was found.
#[derive(Debug, Clone)]
pub struct Owner {
    /// Whether its lock is held.
    pub held: Probe<bool>,
    /// Who the lock file names.
    pub holder: Option<Holder>,
    /// Whether its socket is there.
    pub socket: bool,
    /// What it answered.
    pub answer: Answer,
}

/// Who a lock file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Process.
    pub pid: i32,
    /// It lives.
    pub alive: bool,
    /// A signal has stopped it.
    pub stopped: bool,
}

/// What an owner answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is well, and of this version.
    Version(String),
    /// Nobody serves the socket.
    Nobody,
    /// Nothing came in time.
    Silent,
    /// It speaks another version of the protocol, or something else was wrong, in words.
    Failed(String),
}

/// The host.
#[derive(Debug, Clone)]
pub struct Host {
    /// Lock, socket, answer.
    pub owner: Owner,
    /// Its socket.
    pub socket: PathBuf,
    /// The mark of `relight host stop` is there.
    pub told_to_stop: bool,
    /// Why the last one could not start.
    pub failure: Option<String>,
    /// Directory of its log.
    pub logs: PathBuf,
}

/// One session that has a directory.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its id, or the name of the directory.
    pub id: String,
    /// Its agentctl.
    pub owner: Owner,
}

/// What is around this terminal.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Terminal {
    /// Standard input and output are a terminal.
    pub there: bool,
    /// `TERM`.
    pub term: Option<String>,
    /// There is a terminfo entry for it.
    pub known: bool,
    /// There is one for what programs in relight's terminals get (`xterm-256color`).
    pub inner_known: bool,
    /// `COLORTERM`.
    pub colorterm: Option<String>,
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// The locale that counts, as variable and value; `None`: none is set.
    pub locale: Option<(String, String)>,
    /// This is an SSH connection.
    pub ssh: bool,
    /// The prefix of relight's screen.
    pub prefix: String,
    /// Programs for the clipboard that are on PATH.
    pub clipboards: Vec<String>,
}

/// A multiplexer around this call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// Its name.
    pub name: String,
    /// Keys that it takes for itself, in the words of relight's settings; empty: unknown.
    pub keys: Vec<String>,
    /// It hands on what is copied by OSC 52; `None`: unknown.
    pub copies: Option<bool>,
}

/// Logout.
#[derive(Debug, Clone)]
pub struct Login {
    /// systemd runs this machine.
    pub systemd: bool,
    /// A user manager runs for this user: background processes get scopes of their own below it.
    pub user_manager: bool,
    /// The user's name, as far as it is known.
    pub user: String,
    /// Lingering.
    pub linger: bool,
    /// `KillUserProcesses` for this user, and the file that says so; `None`: no file does.
    pub kills: Option<(bool, PathBuf)>,
}

/// One of the four directories.
#[derive(Debug, Clone)]
pub struct Dir {
    /// `config`, `data`, `state` or `logs`.
    pub name: &'static str,
    /// Where.
    pub path: PathBuf,
    /// How it is; `None`: it is not there.
    pub found: Probe<Option<Found>>,
    /// This user's id.
    pub me: u32,
}

/// A directory that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Whether it is one.
    pub directory: bool,
    /// Owner's user id.
    pub owner: u32,
    /// Permission bits.
    pub mode: u32,
    /// This user may write into it.
    pub writable: bool,
}

/// Settings file.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where.
    pub path: PathBuf,
    /// It is there.
    pub exists: bool,
    /// What is wrong in it.
    pub wrong: Option<String>,
}

/// The file system under a directory.
#[derive(Debug, Clone)]
pub struct Disk {
    /// Which directory it is that lies there.
    pub name: &'static str,
    /// The directory, or the nearest above it that is there.
    pub path: PathBuf,
    /// What was found.
    pub space: Probe<Space>,
}

/// Room and kind of a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Bytes that this user may still write.
    pub free_bytes: u64,
    /// Files that may still be made; `None`: it does not count them.
    pub free_files: Option<u64>,
    /// Name of the network file system that it is.
    pub network: Option<&'static str>,
    /// It is in memory, and empty after a reboot.
    pub memory: bool,
    /// It may only be read.
    pub read_only: bool,
}

/// Database.
#[derive(Debug, Clone)]
pub struct Database {
    /// Where.
    pub path: PathBuf,
    /// How it is; `None`: it is not there.
    pub state: Probe<Option<DatabaseState>>,
    /// Permission bits of the file.
    pub mode: Option<u32>,
}

/// How the database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseState {
    /// Version of its tables.
    pub schema: i64,
    /// Newest version that this program knows.
    pub known: i64,
    /// Size in bytes.
    pub bytes: u64,
    /// What the quick check found: `ok`; `None`: it did not come to its end in time.
    pub checked: Option<String>,
}

/// Kernel and limits.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Soft and hard limit of open files; `None`: no limit.
    pub files: (Option<u64>, Option<u64>),
    /// Processes can be held by descriptors.
    pub pidfd: Probe<()>,
    /// Terminal sessions are scheduled as groups.
    pub autogroup: bool,
}

/// An agent that is not part of relight.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Profile.
    pub name: String,
    /// Program, as the profile has it.
    pub program: String,
    /// Where it was found.
    pub found: Option<PathBuf>,
    /// What it says of its version; `None`: it was not asked.
    pub version: Option<Probe<String>>,
    /// Its conversations can be taken up again.
    pub resumes: bool,
}
