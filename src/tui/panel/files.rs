//! The files panel: one directory at a time, and a file's text.

use std::collections::BTreeMap;

use super::ask::{Ask, Failure, Found, Slot};
use super::key::{Did, Room, Step, letter};
use super::place::Place;
use super::text::Text;
use crate::domain::words::ErrorCode;
use crate::tui::edit::Line;
use crate::wire::agentctl::TreeEntry;
use crate::wire::input::{Key, KeyCode};

/// Lines that one notch of the wheel scrolls.
const NOTCH: usize = 3;

/// The panel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files {
    /// The directory that is shown; empty: the session's own.
    pub dir: String,
    /// What is in it, directories first.
    pub entries: Option<Vec<TreeEntry>>,
    /// Those of them that the filter leaves, by their places.
    pub shown: Vec<usize>,
    /// The chosen one of these.
    pub place: Place,
    /// The filter that is being typed.
    pub filter: Option<Line>,
    /// The file that lies over the list.
    pub text: Option<Text>,
    /// A directory or file that is being read.
    pub wanted: Option<Ask>,
    /// Why the last question was not answered.
    pub failed: Option<Failure>,
    /// The entry that was chosen last, of each directory.
    seen: BTreeMap<String, String>,
    trees: Slot,
    texts: Slot,
}

impl Files {
    /// Asks for everything that is shown.
    pub fn refresh(&mut self) {
        let going = self.wanted.clone().filter(|wanted| matches!(wanted, Ask::Tree(_)));
        self.trees.wish(going.unwrap_or_else(|| Ask::Tree(self.dir.clone())));
        if let Some(text) = self.text.as_ref().filter(|_| self.wanted.is_none()) {
            self.texts.wish(text.ask.clone());
        }
    }

    /// Questions that are due.
    pub fn due(&mut self) -> Vec<Ask> {
        [&mut self.trees, &mut self.texts].into_iter().filter_map(Slot::due).collect()
    }

    /// No answer to what is under way will come.
    pub fn lost(&mut self) {
        self.trees.lost();
        self.texts.lost();
    }

    /// Takes an answer.
    pub fn answered(&mut self, ask: &Ask, outcome: Result<Found, Failure>) {
        let tree = matches!(ask, Ask::Tree(_));
        if !(if tree { &mut self.trees } else { &mut self.texts }).answered(ask) {
            return;
        }
        let wanted = self.wanted.take_if(|wanted| wanted == ask).is_some();
        match (ask, outcome) {
            (Ask::Tree(path), Ok(Found::Tree(entries))) if wanted || *path == self.dir => {
                self.failed = None;
                self.enter(path, entries);
            }
            (Ask::File(_), Ok(Found::Text(file))) => {
                self.failed = None;
                match &mut self.text {
                    Some(text) if text.ask == *ask => text.replace(file),
                    _ if wanted => self.text = Some(Text::new(ask.clone(), file)),
                    _ => {}
                }
            }
            // Where a link leads is only known once it was tried.
            (Ask::File(path), Err(failure))
                if wanted && failure.code == Some(ErrorCode::BadRequest) && self.is_link(path) =>
            {
                self.want(Ask::Tree(path.clone()));
            }
            (_, Err(failure)) => self.failed = Some(failure),
            (_, Ok(_)) => {}
        }
    }

    fn is_link(&self, path: &str) -> bool {
        let links = |entry: &&TreeEntry| entry.kind == "link" && join(&self.dir, &entry.name) == path;
        self.entries.iter().flatten().find(links).is_some()
    }

    /// Shows a directory; what was chosen in it is chosen again.
    fn enter(&mut self, dir: &str, entries: Vec<TreeEntry>) {
        self.remember();
        if self.dir != dir {
            dir.clone_into(&mut self.dir);
            self.filter = None;
            self.place = Place::default();
        }
        self.entries = Some(entries);
        self.sift();
        if let Some(name) = self.seen.get(dir)
            && let Some(at) = (0..self.shown.len()).find(|at| self.entry(*at).is_some_and(|entry| entry.name == *name))
        {
            self.place.at = at;
        }
    }

    fn remember(&mut self) {
        if let Some(name) = self.chosen().map(|entry| entry.name.clone()) {
            self.seen.insert(self.dir.clone(), name);
        }
    }

    /// Applies the filter.
    fn sift(&mut self) {
        let wanted = self.filter.as_ref().map(|line| line.text().to_lowercase()).unwrap_or_default();
        let entries = self.entries.iter().flatten().enumerate();
        let fits = |entry: &TreeEntry| wanted.is_empty() || entry.name.to_lowercase().contains(&wanted);
        self.shown = entries.filter(|(_, entry)| fits(entry)).map(|(at, _)| at).collect();
        self.place.at = self.place.at.min(self.shown.len().saturating_sub(1));
    }

    /// An entry that is shown.
    #[must_use]
    pub fn entry(&self, at: usize) -> Option<&TreeEntry> {
        self.entries.as_ref()?.get(*self.shown.get(at)?)
    }

    /// The chosen entry.
    #[must_use]
    pub fn chosen(&self) -> Option<&TreeEntry> {
        self.entry(self.place.at)
    }

    /// Takes a key.
    pub fn key(&mut self, key: &Key, room: Room) -> Did {
        let step = Step::of(key, room.height);
        if let Some(text) = &mut self.text {
            match (step, key.code, letter(key)) {
                (Some(step), ..) => text.step(step, room),
                (_, KeyCode::Right, _) => text.right(room),
                (_, KeyCode::Left, _) if text.left() => {}
                (_, KeyCode::Left | KeyCode::Esc, _) => self.text = None,
                (.., Some('q')) => return Did::Close,
                (.., Some('R')) => self.refresh(),
                _ => {}
            }
            return Did::Stay;
        }
        if self.filter.is_some() {
            return self.filter_key(key, room);
        }
        match (step, key.code, letter(key)) {
            (Some(step), ..) => self.place.step(step, self.shown.len(), room),
            (_, KeyCode::Enter | KeyCode::Right, _) => return self.open(),
            (_, KeyCode::Left | KeyCode::Backspace, _) => self.up(),
            (_, KeyCode::Esc, _) if self.wanted.take().is_none() => return Did::Leave,
            (.., Some('q')) => return Did::Close,
            (.., Some('R')) => self.refresh(),
            (.., Some('/')) => self.filter = Some(Line::default()),
            _ => {}
        }
        Did::Stay
    }

    fn filter_key(&mut self, key: &Key, room: Room) -> Did {
        let typed = letter(key).is_some();
        match (key.code, Step::of(key, room.height).filter(|_| !typed)) {
            (KeyCode::Esc, _) => self.close_filter(),
            (KeyCode::Enter, _) => return self.open(),
            (KeyCode::Home | KeyCode::End, _) | (_, None) => {
                let Some(line) = &mut self.filter else { return Did::Stay };
                if key.code == KeyCode::Backspace && line.text().is_empty() {
                    self.close_filter();
                } else if line.key(key) {
                    self.sift();
                }
            }
            (_, Some(step)) => self.place.step(step, self.shown.len(), room),
        }
        Did::Stay
    }

    /// Whether a filter is being typed.
    #[must_use]
    pub const fn types(&self) -> bool {
        self.filter.is_some() && self.text.is_none()
    }

    /// Text for the filter; `false` when none is being typed.
    pub fn insert(&mut self, text: &str) -> bool {
        match &mut self.filter {
            Some(line) if self.text.is_none() => {
                line.insert(text);
                self.sift();
                true
            }
            _ => false,
        }
    }

    fn close_filter(&mut self) {
        let chosen = self.shown.get(self.place.at).copied();
        self.filter = None;
        self.sift();
        self.place.at = chosen.unwrap_or_default().min(self.shown.len().saturating_sub(1));
    }

    /// The mouse pressed a row, from the first that is shown.
    pub fn click(&mut self, row: usize, open: bool, room: Room) -> Did {
        let row = self.place.first(self.shown.len(), room.height) + row;
        if self.text.is_some() || row >= self.shown.len() {
            return Did::Stay;
        }
        if open && row == self.place.at {
            return self.open();
        }
        self.place.choose(row, self.shown.len(), room);
        Did::Stay
    }

    /// The wheel turned.
    pub fn wheel(&mut self, down: bool, room: Room) {
        let by = |lines| if down { Step::Down(lines) } else { Step::Up(lines) };
        match &mut self.text {
            Some(text) => text.step(by(NOTCH), room),
            None => self.place.step(by(1), self.shown.len(), room),
        }
    }

    fn open(&mut self) -> Did {
        let Some(entry) = self.chosen() else { return Did::Stay };
        let path = join(&self.dir, &entry.name);
        match entry.kind.as_str() {
            "dir" => self.want(Ask::Tree(path)),
            "file" | "link" => self.want(Ask::File(path)),
            _ => return Did::Say(format!("`{path}` is no file that could be shown.")),
        }
        Did::Stay
    }

    /// Goes to the directory above.
    fn up(&mut self) {
        if self.dir.is_empty() {
            return;
        }
        let (above, name) = self.dir.rsplit_once('/').unwrap_or(("", &self.dir));
        let above = above.to_owned();
        self.seen.insert(above.clone(), name.to_owned());
        self.want(Ask::Tree(above));
    }

    /// Shows a directory of which another panel told.
    pub fn look(&mut self, dir: &str) {
        self.text = None;
        self.want(Ask::Tree(dir.to_owned()));
    }

    fn want(&mut self, ask: Ask) {
        let slot = if matches!(ask, Ask::Tree(_)) { &mut self.trees } else { &mut self.texts };
        slot.wish(ask.clone());
        self.wanted = Some(ask);
    }
}

/// The path of `name` in `dir`.
fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}
