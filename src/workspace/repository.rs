//! Status, diff, log and file list of the git repository around a workspace.

use crate::wire::agentctl::{FileText, GitCommit, GitEntry, GitStatus};
use crate::workspace::error::Error;
use crate::workspace::files::text;
use crate::workspace::git::{Output, name, run};
use crate::workspace::root::{Root, local};

/// Output of git that is read at most, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 2 * 1024 * 1024;
/// The same for a list of files: 100,000 of ordinary length.
const MAX_LIST_BYTES: usize = 8 * 1024 * 1024;
/// Changed paths returned at most.
pub const MAX_CHANGES: usize = 2_000;
/// Commits returned at most.
pub const MAX_COMMITS: usize = 100;
/// Separates the fields of a commit: no subject and no name has it.
const FIELD: char = '\u{1f}';

/// Status of the workspace. Where there is no repository, that is the answer.
///
/// # Errors
/// Those of [`run`], and [`Error::Git`] for a repository that git cannot read.
pub async fn status(root: &Root) -> Result<GitStatus, Error> {
    let nothing = GitStatus { repository: false, branch: None, ahead_behind: None, entries: Vec::new() };
    let Some(prefix) = prefix(root).await? else { return Ok(nothing) };
    let args = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--", "."];
    let output = good(&args, run(root, &args, MAX_OUTPUT_BYTES).await?)?;
    Ok(parse_status(&output.bytes, &prefix))
}

/// What changed since the last commit, in the whole workspace or in `path`. Empty where there is no repository.
///
/// # Errors
/// [`Error::Outside`], those of [`run`], and [`Error::Git`].
pub async fn diff(root: &Root, path: Option<&str>) -> Result<FileText, Error> {
    let path = match path.filter(|path| !path.is_empty()) {
        Some(path) => local(path)?.to_string_lossy().into_owned(),
        None => ".".to_owned(),
    };
    if prefix(root).await?.is_none() {
        return Ok(FileText { text: String::new(), truncated: false, binary: false });
    }
    let born = run(root, &["rev-parse", "--verify", "--quiet", "HEAD"], MAX_OUTPUT_BYTES).await?.success;
    // Before the first commit there is only what was added.
    let since = if born { "HEAD" } else { "--cached" };
    let args = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--relative", since, "--", &path];
    let output = good(&args, run(root, &args, MAX_OUTPUT_BYTES).await?)?;
    let shown = text(output.bytes, MAX_OUTPUT_BYTES);
    Ok(FileText { truncated: output.truncated, binary: false, ..shown })
}

/// The newest commits, at most [`MAX_COMMITS`]. None where there is no repository or no commit.
///
/// # Errors
/// Those of [`run`].
pub async fn log(root: &Root) -> Result<Vec<GitCommit>, Error> {
    let count = format!("-n{MAX_COMMITS}");
    let args = ["log", &count, "-z", "--no-color", "--no-ext-diff", "--format=%h%x1f%an%x1f%ct%x1f%s"];
    let output = run(root, &args, MAX_OUTPUT_BYTES).await?;
    if !output.success {
        return Ok(Vec::new());
    }
    Ok(String::from_utf8_lossy(&output.bytes).split('\0').filter_map(commit).collect())
}

/// Files of the workspace that git knows or does not ignore, relative to it; `None` where there is no repository (or git
/// cannot tell).
pub async fn files(root: &Root) -> Option<Vec<String>> {
    let args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "."];
    let output = run(root, &args, MAX_LIST_BYTES).await.ok().filter(|output| output.success)?;
    let list = String::from_utf8_lossy(&output.bytes);
    let mut files: Vec<String> = list.split('\0').filter(|path| !path.is_empty()).map(ToOwned::to_owned).collect();
    files.dedup();
    Some(files)
}

/// Path of the workspace below the top of its repository, with a `/` at its end; `None` without repository.
async fn prefix(root: &Root) -> Result<Option<String>, Error> {
    let output = run(root, &["rev-parse", "--is-inside-work-tree", "--show-prefix"], MAX_OUTPUT_BYTES).await?;
    let said = String::from_utf8_lossy(&output.bytes);
    let mut lines = said.lines();
    Ok((output.success && lines.next() == Some("true")).then(|| lines.next().unwrap_or_default().to_owned()))
}

fn good(args: &[&str], output: Output) -> Result<Output, Error> {
    if output.success { Ok(output) } else { Err(Error::Git { what: name(args), why: output.why }) }
}

fn commit(text: &str) -> Option<GitCommit> {
    let mut fields = text.trim_start_matches('\n').splitn(4, FIELD);
    let (id, author, at, subject) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    Some(GitCommit { id: id.to_owned(), author: author.to_owned(), subject: subject.to_owned(), at: at.parse().ok()? })
}

/// Reads porcelain version 2 with NULs; paths are given from the repository's top, and returned from the workspace.
fn parse_status(bytes: &[u8], prefix: &str) -> GitStatus {
    let all = String::from_utf8_lossy(bytes);
    let mut status = GitStatus { repository: true, branch: None, ahead_behind: None, entries: Vec::new() };
    let mut oid = None;
    let mut fields = all.split('\0');
    while let Some(field) = fields.next() {
        if let Some(head) = field.strip_prefix("# branch.oid ") {
            oid = head.get(..8).map(ToOwned::to_owned);
        } else if let Some(head) = field.strip_prefix("# branch.head ") {
            status.branch = if head == "(detached)" { oid.clone() } else { Some(head.to_owned()) };
        } else if let Some(text) = field.strip_prefix("# branch.ab ") {
            status.ahead_behind = ahead_behind(text);
        } else if let Some(entry) = entry(field, prefix) {
            if field.starts_with("2 ") {
                // The path that it was renamed from stands in a field of its own.
                fields.next();
            }
            if status.entries.len() < MAX_CHANGES {
                status.entries.push(entry);
            }
        }
    }
    status
}

fn ahead_behind(text: &str) -> Option<(u32, u32)> {
    let (ahead, behind) = text.split_once(' ')?;
    Some((ahead.strip_prefix('+')?.parse().ok()?, behind.strip_prefix('-')?.parse().ok()?))
}

fn entry(field: &str, prefix: &str) -> Option<GitEntry> {
    let (kind, rest) = field.split_once(' ')?;
    // How many fields stand before the path.
    let (code, path) = match kind {
        "?" => ("??", rest),
        "!" => ("!!", rest),
        "1" => (rest.get(..2)?, rest.splitn(8, ' ').nth(7)?),
        "2" => (rest.get(..2)?, rest.splitn(9, ' ').nth(8)?),
        "u" => (rest.get(..2)?, rest.splitn(10, ' ').nth(9)?),
        _ => return None,
    };
    let path = path.strip_prefix(prefix).unwrap_or(path);
    Some(GitEntry { code: code.replace('.', " "), path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn porcelain_version_2_is_read() {
        let text = "# branch.oid 0123456789abcdef\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -1\0\
                    1 .M N... 100644 100644 100644 aaaa bbbb sub/a file\0\
                    2 R. N... 100644 100644 100644 aaaa bbbb R100 sub/new name\0sub/? old\0\
                    u UU N... 100644 100644 100644 100644 aaaa bbbb cccc sub/both\0? sub/x\0";
        let status = parse_status(text.as_bytes(), "sub/");
        assert_eq!((status.branch.as_deref(), status.ahead_behind), (Some("main"), Some((2, 1))));
        let entries: Vec<_> = status.entries.iter().map(|e| (e.code.as_str(), e.path.as_str())).collect();
        assert_eq!(entries, [(" M", "a file"), ("R ", "new name"), ("UU", "both"), ("??", "x")]);
        let detached = parse_status(b"# branch.oid 0123456789abcdef\0# branch.head (detached)\0", "");
        assert_eq!(detached.branch.as_deref(), Some("01234567"));
    }
}
