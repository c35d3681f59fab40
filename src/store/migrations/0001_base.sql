-- The first schema: tasks, sessions, their executors, terminals and bindings, and what happened.
-- Times are milliseconds since the Unix epoch. Words are those of `domain::words`.
PRAGMA application_id = 1919706996;

CREATE TABLE tasks (
    id              TEXT PRIMARY KEY NOT NULL,
    title           TEXT NOT NULL,
    state           TEXT NOT NULL,
    repository_path TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE task_sessions (
    id                 TEXT PRIMARY KEY NOT NULL,
    task_id            TEXT NOT NULL REFERENCES tasks (id),
    name               TEXT NOT NULL,
    state              TEXT NOT NULL,
    wanted             TEXT NOT NULL,
    agent_profile_id   TEXT NOT NULL,
    agent_execution_id TEXT,
    executor_id        TEXT NOT NULL,
    metadata           TEXT NOT NULL DEFAULT '{}',
    prompted_at        INTEGER,
    worktree_id        TEXT,
    worktree_path      TEXT,
    worktree_branch    TEXT,
    error_message      TEXT,
    auto_resume        TEXT,
    hold               TEXT,
    unsettled_deaths   INTEGER NOT NULL DEFAULT 0,
    not_before         INTEGER,
    interrupted        INTEGER NOT NULL DEFAULT 0,
    pending            TEXT,
    -- Highest claim epoch ever given out: also those of launches that never happened.
    last_epoch         INTEGER NOT NULL DEFAULT 0,
    launch_args        TEXT NOT NULL,
    launch_env         TEXT NOT NULL,
    launch_cwd         TEXT NOT NULL,
    launch_prompt      TEXT,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL
) STRICT;
CREATE INDEX task_sessions_of_task ON task_sessions (task_id);
CREATE INDEX task_sessions_by_name ON task_sessions (name);

CREATE TABLE executors_running (
    id                      TEXT PRIMARY KEY NOT NULL,
    session_id              TEXT NOT NULL UNIQUE REFERENCES task_sessions (id),
    task_id                 TEXT NOT NULL REFERENCES tasks (id),
    runtime                 TEXT NOT NULL,
    agentctl_url            TEXT NOT NULL,
    agentctl_port           INTEGER,
    container_id            TEXT,
    pid                     INTEGER,
    pid_start_time          INTEGER,
    boot_id                 TEXT,
    auth_token              TEXT,
    status                  TEXT NOT NULL,
    supports_session_resume INTEGER NOT NULL DEFAULT 1,
    supports_workspace_only INTEGER NOT NULL DEFAULT 1,
    resume_token            TEXT,
    workspace_path          TEXT NOT NULL,
    worktree_id             TEXT,
    worktree_path           TEXT,
    worktree_branch         TEXT,
    last_seen_at            INTEGER,
    unreachable_since       INTEGER,
    journal_id              TEXT NOT NULL DEFAULT '',
    journal_seq             INTEGER NOT NULL DEFAULT 0,
    error_message           TEXT
) STRICT;
CREATE INDEX executors_running_by_status ON executors_running (status);

CREATE TABLE terminals (
    id             TEXT PRIMARY KEY NOT NULL,
    session_id     TEXT NOT NULL REFERENCES task_sessions (id),
    kind           TEXT NOT NULL,
    generation     INTEGER NOT NULL,
    pid            INTEGER,
    pid_start_time INTEGER,
    boot_id        TEXT,
    cols           INTEGER NOT NULL,
    rows           INTEGER NOT NULL,
    -- Ended without code and signal: nobody saw how.
    exit_code      INTEGER,
    exit_signal    INTEGER,
    status         TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    ended_at       INTEGER
) STRICT;
CREATE INDEX terminals_of_session ON terminals (session_id);

CREATE TABLE agent_bindings (
    terminal_id           TEXT PRIMARY KEY NOT NULL REFERENCES terminals (id),
    session_id            TEXT NOT NULL REFERENCES task_sessions (id),
    generation            INTEGER NOT NULL,
    agent_id              TEXT NOT NULL,
    agent_session_id      TEXT,
    prompted_at           INTEGER,
    start_mode            TEXT NOT NULL,
    started_at            INTEGER NOT NULL,
    settled_at            INTEGER,
    last_event_at         INTEGER,
    last_event_type       TEXT,
    ended_at              INTEGER,
    end_reason            TEXT,
    state_at_death        TEXT,
    claim_epoch           INTEGER NOT NULL,
    claimed_at            INTEGER,
    -- The reason that the row had when a claim took it.
    claimed_from          TEXT,
    successor_terminal_id TEXT,
    UNIQUE (session_id, generation)
) STRICT;
-- One live or resumable binding per session, and one per conversation.
CREATE UNIQUE INDEX agent_bindings_one_per_session ON agent_bindings (session_id)
    WHERE end_reason IS NULL OR end_reason = 'terminal-exited';
CREATE UNIQUE INDEX agent_bindings_one_per_conversation ON agent_bindings (agent_id, agent_session_id)
    WHERE end_reason IS NULL OR end_reason = 'terminal-exited';

CREATE TABLE resume_attempts (
    id          INTEGER PRIMARY KEY,
    session_id  TEXT NOT NULL REFERENCES task_sessions (id),
    terminal_id TEXT NOT NULL,
    successor   TEXT NOT NULL UNIQUE,
    "trigger"   TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    outcome     TEXT,
    error_code  TEXT,
    message     TEXT
) STRICT;
CREATE INDEX resume_attempts_of_session ON resume_attempts (session_id);

CREATE TABLE session_messages (
    session_id TEXT NOT NULL REFERENCES task_sessions (id),
    id         TEXT NOT NULL,
    role       TEXT NOT NULL,
    text       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, id)
) STRICT;

-- Numbered without gaps: the counter is rolled back with the transaction that drew from it.
CREATE TABLE events (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT NOT NULL,
    session_id TEXT NOT NULL,
    task_id    TEXT NOT NULL,
    at         INTEGER NOT NULL,
    data       TEXT NOT NULL
) STRICT;
CREATE INDEX events_of_session ON events (session_id, seq);
