//! Files and git of a workspace, with real repositories, hostile links and huge files.

#![expect(clippy::disallowed_types, reason = "the repositories are made with git")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use relight::domain::words::ErrorCode;
use relight::wire::agentctl::GitEntry;
use relight::workspace::files::{MAX_ENTRIES, MAX_FILE_BYTES, file, tree};
use relight::workspace::repository::{MAX_OUTPUT_BYTES, diff, log, status};
use relight::workspace::root::Root;
use relight::workspace::search::{MAX_HITS, search};
use relight::workspace::{Error, git};
use tempfile::TempDir;

fn workspace() -> (TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("work");
    fs::create_dir(&path).unwrap();
    let root = Root::new(&path).unwrap();
    (dir, root)
}

/// git as a person would run it, apart from this machine's own settings.
fn git(dir: &Path, args: &[&str]) {
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=A Name", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn repository() -> (TempDir, Root) {
    let (dir, root) = workspace();
    git(root.path(), &["init", "-q", "-b", "main"]);
    fs::write(root.path().join(".gitignore"), "ignored\n").unwrap();
    fs::write(root.path().join("a.txt"), "one\ntwo\n").unwrap();
    fs::create_dir(root.path().join("sub")).unwrap();
    fs::write(root.path().join("sub/b c.txt"), "three\n").unwrap();
    git(root.path(), &["add", "."]);
    git(root.path(), &["commit", "-q", "-m", "First: a thing"]);
    (dir, root)
}

#[tokio::test]
async fn a_directory_is_listed_and_a_file_is_read() {
    let (_dir, root) = workspace();
    let at = |name: &str| root.path().join(name);
    fs::create_dir(at("z")).unwrap();
    fs::write(at("a"), "text").unwrap();
    symlink("a", at("link")).unwrap();
    let entries = tree(&root, "").await.unwrap();
    let shown: Vec<_> = entries.iter().map(|e| (e.name.as_str(), e.kind.as_str())).collect();
    assert_eq!(shown, [("z", "dir"), ("a", "file"), ("link", "link")]);
    assert_eq!(entries[1].size, 4);
    for same in ["a", "/a", "./a", "link"] {
        assert_eq!(file(&root, same).await.unwrap().text, "text", "{same}");
    }
    assert!(matches!(file(&root, "z").await, Err(Error::Kind { wanted: "file", .. })));
    assert!(matches!(tree(&root, "a").await, Err(Error::Kind { wanted: "directory", .. })));
    assert!(matches!(file(&root, "none").await, Err(Error::Missing { .. })));
    assert!(matches!(file(&root, "nul\0byte").await, Err(Error::Missing { .. })));
}

#[tokio::test]
async fn nothing_leads_out_of_the_workspace() {
    let (dir, root) = workspace();
    fs::write(dir.path().join("secret"), "secret").unwrap();
    // A sibling whose name begins with the workspace's.
    fs::create_dir(dir.path().join("work-2")).unwrap();
    fs::write(dir.path().join("work-2/secret"), "secret").unwrap();
    let at = |name: &str| root.path().join(name);
    symlink("../secret", at("relative")).unwrap();
    symlink(dir.path().join("secret"), at("absolute")).unwrap();
    symlink("..", at("up")).unwrap();
    symlink("../work-2", at("sibling")).unwrap();
    symlink("relative", at("chain")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("/proc/self/root", at("root")).unwrap();
    let paths =
        ["relative", "absolute", "up/secret", "sibling/secret", "chain", "../secret", "root/etc/passwd", "a/../.."];
    for path in paths {
        let error = file(&root, path).await.unwrap_err();
        assert!(matches!(error, Error::Outside { .. }), "{path}: {error}");
        assert_eq!(error.code(), ErrorCode::Forbidden);
    }
    assert!(matches!(tree(&root, "up").await, Err(Error::Outside { .. })));
    assert!(matches!(file(&root, "loop").await, Err(Error::Unreadable { .. })));
    assert_eq!(search(&root, "secret").await.unwrap(), []);
    assert!(matches!(diff(&root, Some("../secret")).await, Err(Error::Outside { .. })));
    // A link that stays inside is no harm, absolute or not.
    fs::write(at("inside"), "inside").unwrap();
    symlink(at("inside"), at("good")).unwrap();
    assert_eq!(file(&root, "good").await.unwrap().text, "inside");
}

#[tokio::test]
async fn a_named_pipe_holds_nobody_up() {
    let (_dir, root) = workspace();
    let made = Command::new("mkfifo").arg(root.path().join("pipe")).status().unwrap();
    assert!(made.success());
    assert!(matches!(file(&root, "pipe").await, Err(Error::Kind { .. })));
    assert_eq!(search(&root, "x").await.unwrap(), []);
}

#[tokio::test]
async fn huge_and_binary_files_are_cut() {
    let (_dir, root) = workspace();
    let at = |name: &str| root.path().join(name);
    fs::write(at("huge"), "é".repeat(MAX_FILE_BYTES)).unwrap();
    let huge = file(&root, "huge").await.unwrap();
    assert!(huge.truncated && !huge.binary && huge.text.len() <= MAX_FILE_BYTES && !huge.text.contains('\u{fffd}'));
    fs::write(at("binary"), b"\x7fELF\0\0").unwrap();
    let binary = file(&root, "binary").await.unwrap();
    assert!(binary.binary && binary.text.is_empty());
    fs::File::create(at("sparse")).unwrap().set_len(1 << 40).unwrap();
    assert!(file(&root, "sparse").await.unwrap().truncated);
    for number in 0..MAX_ENTRIES + 10 {
        fs::File::create(at(&format!("n{number:05}"))).unwrap();
    }
    assert_eq!(tree(&root, "").await.unwrap().len(), MAX_ENTRIES);
}

#[tokio::test]
async fn a_search_respects_ignores_case_and_bounds() {
    let (_dir, root) = repository();
    let at = |name: &str| root.path().join(name);
    fs::write(at("ignored"), "Three\n").unwrap();
    fs::write(at("new"), "x\nThree\r\n").unwrap();
    fs::write(at("binary"), b"three\0").unwrap();
    let hits = |text: &'static str| {
        let root = root.clone();
        async move {
            let hits = search(&root, text).await.unwrap();
            hits.into_iter().map(|hit| format!("{}:{}:{}", hit.path, hit.line, hit.text)).collect::<Vec<_>>()
        }
    };
    let mut both = hits("three").await;
    both.sort();
    assert_eq!(both, ["new:2:Three", "sub/b c.txt:1:three"]);
    assert_eq!(hits("Three").await, ["new:2:Three"]);
    fs::write(at("many"), "needle\n".repeat(MAX_HITS + 100)).unwrap();
    assert_eq!(hits("needle").await.len(), MAX_HITS);
    fs::write(at("wide"), "wide ".repeat(1000)).unwrap();
    assert_eq!(search(&root, "wide").await.unwrap()[0].text.chars().count(), 400);
    for bad in ["", "a\nb"] {
        assert!(matches!(search(&root, bad).await, Err(Error::Text { .. })), "{bad:?}");
    }
}

#[tokio::test]
async fn a_search_goes_without_git_too() {
    let (_dir, root) = workspace();
    fs::create_dir_all(root.path().join("deep/er")).unwrap();
    fs::create_dir(root.path().join("node_modules")).unwrap();
    fs::write(root.path().join("deep/er/f"), "needle").unwrap();
    fs::write(root.path().join("node_modules/f"), "needle").unwrap();
    symlink("..", root.path().join("deep/loop")).unwrap();
    let hits = search(&root, "needle").await.unwrap();
    assert_eq!(hits.iter().map(|hit| hit.path.as_str()).collect::<Vec<_>>(), ["deep/er/f"]);
}

#[tokio::test]
async fn a_directory_without_repository_is_an_answer() {
    let (_dir, root) = workspace();
    let status = status(&root).await.unwrap();
    assert!(!status.repository && status.branch.is_none() && status.entries.is_empty());
    assert_eq!(diff(&root, None).await.unwrap().text, "");
    assert_eq!(log(&root).await.unwrap(), []);
}

#[tokio::test]
async fn status_diff_and_log_of_a_repository() {
    let (_dir, root) = repository();
    fs::write(root.path().join("a.txt"), "one\n2\n").unwrap();
    git(root.path(), &["mv", "sub/b c.txt", "sub/d é.txt"]);
    fs::write(root.path().join("new"), "").unwrap();
    let seen = status(&root).await.unwrap();
    assert_eq!((seen.repository, seen.branch.as_deref()), (true, Some("main")));
    let entry = |code: &str, path: &str| GitEntry { code: code.into(), path: path.into() };
    let mut entries = seen.entries;
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    assert_eq!(entries, [entry(" M", "a.txt"), entry("??", "new"), entry("R ", "sub/d é.txt")]);
    let all = diff(&root, None).await.unwrap();
    assert!(all.text.contains("-two\n+2\n") && all.text.contains("sub/d é.txt") && !all.truncated, "{}", all.text);
    let one = diff(&root, Some("a.txt")).await.unwrap();
    assert!(one.text.contains("+2\n") && !one.text.contains("sub/"), "{}", one.text);
    let log = log(&root).await.unwrap();
    assert_eq!((log.len(), log[0].author.as_str(), log[0].subject.as_str()), (1, "A Name", "First: a thing"));
    assert!(log[0].at > 1_600_000_000);
    // A session in a part of the repository sees that part, with paths of its own.
    let sub = Root::new(&root.path().join("sub")).unwrap();
    assert_eq!(status(&sub).await.unwrap().entries, [entry("R ", "d é.txt")]);
    let part = diff(&sub, None).await.unwrap().text;
    assert!(part.contains("d é.txt") && !part.contains("a.txt"), "{part}");
}

#[tokio::test]
async fn a_repository_without_commits_and_a_huge_diff() {
    let (_dir, root) = workspace();
    git(root.path(), &["init", "-q", "-b", "main"]);
    assert_eq!(log(&root).await.unwrap(), []);
    assert_eq!(status(&root).await.unwrap().branch.as_deref(), Some("main"));
    fs::write(root.path().join("big"), "a line of text\n".repeat(MAX_OUTPUT_BYTES / 10)).unwrap();
    git(root.path(), &["add", "."]);
    let diff = diff(&root, None).await.unwrap();
    assert!(diff.truncated && diff.text.len() <= MAX_OUTPUT_BYTES && diff.text.contains("+a line of text"));
}

/// A repository's own configuration and the caller's environment must not start programs or change what is answered.
#[tokio::test]
async fn a_hostile_repository_runs_nothing() {
    let (dir, root) = repository();
    let mark = dir.path().join("mark");
    let touch = |by: &str| format!("echo {by} >> {}; true", mark.display());
    for key in ["core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command"] {
        git(root.path(), &["config", key, &touch(key)]);
    }
    let hook = root.path().join(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\n{}\n", touch("hook"))).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(root.path().join(".gitattributes"), "*.txt diff=evil\n").unwrap();
    fs::write(root.path().join("a.txt"), "changed\n").unwrap();
    assert!(status(&root).await.unwrap().repository);
    assert!(diff(&root, None).await.unwrap().text.contains("+changed"));
    log(&root).await.unwrap();
    search(&root, "changed").await.unwrap();
    assert_eq!(fs::read_to_string(&mark).unwrap_or_default(), "", "programs that were run");
    assert!(!root.path().join(".git/index.lock").exists());
    // An unknown option is git's own failure, told with its words.
    let output = git::run(&root, &["status", "--no-such-option"], 10_000).await.unwrap();
    assert!(!output.success && !output.why.is_empty(), "{output:?}");
}

#[tokio::test]
async fn a_workspace_that_is_gone_says_so() {
    let (dir, root) = workspace();
    fs::remove_dir(root.path()).unwrap();
    assert_eq!(Root::new(&dir.path().join("work")).unwrap_err().code(), ErrorCode::WorktreeMissing);
    assert!(matches!(tree(&root, "").await, Err(Error::Missing { .. })));
}
