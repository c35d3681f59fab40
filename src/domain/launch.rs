//! What is needed to start a program in a terminal, and who a started process is.

use serde::{Deserialize, Serialize};

/// A process, named so that a reused pid is never taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcIdentity {
    /// Kernel boot id at the time of the start.
    pub boot_id: String,
    /// Process id in the namespace of the process that recorded it.
    pub pid: i32,
    /// Field 22 of `/proc/PID/stat`: clock ticks after boot.
    pub start_time: u64,
}

/// A process's end: an exit code, or the signal that ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Ended by itself with this code, 0 to 255.
    Code(i32),
    /// Ended by this signal.
    Signal(i32),
    /// It is gone, and nobody was there to see how (its supervisor died with or before it).
    Unknown,
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("an end that nobody saw"),
        }
    }
}

/// Size of a terminal in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Size {
    /// Columns, at least 2.
    pub cols: u16,
    /// Rows, at least 1.
    pub rows: u16,
}

impl Size {
    /// Size of a terminal that nobody looks at yet.
    pub const DEFAULT: Self = Self { cols: 80, rows: 24 };
    /// Upper bound of either side: larger sizes are cut to it.
    pub const MAX: u16 = 1000;

    /// A size within bounds: 2 to [`Self::MAX`] columns (one column and a wide character do not go
    /// together), 1 to [`Self::MAX`] rows.
    #[must_use]
    pub fn clamped(cols: u16, rows: u16) -> Self {
        Self { cols: cols.clamp(2, Self::MAX), rows: rows.clamp(1, Self::MAX) }
    }
}

/// How a program was started: kept with the session, so that a resume has the same flags, environment and directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Launch {
    /// Arguments that the person gave after `--`, without the program and without what the profile adds.
    pub args: Vec<String>,
    /// Environment of the person's shell at `new`, already scrubbed. Never printed.
    pub env: Vec<(String, String)>,
    /// Working directory, absolute.
    pub cwd: String,
    /// First prompt, if one was given.
    pub prompt: Option<String>,
}
