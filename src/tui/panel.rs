//! What the two panels beside a session's agent know: git and files. Each session has its own, so that coming back to it
//! finds the place.

pub mod ask;
pub mod change;
pub mod files;
pub mod git;
pub mod key;
pub mod place;
pub mod text;

use ask::{Ask, Failure, Found};
use files::Files;
use git::Git;
use key::{Did, Room};

use super::desk::Shows;
use crate::wire::input::Key;

/// The panels of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Panels {
    /// What git says.
    pub git: Git,
    /// The files.
    pub files: Files,
    git_opened: bool,
    files_opened: bool,
}

impl Panels {
    /// A panel is opened: what it shows is asked for.
    pub fn open(&mut self, shows: &Shows) {
        match shows {
            Shows::Git => self.git_opened = true,
            Shows::Files => self.files_opened = true,
            Shows::Agent | Shows::Shell(_) => {}
        }
        self.refresh();
    }

    /// Asks anew for what was shown before; the questions wait until their panel is in sight.
    pub fn refresh(&mut self) {
        if self.git_opened {
            self.git.refresh();
        }
        if self.files_opened {
            self.files.refresh();
        }
    }

    /// The questions of a panel that are due, one of a kind at a time.
    pub fn due(&mut self, shows: &Shows) -> Vec<Ask> {
        match shows {
            Shows::Git => self.git.due(),
            Shows::Files => self.files.due(),
            Shows::Agent | Shows::Shell(_) => vec![],
        }
    }

    /// Nothing that is under way will be answered: it is asked again.
    pub fn lost(&mut self) {
        self.git.lost();
        self.files.lost();
    }

    /// Takes an answer; one that nobody waits for any more is dropped.
    pub fn answered(&mut self, ask: &Ask, outcome: Result<Found, Failure>) {
        match ask {
            Ask::Status | Ask::Log | Ask::Diff(_) | Ask::New(_) => self.git.answered(ask, outcome),
            Ask::Tree(_) | Ask::File(_) => self.files.answered(ask, outcome),
        }
    }

    /// Takes a key for a panel.
    pub fn key(&mut self, shows: &Shows, key: &Key, room: Room) -> Did {
        match shows {
            Shows::Git => self.git.key(key, room),
            Shows::Files => self.files.key(key, room),
            Shows::Agent | Shows::Shell(_) => Did::Stay,
        }
    }

    /// The mouse pressed a row of a panel, counted from its first visible one; `open`: the panel had the focus before.
    pub fn click(&mut self, shows: &Shows, row: usize, open: bool, room: Room) -> Did {
        match shows {
            Shows::Git => self.git.click(row, open, room),
            Shows::Files => self.files.click(row, open, room),
            Shows::Agent | Shows::Shell(_) => Did::Stay,
        }
    }

    /// The wheel turned over a panel.
    pub fn wheel(&mut self, shows: &Shows, down: bool, room: Room) {
        match shows {
            Shows::Git => self.git.wheel(down, room),
            Shows::Files => self.files.wheel(down, room),
            Shows::Agent | Shows::Shell(_) => {}
        }
    }

    /// Why the last question of a panel was not answered.
    #[must_use]
    pub const fn failure(&self, shows: &Shows) -> Option<&Failure> {
        match shows {
            Shows::Git => self.git.failed.as_ref(),
            Shows::Files => self.files.failed.as_ref(),
            Shows::Agent | Shows::Shell(_) => None,
        }
    }

    /// Whether a panel has anything to show.
    #[must_use]
    pub const fn filled(&self, shows: &Shows) -> bool {
        match shows {
            Shows::Git => self.git.filled(),
            Shows::Files => self.files.text.is_some() || self.files.entries.is_some(),
            Shows::Agent | Shows::Shell(_) => true,
        }
    }
}
