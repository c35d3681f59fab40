//! Searches the text of a workspace, within bounds.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::wire::agentctl::SearchHit;
use crate::workspace::error::Error;
use crate::workspace::files::{MAX_FILE_BYTES, binary, blocking};
use crate::workspace::repository::files;
use crate::workspace::root::{Root, shown};

/// Lines returned at most.
pub const MAX_HITS: usize = 500;
/// Files looked into at most.
const MAX_FILES: usize = 50_000;
/// Time for all of it; what was found by then is the answer.
const DEADLINE: Duration = Duration::from_secs(5);
/// Longest text searched for, in characters.
const MAX_TEXT_CHARS: usize = 1_000;
/// Longest line returned, in characters.
const MAX_LINE_CHARS: usize = 400;
/// Directories that hold no text of a person's, where no `.gitignore` says so.
const SKIPPED: &[&str] = &[".git", "node_modules", "target", ".venv", "__pycache__"];

/// Lines that contain `text`, in files that git does not ignore (or in all, where there is no git); upper and lower case are
/// the same unless `text` has an upper-case letter. At most [`MAX_HITS`], and what 5 s are enough for.
///
/// # Errors
/// [`Error::Text`]; a file that cannot be read is left out.
pub async fn search(root: &Root, text: &str) -> Result<Vec<SearchHit>, Error> {
    if text.is_empty() || text.chars().count() > MAX_TEXT_CHARS || text.contains(['\n', '\r']) {
        return Err(Error::Text { text: shown(text) });
    }
    let listed = files(root).await;
    let (root, text) = (root.clone(), text.to_owned());
    blocking("search", move || {
        let needle = Needle::new(&text);
        let end = Instant::now() + DEADLINE;
        let mut hits = Vec::new();
        match listed {
            Some(listed) => {
                for path in listed.iter().take(MAX_FILES) {
                    if Instant::now() > end || !look(&root, Path::new(path), &needle, &mut hits) {
                        break;
                    }
                }
            }
            None => walk(&root, &needle, end, &mut hits),
        }
        Ok(hits)
    })
    .await
}

struct Needle {
    text: String,
    fold: bool,
}

impl Needle {
    fn new(text: &str) -> Self {
        let fold = !text.chars().any(char::is_uppercase);
        Self { text: if fold { text.to_lowercase() } else { text.to_owned() }, fold }
    }

    fn is_in(&self, line: &str) -> bool {
        if self.fold { line.to_lowercase().contains(&self.text) } else { line.contains(&self.text) }
    }
}

/// Breadth first, so that what lies near the top is found in time. Links are not followed.
fn walk(root: &Root, needle: &Needle, end: Instant, hits: &mut Vec<SearchHit>) {
    let mut dirs = VecDeque::from([PathBuf::new()]);
    let mut seen = 0;
    while let Some(dir) = dirs.pop_front() {
        let Ok(list) = std::fs::read_dir(root.path().join(&dir)) else { continue };
        let mut list: Vec<_> = list.filter_map(Result::ok).take(MAX_FILES).collect();
        list.sort_by_key(std::fs::DirEntry::file_name);
        for found in list {
            let (Ok(kind), name) = (found.file_type(), found.file_name()) else { continue };
            let path = dir.join(&name);
            if kind.is_dir() && !SKIPPED.iter().any(|skipped| name == *skipped) && dirs.len() < MAX_FILES {
                dirs.push_back(path);
            } else if kind.is_file() {
                seen += 1;
                if seen > MAX_FILES || Instant::now() > end || !look(root, &path, needle, hits) {
                    return;
                }
            }
        }
    }
}

/// Looks into one file; whether there may be more hits.
fn look(root: &Root, path: &Path, needle: &Needle, hits: &mut Vec<SearchHit>) -> bool {
    let Some(shown) = path.to_str() else { return true };
    // A link is not followed: what it leads to is found where it is, or is none of ours.
    if !root.path().join(path).symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return true;
    }
    let Ok((file, _)) = root.open(shown) else { return true };
    let mut bytes = Vec::new();
    if file.take(MAX_FILE_BYTES as u64).read_to_end(&mut bytes).is_err() || binary(&bytes) {
        return true;
    }
    for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
        if needle.is_in(line) {
            hits.push(SearchHit {
                path: shown.to_owned(),
                line: u32::try_from(number + 1).unwrap_or(u32::MAX),
                text: line.chars().take(MAX_LINE_CHARS).collect(),
            });
            if hits.len() >= MAX_HITS {
                return false;
            }
        }
    }
    true
}
