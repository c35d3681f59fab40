//! Looks for what would make a start fail before it is tried: after the fork there is nobody left to tell.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::process::{Resource, getrlimit};

use crate::pty::error::{Error, Result};

/// Longest single argument or variable, with its final NUL: the kernel's MAX_ARG_STRLEN.
pub const MAX_STRING_BYTES: usize = 32 * 4096;
/// All arguments and variables together may fill a quarter of the stack; the kernel allows at most this, however
/// large the stack.
const MAX_TOTAL_BYTES: usize = 6 * 1024 * 1024;
/// Room that the kernel wants besides: pointers of each string are counted apart, this is for the rest.
const TOTAL_SLACK_BYTES: usize = 8 * 1024;
/// How much of a script's first line the kernel reads.
const FIRST_LINE_BYTES: u64 = 256;

/// The directory exists and can be entered.
///
/// # Errors
/// [`Error::DirectoryMissing`], [`Error::DirectoryUnusable`].
pub fn directory(path: &Path) -> Result<()> {
    let unusable = |why: String| Error::DirectoryUnusable { directory: path.to_owned(), why };
    if !path.is_absolute() {
        return Err(unusable("it is not an absolute path".into()));
    }
    match fs::metadata(path) {
        Ok(meta) if !meta.is_dir() => return Err(unusable("it is not a directory".into())),
        Ok(_) => {}
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(Error::DirectoryMissing { directory: path.to_owned() });
        }
        Err(error) => return Err(unusable(error.to_string())),
    }
    access(path, Access::EXEC_OK).map_err(|errno| unusable(io::Error::from(errno).to_string()))
}

/// The absolute path of `program`: itself, or found on the PATH of `env`, as seen from `cwd`. It is a file that can be
/// executed, and its interpreter, if it needs one, is there.
///
/// # Errors
/// [`Error::ProgramMissing`], [`Error::NotExecutable`], [`Error::InterpreterMissing`].
pub fn program(program: &Path, env: &[(String, String)], cwd: &Path) -> Result<PathBuf> {
    if program.components().count() > 1 || program.is_absolute() {
        let full = cwd.join(program);
        if !full.exists() {
            return Err(Error::ProgramMissing { program: program.to_owned(), path: full.display().to_string() });
        }
        executable(&full)?;
        return Ok(full);
    }
    let path = env.iter().rev().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    let mut found = None;
    // A file without permission does not hide a good one further on, as with execvp.
    for dir in std::env::split_paths(path).filter(|_| !path.is_empty() && !program.as_os_str().is_empty()) {
        let full = cwd.join(dir).join(program);
        if !full.is_file() {
            continue;
        }
        match executable(&full) {
            Ok(()) => return Ok(full),
            Err(error) => found = found.or(Some(error)),
        }
    }
    Err(found.unwrap_or_else(|| Error::ProgramMissing { program: program.to_owned(), path: path.to_owned() }))
}

fn executable(full: &Path) -> Result<()> {
    let refuse = |why| Error::NotExecutable { program: full.to_owned(), why };
    if full.is_dir() {
        return Err(refuse("it is a directory"));
    }
    if access(full, Access::EXEC_OK).is_err() {
        return Err(refuse("it has no execute permission; try `chmod +x`"));
    }
    let mut start = Vec::new();
    // A program may be executable and yet not readable: then its form is the kernel's affair.
    let Ok(file) = File::open(full) else { return Ok(()) };
    if file.take(FIRST_LINE_BYTES).read_to_end(&mut start).is_err() {
        return Ok(());
    }
    if start.is_empty() {
        return Err(refuse("it is empty"));
    }
    match interpreter(&start) {
        Some(interpreter) if !interpreter.exists() => {
            Err(Error::InterpreterMissing { program: full.to_owned(), interpreter })
        }
        None if looks_like_text(&start) => Err(refuse("it is a text without a first line like `#!/bin/sh`")),
        Some(_) | None => Ok(()),
    }
}

fn interpreter(start: &[u8]) -> Option<PathBuf> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(word)))
}

fn looks_like_text(start: &[u8]) -> bool {
    start.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~' | 0x80..))
}

/// Arguments and environment are such that the kernel takes them.
///
/// # Errors
/// [`Error::TooLong`], [`Error::Unpassable`].
pub fn strings(program: &Path, args: &[String], env: &[(String, String)]) -> Result<()> {
    let pointer = size_of::<usize>();
    let mut total = program.as_os_str().len() * 2 + TOTAL_SLACK_BYTES;
    for (index, arg) in args.iter().enumerate() {
        let what = || format!("argument {} of {}", index + 1, program.display());
        if arg.contains('\0') {
            return Err(Error::Unpassable { what: what() });
        }
        total += one(arg.len() + 1, what)? + pointer;
    }
    for (name, value) in env {
        // The value may be a secret, the name is not.
        let what = || format!("variable `{}`", name.escape_default());
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(Error::Unpassable { what: what() });
        }
        total += one(name.len() + value.len() + 2, what)? + pointer;
    }
    let stack = getrlimit(Resource::Stack).current.and_then(|bytes| usize::try_from(bytes).ok());
    let limit = stack.map_or(MAX_TOTAL_BYTES, |bytes| bytes / 4).min(MAX_TOTAL_BYTES);
    if total > limit {
        return Err(Error::TooLong { what: "the whole of arguments and environment".into(), bytes: total, limit });
    }
    Ok(())
}

fn one(bytes: usize, what: impl FnOnce() -> String) -> Result<usize> {
    if bytes > MAX_STRING_BYTES {
        return Err(Error::TooLong { what: what(), bytes, limit: MAX_STRING_BYTES });
    }
    Ok(bytes)
}
