//! What git says, as rows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::lines;
use super::pen::{Hint, Pen};
use crate::tui::panel::change::{Group, day, words};
use crate::tui::panel::git::{Git, Page, Row};
use crate::tui::view::ink::{cells, line};
use crate::wire::input::KeyCode;

/// A path has at least so many columns, before what its letters mean is left out.
const PATH: usize = 12;
/// Subjects of commits have at least so many, where there is room.
const SUBJECT: usize = 40;
/// The author of a commit has so many, on a panel that is wide enough.
const AUTHOR: usize = 20;
/// That is a panel of so many columns.
const AUTHOR_FROM: usize = 80;

/// What is shown.
pub fn name(git: &Git) -> String {
    if let Some(text) = &git.text {
        return format!("git: {}", text.ask.path());
    }
    let Some(status) = &git.status else { return "git".into() };
    if !status.repository {
        return "git: no repository".into();
    }
    let branch = status.branch.as_deref().unwrap_or("no branch");
    let commits = git.commits.as_ref().filter(|_| git.page == Page::Commits);
    if let Some(commits) = commits {
        return match commits.len() {
            1 => format!("git: {branch}, 1 commit"),
            count => format!("git: {branch}, newest {count} commits"),
        };
    }
    let upstream = status.ahead_behind.map(|(ahead, behind)| format!(" +{ahead} -{behind}")).unwrap_or_default();
    let changes = match status.entries.len() {
        0 => "no changes".into(),
        count => format!("{count} changed"),
    };
    format!("git: {branch}{upstream}, {changes}")
}

/// The keys that do something.
pub fn keys(git: &Git) -> &'static [Hint] {
    match (&git.text, git.page) {
        (Some(_), _) => {
            &[("Esc", "back", Some(KeyCode::Esc)), ("Arrows", "scroll", None), ("q", "close", Some(KeyCode::Char('q')))]
        }
        (None, Page::Changes) => &[
            ("Enter", "diff", Some(KeyCode::Enter)),
            ("l", "commits", Some(KeyCode::Char('l'))),
            ("R", "read again", Some(KeyCode::Char('R'))),
            ("q", "close", Some(KeyCode::Char('q'))),
        ],
        (None, Page::Commits) => &[
            ("l", "changes", Some(KeyCode::Char('l'))),
            ("R", "read again", Some(KeyCode::Char('R'))),
            ("q", "close", Some(KeyCode::Char('q'))),
        ],
    }
}

/// Draws the diff or the list.
pub fn draw(git: &Git, pen: &Pen<'_>, area: Rect, buf: &mut Buffer) {
    if let Some(text) = &git.text {
        return lines::draw(text, pen, area, buf);
    }
    match git.page {
        Page::Changes => changes(git, pen, area, buf),
        Page::Commits => commits(git, pen, area, buf),
    }
}

fn changes(git: &Git, pen: &Pen<'_>, area: Rect, buf: &mut Buffer) {
    let Some(status) = &git.status else { return };
    if !status.repository {
        return pen.say("This directory is not in a git repository.", pen.palette.bar, area, buf);
    }
    if git.rows.is_empty() {
        return pen.say("Nothing has changed since the last commit.", pen.palette.bar, area, buf);
    }
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let letters = |code: &str| code.trim().replace("??", "?");
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let code_width = widest(&mut status.entries.iter().map(|entry| letters(&entry.code).len()));
    let word_width = widest(&mut status.entries.iter().map(|entry| words(&entry.code).len()));
    let word_width = if width < 5 + code_width + word_width + PATH { 0 } else { word_width + 1 };
    let first = git.place.first(git.rows.len(), height);
    for (row, number) in (0..area.height).zip(first..git.rows.len()) {
        match git.rows.get(number) {
            Some(Row::Heading(group)) => {
                let text = pen.text(group.heading(), width.saturating_sub(1));
                line(buf, area, row, &[(" ", pen.palette.faint), (&text, pen.palette.faint)]);
            }
            Some(Row::Change(_)) => {
                let Some(entry) = git.entry(number) else { continue };
                let tone = match (Group::of(&entry.code), entry.code.trim().chars().next()) {
                    (Group::Conflict, _) => pen.palette.bad,
                    (_, Some('A' | '?')) => pen.palette.added,
                    (_, Some('D')) => pen.palette.removed,
                    _ => pen.palette.busy,
                };
                let chosen = number == git.place.at;
                let (style, sign) = pen.row(chosen, pen.palette.bar);
                let (tone, _) = pen.row(chosen, tone);
                let code = format!("{:<code_width$} ", letters(&entry.code));
                let word = if word_width > 0 { format!("{:<word_width$} ", words(&entry.code)) } else { String::new() };
                let room = width.saturating_sub(4 + code_width + word.len());
                let path = pad(&pen.path(&entry.path, room), room + 1);
                line(buf, area, row, &[(sign, style), (" ", style), (&code, tone), (&word, tone), (&path, style)]);
            }
            None => {}
        }
    }
}

fn commits(git: &Git, pen: &Pen<'_>, area: Rect, buf: &mut Buffer) {
    let list = git.commits.as_deref().unwrap_or_default();
    if list.is_empty() {
        return pen.say("There is no commit yet.", pen.palette.bar, area, buf);
    }
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let id_width = list.iter().map(|commit| usize::from(cells(&commit.id))).max().unwrap_or(0);
    let author_width = if width >= AUTHOR_FROM { AUTHOR + 2 } else { 0 };
    let longest = list.iter().map(|commit| usize::from(cells(&commit.subject))).max().unwrap_or(0);
    let first = git.commit.first(list.len(), height);
    for ((row, number), commit) in (0..area.height).zip(first..).zip(list.iter().skip(first)) {
        let chosen = number == git.commit.at;
        let (style, sign) = pen.row(chosen, pen.palette.bar);
        let (key, _) = pen.row(chosen, pen.palette.key);
        let (faint, _) = pen.row(chosen, pen.palette.faint);
        let id = format!("{:<id_width$} ", pen.text(&commit.id, id_width));
        let day = if width >= PATH * 4 { format!(" {}  ", day(commit.at)) } else { String::new() };
        let room = width.saturating_sub(4 + id_width + day.len() + author_width);
        // Authors stand near to what they did, also on a wide panel.
        let beside = if author_width > 0 { room.min(longest.max(SUBJECT) + 1) } else { room };
        let subject = pad(&pen.text(&commit.subject, beside), beside);
        let author = if author_width > 0 { pen.text(&commit.author, AUTHOR) } else { String::new() };
        let author = pad(&author, author_width + room - beside);
        let pieces = [
            (sign, style),
            (" ", style),
            (&*id, key),
            (&*day, faint),
            (&*subject, style),
            (" ", style),
            (&*author, faint),
        ];
        line(buf, area, row, &pieces);
    }
}

/// `text` with blanks behind it, up to `width` cells.
pub fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(usize::from(cells(text)));
    format!("{text}{}", " ".repeat(missing))
}
