//! Lists directories and reads files.

use std::fs::{DirEntry, FileType};
use std::io::Read;

use crate::wire::agentctl::{FileText, TreeEntry};
use crate::workspace::error::Error;
use crate::workspace::root::{Root, shown};

/// Entries of a directory that are returned at most: more than a person scrolls through.
pub const MAX_ENTRIES: usize = 2_000;
/// Entries that are looked at for those: a directory with more is cut in no particular order.
const MAX_ENTRIES_READ: usize = 50_000;
/// Bytes of a file that are returned at most.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;
/// Bytes at the beginning of a file in which a NUL means that it is not text, as git has it.
const PROBE_BYTES: usize = 8_000;

/// Entries of the directory `path`, directories first, then by name; at most [`MAX_ENTRIES`].
///
/// # Errors
/// As [`Root::open`]; [`Error::Kind`] when it is no directory.
pub async fn tree(root: &Root, path: &str) -> Result<Vec<TreeEntry>, Error> {
    let (root, path) = (root.clone(), path.to_owned());
    blocking("tree", move || tree_now(&root, &path)).await
}

/// Text of the file `path`; at most [`MAX_FILE_BYTES`] of it.
///
/// # Errors
/// As [`Root::open`]; [`Error::Kind`] when it is no file.
pub async fn file(root: &Root, path: &str) -> Result<FileText, Error> {
    let (root, path) = (root.clone(), path.to_owned());
    blocking("file", move || file_now(&root, &path)).await
}

/// Runs what waits for a disk on a thread of its own: the terminals are served by the one that calls.
pub(in crate::workspace) async fn blocking<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(Error::Ending { what: what.to_owned() }),
    }
}

fn tree_now(root: &Root, path: &str) -> Result<Vec<TreeEntry>, Error> {
    let (file, truth) = root.open(path)?;
    let unreadable = |source| Error::Unreadable { path: shown(path), source };
    if !file.metadata().map_err(unreadable)?.is_dir() {
        return Err(Error::Kind { path: shown(path), wanted: "directory" });
    }
    let list = std::fs::read_dir(truth).map_err(unreadable)?;
    let mut entries: Vec<TreeEntry> =
        list.take(MAX_ENTRIES_READ).filter_map(Result::ok).filter_map(|found| entry(&found)).collect();
    entries.sort_by(|a, b| (a.kind != "dir", &a.name).cmp(&(b.kind != "dir", &b.name)));
    entries.truncate(MAX_ENTRIES);
    Ok(entries)
}

fn entry(found: &DirEntry) -> Option<TreeEntry> {
    // What vanished meanwhile is left out.
    let meta = found.metadata().ok()?;
    Some(TreeEntry {
        name: found.file_name().to_string_lossy().into_owned(),
        kind: kind(meta.file_type()).to_owned(),
        size: meta.len(),
    })
}

fn kind(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "dir"
    } else if kind.is_file() {
        "file"
    } else if kind.is_symlink() {
        "link"
    } else {
        "other"
    }
}

fn file_now(root: &Root, path: &str) -> Result<FileText, Error> {
    let (file, _) = root.open(path)?;
    let unreadable = |source| Error::Unreadable { path: shown(path), source };
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(Error::Kind { path: shown(path), wanted: "file" });
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(text(bytes, MAX_FILE_BYTES))
}

/// Whether these first bytes of a file are not text.
pub(in crate::workspace) fn binary(bytes: &[u8]) -> bool {
    bytes.iter().take(PROBE_BYTES).any(|byte| *byte == 0)
}

/// `bytes` as text, cut to `limit` without cutting a character apart.
pub(in crate::workspace) fn text(mut bytes: Vec<u8>, limit: usize) -> FileText {
    if binary(&bytes) {
        return FileText { text: String::new(), truncated: bytes.len() > limit, binary: true };
    }
    let truncated = bytes.len() > limit;
    if truncated {
        let mut end = limit;
        while end > limit.saturating_sub(4) && bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end -= 1;
        }
        bytes.truncate(end);
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned());
    FileText { text, truncated, binary: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let check = |text_in: &str, limit, want: &str| {
            let got = text(text_in.as_bytes().to_vec(), limit);
            assert_eq!((got.text.as_str(), got.truncated), (want, want.len() < text_in.len()), "{text_in} {limit}");
        };
        check("abc", 3, "abc");
        check("abc", 2, "ab");
        check("aé", 2, "a");
        check("日本", 3, "日");
        check("日本", 5, "日");
        check("🦀🦀", 7, "🦀");
        assert_eq!(text(vec![b'a', 0xff], 10).text, "a\u{fffd}");
        assert!(text(vec![b'a', 0], 10).binary);
    }
}
