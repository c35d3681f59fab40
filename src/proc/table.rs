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

fn parse(pid: i32, line: &str) -> Option<Stat> {
    // The name is in parentheses and may itself hold blanks and parentheses: the last one ends it.
    let rest = line.get(line.rfind(')')? + 1..)?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Stat {
        pid,
        state: fields.first()?.chars().next()?,
        ppid: fields.get(1)?.parse().ok()?,
        pgid: fields.get(2)?.parse().ok()?,
        sid: fields.get(3)?.parse().ok()?,
        start_time: fields.get(START_TIME_INDEX)?.parse().ok()?,
    })
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
    fn we_are_in_the_table() {
        let me = std::process::id() as i32;
        assert!(living().unwrap().iter().any(|stat| stat.pid == me));
        assert_eq!(stat(i32::MAX).unwrap(), None);
    }
}
