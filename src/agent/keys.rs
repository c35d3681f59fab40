//! What a person's keys mean for the agent's end: its quit lines, Ctrl-C and Ctrl-D as the profile has them.

use crate::domain::ending::QUIT_INPUT_MS;
use crate::domain::profile::QuitRule;

use super::typed::{Typed, Typing};

/// Ctrl-C and Ctrl-D pressed several times count together within this time, as agents have it.
const REPEAT_MS: u64 = 2_000;

/// What keys did besides being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Meant {
    /// A line that is no quit line was sent.
    pub(super) sent: bool,
    /// A key that interrupts a turn was pressed.
    pub(super) interrupt: bool,
}

/// Watches the keys.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys {
    typing: Typing,
    quit_at: Option<u64>,
    ctrl_c: Vec<u64>,
    ctrl_d: Vec<u64>,
    /// Enter was pressed at least once.
    answered: bool,
    /// Last key that is no Enter, or resize.
    touched_at: Option<u64>,
}

fn repeated(presses: &mut Vec<u64>, now_ms: u64) -> u8 {
    presses.retain(|at| now_ms < at + REPEAT_MS);
    presses.push(now_ms);
    u8::try_from(presses.len()).unwrap_or(u8::MAX)
}

impl Keys {
    /// Bytes as they went into the PTY, while the agent `works` or does not.
    pub(super) fn feed(&mut self, rule: &QuitRule, bytes: &[u8], works: bool, now_ms: u64) -> Meant {
        let mut meant = Meant::default();
        for typed in self.typing.feed(bytes) {
            self.touched_at = (!matches!(typed, Typed::Line(_))).then_some(now_ms);
            self.answered |= matches!(typed, Typed::Line(_));
            match typed {
                Typed::Line(line) if rule.lines.contains(&line) => self.quit_at = Some(now_ms),
                Typed::Line(line) => meant.sent |= !line.is_empty(),
                Typed::CtrlC => {
                    let count = repeated(&mut self.ctrl_c, now_ms);
                    // The first one interrupts a turn, and does not end the agent.
                    let interrupts = works && count == 1;
                    if rule.ctrl_c > 0 && count >= rule.ctrl_c && !interrupts {
                        self.quit_at = Some(now_ms);
                    }
                    meant.interrupt = true;
                }
                Typed::CtrlD(empty) => {
                    if empty && rule.ctrl_d > 0 && repeated(&mut self.ctrl_d, now_ms) >= rule.ctrl_d {
                        self.quit_at = Some(now_ms);
                    }
                }
                Typed::Esc => meant.interrupt = true,
                Typed::Other => {}
            }
        }
        meant
    }

    /// Whether Enter was pressed at least once.
    pub(super) const fn answered(&self) -> bool {
        self.answered
    }

    /// The screen will be repainted because of a person.
    pub(super) fn touch(&mut self, now_ms: u64) {
        self.touched_at = Some(now_ms);
    }

    /// Whether output at `now_ms` is an echo or a repaint.
    pub(super) fn echoes(&self, now_ms: u64, within_ms: u64) -> bool {
        self.touched_at.is_some_and(|at| now_ms < at + within_ms)
    }

    /// The agent took a prompt: it did not quit.
    pub(super) fn forget_quit(&mut self) {
        self.quit_at = None;
    }

    /// Whether a quit input was typed within [`QUIT_INPUT_MS`] before `now_ms`.
    pub(super) fn quit(&self, now_ms: u64) -> bool {
        self.quit_at.is_some_and(|at| now_ms <= at + QUIT_INPUT_MS)
    }
}
