//! The plan of recovery, pure: what is done with one executor instance, from its row and what a probe found. Liveness has
//! three values; *unknown* never starts, replaces or ends anything.

use crate::domain::rows::{ExecutorRunning, Millis};
use crate::domain::words::{ExecutorStatus, ResumeReason, Wanted};

/// What a probe found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It holds its lock and answers.
    Alive,
    /// It holds its lock, or may hold it, and does not answer.
    Silent,
    /// Nobody holds its lock.
    Free,
    /// The place answers that the executor is gone for good (its container was removed).
    Gone,
    /// This version cannot reach such an executor at all.
    Unsupported,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Connect; nothing was lost.
    Adopt,
    /// Start an agentctl; it fences what the last one left, and says what happened.
    Start,
    /// Ask again later; touch nothing.
    Wait,
    /// Executor `error`, session `ERROR`, for this reason.
    Fail(ResumeReason),
}

/// Whether the executor of this row is recovered when the host starts: those that were starting or ready, all that are
/// unreachable, and those of a session that is to be stopped and whose end nobody has confirmed.
#[must_use]
pub fn is_due(row: &ExecutorRunning, wanted: Wanted) -> bool {
    match row.status {
        ExecutorStatus::Starting | ExecutorStatus::Ready => true,
        ExecutorStatus::Error => row.unreachable_since.is_some() || wanted == Wanted::Stop,
        ExecutorStatus::Stopped => row.unreachable_since.is_some(),
    }
}

/// Decides by what was found. `directory`: the worktree, else the working directory, exists; a session that is only to be
/// stopped needs none.
#[must_use]
pub fn plan(found: Found, directory: bool, wanted: Wanted) -> Plan {
    match found {
        Found::Alive => Plan::Adopt,
        Found::Silent => Plan::Wait,
        Found::Free if directory || wanted == Wanted::Stop => Plan::Start,
        Found::Free => Plan::Fail(ResumeReason::WorktreeMissing),
        Found::Gone | Found::Unsupported => Plan::Fail(ResumeReason::ExecutorError),
    }
}

/// First pause before an unreachable executor is asked again.
const RETRY_FIRST_MS: Millis = 1_000;
/// Longest such pause.
const RETRY_MAX_MS: Millis = 60_000;

/// Pause before try number `tries` (from 1) to reach an executor: 1 s doubling to 60 s, moved by up to 20 % either way so
/// that many do not ask in step. `spread` is any number; the same one gives the same pause.
#[must_use]
pub fn retry_ms(tries: u32, spread: u64) -> Millis {
    let base = RETRY_FIRST_MS.saturating_mul(1 << tries.saturating_sub(1).min(16)).min(RETRY_MAX_MS);
    let fifth = base / 5;
    let shift = Millis::try_from(spread % 401).unwrap_or(0) - 200;
    base + fifth * shift / 200
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_left_alone() {
        for directory in [true, false] {
            for wanted in [Wanted::Run, Wanted::Stop] {
                assert_eq!(plan(Found::Silent, directory, wanted), Plan::Wait);
                assert_eq!(plan(Found::Alive, directory, wanted), Plan::Adopt);
            }
        }
    }

    #[test]
    fn a_dead_agentctl_is_started_where_its_directory_is() {
        assert_eq!(plan(Found::Free, true, Wanted::Run), Plan::Start);
        assert_eq!(plan(Found::Free, false, Wanted::Run), Plan::Fail(ResumeReason::WorktreeMissing));
        assert_eq!(plan(Found::Free, false, Wanted::Stop), Plan::Start);
        assert_eq!(plan(Found::Gone, true, Wanted::Run), Plan::Fail(ResumeReason::ExecutorError));
    }

    #[test]
    fn the_retry_doubles_to_a_minute_and_spreads_by_a_fifth() {
        assert_eq!(retry_ms(1, 200), 1_000);
        assert_eq!(retry_ms(4, 200), 8_000);
        assert_eq!(retry_ms(30, 200), 60_000);
        for spread in 0..2_000 {
            let pause = retry_ms(7, spread);
            assert!((48_000..=72_000).contains(&pause), "{pause}");
        }
    }
}
