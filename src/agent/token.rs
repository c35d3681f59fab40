//! Where a conversation's id can be read by those who do IO: what to look at, and how to read it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::domain::profile::{Profile, TokenSource};

use super::places::Places;

/// What agentctl watches to learn the conversation id. It does the IO; these functions read what it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenWatch {
    /// A JSON file that exists for the agent's pid; its text goes to [`TokenWatch::of_text`].
    File {
        /// The file.
        path: PathBuf,
        /// The field with the id.
        field: String,
    },
    /// One file of a directory belongs to the agent: the one whose pid ([`pid_in`]) is the agent's or a descendant's.
    /// File names go to [`TokenWatch::of_path`], with the directory.
    Directory {
        /// The directory.
        dir: PathBuf,
        /// Name of a file before and behind the id.
        around: (String, String),
        /// The JSON field with the pid.
        pid_field: Option<String>,
    },
    /// The agent or a descendant holds a file open (`/proc/PID/fd`): paths go to [`TokenWatch::of_path`].
    OpenFile {
        /// The path before and behind the id; `before` may be only its end.
        around: (String, String),
    },
}

impl TokenWatch {
    /// `journal::Body::Token`'s word for this source.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        match self {
            Self::File { .. } | Self::Directory { .. } => "pid_file",
            Self::OpenFile { .. } => "open_file",
        }
    }

    /// The id in the text of [`TokenWatch::File`].
    #[must_use]
    pub fn of_text(&self, text: &str) -> Option<String> {
        let Self::File { field, .. } = self else { return None };
        let value: Value = serde_json::from_str(text).ok()?;
        value.get(field)?.as_str().filter(|id| plausible(id)).map(str::to_owned)
    }

    /// The id in the path of a file.
    #[must_use]
    pub fn of_path(&self, path: &Path) -> Option<String> {
        let path = path.to_str()?;
        let (before, after) = match self {
            Self::File { .. } => return None,
            Self::Directory { dir, around: (before, after), .. } => {
                let name = path.strip_prefix(dir.to_str()?)?.strip_prefix('/')?;
                return name.strip_prefix(before)?.strip_suffix(after).filter(|id| plausible(id)).map(str::to_owned);
            }
            Self::OpenFile { around } => around,
        };
        let head = path.strip_suffix(after.as_str())?;
        let at = head.rfind(before.as_str())?;
        let starts = at == 0 || before.starts_with('/') || head.as_bytes().get(at - 1) == Some(&b'/');
        let id = head.get(at + before.len()..)?;
        (starts && plausible(id)).then(|| id.to_owned())
    }
}

/// Longest conversation id taken from a file's name or text, in bytes.
const MAX_TOKEN_BYTES: usize = 200;

fn plausible(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= MAX_TOKEN_BYTES
        && !id.starts_with('-')
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// What to watch for the agent of process `pid` with environment `env`; `None` when its profile learns the id elsewhere.
#[must_use]
pub fn watch(profile: &Profile, pid: i32, env: &[(String, String)]) -> Option<TokenWatch> {
    let rule = &profile.token;
    let file = rule.file.as_deref()?;
    let pid = pid.to_string();
    let pattern = fill(profile, file, env, Some(&pid), TOKEN_MARK)?;
    match rule.source {
        TokenSource::OpenFile => {
            let (before, after) = pattern.split_once(TOKEN_MARK)?;
            Some(TokenWatch::OpenFile { around: (before.to_owned(), after.to_owned()) })
        }
        TokenSource::PidFile => match pattern.split_once(TOKEN_MARK) {
            None => Some(TokenWatch::File { path: pattern.into(), field: rule.field.clone()? }),
            Some((before, after)) => {
                let (dir, name) = before.rsplit_once('/')?;
                Some(TokenWatch::Directory {
                    dir: dir.into(),
                    around: (name.to_owned(), after.to_owned()),
                    pid_field: rule.pid_field.clone(),
                })
            }
        },
        // Also with an id assigned in advance a file may tell that the agent went over to another conversation.
        TokenSource::Preassign if !pattern.contains(TOKEN_MARK) => {
            Some(TokenWatch::File { path: pattern.into(), field: rule.field.clone()? })
        }
        TokenSource::Preassign | TokenSource::Hook | TokenSource::None => None,
    }
}

/// The file that says that conversation `token` is open somewhere, if it names a live pid ([`pid_in`]).
#[must_use]
pub fn lock(profile: &Profile, token: &str, env: &[(String, String)]) -> Option<PathBuf> {
    if !plausible(token) {
        return None;
    }
    fill(profile, profile.token.lock.as_deref()?, env, None, token).map(PathBuf::from)
}

/// The pid in a lock file's text: its `pid_field`, else the text itself.
#[must_use]
pub fn pid_in(profile: &Profile, text: &str) -> Option<i32> {
    let pid = match &profile.token.pid_field {
        Some(field) => i32::try_from(serde_json::from_str::<Value>(text).ok()?.get(field)?.as_i64()?).ok()?,
        None => text.split_whitespace().next()?.parse().ok()?,
    };
    (pid > 0).then_some(pid)
}

/// Stands for the id while a pattern is taken apart: no path has it.
const TOKEN_MARK: &str = "\u{1}";

fn fill(profile: &Profile, pattern: &str, env: &[(String, String)], pid: Option<&str>, token: &str) -> Option<String> {
    let of = |name: &str| env.iter().rev().find(|(n, v)| n == name && !v.is_empty()).map(|(_, v)| v.as_str());
    let home = of("HOME");
    let rule = &profile.token;
    let default = rule.root_default.as_deref().and_then(|text| Places::default().with("home", home).fill(text));
    let root = rule.root.as_deref().and_then(of).or(default.as_deref());
    Places::default().with("home", home).with("root", root).with("pid", pid).with("token", Some(token)).fill(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::profile::TokenRule;

    fn profile(source: TokenSource, file: &str) -> Profile {
        Profile {
            token: TokenRule {
                source,
                file: Some(file.into()),
                field: Some("sessionId".into()),
                root: Some("X_HOME".into()),
                root_default: Some("{home}/.x".into()),
                lock: Some("{root}/active/{token}.lock".into()),
                ..TokenRule::default()
            },
            ..Profile::default()
        }
    }

    fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn a_file_of_the_pid() {
        let watch = watch(&profile(TokenSource::PidFile, "{root}/sessions/{pid}.json"), 7, &env(&[("HOME", "/h")]));
        let watch = watch.unwrap();
        assert!(matches!(&watch, TokenWatch::File { path, .. } if path == Path::new("/h/.x/sessions/7.json")));
        assert_eq!(watch.of_text(r#"{"sessionId":"ab-1"}"#).as_deref(), Some("ab-1"));
        assert_eq!(watch.of_text(r#"{"sessionId":"../x"}"#), None);
        assert_eq!(watch.of_text("{"), None);
    }

    #[test]
    fn an_open_file_and_a_directory() {
        let open = watch(&profile(TokenSource::OpenFile, "locks/{token}.lock"), 7, &[]).unwrap();
        assert_eq!(open.of_path(Path::new("/a/locks/id-1.lock")).as_deref(), Some("id-1"));
        assert_eq!(open.of_path(Path::new("/a/blocks/id-1.lock")), None);
        assert_eq!(open.of_path(Path::new("/a/locks/x/id.lock")), None);
        let all = env(&[("HOME", "/h"), ("X_HOME", "/x")]);
        let dir = watch(&profile(TokenSource::PidFile, "{root}/active/{token}.lock.json"), 7, &all).unwrap();
        assert!(matches!(&dir, TokenWatch::Directory { dir, .. } if dir == Path::new("/x/active")));
        assert_eq!(dir.of_path(Path::new("/x/active/id.lock.json")).as_deref(), Some("id"));
        assert_eq!(dir.of_path(Path::new("/y/active/id.lock.json")), None);
    }

    #[test]
    fn a_lock_names_a_pid() {
        let mut profile = profile(TokenSource::Preassign, "");
        let home = env(&[("HOME", "/h")]);
        assert_eq!(lock(&profile, "id", &home), Some("/h/.x/active/id.lock".into()));
        assert_eq!(lock(&profile, "../id", &home), None);
        assert_eq!(lock(&profile, "id", &[]), None);
        assert_eq!(pid_in(&profile, "12\n"), Some(12));
        assert_eq!(pid_in(&profile, "-1"), None);
        profile.token.pid_field = Some("process_id".into());
        assert_eq!(pid_in(&profile, r#"{"process_id": 13}"#), Some(13));
    }
}
