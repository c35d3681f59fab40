//! Background processes that outlive us: their own session, in their own systemd scope where there is a user manager,
//! and nobody of ours has to wait for them.
//!
//! A short-lived intermediate process (the hidden command `relight detach -- PROGRAM ARGS…`) calls setsid, starts the
//! real program and ends; the kernel gives the real one to init or to the next subreaper.
#![expect(clippy::disallowed_types, reason = "this room starts processes")]

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::proc::error::{Error, Result};
use crate::proc::marks;

/// How long systemd may take to make a scope before we start without one.
const SCOPE_LIMIT: Duration = Duration::from_secs(3);
/// How often the wait for systemd looks.
const SCOPE_POLL: Duration = Duration::from_millis(5);

/// A program to start in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detached {
    /// The relight program itself, for the intermediate process.
    pub relight: PathBuf,
    /// What to start, absolute.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables on top of our own environment, of which the marks of a terminal are left out.
    pub env: Vec<(OsString, OsString)>,
    /// Where its stderr is appended (made with 0600). Its stdin and stdout are /dev/null, its directory is `/`.
    pub log: PathBuf,
}

/// Starts a program in the background and returns when it was started. Blocks for some milliseconds (with systemd some
/// ten).
///
/// # Errors
/// [`Error::Start`] when the intermediate process could not be started, [`Error::Intermediate`] when it failed.
pub fn spawn_detached(what: &Detached) -> Result<()> {
    let start_error = |source| Error::Start { program: what.program.clone(), source };
    if let Some(dir) = what.log.parent() {
        std::fs::create_dir_all(dir).map_err(start_error)?;
    }
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&what.log).map_err(start_error)?;
    let status = intermediate(what).stderr(Stdio::from(log)).status().map_err(start_error)?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Intermediate { program: what.program.clone(), status: status.to_string(), log: what.log.clone() })
}

fn intermediate(what: &Detached) -> Command {
    let mut command = Command::new(&what.relight);
    command
        .arg("detach")
        .arg("--")
        .arg(&what.program)
        .args(&what.args)
        .envs(what.env.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let given = |name: &str| what.env.iter().any(|(key, _)| key == name);
    for mark in [marks::TERMINAL, marks::SESSION, marks::GENERATION] {
        if !given(mark) {
            command.env_remove(mark);
        }
    }
    command
}

/// Argument that tells the intermediate process that it runs in its scope already.
const IN_SCOPE: &str = "--in-scope";

/// The intermediate process: what the hidden command `relight detach` does with the arguments after its name.
///
/// # Errors
/// [`Error::Usage`] for unknown arguments, [`Error::Start`] when the program could not be started.
pub fn run_intermediate(args: &[OsString]) -> Result<()> {
    let (in_scope, rest) = match args.split_first() {
        Some((first, rest)) if first == IN_SCOPE => (true, rest),
        _ => (false, args),
    };
    let Some((program, args)) = rest.strip_prefix(&[OsString::from("--")]).and_then(<[_]>::split_first) else {
        return Err(Error::Usage);
    };
    if !in_scope {
        become_session_leader();
        if started_in_scope(program, args) {
            return Ok(());
        }
    }
    // Not waited for: it goes to init when we end, which is at once.
    quiet(Command::new(program).args(args))
        .spawn()
        .map(drop)
        .map_err(|source| Error::Start { program: program.into(), source })
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null())
}

/// Directory of our systemd user manager, if one runs.
fn user_manager() -> Option<PathBuf> {
    let dir = PathBuf::from(format!("/run/user/{}", rustix::process::getuid().as_raw()));
    dir.join("systemd/private").exists().then_some(dir)
}

fn started_in_scope(program: &OsStr, args: &[OsString]) -> bool {
    let Some(runtime_dir) = user_manager() else { return false };
    let Ok(relight) = std::env::current_exe() else { return false };
    let mut command = Command::new("systemd-run");
    command
        .args(["--user", "--scope", "--quiet", "--collect", "--"])
        .arg(relight)
        .args(["detach", IN_SCOPE, "--"])
        .arg(program)
        .args(args);
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", runtime_dir);
    }
    // systemd-run asks for the scope and then becomes `relight detach --in-scope`, whose success is the answer.
    match quiet(&mut command).spawn() {
        Ok(mut child) => matches!(wait_until(&mut child, Instant::now() + SCOPE_LIMIT), Ok(status) if status.success()),
        Err(_) => false,
    }
}

fn wait_until(child: &mut Child, deadline: Instant) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            return child.wait();
        }
        std::thread::sleep(SCOPE_POLL);
    }
}

/// Leaves the login session: no terminal's end reaches us any more. `false` when this process leads a group and the
/// kernel therefore refuses.
pub fn become_session_leader() -> bool {
    rustix::process::setsid().is_ok()
}

/// From now on orphaned descendants become our children instead of init's; see [`crate::proc::reap`].
///
/// # Errors
/// [`Error::Setting`] when the kernel refuses.
pub fn become_subreaper() -> Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|errno| Error::Setting { what: "become a subreaper", source: errno.into() })
}

/// Where the running relight program is.
///
/// # Errors
/// [`Error::Setting`] when the kernel does not tell.
pub fn own_program() -> Result<PathBuf> {
    let path = std::env::current_exe().map_err(|source| Error::Setting { what: "find our own program", source })?;
    Ok(undeleted(&path).unwrap_or(path))
}

/// After an update the kernel names the old file with a mark at its end; the new one is at the same place.
fn undeleted(path: &Path) -> Option<PathBuf> {
    path.to_str()?.strip_suffix(" (deleted)").map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_checked() {
        let args = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>();
        assert!(matches!(run_intermediate(&args(&[])), Err(Error::Usage)));
        assert!(matches!(run_intermediate(&args(&["--"])), Err(Error::Usage)));
        assert!(matches!(run_intermediate(&args(&["true"])), Err(Error::Usage)));
        let missing = run_intermediate(&args(&["--in-scope", "--", "/no/such/program"]));
        assert!(matches!(missing, Err(Error::Start { .. })), "{missing:?}");
    }

    #[test]
    fn a_failed_intermediate_is_told_with_the_place_of_its_words() {
        let dir = tempfile::tempdir().unwrap();
        let mut what = Detached {
            relight: "/bin/false".into(),
            program: "/bin/true".into(),
            args: Vec::new(),
            env: Vec::new(),
            log: dir.path().join("logs/x.log"),
        };
        let error = spawn_detached(&what).unwrap_err();
        assert!(error.to_string().contains("logs/x.log"), "{error}");
        what.relight = "/no/such/program".into();
        assert!(matches!(spawn_detached(&what), Err(Error::Start { .. })));
        what.relight = "/bin/true".into();
        spawn_detached(&what).unwrap();
    }

    #[test]
    fn a_terminals_marks_are_not_inherited() {
        let what = Detached {
            relight: "/r".into(),
            program: "/p".into(),
            args: vec!["a".into()],
            env: vec![(marks::SESSION.into(), "s1".into())],
            log: "/l".into(),
        };
        let command = intermediate(&what);
        let env: Vec<_> = command.get_envs().collect();
        assert!(env.contains(&(OsStr::new(marks::TERMINAL), None)));
        assert!(env.contains(&(OsStr::new(marks::GENERATION), None)));
        assert!(env.contains(&(OsStr::new(marks::SESSION), Some(OsStr::new("s1")))), "what is given stays");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["detach", "--", "/p", "a"]);
    }

    #[test]
    fn an_updated_program_is_found() {
        assert_eq!(undeleted(Path::new("/a/relight (deleted)")), Some("/a/relight".into()));
        assert_eq!(undeleted(Path::new("/a/relight")), None);
    }
}
