//! Files, worktrees and git of a session's directory, read-only for clients.
