//! Unix socket paths that are too long for a socket address, reached through a descriptor of their directory.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Longest path in a unix socket address, in bytes: `sun_path` has 108, the last one is its NUL.
const MAX_SUN_PATH_BYTES: usize = 107;

/// A path to bind or to connect to, short enough for a socket address while this value lives.
#[derive(Debug)]
pub struct Reach {
    path: PathBuf,
    _dir: Option<OwnedFd>,
}

impl Reach {
    /// Makes `path` usable: as it is, or through a descriptor of its directory.
    ///
    /// # Errors
    /// When the directory cannot be opened, or the file name alone is too long.
    pub fn new(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_bytes().len() <= MAX_SUN_PATH_BYTES {
            return Ok(Self { path: path.to_owned(), _dir: None });
        }
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(dir, flags, Mode::empty())?;
        let short = PathBuf::from(format!("/proc/self/fd/{}", dir.as_raw_fd())).join(name);
        if short.as_os_str().as_bytes().len() > MAX_SUN_PATH_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the socket's file name is too long"));
        }
        Ok(Self { path: short, _dir: Some(dir) })
    }

    /// The path to use.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}
