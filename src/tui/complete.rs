//! Directories that a person may mean who has typed the beginning of a path.

use std::path::{Path, PathBuf};

/// Directories offered at most.
const MOST: usize = 20;
/// Entries of a directory that are looked at: a huge one must not hold anything up.
const LOOKED_AT: usize = 5_000;

/// What a text typed as a directory means: absolute, below `cwd`, or below `home` after a `~`.
#[must_use]
pub fn place(text: &str, cwd: &str, home: &str) -> PathBuf {
    match text.strip_prefix('~') {
        Some("") if !home.is_empty() => PathBuf::from(home),
        Some(rest) if !home.is_empty() && rest.starts_with('/') => Path::new(home).join(rest.trim_start_matches('/')),
        _ => Path::new(cwd).join(text),
    }
}

/// Texts that begin with `text` and name directories, in order; hidden ones only when their dot was typed. `place` is what
/// `text` means.
#[must_use]
pub fn directories(text: &str, place: &Path) -> Vec<String> {
    let typed = text.rsplit('/').next().unwrap_or_default();
    let (head, dir) = if text.is_empty() || text.ends_with('/') {
        (text, place)
    } else {
        let head = text.get(..text.len() - typed.len()).unwrap_or_default();
        (head, place.parent().unwrap_or(place))
    };
    if typed == "~" || matches!(typed, "." | "..") {
        return vec![format!("{text}/")];
    }
    let Ok(entries) = std::fs::read_dir(dir) else { return vec![] };
    let mut found: Vec<String> = entries
        .take(LOOKED_AT)
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok().map(|name| (name, entry)))
        .filter(|(name, _)| name.starts_with(typed) && (typed.starts_with('.') || !name.starts_with('.')))
        .filter(|(name, entry)| !name.chars().any(char::is_control) && entry.path().is_dir())
        .map(|(name, _)| format!("{head}{name}/"))
        .collect();
    found.sort();
    found.truncate(MOST);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_offered_as_they_are_typed() {
        let home = tempfile::tempdir().unwrap();
        for dir in ["src/shop", "src/shore", "src/.hidden", "music"] {
            std::fs::create_dir_all(home.path().join(dir)).unwrap();
        }
        std::fs::write(home.path().join("src/ship"), "a file").unwrap();
        let at = home.path().to_str().unwrap();
        let offered = |text: &str| directories(text, &place(text, at, at));
        assert_eq!(offered("src/sh"), ["src/shop/", "src/shore/"]);
        assert_eq!(offered("~/m"), ["~/music/"]);
        assert_eq!(offered("~"), ["~/"]);
        assert_eq!(offered("src/.h"), ["src/.hidden/"]);
        assert_eq!(offered(&format!("{at}/sr")), [format!("{at}/src/")]);
        assert_eq!(offered("src/"), ["src/shop/", "src/shore/"]);
        assert_eq!(offered(""), ["music/", "src/"]);
        assert!(offered("nowhere/x").is_empty());
        assert_eq!(place("~/a", "/x", "/h"), Path::new("/h/a"));
        assert_eq!(place("b", "/x", ""), Path::new("/x/b"));
        assert_eq!(place("~", "/x", ""), Path::new("/x/~"));
    }
}
