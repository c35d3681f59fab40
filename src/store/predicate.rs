//! The rule of `domain::rules` as SQL: the one text that finding and claiming share. A property test holds both equal.
//!
//! Aliases: `b` is a row of `agent_bindings`, `s` its session.

/// `b` is its session's newest.
macro_rules! newest {
    () => {
        "b.session_id = s.id AND b.generation = \
         (SELECT MAX(n.generation) FROM agent_bindings n WHERE n.session_id = b.session_id)"
    };
}

/// It died under a person who still wants it: `domain::rules::restartable`.
macro_rules! restartable {
    () => {
        concat!(newest!(), " AND b.end_reason = 'terminal-exited' AND s.wanted = 'run'")
    };
}

/// There is a conversation to resume.
macro_rules! conversation {
    () => {
        "(b.agent_session_id IS NOT NULL AND b.prompted_at IS NOT NULL)"
    };
}

/// It can be started again: its conversation, or anew since it was never prompted.
macro_rules! startable {
    () => {
        concat!("(b.prompted_at IS NULL OR ", conversation!(), ")")
    };
}

/// `domain::rules::restartable`.
#[cfg(test)]
pub(super) const RESTARTABLE: &str = restartable!();
/// `domain::rules::candidate`.
#[cfg(test)]
pub(super) const CANDIDATE: &str = concat!(restartable!(), " AND ", conversation!());
/// What a claim by itself may take: `domain::rules::restart` is `Ok`.
#[cfg(test)]
pub(super) const CLAIMABLE: &str = concat!(restartable!(), " AND ", startable!());

/// What any claim may take. A person's (`:person`) also what ended from inside, a reopening (`:reopen`) whatever ended
/// unless a claim took it or another session holds its conversation, or is about to by an open claim.
pub(super) const CLAIM: &str = concat!(
    "UPDATE agent_bindings AS b
     SET claimed_from = b.end_reason, end_reason = 'resumed', claim_epoch = s.last_epoch + 1, claimed_at = :now,
         successor_terminal_id = :successor
     FROM task_sessions AS s
     WHERE b.session_id = :session AND s.pending IS NULL AND (:dead IS NULL OR b.terminal_id = :dead)
       AND ((",
    restartable!(),
    " AND ",
    startable!(),
    ") OR (",
    newest!(),
    " AND ",
    startable!(),
    " AND ((:person AND b.end_reason = 'detached')
            OR (:reopen AND b.end_reason IN ('terminal-exited', 'disposed')))))
       AND NOT EXISTS (SELECT 1 FROM agent_bindings o WHERE o.agent_id = b.agent_id
            AND o.agent_session_id = b.agent_session_id AND o.terminal_id <> b.terminal_id
            AND (o.end_reason IS NULL OR o.end_reason = 'terminal-exited'))
       AND NOT EXISTS (SELECT 1 FROM task_sessions p WHERE p.agent_profile_id = b.agent_id
            AND json_extract(p.pending, '$.token') = b.agent_session_id)
     RETURNING *"
);

/// The same rows as a question.
pub(super) const FIND_CLAIMABLE: &str = concat!(
    "SELECT b.* FROM agent_bindings b JOIN task_sessions s ON s.id = b.session_id
     WHERE s.id = ?1 AND s.pending IS NULL AND ",
    restartable!(),
    " AND ",
    startable!()
);
