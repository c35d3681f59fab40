//! How an agent's end is named, and which ended rows may still change.

use serde::{Deserialize, Serialize};

use super::launch::Exit;
use super::words::EndReason;

/// An exit counts as forced from outside when its agentctl, container or box was told to end, or died, within this
/// time before or after it. Long enough for an orderly reboot, in which agents say goodbye and exit 0.
pub const OUTSIDE_WINDOW_MS: u64 = 30_000;

/// A quit that a person typed explains an exit for this long.
pub const QUIT_INPUT_MS: u64 = 10_000;

/// What is known about an agent's end when its exit is seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// How the process ended.
    pub exit: Exit,
    /// The agent said goodbye, and gave a reason that only a person's quit has.
    pub person_goodbye: bool,
    /// One of the profile's quit inputs was typed at most [`QUIT_INPUT_MS`] before.
    pub quit_input: bool,
    /// Its agentctl, container or box was told to end, or died, within [`OUTSIDE_WINDOW_MS`].
    pub outside: bool,
}

impl Evidence {
    /// Whether the person's own quit is known and no fatal signal contradicts it.
    #[must_use]
    pub fn person_quit(&self) -> bool {
        (self.person_goodbye || self.quit_input) && !fatal(self.exit)
    }
}

/// SIGINT: what a Ctrl-C sends, and so a person's own way out.
const SIGINT: i32 = 2;

/// Whether this exit is a fatal signal, as such or as a shell reports it (128+n). SIGINT is none: Ctrl-C is a way to quit.
#[must_use]
pub fn fatal(exit: Exit) -> bool {
    match exit {
        Exit::Signal(signal) => signal != SIGINT,
        Exit::Code(code) => code > 128 && code != 128 + SIGINT,
        Exit::Unknown => true,
    }
}

/// Names an end that no person caused from outside relight's own commands.
#[must_use]
pub fn classify(evidence: &Evidence) -> EndReason {
    if evidence.person_quit() {
        return EndReason::Detached;
    }
    if evidence.outside {
        return EndReason::TerminalExited;
    }
    match evidence.exit {
        Exit::Code(0) => EndReason::Detached,
        Exit::Code(_) | Exit::Signal(_) | Exit::Unknown => EndReason::TerminalExited,
    }
}

/// Why an ended row is to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A claim takes a candidate.
    Claim,
    /// A claim takes a row that a person ended, because a person asks for it.
    Reopen,
    /// A claim whose launch provably never happened is taken back; the reason is the one it had.
    Unclaim,
    /// Something outside turned out to have ended things within the window, and no person's quit is known.
    Outside,
    /// A person kills, closes or dismisses for good what is already dead.
    Dispose,
    /// Another session holds the conversation now.
    Supersede,
}

/// Whether a row that ended as `from` may become `to` by `change`. Every other change of an ended row is refused.
#[must_use]
pub fn legal(from: EndReason, to: EndReason, change: Change) -> bool {
    use EndReason as E;
    matches!(
        (change, from, to),
        (Change::Claim, E::TerminalExited | E::Detached, E::Resumed)
            | (Change::Reopen, E::Disposed, E::Resumed)
            | (Change::Unclaim, E::Resumed, E::TerminalExited | E::Detached | E::Disposed)
            | (Change::Outside, E::Detached, E::TerminalExited)
            | (Change::Dispose, E::TerminalExited, E::Disposed)
            | (Change::Supersede, E::TerminalExited, E::Superseded)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(exit: Exit) -> Evidence {
        Evidence { exit, person_goodbye: false, quit_input: false, outside: false }
    }

    #[test]
    fn an_exit_is_named_by_who_ended_it() {
        let check = |evidence: Evidence, want| assert_eq!(classify(&evidence), want, "{evidence:?}");
        check(evidence(Exit::Code(0)), EndReason::Detached);
        check(evidence(Exit::Code(1)), EndReason::TerminalExited);
        check(evidence(Exit::Code(129)), EndReason::TerminalExited);
        check(evidence(Exit::Signal(9)), EndReason::TerminalExited);
        check(evidence(Exit::Unknown), EndReason::TerminalExited);
        check(Evidence { outside: true, ..evidence(Exit::Code(0)) }, EndReason::TerminalExited);
        check(Evidence { outside: true, quit_input: true, ..evidence(Exit::Code(0)) }, EndReason::Detached);
        check(Evidence { person_goodbye: true, ..evidence(Exit::Code(1)) }, EndReason::Detached);
        check(
            Evidence { person_goodbye: true, quit_input: true, ..evidence(Exit::Signal(9)) },
            EndReason::TerminalExited,
        );
    }

    #[test]
    fn a_fatal_signal_is_one_however_it_is_reported_and_ctrl_c_is_none() {
        for (exit, is) in [
            (Exit::Signal(9), true),
            (Exit::Signal(2), false),
            (Exit::Code(0), false),
            (Exit::Code(2), false),
            (Exit::Code(127), false),
            (Exit::Code(128), false),
            (Exit::Code(129), true),
            (Exit::Code(130), false),
            (Exit::Code(137), true),
            (Exit::Unknown, true),
        ] {
            assert_eq!(fatal(exit), is, "{exit:?}");
            let quit = Evidence { quit_input: true, ..evidence(exit) };
            assert_eq!(quit.person_quit(), !is, "{exit:?}");
            assert!(!evidence(exit).person_quit(), "{exit:?}");
        }
    }

    #[test]
    fn only_the_listed_changes_of_an_ended_row_are_legal() {
        let all = [Change::Claim, Change::Reopen, Change::Unclaim, Change::Outside, Change::Dispose, Change::Supersede];
        let mut table = Vec::new();
        for change in all {
            for from in EndReason::ALL {
                for to in EndReason::ALL {
                    if legal(*from, *to, change) {
                        table.push(format!("{change:?} {from} {to}"));
                    }
                }
            }
        }
        assert_eq!(
            table,
            [
                "Claim detached resumed",
                "Claim terminal-exited resumed",
                "Reopen disposed resumed",
                "Unclaim resumed detached",
                "Unclaim resumed terminal-exited",
                "Unclaim resumed disposed",
                "Outside detached terminal-exited",
                "Dispose terminal-exited disposed",
                "Supersede terminal-exited superseded",
            ]
        );
    }
}
