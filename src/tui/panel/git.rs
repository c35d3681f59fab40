//! The git panel: branch and changes, the diff of one file, the newest commits.

use super::ask::{Ask, Failure, Found, Slot};
use super::change::Group;
use super::key::{Did, Room, Step, letter};
use super::place::Place;
use super::text::Text;
use crate::wire::agentctl::{GitCommit, GitEntry, GitStatus};
use crate::wire::input::{Key, KeyCode};

/// Lines that one notch of the wheel scrolls.
const NOTCH: usize = 3;

/// What the list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Page {
    /// Changed files.
    #[default]
    Changes,
    /// The newest commits.
    Commits,
}

/// A row of the list of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Over the changes of a group.
    Heading(Group),
    /// A change, by its place in the status.
    Change(usize),
}

/// The panel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Git {
    /// The newest status, its changes by group and path.
    pub status: Option<GitStatus>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// The chosen row.
    pub place: Place,
    /// What the list shows.
    pub page: Page,
    /// The newest commits.
    pub commits: Option<Vec<GitCommit>>,
    /// The chosen one.
    pub commit: Place,
    /// The diff that lies over the list.
    pub text: Option<Text>,
    /// A diff that is being read.
    pub wanted: Option<Ask>,
    /// Why the last question was not answered.
    pub failed: Option<Failure>,
    statuses: Slot,
    logs: Slot,
    texts: Slot,
}

impl Git {
    /// Asks for everything that is shown.
    pub fn refresh(&mut self) {
        self.statuses.wish(Ask::Status);
        if self.page == Page::Commits {
            self.logs.wish(Ask::Log);
        }
        if let Some(text) = &self.text {
            self.texts.wish(text.ask.clone());
        }
    }

    /// Questions that are due.
    pub fn due(&mut self) -> Vec<Ask> {
        [&mut self.statuses, &mut self.logs, &mut self.texts].into_iter().filter_map(Slot::due).collect()
    }

    /// No answer to what is under way will come.
    pub fn lost(&mut self) {
        for slot in [&mut self.statuses, &mut self.logs, &mut self.texts] {
            slot.lost();
        }
    }

    /// Whether there is anything to show.
    #[must_use]
    pub const fn filled(&self) -> bool {
        match self.page {
            _ if self.text.is_some() => true,
            Page::Changes => self.status.is_some(),
            Page::Commits => self.commits.is_some(),
        }
    }

    /// Takes an answer.
    pub fn answered(&mut self, ask: &Ask, outcome: Result<Found, Failure>) {
        let slot = match ask {
            Ask::Status => &mut self.statuses,
            Ask::Log => &mut self.logs,
            _ => &mut self.texts,
        };
        if !slot.answered(ask) {
            return;
        }
        let wanted = self.wanted.take_if(|wanted| wanted == ask).is_some();
        match outcome {
            Ok(found) => {
                self.failed = None;
                self.found(ask, found, wanted);
            }
            Err(failure) => self.failed = Some(failure),
        }
    }

    fn found(&mut self, ask: &Ask, found: Found, wanted: bool) {
        match found {
            Found::Status(status) => self.take(status),
            Found::Log(commits) => self.commits = Some(commits),
            Found::Text(file) => match &mut self.text {
                Some(text) if text.ask == *ask => text.replace(file),
                _ if wanted => self.text = Some(Text::new(ask.clone(), file)),
                _ => {}
            },
            Found::Tree(_) => {}
        }
    }

    /// Takes a status; the chosen file stays chosen.
    fn take(&mut self, mut status: GitStatus) {
        let chosen = self.chosen().map(|entry| entry.path.clone());
        status.entries.sort_by(|a, b| (Group::of(&a.code), &a.path).cmp(&(Group::of(&b.code), &b.path)));
        self.rows.clear();
        let mut last = None;
        for (number, entry) in status.entries.iter().enumerate() {
            let group = Group::of(&entry.code);
            if last.replace(group) != Some(group) {
                self.rows.push(Row::Heading(group));
            }
            self.rows.push(Row::Change(number));
        }
        self.status = Some(status);
        let same =
            (0..self.rows.len()).find(|row| chosen.is_some() && self.entry(*row).map(|e| &e.path) == chosen.as_ref());
        self.place.at = same.unwrap_or(self.place.at.min(self.rows.len().saturating_sub(1)));
        if matches!(self.rows.get(self.place.at), Some(Row::Heading(_))) {
            self.place.at += 1;
        }
    }

    /// The change of a row.
    #[must_use]
    pub fn entry(&self, row: usize) -> Option<&GitEntry> {
        match self.rows.get(row)? {
            Row::Change(number) => self.status.as_ref()?.entries.get(*number),
            Row::Heading(_) => None,
        }
    }

    /// The chosen change.
    #[must_use]
    pub fn chosen(&self) -> Option<&GitEntry> {
        self.entry(self.place.at)
    }

    /// Takes a key.
    pub fn key(&mut self, key: &Key, room: Room) -> Did {
        match letter(key) {
            Some('q') => return Did::Close,
            Some('R') => self.refresh(),
            Some('l') if self.text.is_none() => self.turn(),
            _ => {}
        }
        let step = Step::of(key, room.height);
        if let Some(text) = &mut self.text {
            match (step, key.code) {
                (Some(step), _) => text.step(step, room),
                (_, KeyCode::Right) => text.right(room),
                (_, KeyCode::Left) if text.left() => {}
                (_, KeyCode::Left | KeyCode::Esc) => self.back(),
                _ => {}
            }
            return Did::Stay;
        }
        match (step, self.page, key.code) {
            (Some(step), Page::Changes, _) => {
                self.place.step(step, self.rows.len(), room);
                self.skip(step, room);
            }
            (Some(step), Page::Commits, _) => {
                self.commit.step(step, self.commits.as_ref().map_or(0, Vec::len), room);
            }
            (_, Page::Changes, KeyCode::Enter | KeyCode::Right) => return self.open(),
            (_, Page::Commits, KeyCode::Left | KeyCode::Esc) => self.turn(),
            (_, Page::Changes, KeyCode::Esc) if self.wanted.take().is_none() => return Did::Leave,
            _ => {}
        }
        Did::Stay
    }

    /// The mouse pressed a row, from the first that is shown.
    pub fn click(&mut self, row: usize, open: bool, room: Room) -> Did {
        if self.text.is_some() {
            return Did::Stay;
        }
        if self.page == Page::Commits {
            let count = self.commits.as_ref().map_or(0, Vec::len);
            let row = self.commit.first(count, room.height) + row;
            if row < count {
                self.commit.choose(row, count, room);
            }
            return Did::Stay;
        }
        let row = self.place.first(self.rows.len(), room.height) + row;
        if self.entry(row).is_none() {
            return Did::Stay;
        }
        if open && row == self.place.at {
            return self.open();
        }
        self.place.choose(row, self.rows.len(), room);
        Did::Stay
    }

    /// The wheel turned.
    pub fn wheel(&mut self, down: bool, room: Room) {
        let by = |lines| if down { Step::Down(lines) } else { Step::Up(lines) };
        match (&mut self.text, self.page) {
            (Some(text), _) => text.step(by(NOTCH), room),
            (None, Page::Commits) => self.commit.step(by(1), self.commits.as_ref().map_or(0, Vec::len), room),
            (None, Page::Changes) => {
                self.place.step(by(1), self.rows.len(), room);
                self.skip(by(1), room);
            }
        }
    }

    /// A heading is not chosen: the change behind it is, or the one before, as the step went.
    fn skip(&mut self, step: Step, room: Room) {
        let count = self.rows.len();
        let heading = |row: usize| matches!(self.rows.get(row), Some(Row::Heading(_)));
        let mut place = self.place;
        if heading(place.at) {
            let up = matches!(step, Step::Up(_)) && place.at > 0;
            let to = if up { place.at - 1 } else { place.at + 1 };
            place.choose(to, count, room);
        }
        if place.at > 0 && heading(place.at - 1) && room.height > 1 && place.first(count, room.height) == place.at {
            place.see(place.at - 1);
        }
        self.place = place;
    }

    fn open(&mut self) -> Did {
        let Some(entry) = self.chosen() else { return Did::Stay };
        let path = entry.path.clone();
        let ask = match Group::of(&entry.code) {
            Group::Untracked if path.ends_with('/') => return Did::Look(path.trim_end_matches('/').to_owned()),
            Group::Untracked => Ask::New(path),
            _ => Ask::Diff(path),
        };
        self.texts.wish(ask.clone());
        self.wanted = Some(ask);
        Did::Stay
    }

    fn back(&mut self) {
        self.text = None;
        self.wanted = None;
    }

    /// Shows the other list.
    fn turn(&mut self) {
        self.wanted = None;
        self.page = match self.page {
            Page::Changes => Page::Commits,
            Page::Commits => Page::Changes,
        };
        if self.page == Page::Commits {
            self.logs.wish(Ask::Log);
        }
    }
}
