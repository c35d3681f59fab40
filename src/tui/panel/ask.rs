//! What the panels ask of a session's directory, and what they are told.

use crate::domain::words::ErrorCode;
use crate::wire::agentctl::{FileText, GitCommit, GitStatus, TreeEntry};

/// A question. Paths are relative to the session's directory; empty: the directory itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Branch and changes.
    Status,
    /// The newest commits.
    Log,
    /// What changed in a file since the last commit.
    Diff(String),
    /// A file that git does not know: all of it is new.
    New(String),
    /// A directory.
    Tree(String),
    /// A file.
    File(String),
}

impl Ask {
    /// The path of agentctl that answers it.
    #[must_use]
    pub fn address(&self) -> String {
        match self {
            Self::Status => "/git/status".into(),
            Self::Log => "/git/log".into(),
            Self::Diff(path) => format!("/git/diff?path={}", escaped(path)),
            Self::New(path) | Self::File(path) => format!("/workspace/file?path={}", escaped(path)),
            Self::Tree(path) => format!("/workspace/tree?path={}", escaped(path)),
        }
    }

    /// The path that it names.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Status | Self::Log => "",
            Self::Diff(path) | Self::New(path) | Self::Tree(path) | Self::File(path) => path,
        }
    }
}

/// A path as part of a query.
fn escaped(path: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend(
                [byte >> 4, byte & 15].iter().filter_map(|half| HEX.get(usize::from(*half))).copied().map(char::from),
            );
        }
    }
    out
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// To [`Ask::Status`].
    Status(GitStatus),
    /// To [`Ask::Log`].
    Log(Vec<GitCommit>),
    /// To [`Ask::Diff`], [`Ask::New`] and [`Ask::File`].
    Text(FileText),
    /// To [`Ask::Tree`].
    Tree(Vec<TreeEntry>),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Code; none when the link failed.
    pub code: Option<ErrorCode>,
    /// In words, with what to do.
    pub words: String,
}

impl Failure {
    /// It becomes better by itself, so it is tried again without a person's doing.
    #[must_use]
    pub const fn passes(&self) -> bool {
        matches!(
            self.code,
            None | Some(ErrorCode::ExecutorStarting | ErrorCode::ExecutorUnreachable | ErrorCode::ShuttingDown)
        )
    }
}

/// Questions of one kind: one is under way, the newest of the others waits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Slot {
    running: Option<Ask>,
    next: Option<Ask>,
}

impl Slot {
    /// Asks as soon as the one before is answered.
    pub fn wish(&mut self, ask: Ask) {
        self.next = Some(ask);
    }

    /// The question that is due.
    pub fn due(&mut self) -> Option<Ask> {
        if self.running.is_none() {
            self.running = self.next.take();
            return self.running.clone();
        }
        None
    }

    /// An answer came; `false` when nobody waits for it.
    pub fn answered(&mut self, ask: &Ask) -> bool {
        if self.running.as_ref() != Some(ask) {
            return false;
        }
        self.running = None;
        self.next.as_ref().is_none_or(|next| next == ask)
    }

    /// No answer will come.
    pub fn lost(&mut self) {
        if let Some(ask) = self.running.take()
            && self.next.is_none()
        {
            self.next = Some(ask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_for_its_query() {
        let check = |path: &str, want: &str| assert_eq!(Ask::File(path.into()).address(), want);
        check("src/a_b-c.rs", "/workspace/file?path=src/a_b-c.rs");
        check("a b+c&d=é%\n", "/workspace/file?path=a%20b%2Bc%26d%3D%C3%A9%25%0A");
        assert_eq!(Ask::Tree(String::new()).address(), "/workspace/tree?path=");
    }

    #[test]
    fn one_question_is_under_way_and_the_newest_waits() {
        let (a, b, c) = (Ask::File("a".into()), Ask::File("b".into()), Ask::File("c".into()));
        let mut slot = Slot::default();
        slot.wish(a.clone());
        assert_eq!(slot.due(), Some(a.clone()));
        slot.wish(b.clone());
        slot.wish(c.clone());
        assert_eq!(slot.due(), None);
        assert!(!slot.answered(&b), "it was never asked");
        assert!(!slot.answered(&a), "something else is wanted by now");
        assert_eq!(slot.due(), Some(c.clone()));
        slot.lost();
        assert_eq!(slot.due(), Some(c.clone()));
        assert!(slot.answered(&c));
        assert_eq!(slot.due(), None);
    }
}
