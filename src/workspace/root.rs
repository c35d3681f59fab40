//! The session's directory, and paths below it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

use crate::domain::plain::steers;
use crate::workspace::error::Error;

/// A directory whose own path has no links in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
}

impl Root {
    /// Takes `path` and resolves its links.
    ///
    /// # Errors
    /// [`Error::Root`] when it is no directory that can be read.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Root { path: path.display().to_string(), source };
        let resolved = path.canonicalize().map_err(failed)?;
        if !resolved.metadata().map_err(failed)?.is_dir() {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        Ok(Self { path: resolved })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file or directory `relative` for reading, and says which path it has in truth. It is checked after it was
    /// opened, so nothing exchanged in between leads out of the directory.
    ///
    /// # Errors
    /// [`Error::Outside`], [`Error::Missing`] or [`Error::Unreadable`]; [`Error::Kind`] for what is neither.
    pub fn open(&self, relative: &str) -> Result<(File, PathBuf), Error> {
        let shown = || shown(relative);
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput => {
                Error::Missing { path: shown() }
            }
            _ => Error::Unreadable { path: shown(), source },
        };
        let resolved = self.path.join(local(relative)?).canonicalize().map_err(failed)?;
        if !resolved.starts_with(&self.path) {
            return Err(Error::Outside { path: shown() });
        }
        let kind = resolved.symlink_metadata().map_err(failed)?.file_type();
        if !(kind.is_file() || kind.is_dir()) {
            return Err(Error::Kind { path: shown(), wanted: "file" });
        }
        // Neither a link nor a named pipe put in its place meanwhile is followed or waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = File::options().read(true).custom_flags(flags).open(&resolved).map_err(failed)?;
        let truth = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(failed)?;
        if !truth.starts_with(&self.path) {
            return Err(Error::Outside { path: shown() });
        }
        Ok((file, truth))
    }
}

/// `path` as it may be joined to a directory: relative, without `..`. A leading `/` means the directory itself.
///
/// # Errors
/// [`Error::Outside`].
pub fn local(path: &str) -> Result<PathBuf, Error> {
    let mut local = PathBuf::from(".");
    for component in Path::new(path.trim_start_matches('/')).components() {
        match component {
            Component::Normal(name) => local.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Error::Outside { path: shown(path) });
            }
        }
    }
    Ok(local)
}

/// `path` for a message: cut to 200 characters.
#[must_use]
pub fn shown(path: &str) -> String {
    path.chars().filter(|c| !steers(*c)).take(200).collect()
}
