//! What is kept of a launch beside the journal, so that a later agentctl can read the terminal's hooks: no environment.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::domain::ids::TerminalId;
use crate::domain::profile::Profile;
use crate::domain::rows::StartMode;
use crate::domain::words::TerminalKind;
use crate::link::place::SessionDir;

/// End of the file's name, behind the terminal's id. An id has no dot, so no spool has this name.
const SUFFIX: &str = ".launch";

/// A launch, as far as its hooks need it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Agent or shell.
    pub kind: TerminalKind,
    /// Generation.
    pub generation: u32,
    /// How it was started.
    pub mode: StartMode,
    /// Conversation id known from the start.
    pub token: Option<String>,
    /// The conversation was prompted before.
    pub prompted: bool,
    /// Working directory.
    pub cwd: String,
    /// The resolved profile.
    pub profile: Profile,
}

fn path(dir: &SessionDir, terminal: &TerminalId) -> PathBuf {
    dir.spool_dir().join(format!("{terminal}{SUFFIX}"))
}

/// Writes it, whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn write(dir: &SessionDir, terminal: &TerminalId, kept: &Kept) -> io::Result<()> {
    let path = path(dir, terminal);
    let new = path.with_extension("new");
    let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&new)?;
    file.write_all(&serde_json::to_vec(kept)?)?;
    file.sync_data()?;
    fs::rename(&new, &path)
}

/// Reads it; `None` when there is none that can be read.
#[must_use]
pub fn read(dir: &SessionDir, terminal: &TerminalId) -> Option<Kept> {
    serde_json::from_slice(&fs::read(path(dir, terminal)).ok()?).ok()
}

/// All terminals that have one.
#[must_use]
pub fn list(dir: &SessionDir) -> Vec<TerminalId> {
    let entries = fs::read_dir(dir.spool_dir()).into_iter().flatten().flatten();
    let names = entries.filter_map(|e| e.file_name().into_string().ok());
    names.filter_map(|name| TerminalId::new(name.strip_suffix(SUFFIX)?).ok()).collect()
}

/// Working directory of the newest agent launch that is kept.
#[must_use]
pub fn directory(dir: &SessionDir) -> Option<PathBuf> {
    let launches = list(dir).into_iter().filter_map(|id| read(dir, &id));
    let agents = launches.filter(|kept| kept.kind == TerminalKind::Agent);
    agents.max_by_key(|kept| kept.generation).map(|kept| kept.cwd.into())
}

/// Removes what a terminal left in the spool directory.
pub fn remove(dir: &SessionDir, terminal: &TerminalId) {
    let _ = fs::remove_file(path(dir, terminal));
    let _ = fs::remove_file(dir.spool(terminal));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_and_is_listed() {
        let home = tempfile::tempdir().unwrap();
        let dir = SessionDir::at(home.path());
        fs::create_dir(dir.spool_dir()).unwrap();
        let terminal = TerminalId::new("t1").unwrap();
        let kept = Kept {
            kind: TerminalKind::Agent,
            generation: 2,
            mode: StartMode::Resume,
            token: Some("a".into()),
            prompted: true,
            cwd: "/".into(),
            profile: Profile { name: "demo".into(), ..Profile::default() },
        };
        write(&dir, &terminal, &kept).unwrap();
        fs::write(dir.spool(&terminal), "").unwrap();
        assert_eq!(read(&dir, &terminal), Some(kept));
        assert_eq!(list(&dir), std::slice::from_ref(&terminal));
        remove(&dir, &terminal);
        assert_eq!((read(&dir, &terminal), list(&dir)), (None, vec![]));
    }
}
