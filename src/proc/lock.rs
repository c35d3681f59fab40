//! A lock file: held means that its owner lives. The kernel gives it back when the owner dies, however it dies.
//!
//! The file is never unlinked, so that all who ask look at the same one. What is written in it only informs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::domain::launch::ProcIdentity;
use crate::proc::error::{Error, Result};
use crate::proc::identity;

/// How often a taker tries again when only askers (see [`is_held`]) stand in its way.
const ASKER_TRIES: u32 = 200;
/// Pause between such tries: an asker holds its shared lock for some microseconds.
const ASKER_PAUSE: Duration = Duration::from_millis(1);

/// A lock that we hold, until it is dropped or the process ends.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    file: File,
}

impl LockFile {
    /// Takes the lock, making the file (0600) if it is missing, and writes our identity into it; `None` when
    /// another process (or another part of this one) holds it.
    ///
    /// # Errors
    /// [`Error::Lock`] when the file cannot be opened, locked or written.
    pub fn try_take(path: &Path) -> Result<Option<Self>> {
        let fail = |source| Error::Lock { path: path.to_owned(), source };
        for _ in 0..ASKER_TRIES {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(path)
                .map_err(fail)?;
            if try_flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(fail)? {
                if !same_file(&file, path) {
                    continue; // Somebody removed or replaced the file in between: the lock must be on the present one.
                }
                let mut lock = Self { path: path.to_owned(), file };
                lock.write_holder()?;
                return Ok(Some(lock));
            }
            if !try_flock(&file, FlockOperation::NonBlockingLockShared).map_err(fail)? {
                return Ok(None);
            }
            // Only askers are in the way.
            drop(file);
            std::thread::sleep(ASKER_PAUSE);
        }
        Ok(None)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still leads to the file that we hold.
    pub fn still_there(&self) -> bool {
        same_file(&self.file, &self.path)
    }

    fn write_holder(&mut self) -> Result<()> {
        let text = serde_json::to_string(&identity::me()?).map_err(io::Error::other);
        let written = text.and_then(|text| {
            self.file.set_len(0)?;
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(text.as_bytes())?;
            self.file.write_all(b"\n")
        });
        match written {
            Ok(()) => Ok(()),
            // The lock is what counts: a full disk must not keep an owner from starting.
            Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => Ok(()),
            Err(source) => Err(Error::Lock { path: self.path.clone(), source }),
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Closing would do, but for a child that was just forked and has not yet become another program: until then it
        // has our descriptors too.
        if let Err(error) = flock(&self.file, FlockOperation::Unlock) {
            tracing::debug!(%error, path = %self.path.display(), "a lock is left to the end of the process");
        }
    }
}

fn try_flock(file: &File, operation: FlockOperation) -> io::Result<bool> {
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => ours.dev() == there.dev() && ours.ino() == there.ino(),
        _ => false,
    }
}

/// Whether somebody holds the lock. A missing file or directory: nobody.
///
/// # Errors
/// [`Error::Lock`] when the file cannot be opened or asked.
pub fn is_held(path: &Path) -> Result<bool> {
    let fail = |source| Error::Lock { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(source) => return Err(fail(source)),
    };
    // Askers do not stand in each other's way, and a taker knows them from a holder.
    Ok(!try_flock(&file, FlockOperation::NonBlockingLockShared).map_err(fail)?)
}

/// Who the file says holds, or held, the lock. It only informs: [`is_held`] decides.
pub fn holder_info(path: &Path) -> Option<ProcIdentity> {
    let mut text = String::new();
    File::open(path).ok()?.take(4096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "real processes are what is tested")]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn one_holder_at_a_time_and_free_after_drop() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.lock");
        assert!(!is_held(&path).unwrap(), "a missing file is free");
        let lock = LockFile::try_take(&path).unwrap().unwrap();
        assert!(is_held(&path).unwrap());
        assert!(LockFile::try_take(&path).unwrap().is_none());
        assert_eq!(holder_info(&path), Some(identity::me().unwrap()));
        assert!(lock.still_there());
        drop(lock);
        assert!(!is_held(&path).unwrap());
        assert!(path.exists(), "never unlinked");
        assert!(LockFile::try_take(&path).unwrap().is_some());
    }

    #[test]
    fn askers_never_keep_a_taker_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.lock");
        fs::write(&path, "").unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        is_held(&path).unwrap();
                    }
                });
            }
            let all = (0..200).all(|_| LockFile::try_take(&path).unwrap().is_some());
            stop.store(true, Ordering::Relaxed);
            assert!(all);
        });
    }

    #[test]
    fn a_killed_holders_lock_becomes_free() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.lock");
        let file = File::create(&path).unwrap();
        assert!(try_flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap());
        // The child gets the open file, and holds the lock when we have closed ours.
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::from(file)).spawn().unwrap();
        assert!(is_held(&path).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_held(&path).unwrap());
    }
}
