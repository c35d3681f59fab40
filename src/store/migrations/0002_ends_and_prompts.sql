-- What an end is judged by later, queued prompts, dismissal, and transient facts for the next start.

ALTER TABLE agent_bindings ADD COLUMN dismissed_at INTEGER;
-- The agent's goodbye, remembered for its exit.
ALTER TABLE agent_bindings ADD COLUMN goodbye_at INTEGER;
ALTER TABLE agent_bindings ADD COLUMN goodbye_reason TEXT;
ALTER TABLE agent_bindings ADD COLUMN goodbye_person INTEGER NOT NULL DEFAULT 0;
-- The exit on agentctl's own clock, and whether a person's quit explains it.
ALTER TABLE agent_bindings ADD COLUMN exit_boot_ms INTEGER;
ALTER TABLE agent_bindings ADD COLUMN exit_boot_id TEXT;
ALTER TABLE agent_bindings ADD COLUMN exit_incarnation INTEGER;
ALTER TABLE agent_bindings ADD COLUMN exit_person_quit INTEGER NOT NULL DEFAULT 0;
-- Nothing outside was ending things around the exit: known for good.
ALTER TABLE agent_bindings ADD COLUMN exit_settled INTEGER NOT NULL DEFAULT 0;

-- The last time that something outside ended what runs here.
ALTER TABLE executors_running ADD COLUMN outside_kind TEXT;
ALTER TABLE executors_running ADD COLUMN outside_seq INTEGER;
ALTER TABLE executors_running ADD COLUMN outside_boot_ms INTEGER;
ALTER TABLE executors_running ADD COLUMN outside_boot_id TEXT;

-- Launches that a journal told of, also those that no confirm knows yet.
CREATE TABLE spawns (
    terminal_id TEXT PRIMARY KEY NOT NULL,
    session_id  TEXT NOT NULL REFERENCES task_sessions (id),
    journal_id  TEXT NOT NULL,
    journal_seq INTEGER NOT NULL,
    incarnation INTEGER NOT NULL
) STRICT;

CREATE TABLE queued_prompts (
    id         TEXT PRIMARY KEY NOT NULL,
    session_id TEXT NOT NULL REFERENCES task_sessions (id),
    text       TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX queued_prompts_of_session ON queued_prompts (session_id);

CREATE TABLE session_transient (
    session_id   TEXT PRIMARY KEY NOT NULL REFERENCES task_sessions (id),
    activity     TEXT NOT NULL,
    why          TEXT NOT NULL,
    title        TEXT NOT NULL,
    progress     INTEGER,
    last_seen_at INTEGER NOT NULL
) STRICT;
