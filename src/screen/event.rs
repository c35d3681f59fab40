//! What the model reports besides the screen: replies for the program and signals for everybody else.

/// Longest title kept, in characters: no bar shows more.
pub const MAX_TITLE_CHARS: usize = 512;

/// Longest text of a notification or status message, in characters: several lines of any pane.
pub const MAX_MESSAGE_CHARS: usize = 2048;

/// Something read from a program's output. Texts are free of control characters and bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    /// Bytes to write to the program, at once and in this order.
    Reply(Vec<u8>),
    /// The title changed; empty: it was reset.
    Title(String),
    /// BEL outside a sequence.
    Bell,
    /// A notification (OSC 9, 99, 777).
    Notification {
        /// Title, may be empty.
        title: String,
        /// Text.
        text: String,
    },
    /// Progress in percent (OSC 9;4); `None`: no progress any more, or progress without a number.
    Progress(Option<u8>),
    /// Whether the program shows any progress, with or without a number (OSC 9;4); stands before its `Progress`.
    Busy(bool),
    /// A report of the program status protocol (OSC 7501).
    ProgramStatus {
        /// State.
        state: ProgramState,
        /// What it waits for, when blocked.
        kind: Option<BlockedOn>,
        /// Program that reports.
        app: Option<String>,
        /// Record, as a path `a/b`; `None`: the root record.
        id: Option<String>,
        /// Title of the record.
        title: Option<String>,
        /// Message.
        msg: Option<String>,
        /// Percent, 0 to 100.
        progress: Option<u8>,
    },
    /// Working directory of the program, a path (OSC 7).
    Cwd(String),
    /// The program sets the clipboard (OSC 52); the bytes, decoded.
    Clipboard(Vec<u8>),
    /// A mark of shell integration (OSC 133).
    PromptMark(PromptMark),
}

/// States of the program status protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramState {
    /// Waits for its next prompt.
    Idle,
    /// Works.
    Working,
    /// Finished what it was asked.
    Done,
    /// Waits for a person.
    Blocked,
    /// Failed.
    Error,
    /// The record is withdrawn.
    Clear,
}

/// What a blocked program waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockedOn {
    /// Permission.
    Permission,
    /// An answer.
    Question,
    /// A login.
    Auth,
}

/// Marks of shell integration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptMark {
    /// The prompt begins (A).
    Prompt,
    /// The command line begins (B).
    Input,
    /// Output begins (C).
    Output,
    /// The command ended (D), with its exit code if told.
    Done(Option<i32>),
}
