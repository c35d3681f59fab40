//! One line of text being edited: typed, pasted and deleted by characters and words, also wide and combining ones.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::wire::input::{Key, KeyCode, Mods};

/// Longest text in bytes: a long first prompt fits, a pasted file does not.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// A text and a place in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    text: String,
    /// Byte offset, always at a character's start.
    at: usize,
    /// Line breaks are kept (shown as one sign) instead of becoming blanks.
    breaks: bool,
}

impl Line {
    /// A text with the place at its end.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { at: text.len(), text, breaks: false }
    }

    /// The same, keeping line breaks.
    #[must_use]
    pub fn with_breaks(mut self) -> Self {
        self.breaks = true;
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the place is at the end.
    #[must_use]
    pub const fn at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// The text in rows of `width` cells, broken at its own breaks and where a row is full, and column and row of the place.
    #[must_use]
    pub fn block(&self, width: u16) -> (Vec<String>, (u16, usize)) {
        let width = usize::from(width).max(2);
        let (mut rows, mut row, mut place) = (vec![], String::new(), (0, 0));
        for (at, c) in self.text.char_indices().chain([(self.text.len(), ' ')]) {
            if c != '\n' && row.width() + c.width().unwrap_or(0) > width {
                rows.push(std::mem::take(&mut row));
            }
            if at == self.at {
                place = (u16::try_from(row.width()).unwrap_or(u16::MAX), rows.len());
            }
            if c == '\n' {
                rows.push(std::mem::take(&mut row));
            } else if at < self.text.len() {
                row.push(c);
            }
        }
        rows.push(row);
        (rows, place)
    }

    /// Whether line breaks are kept.
    #[must_use]
    pub const fn keeps_breaks(&self) -> bool {
        self.breaks
    }

    /// Inserts text at the place; control characters are left out.
    pub fn insert(&mut self, text: &str) {
        let breaks = self.breaks;
        let clean: String = text
            .replace("\r\n", "\n")
            .chars()
            .filter_map(|c| match c {
                '\n' | '\r' if breaks => Some('\n'),
                '\n' | '\r' | '\t' => Some(' '),
                c if c.is_control() => None,
                c => Some(c),
            })
            .collect();
        if self.text.len() + clean.len() <= MAX_TEXT_BYTES {
            self.text.insert_str(self.at, &clean);
            self.at += clean.len();
        }
    }

    /// Takes a key; `false` when it means nothing here.
    pub fn key(&mut self, key: &Key) -> bool {
        let ctrl = key.mods.has(Mods::CTRL);
        let alt = key.mods.has(Mods::ALT);
        match key.code {
            KeyCode::Enter if alt && self.breaks => self.insert("\n"),
            KeyCode::Char('j') if ctrl && self.breaks => self.insert("\n"),
            KeyCode::Char('a') if ctrl => self.at = 0,
            KeyCode::Char('e') if ctrl => self.at = self.text.len(),
            KeyCode::Char('u') if ctrl => self.cut(0, self.at),
            KeyCode::Char('k') if ctrl => self.cut(self.at, self.text.len()),
            KeyCode::Char('w') if ctrl => self.cut(self.word_before(), self.at),
            KeyCode::Char('h') if ctrl => self.cut(self.before(), self.at),
            KeyCode::Backspace if alt || ctrl => self.cut(self.word_before(), self.at),
            KeyCode::Char(c) if !ctrl && !alt => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.cut(self.before(), self.at),
            KeyCode::Delete => self.cut(self.at, self.after()),
            KeyCode::Left if alt || ctrl => self.at = self.word_before(),
            KeyCode::Left => self.at = self.before(),
            KeyCode::Right => self.at = self.after(),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            _ => return false,
        }
        true
    }

    /// What to show in `width` cells, and the column of the place in it.
    #[must_use]
    pub fn window(&self, width: u16, ascii: bool) -> (String, u16) {
        let sign = if ascii { '|' } else { '⏎' };
        let show = |text: &str| text.replace('\n', &sign.to_string());
        let width = usize::from(width);
        let before = show(self.text.get(..self.at).unwrap_or_default());
        let after = show(self.text.get(self.at..).unwrap_or_default());
        let mut column = before.width();
        let mut shown = before;
        while column + 1 > width.max(1) {
            let Some(first) = shown.chars().next() else { break };
            column -= first.width().unwrap_or(0).min(column);
            shown.remove(0);
        }
        shown.push_str(&after);
        (cut_to(&shown, width, ""), u16::try_from(column).unwrap_or(u16::MAX))
    }

    fn cut(&mut self, from: usize, to: usize) {
        if from < to && self.text.is_char_boundary(from) && self.text.is_char_boundary(to) {
            self.text.replace_range(from..to, "");
            self.at = from;
        }
    }

    /// Start of the character before the place, with the marks that combine with it.
    fn before(&self) -> usize {
        let head = self.text.get(..self.at).unwrap_or_default();
        head.char_indices().rev().find(|(_, c)| c.width() != Some(0)).map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        let tail = self.text.get(self.at..).unwrap_or_default();
        let next = tail.char_indices().skip(1).find(|(_, c)| c.width() != Some(0)).map(|(at, _)| at);
        self.at + next.unwrap_or(tail.len())
    }

    fn word_before(&self) -> usize {
        let head = self.text.get(..self.at).unwrap_or_default();
        let word = head.trim_end();
        word.char_indices().rev().find(|(_, c)| c.is_whitespace()).map_or(0, |(at, c)| at + c.len_utf8())
    }
}

/// `text` cut to `width` cells, with `mark` at the end when something was cut off.
#[must_use]
pub fn cut_to(text: &str, width: usize, mark: &str) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(mark.width());
    let mut used = 0;
    let mut cut: String = text
        .chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= room
        })
        .collect();
    if mark.width() <= width {
        cut.push_str(mark);
    }
    cut
}

/// `text` broken at blanks into lines of at most `width` cells.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut line = String::new();
    for word in text.split_whitespace() {
        let gap = usize::from(!line.is_empty());
        if !line.is_empty() && line.width() + gap + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&cut_to(word, width, ""));
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::input::KeyKind;

    fn press(line: &mut Line, code: KeyCode, mods: u8) {
        assert!(line.key(&Key { code, mods: Mods(mods), kind: KeyKind::Press }));
    }

    #[test]
    fn words_and_wide_characters_are_deleted_whole() {
        let mut line = Line::new("fix the 漢字e\u{301}");
        press(&mut line, KeyCode::Backspace, 0);
        assert_eq!(line.text(), "fix the 漢字");
        press(&mut line, KeyCode::Backspace, 0);
        assert_eq!(line.text(), "fix the 漢");
        press(&mut line, KeyCode::Char('w'), Mods::CTRL);
        press(&mut line, KeyCode::Char('w'), Mods::CTRL);
        assert_eq!(line.text(), "fix ");
        press(&mut line, KeyCode::Char('u'), Mods::CTRL);
        press(&mut line, KeyCode::Delete, 0);
        assert_eq!(line.text(), "");
    }

    #[test]
    fn a_paste_loses_control_characters_and_keeps_breaks_only_where_wanted() {
        let mut one = Line::default();
        one.insert("a\r\nb\x1b[31m\tc");
        assert_eq!(one.text(), "a b[31m c");
        let mut many = Line::default().with_breaks();
        many.insert("a\r\nb");
        assert_eq!(many.text(), "a\nb");
        assert_eq!(many.window(10, true), ("a|b".into(), 3));
    }

    #[test]
    fn a_text_of_many_lines_is_a_block_with_the_place_in_it() {
        let mut line = Line::default().with_breaks();
        line.insert("abcdef\n漢字x");
        assert_eq!(line.block(4), (vec!["abcd".into(), "ef".into(), "漢字".into(), "x".into()], (1, 3)));
        press(&mut line, KeyCode::Home, 0);
        assert_eq!(line.block(4).1, (0, 0));
        let full = Line::new("abcd");
        assert_eq!(full.block(4), (vec!["abcd".into(), String::new()], (0, 1)), "the place has a cell");
    }

    #[test]
    fn the_place_stays_in_the_window() {
        let mut line = Line::new("0123456789漢字");
        for width in 0..20 {
            let (text, column) = line.window(width, false);
            assert!(text.width() <= usize::from(width), "{width}: {text}");
            assert!(column < width.max(1), "{width}: {column}");
        }
        press(&mut line, KeyCode::Home, 0);
        assert_eq!(line.window(4, false), ("0123".into(), 0));
    }

    #[test]
    fn text_is_cut_and_wrapped_by_cells() {
        assert_eq!(cut_to("漢字漢字", 5, "…"), "漢字…");
        assert_eq!(cut_to("abc", 3, "…"), "abc");
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("toolongword x", 4), ["tool", "x"]);
        assert!(wrap("", 4).is_empty());
    }
}
