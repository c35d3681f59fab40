//! The process table as `/proc` shows it: one process's stat line, or all of them.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::proc::error::{Error, Result};

/// What one stat line says, as far as we need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Process id.
    pub pid: i32,
    /// One letter: `Z` zombie, `X` dead, `T` stopped, and so on.
    pub state: char,
    /// Parent.
    pub ppid: i32,
    /// Process group.
    pub pgid: i32,
    /// Session.
    pub sid: i32,
    /// Clock ticks after boot.
    pub start_time: u64,
}

impl Stat {
    /// It has ended, though its parent may not have waited for it yet.
    #[must_use]
    pub const fn dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// Index of the start time among the fields after the program's name (field 22 of the whole line).
const START_TIME_INDEX: usize = 19;

/// Index of the size of its memory (field 23), zero for a thread of the kernel.
const MEMORY_INDEX: usize = 20;
/// Index of where its environment ends (field 51), zero until a program that begins has it.
const ENV_END_INDEX: usize = 48;

fn fields(line: &str) -> Option<Vec<&str>> {
    // The name is in parentheses and may itself hold blanks and parentheses: the last one ends it.
    Some(line.get(line.rfind(')')? + 1..)?.split_ascii_whitespace().collect())
}

fn parse(pid: i32, line: &str) -> Option<Stat> {
    let fields = fields(line)?;
    Some(Stat {
        pid,
        state: fields.first()?.chars().next()?,
        ppid: fields.get(1)?.parse().ok()?,
        pgid: fields.get(2)?.parse().ok()?,
        sid: fields.get(3)?.parse().ok()?,
        start_time: fields.get(START_TIME_INDEX)?.parse().ok()?,
    })
}

fn half_begun(line: &str) -> bool {
    let fields = fields(line).unwrap_or_default();
    let zero = |index: usize| fields.get(index).is_some_and(|field| *field == "0");
    !zero(MEMORY_INDEX) && zero(ENV_END_INDEX) && !matches!(fields.first(), Some(&("Z" | "X" | "x")))
}

/// Whether the process is within `exec`: it has left its old program and has no environment yet, which takes the kernel
/// well under a millisecond. False also when there is no such process.
pub(super) fn begins(pid: i32) -> bool {
    fs::read(format!("/proc/{pid}/stat")).is_ok_and(|line| half_begun(&String::from_utf8_lossy(&line)))
}

/// Whether `error` says that there is no such process.
pub(super) fn no_process(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// The stat line of `pid`; `None` when there is no such process.
///
/// # Errors
/// When `/proc` cannot be read or has another form than known.
pub fn stat(pid: i32) -> Result<Option<Stat>> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    // A program's name need not be UTF-8.
    let line = match fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if no_process(&error) => return Ok(None),
        Err(source) => return Err(Error::Read { path, source }),
    };
    match parse(pid, &line) {
        Some(stat) => Ok(Some(stat)),
        None => Err(Error::Form { path, text: line.chars().take(80).collect() }),
    }
}

/// Every pid there is. Some may be gone when looked at.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn pids() -> Result<Vec<i32>> {
    let dir = fs::read_dir("/proc").map_err(|source| Error::Read { path: "/proc".into(), source })?;
    Ok(dir.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

/// Every process that is not dead. One that vanishes while we look, or that we may not look at, is left out.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn living() -> Result<Vec<Stat>> {
    Ok(all()?.into_iter().filter(|stat| !stat.dead()).collect())
}

/// Every process, zombies too.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn all() -> Result<Vec<Stat>> {
    Ok(pids()?.into_iter().filter_map(|pid| stat(pid).ok().flatten()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_parentheses_is_read() {
        let line = "42 (a) b (c)) S 1 2 3 0 -1 4194304 9 0 0 0 1 2 0 0 20 0 1 0 777 8 9";
        let stat = parse(42, line).unwrap();
        assert_eq!(stat, Stat { pid: 42, state: 'S', ppid: 1, pgid: 2, sid: 3, start_time: 777 });
        assert!(parse(42, "42 (cut").is_none());
        assert!(parse(42, "42 (cut) S 1 2").is_none());
    }

    #[test]
    fn a_program_that_begins_has_memory_and_no_environment_yet() {
        let line = |state: &str, memory: &str, end: &str| {
            let mut fields = vec!["1"; 50];
            (fields[0], fields[MEMORY_INDEX], fields[ENV_END_INDEX]) = (state, memory, end);
            format!("42 (a) {}", fields.join(" "))
        };
        assert!(half_begun(&line("R", "4096", "0")));
        assert!(!half_begun(&line("R", "4096", "77")), "it runs");
        assert!(!half_begun(&line("I", "0", "0")), "a thread of the kernel");
        assert!(!half_begun(&line("Z", "4096", "0")), "it is dead");
        assert!(!half_begun("42 (cut"));
        assert!(!begins(std::process::id() as i32) && !begins(i32::MAX));
    }

    #[test]
    fn we_are_in_the_table() {
        let me = std::process::id() as i32;
        assert!(living().unwrap().iter().any(|stat| stat.pid == me));
        assert_eq!(stat(i32::MAX).unwrap(), None);
    }
}
