//! A text in a panel: a file or a diff, looked at through a window.

use unicode_width::UnicodeWidthChar;

use super::ask::Ask;
use super::key::{Room, Step};
use crate::domain::plain::steers;
use crate::wire::agentctl::FileText;

/// Columns from one tab stop to the next: panels are narrow.
const TAB: usize = 4;
/// Columns that one key scrolls sideways.
const SIDEWAYS: usize = 8;
/// A panel of so many columns has room for numbers of lines.
const NUMBERS_FROM: usize = 50;
/// Characters without a width that are shown on top of another one.
const MAX_MARKS: usize = 4;

/// A text and the place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// What it answers.
    pub ask: Ask,
    /// It was cut at the end.
    pub truncated: bool,
    /// It is not text.
    pub binary: bool,
    /// First column shown.
    pub left: usize,
    /// All of it.
    all: String,
    /// Where each line begins, in bytes.
    starts: Vec<u32>,
    top: usize,
}

impl Text {
    /// A text, from its beginning.
    #[must_use]
    pub fn new(ask: Ask, file: FileText) -> Self {
        let mut text =
            Self { ask, truncated: false, binary: false, left: 0, all: String::new(), starts: vec![], top: 0 };
        text.replace(file);
        text
    }

    /// The same as it is now; the place stays.
    pub fn replace(&mut self, file: FileText) {
        self.all = if matches!(self.ask, Ask::Diff(_)) { without_names(&file.text) } else { file.text };
        self.truncated = file.truncated;
        let ends = self.all.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends).filter(|start| *start < self.all.len());
        self.starts = starts.map(|start| start as u32).collect();
        // In a diff only git itself begins a line with a letter.
        let said = |i| self.line(i).starts_with("Binary files ");
        self.binary = file.binary || matches!(self.ask, Ask::Diff(_)) && (0..self.lines()).any(said);
    }

    /// How many lines it has.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// How many rows it takes: its lines, and the one that says that it was cut.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.lines() + usize::from(self.truncated)
    }

    /// A line, from 0, without its end.
    #[must_use]
    pub fn line(&self, number: usize) -> &str {
        let start = |number| self.starts.get(number).map_or(self.all.len(), |start| *start as usize);
        let line = self.all.get(start(number)..start(number + 1)).unwrap_or_default();
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// The first line to be shown.
    #[must_use]
    pub fn first(&self, height: usize) -> usize {
        self.top.min(self.rows().saturating_sub(height.max(1)))
    }

    /// Scrolls.
    pub fn step(&mut self, step: Step, room: Room) {
        self.top = step.from(self.first(room.height), self.rows());
        self.top = self.first(room.height);
    }

    /// Columns for the numbers of its lines, of so many that there are: a file has them where there is room.
    #[must_use]
    pub fn gutter(&self, width: usize) -> usize {
        let digits = self.lines().max(1).ilog10() as usize + 1;
        if matches!(self.ask, Ask::File(_)) && width >= NUMBERS_FROM { digits.max(3) + 1 } else { 0 }
    }

    /// Scrolls to the right, as long as a line that is shown goes on there.
    pub fn right(&mut self, room: Room) {
        let first = self.first(room.height);
        let to = self.left + room.width.saturating_sub(self.gutter(room.width) + 1);
        if (first..first + room.height).any(|number| cut(self.line(number), 0, to, true).1) {
            self.left += SIDEWAYS;
        }
    }

    /// Scrolls to the left; `false` when that was the beginning already.
    pub fn left(&mut self) -> bool {
        let moved = self.left > 0;
        self.left = self.left.saturating_sub(SIDEWAYS);
        moved
    }
}

/// A diff without the lines at its beginning that only name the file: that stands over it.
fn without_names(diff: &str) -> String {
    let head = if diff.starts_with("@@") { 0 } else { diff.find("\n@@").map_or(diff.len(), |at| at + 1) };
    let (head, rest) = diff.split_at(head);
    let names = |line: &&str| ["diff ", "index ", "--- ", "+++ "].iter().any(|word| line.starts_with(word));
    head.split_inclusive('\n').filter(|line| !names(line)).chain([rest]).collect()
}

/// `width` columns of a line from column `left` on, and whether it goes on behind them. Nothing in it steers a terminal:
/// control characters become `^X`, whatever else does something becomes one sign.
#[must_use]
pub fn cut(line: &str, left: usize, width: usize, ascii: bool) -> (String, bool) {
    let (end, sign) = (left + width, if ascii { '?' } else { '\u{fffd}' });
    let mut out = String::new();
    let (mut col, mut marks) = (0, 0);
    for c in line.chars() {
        let shown = match c {
            '\t' => ([' '; TAB], TAB - col % TAB),
            c if c.is_ascii_control() => (['^', char::from(c as u8 ^ 0x40), ' ', ' '], 2),
            c if steers(c) => ([sign; TAB], 1),
            c if ascii && !c.is_ascii() => ([sign; TAB], c.width().unwrap_or(0)),
            c => {
                let width = c.width().unwrap_or(0);
                marks = if width == 0 { marks + 1 } else { 0 };
                if width == 0 && marks <= MAX_MARKS && col > left && !out.is_empty() && !ascii {
                    out.push(c);
                }
                if width > 1 && col >= left && col + width <= end {
                    out.push(c);
                    col += width;
                    continue;
                }
                ([if width > 1 { ' ' } else { c }; TAB], width)
            }
        };
        for c in shown.0.into_iter().take(shown.1) {
            if col >= end {
                return (out, true);
            }
            if col >= left {
                out.push(c);
            }
            col += 1;
        }
    }
    (out, col > end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text {
        Text::new(Ask::File("a".into()), FileText { text: text.into(), truncated: false, binary: false })
    }

    #[test]
    fn lines_are_found() {
        let check = |all: &str, want: &[&str]| {
            let text = text(all);
            let lines: Vec<_> = (0..text.lines()).map(|i| text.line(i)).collect();
            assert_eq!(lines, want, "{all:?}");
        };
        check("", &[]);
        check("a", &["a"]);
        check("a\n", &["a"]);
        check("a\r\n\nb", &["a", "", "b"]);
        check("\n", &[""]);
    }

    #[test]
    fn a_diff_begins_with_what_changed() {
        let check = |diff: &str, want: &str| assert_eq!(without_names(diff), want);
        check(
            "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n+++ b\n",
            "@@ -1 +1 @@\n--- a\n+++ b\n",
        );
        check("diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n", "new file mode 100644\n");
        check("@@ -1 +1 @@\n-diff \n", "@@ -1 +1 @@\n-diff \n");
        check("", "");
    }

    #[test]
    fn nothing_in_a_line_steers_a_terminal() {
        let check = |line: &str, left, width, want: &str| {
            let (shown, _) = cut(line, left, width, false);
            assert_eq!(shown, want, "{line:?}");
            assert!(!shown.contains(steers), "{shown:?}");
        };
        check("a\x1b[31mb\u{9b}c\u{202e}d", 0, 20, "a^[[31mb\u{fffd}c\u{fffd}d");
        check("\tx\ty", 0, 20, "    x   y");
        check("a\x7f\0", 0, 9, "a^?^@");
        check("\u{301}e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}!", 0, 9, "e\u{301}\u{301}\u{301}\u{301}!");
        assert_eq!(cut("é漢\u{301}", 0, 9, true), ("???".into(), false));
    }

    #[test]
    fn a_line_is_cut_by_columns() {
        let check = |left, width, want: &str, more| assert_eq!(cut("ab漢字c", left, width, false), (want.into(), more));
        check(0, 7, "ab漢字c", false);
        check(0, 6, "ab漢字", true);
        check(0, 5, "ab漢 ", true);
        check(3, 9, " 字c", false);
        check(2, 2, "漢", true);
        check(9, 2, "", false);
    }

    #[test]
    fn a_text_scrolls_as_far_as_there_is_something() {
        let mut text = text("short\na longer line\nlast\n");
        let room = Room { width: 6, height: 2 };
        text.step(Step::End, room);
        assert_eq!(text.first(2), 1);
        text.right(room);
        assert_eq!(text.left, 8);
        text.right(room);
        assert_eq!(text.left, 8, "nothing goes on there");
        assert!(text.left());
        assert!(!text.left());
        text.step(Step::Home, Room { width: 6, height: 1 });
        text.right(Room { width: 6, height: 1 });
        assert_eq!(text.left, 0);
    }
}
