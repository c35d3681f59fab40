//! A database that is gone while agents run that it knew: no new one is begun in its place, or nobody would ever see them again.

use std::fs;
use std::path::PathBuf;

use crate::config::dirs::Dirs;
use crate::domain::words::ErrorCode;
use crate::link::place::SessionDir;
use crate::proc::lock;

use super::failure::{Failure, Result};

/// Refuses a database that is missing or empty when a session's agentctl lives. Those that are unknown count as dead: a file
/// system without locks is refused elsewhere.
pub fn refuse(dirs: &Dirs) -> Result<()> {
    let path = dirs.database();
    match fs::metadata(&path) {
        // Opening it says what is wrong, also of an empty one beside its log.
        Ok(found) if found.len() > 0 || !found.is_file() || path.with_extension("db-wal").exists() => return Ok(()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(_) => return Ok(()),
    }
    let living: Vec<String> = living(dirs)
        .into_iter()
        .map(|path| lock::holder_info(&path).map_or_else(|| "PID".to_owned(), |holder| holder.pid.to_string()))
        .collect();
    if living.is_empty() {
        return Ok(());
    }
    let (run, them) = match living.len() {
        1 => ("a session runs that it knew".to_owned(), "it"),
        many => (format!("{many} sessions run that it knew"), "them"),
    };
    let what = format!("the database {} is gone, and {run}: no new one is begun in its place", path.display());
    Err(Failure::coded(ErrorCode::Database, what).hint(format!(
        "put the file back (copies of older ones are in {}); or, to begin anew, end {them} first: `kill {}`",
        dirs.backups().display(),
        living.join(" ")
    )))
}

/// The locks of agentctls that live.
pub fn living(dirs: &Dirs) -> Vec<PathBuf> {
    fs::read_dir(dirs.state.join("sessions"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| SessionDir::at(entry.path()).lock())
        .filter(|path| lock::is_held(path).unwrap_or(false))
        .collect()
}
