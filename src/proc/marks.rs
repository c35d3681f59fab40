//! Finds processes by the mark that everything started in a terminal carries in its environment.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use crate::domain::launch::ProcIdentity;
use crate::proc::error::Result;
use crate::proc::{identity, table};

/// Environment variable that names the terminal a process was started in.
pub const TERMINAL: &str = "RELIGHT_TERMINAL";
/// Environment variable that names the session.
pub const SESSION: &str = "RELIGHT_SESSION";
/// Environment variable that names the generation.
pub const GENERATION: &str = "RELIGHT_GENERATION";

/// Living processes of our own user whose environment, as given at their start, says `RELIGHT_TERMINAL=terminal`.
/// Those we may not look at are left out.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn find(terminal: &str) -> Result<Vec<ProcIdentity>> {
    find_any(&[terminal])
}

/// Like [`find`], for any of `terminals` in one walk.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn find_any(terminals: &[&str]) -> Result<Vec<ProcIdentity>> {
    if terminals.is_empty() {
        return Ok(Vec::new());
    }
    let boot_id = identity::boot_id()?;
    Ok(table::living()?
        .into_iter()
        .filter(|stat| carries(stat.pid, terminals))
        .map(|stat| ProcIdentity { boot_id: boot_id.clone(), pid: stat.pid, start_time: stat.start_time })
        .collect())
}

/// Whether the process is ours and carries one of the marks.
pub(super) fn carries(pid: i32, terminals: &[&str]) -> bool {
    let ours = fs::metadata(format!("/proc/{pid}")).is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw());
    ours && environ(pid).is_some_and(|environ| says(&environ, terminals))
}

/// How often a program that just begins is asked for its environment, and how long between.
const BEGINS: (u32, Duration) = (100, Duration::from_millis(1));

/// A program within `exec` has none yet: looked at just then, it would pass for unmarked and escape the fence.
fn environ(pid: i32) -> Option<Vec<u8>> {
    let path = format!("/proc/{pid}/environ");
    for _ in 0..BEGINS.0 {
        let environ = fs::read(&path).ok()?;
        if !environ.is_empty() {
            return Some(environ);
        }
        if !table::begins(pid) {
            // It may have got one since it was read.
            return fs::read(&path).ok();
        }
        std::thread::sleep(BEGINS.1);
    }
    None
}

fn says(environ: &[u8], terminals: &[&str]) -> bool {
    environ
        .split(|byte| *byte == 0)
        .filter_map(|entry| entry.strip_prefix(TERMINAL.as_bytes())?.strip_prefix(b"="))
        .any(|value| terminals.iter().any(|terminal| terminal.as_bytes() == value))
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "real processes are what is tested")]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_whole_value_counts() {
        assert!(says(b"A=1\0RELIGHT_TERMINAL=t1\0B=2\0", &["t0", "t1"]));
        assert!(!says(b"RELIGHT_TERMINAL=t12\0", &["t1"]));
        assert!(!says(b"XRELIGHT_TERMINAL=t1\0", &["t1"]));
        assert!(!says(b"RELIGHT_TERMINALS=t1\0", &["t1"]));
        assert!(!says(b"", &["t1"]));
    }

    /// Also at once after its start, while `exec` is half-way. Named by the fault: it was missed then.
    #[test]
    fn a_marked_process_is_found_while_it_lives() {
        let mark = format!("marks-test-{}", std::process::id());
        let mut child =
            Command::new("cat").env(TERMINAL, &mark).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let who = identity::of(child.id() as i32).unwrap().unwrap();
        assert_eq!(find(&mark).unwrap(), vec![who]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(find(&mark).unwrap().is_empty());
        assert!(find_any(&[]).unwrap().is_empty());
    }
}
