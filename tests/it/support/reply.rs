//! What one call of the program gave.

use std::process::Output;

use serde_json::Value;

/// Exit code and output of one call.
#[derive(Debug)]
pub struct Reply {
    /// The arguments, for messages.
    pub called: String,
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Reply {
    pub fn new(called: String, output: &Output) -> Self {
        Self {
            called,
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The reply, if the exit code is 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    /// The reply, if the exit code is `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert!(self.code == Some(code), "exit code {code} was awaited: {self:#?}");
        self
    }

    /// The reply, if stderr says every one of `words`.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "stderr should say `{word}`: {self:#?}");
        }
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON ({error}): {self:#?}"))
    }

    /// Standard output as one JSON value a line.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}"));
        self.out.lines().map(read).collect()
    }

    /// The error object that `--json` puts on stderr.
    #[track_caller]
    pub fn error(&self) -> Value {
        let value: Value =
            serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("no JSON error ({error}): {self:#?}"));
        value["error"].clone()
    }
}
