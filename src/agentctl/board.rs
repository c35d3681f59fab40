//! What the badges of this session's agents show now: transient, latest wins.

use std::collections::BTreeMap;

use tokio::sync::watch;

use crate::domain::ids::TerminalId;
use crate::wire::agentctl::ActivityReport;

/// The reports, each with the number of its change.
#[derive(Debug, Clone, Default)]
pub struct Reports {
    changes: u64,
    latest: BTreeMap<TerminalId, (u64, ActivityReport)>,
}

impl Reports {
    /// Number of the newest change.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The reports that changed after `seen`.
    pub fn since(&self, seen: u64) -> impl Iterator<Item = &ActivityReport> {
        self.latest.values().filter(move |(change, _)| *change > seen).map(|(_, report)| report)
    }
}

/// Where agents' reports are put and followed.
#[derive(Debug, Default)]
pub struct Board {
    reports: watch::Sender<Reports>,
}

impl Board {
    /// Puts a report, if it says something new.
    pub fn put(&self, report: ActivityReport) {
        self.reports.send_if_modified(|reports| {
            if reports.latest.get(&report.terminal).is_some_and(|(_, last)| *last == report) {
                return false;
            }
            reports.changes += 1;
            reports.latest.insert(report.terminal.clone(), (reports.changes, report));
            true
        });
    }

    /// Forgets a terminal. Says nothing: its exit does.
    pub fn forget(&self, terminal: &TerminalId) {
        self.reports.send_if_modified(|reports| {
            reports.latest.remove(terminal);
            false
        });
    }

    /// Follows the reports.
    #[must_use]
    pub fn follow(&self) -> watch::Receiver<Reports> {
        self.reports.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::words::Activity;

    #[test]
    fn only_changes_are_told_and_the_latest_wins() {
        let board = Board::default();
        let report = |why: &str| ActivityReport {
            terminal: TerminalId::new("t").unwrap(),
            activity: Activity::Working,
            why: why.into(),
            title: String::new(),
            progress: None,
        };
        let follow = board.follow();
        board.put(report("a"));
        board.put(report("a"));
        board.put(report("b"));
        assert_eq!(follow.borrow().changes(), 2);
        assert_eq!(follow.borrow().since(0).map(|r| r.why.clone()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(follow.borrow().since(2).count(), 0);
    }
}
