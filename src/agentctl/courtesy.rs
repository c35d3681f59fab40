//! Steps back from the processor while an unwatched terminal floods: the terminal's own session, and this agentctl when
//! nobody looks at any of its terminals. By autogroup, since each PTY's session is one of its own.

use std::sync::{Mutex, PoisonError};

use crate::proc::autogroup;

/// Niceness of a flood. Ten floods at this one leave a keystroke its 4 ms.
const FLOOD_NICE: i32 = 10;

/// What this agentctl's terminals do now.
#[derive(Debug, Default)]
pub struct Courtesy {
    now: Mutex<Now>,
}

#[derive(Debug, Default)]
struct Now {
    watched: usize,
    flooding: usize,
    back: bool,
}

/// One terminal's part in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Part {
    /// Somebody looks at it.
    pub watched: bool,
    /// It floods and nobody looks.
    pub flooding: bool,
}

impl Courtesy {
    /// A terminal with process `pid` goes over from one part to another.
    pub fn change(&self, pid: i32, from: Part, to: Part) {
        if from == to {
            return;
        }
        if from.flooding != to.flooding {
            autogroup::set_nice(pid, if to.flooding { FLOOD_NICE } else { 0 });
        }
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.watched = now.watched + usize::from(to.watched) - usize::from(from.watched);
        now.flooding = now.flooding + usize::from(to.flooding) - usize::from(from.flooding);
        let back = now.flooding > 0 && now.watched == 0;
        if back != now.back {
            now.back = back;
            autogroup::set_nice(std::process::id() as i32, if back { FLOOD_NICE } else { 0 });
        }
    }
}
