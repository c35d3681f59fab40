//! A directory, as rows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::git::pad;
use super::lines;
use super::pen::{Hint, Pen};
use crate::tui::panel::files::Files;
use crate::tui::view::ink::{cells, line};
use crate::wire::agentctl::TreeEntry;
use crate::wire::input::KeyCode;

/// Columns of names, at least, where there is room.
const NAME: usize = 28;
/// Columns of a size.
const SIZE: usize = 8;
/// Sizes stand on a panel of so many columns.
const SIZE_FROM: usize = 28;

/// What is shown; at the top the last part of the session's own directory `cwd`.
pub fn name(files: &Files, cwd: &str) -> String {
    let at = match &files.text {
        Some(text) => text.ask.path(),
        None if files.dir.is_empty() => cwd.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/"),
        None => &files.dir,
    };
    format!("files: {at}")
}

/// The keys that do something.
pub fn keys(files: &Files) -> &'static [Hint] {
    match &files.text {
        Some(_) => {
            &[("Esc", "back", Some(KeyCode::Esc)), ("Arrows", "scroll", None), ("q", "close", Some(KeyCode::Char('q')))]
        }
        None if files.dir.is_empty() => &[
            ("Enter", "open", Some(KeyCode::Enter)),
            ("/", "filter", Some(KeyCode::Char('/'))),
            ("R", "read again", Some(KeyCode::Char('R'))),
            ("q", "close", Some(KeyCode::Char('q'))),
        ],
        None => &[
            ("Enter", "open", Some(KeyCode::Enter)),
            ("Left", "up", Some(KeyCode::Left)),
            ("/", "filter", Some(KeyCode::Char('/'))),
            ("q", "close", Some(KeyCode::Char('q'))),
        ],
    }
}

/// Draws the file or the list.
pub fn draw(files: &Files, pen: &Pen<'_>, area: Rect, buf: &mut Buffer) {
    if let Some(text) = &files.text {
        return lines::draw(text, pen, area, buf);
    }
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    if files.shown.is_empty() {
        let empty = files.entries.as_ref().is_none_or(Vec::is_empty);
        let text = if empty { "The directory is empty." } else { "No name in it fits." };
        return pen.say(text, pen.palette.faint, area, buf);
    }
    let first = files.place.first(files.shown.len(), height);
    let sized = width >= SIZE_FROM;
    let room = width.saturating_sub(3 + if sized { SIZE } else { 0 });
    // Sizes stand near to their names, also on a wide panel, and do not move when names are filtered.
    let widest = files.entries.iter().flatten().map(|entry| usize::from(cells(&entry.name)) + 3).max().unwrap_or(0);
    let room = if sized { room.min(widest.max(NAME)) } else { room };
    for (row, at) in (0..area.height).zip(first..files.shown.len()) {
        let Some(entry) = files.entry(at) else { continue };
        let tone = match entry.kind.as_str() {
            _ if entry.name.starts_with('.') => pen.palette.faint,
            "dir" => pen.palette.busy,
            _ => pen.palette.bar,
        };
        let (style, sign) = pen.row(at == files.place.at, tone);
        let size = if sized { format!("{:>SIZE$}", what(entry)) } else { String::new() };
        let rest = " ".repeat(width.saturating_sub(2 + room + size.len()));
        let slash = if entry.kind == "dir" { "/" } else { "" };
        let name = pen.text(&entry.name, room.saturating_sub(slash.len()));
        let name = pad(&format!("{name}{slash}"), room);
        line(buf, area, row, &[(sign, style), (" ", style), (&name, style), (&size, style), (&rest, style)]);
    }
}

/// How large a file is; what something is that is no file.
fn what(entry: &TreeEntry) -> String {
    match entry.kind.as_str() {
        "dir" => String::new(),
        "file" => size(entry.size),
        "link" => "link".into(),
        _ => "special".into(),
    }
}

/// Bytes as people read them: at most seven characters.
fn size(bytes: u64) -> String {
    let mut rest = bytes;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
        if rest < 1000 {
            return format!("{rest} {unit}");
        }
        rest = rest.div_ceil(1024);
    }
    format!("{rest} PiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let check = |bytes, want: &str| assert_eq!(size(bytes), want);
        check(0, "0 B");
        check(999, "999 B");
        check(1000, "1 KiB");
        check(1_048_576, "1 MiB");
        check(u64::MAX, "16384 PiB");
    }
}
