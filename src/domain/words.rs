//! The closed sets of words that rows, messages and the screen share. Each has one spelling, used in the
//! database, on the wire and in the command line's JSON.

use serde::{Deserialize, Serialize};

/// A text that is none of a closed set's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a known {kind}; known are: {known}")]
pub struct UnknownWord {
    /// The set.
    pub kind: &'static str,
    /// The text as given.
    pub value: String,
    /// The words of the set, separated by commas.
    pub known: String,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $kind:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[doc = concat!("`", $text, "`")] #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Every word of the set, in the order of its definition.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word as it is stored, sent and shown.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownWord;
            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    other => Err(UnknownWord {
                        kind: $kind,
                        value: other.chars().take(80).collect(),
                        known: [$($text),+].join(", "),
                    }),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words!(
    /// State of a task.
    TaskState, "task state" {
        Todo = "TODO",
        InProgress = "IN_PROGRESS",
        Review = "REVIEW",
        Done = "DONE",
        Cancelled = "CANCELLED",
    }
);
words!(
    /// State of a session, as stored.
    SessionState, "session state" {
        Created = "CREATED",
        Starting = "STARTING",
        Running = "RUNNING",
        WaitingForInput = "WAITING_FOR_INPUT",
        Completed = "COMPLETED",
        Error = "ERROR",
        Cancelled = "CANCELLED",
    }
);
words!(
    /// Whether a person wants the session's agent to run.
    Wanted, "wish" {
        Run = "run",
        Stop = "stop",
    }
);
words!(
    /// Status of a running executor instance, as stored.
    ExecutorStatus, "executor status" {
        Starting = "starting",
        Ready = "ready",
        Error = "error",
        Stopped = "stopped",
    }
);
words!(
    /// Where an executor runs.
    Runtime, "runtime" {
        Local = "local",
        Docker = "docker",
        Ssh = "ssh",
        Remote = "remote",
    }
);
words!(
    /// What runs in a terminal.
    TerminalKind, "terminal kind" {
        Agent = "agent",
        Shell = "shell",
    }
);
words!(
    /// Life of a terminal.
    TerminalStatus, "terminal status" {
        /// Its process lives, or is being started.
        Active = "active",
        /// Its process ended; its history is still its own.
        Exited = "exited",
        /// Gone; its history belongs to its successor, if it has one.
        Disposed = "disposed",
    }
);
words!(
    /// How the tie between a conversation and a terminal ended.
    EndReason, "end reason" {
        /// A person ended the agent from inside.
        Detached = "detached",
        /// The agent died under the person: the only reason that makes a candidate.
        TerminalExited = "terminal-exited",
        /// A claim took it.
        Resumed = "resumed",
        /// A person ended it from outside: close, kill.
        Disposed = "disposed",
        /// Another session holds the conversation now.
        Superseded = "superseded",
    }
);
words!(
    /// What the badge of a session shows.
    Activity, "activity" {
        Starting = "starting",
        Working = "working",
        NeedsPermission = "needs-permission",
        NeedsInput = "needs-input",
        Ready = "ready",
        Background = "background",
        Interrupted = "interrupted",
        RateLimited = "rate-limited",
        Resuming = "resuming",
        Unreachable = "unreachable",
        Error = "error",
        Ended = "ended",
    }
);
words!(
    /// What made a resume attempt happen.
    Trigger, "trigger" {
        /// Found when the host started.
        Start = "start",
        /// Died while the host lived.
        Crash = "crash",
        /// A person asked.
        User = "user",
        /// A client looked at it (`resume.auto = "on_view"`).
        View = "view",
    }
);
words!(
    /// How a resume attempt ended.
    Outcome, "outcome" {
        Resumed = "resumed",
        Failed = "failed",
        /// The launch's fate is not known yet.
        Unknown = "unknown",
    }
);
words!(
    /// Why a session is not resumed by itself any more, until a person asks.
    Hold, "hold" {
        CrashLoop = "crash_loop",
        LaunchFailed = "launch_failed",
        LoginExpired = "login_expired",
        UnknownConversation = "unknown_conversation",
        ConfigGone = "config_gone",
        ResumeUnsupported = "resume_unsupported",
        MissingResumeToken = "missing_resume_token",
    }
);
words!(
    /// Policy of automatic resume.
    AutoResume, "automatic resume policy" {
        Always = "always",
        OnView = "on_view",
        Never = "never",
    }
);
words!(
    /// Why a session can or cannot be resumed now: one word for `task.session.status`, `resume` and the screen.
    ResumeReason, "resume reason" {
        AgentRunning = "agent_running",
        AgentNotRunning = "agent_not_running",
        Resuming = "resuming",
        Resumed = "resumed",
        StartedFresh = "started_fresh",
        Recovering = "recovering",
        ExecutorUnreachable = "executor_unreachable",
        ExecutorError = "executor_error",
        WorktreeMissing = "worktree_missing",
        NotResumable = "not_resumable",
        MissingResumeToken = "missing_resume_token",
        NeverPrompted = "never_prompted",
        NeverStarted = "never_started",
        Completed = "completed",
        Disposed = "disposed",
        Superseded = "superseded",
        Dismissed = "dismissed",
        AutoOff = "auto_off",
        CrashLoop = "crash_loop",
        BackingOff = "backing_off",
        LaunchFailed = "launch_failed",
        LoginExpired = "login_expired",
        UnknownConversation = "unknown_conversation",
        ConfigGone = "config_gone",
        ResumeUnsupported = "resume_unsupported",
        NoCandidate = "no_candidate",
    }
);
words!(
    /// Stable codes of errors on every interface.
    ErrorCode, "error code" {
        SessionNotFound = "session_not_found",
        SessionAmbiguous = "session_ambiguous",
        SessionNotInTask = "session_not_in_task",
        TaskNotFound = "task_not_found",
        TerminalNotFound = "terminal_not_found",
        /// A program runs in the shell that is to be closed.
        TerminalBusy = "terminal_busy",
        NotResumable = "not_resumable",
        MissingResumeToken = "missing_resume_token",
        WorktreeMissing = "worktree_missing",
        DirectoryMissing = "directory_missing",
        AgentUnknown = "agent_unknown",
        AgentNotFound = "agent_not_found",
        AgentRunning = "agent_running",
        AgentNotRunning = "agent_not_running",
        AlreadyBound = "already_bound",
        AliveElsewhere = "alive_elsewhere",
        ConfigGone = "config_gone",
        ResumeUnsupported = "resume_unsupported",
        LaunchFailed = "launch_failed",
        LoginExpired = "login_expired",
        UnknownConversation = "unknown_conversation",
        StaleEpoch = "stale_epoch",
        Cancelled = "cancelled",
        FenceFailed = "fence_failed",
        ExecutorUnsupported = "executor_unsupported",
        ExecutorUnreachable = "executor_unreachable",
        ExecutorStarting = "executor_starting",
        ExecutorError = "executor_error",
        DiskFull = "disk_full",
        Database = "database",
        BadRequest = "bad_request",
        UnknownMethod = "unknown_method",
        VersionMismatch = "version_mismatch",
        TooManyConnections = "too_many_connections",
        Forbidden = "forbidden",
        Timeout = "timeout",
        ShuttingDown = "shutting_down",
        Internal = "internal",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for state in SessionState::ALL {
            assert_eq!(state.as_str().parse::<SessionState>().as_ref(), Ok(state));
            assert_eq!(serde_json::to_string(state).unwrap(), format!("\"{}\"", state.as_str()));
        }
        assert!("running".parse::<SessionState>().is_err());
    }
}
