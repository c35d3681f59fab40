//! What the demo agent draws: inline below its transcript, or the whole alternate screen.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

/// What stands below the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Live {
    /// The line that is being said.
    pub partial: String,
    /// Prompt box or question.
    pub prompt: String,
}

/// Longest tail of the prompt that is drawn, in characters: a pasted megabyte is not repainted at each key.
const TAIL_CHARS: usize = 300;

/// Draws, and knows what it drew.
#[derive(Debug)]
pub struct Painter {
    fullscreen: bool,
    cols: u16,
    rows: u16,
    /// Rows below the transcript, inline.
    drawn: usize,
    /// Rows scrolled back, full screen.
    scrolled: usize,
}

impl Painter {
    /// For a terminal of this size.
    pub fn new(fullscreen: bool, (cols, rows): (u16, u16)) -> Self {
        Self { fullscreen, cols: cols.max(2), rows: rows.max(2), drawn: 0, scrolled: 0 }
    }

    /// Modes set at the start.
    pub const fn enter(&self) -> &'static str {
        if self.fullscreen { "\x1b[?1049h\x1b[2J\x1b[H\x1b[?2004h" } else { "\x1b[?2004h" }
    }

    /// Modes put back at the end.
    pub fn leave(&mut self) -> String {
        if self.fullscreen {
            return "\x1b[?2004l\x1b[?25h\x1b[?1049l".to_owned();
        }
        format!("{}\x1b[?2004l", self.erase())
    }

    /// The terminal has another size.
    pub fn resize(&mut self, (cols, rows): (u16, u16)) {
        (self.cols, self.rows) = (cols.max(2), rows.max(2));
    }

    /// Scrolls back by `pages`, forward by negative ones.
    pub fn scroll(&mut self, pages: isize) {
        let page = isize::try_from(self.rows).unwrap_or(1) - 2;
        self.scrolled = self.scrolled.saturating_add_signed(pages * page.max(1));
    }

    /// Draws `fresh` lines of the transcript, which are its last ones, and what stands below.
    pub fn draw(&mut self, transcript: &[String], fresh: usize, live: &Live) -> String {
        let live = Live { partial: live.partial.clone(), prompt: tail(&live.prompt) };
        if self.fullscreen { self.full(transcript, &live) } else { self.inline(transcript, fresh, &live) }
    }

    fn erase(&mut self) -> String {
        let up = self.drawn.saturating_sub(1);
        self.drawn = 0;
        if up > 0 { format!("\r\x1b[{up}A\x1b[J") } else { "\r\x1b[J".to_owned() }
    }

    fn inline(&mut self, transcript: &[String], fresh: usize, live: &Live) -> String {
        let mut out = self.erase();
        for line in transcript.iter().skip(transcript.len().saturating_sub(fresh)) {
            out.push_str(line);
            out.push_str("\r\n");
        }
        if !live.partial.is_empty() {
            out.push_str(&live.partial);
            out.push_str("\r\n");
            self.drawn += fold(&live.partial, self.cols).len();
        }
        out.push_str(&live.prompt);
        self.drawn += fold(&live.prompt, self.cols).len();
        out
    }

    fn full(&mut self, transcript: &[String], live: &Live) -> String {
        let rows = usize::from(self.rows);
        let prompt = fold(&live.prompt, self.cols);
        let below = prompt.len().min(rows - 1);
        let above = rows - below;
        let mut lines = Vec::new();
        // From the end, as much as can be seen.
        let partial = (!live.partial.is_empty()).then_some(&live.partial);
        for line in transcript.iter().chain(partial).rev() {
            lines.extend(fold(line, self.cols).into_iter().rev());
            if lines.len() >= above + self.scrolled {
                break;
            }
        }
        self.scrolled = self.scrolled.min(lines.len().saturating_sub(above));
        let visible: Vec<&String> = lines.iter().skip(self.scrolled).take(above).collect();
        let mut out = String::from("\x1b[?2026h\x1b[?25l");
        for row in 0..above {
            let text = (row + visible.len()).checked_sub(above).and_then(|n| visible.get(visible.len() - 1 - n));
            let _ = write!(out, "\x1b[{};1H{}\x1b[K", row + 1, text.map_or("", |t| t.as_str()));
        }
        for (n, line) in prompt.iter().skip(prompt.len() - below).enumerate() {
            let _ = write!(out, "\x1b[{};1H\x1b[7m{line}\x1b[27m\x1b[K", above + n + 1);
        }
        out.push_str("\x1b[?25h\x1b[?2026l");
        out
    }
}

fn tail(text: &str) -> String {
    let count = text.chars().count();
    if count <= TAIL_CHARS {
        return text.to_owned();
    }
    format!("…{}", text.chars().skip(count - TAIL_CHARS).collect::<String>())
}

/// `text` in rows of `cols` columns, as a terminal wraps it. At least one.
fn fold(text: &str, cols: u16) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut used = 0;
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if used + width > usize::from(cols) {
            out.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(row) = out.last_mut() {
            row.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(bytes: &[&str], cols: u16, rows: u16) -> String {
        let size = |n| std::num::NonZeroU16::new(n).unwrap();
        let mut parser = vt100::Parser::new(size(rows), size(cols), 100);
        for text in bytes {
            parser.process(text.as_bytes());
        }
        let rows: Vec<String> = parser.screen().rows(0, cols).collect();
        rows.join("\n").trim_end_matches('\n').to_owned()
    }

    fn live(partial: &str, prompt: &str) -> Live {
        Live { partial: partial.into(), prompt: prompt.into() }
    }

    #[test]
    fn inline_keeps_the_transcript_above_the_prompt() {
        let mut painter = Painter::new(false, (10, 8));
        let lines: Vec<String> = ["one".into(), "two".into()].into();
        let a = painter.draw(&lines[..1], 1, &live("a long partial line", "> typed over the edge"));
        let b = painter.draw(&lines, 1, &live("", "> x"));
        assert_eq!(screen(&[&a], 10, 8), "one\na long par\ntial line\n> typed ov\ner the edg\ne");
        assert_eq!(screen(&[&a, &b], 10, 8), "one\ntwo\n> x");
    }

    #[test]
    fn the_full_screen_shows_the_end_and_scrolls() {
        let mut painter = Painter::new(true, (10, 4));
        let lines: Vec<String> = (1..=6).map(|n| format!("line {n}")).collect();
        let a = painter.draw(&lines, 6, &live("now", "> x"));
        assert_eq!(screen(&[painter.enter(), &a], 10, 4), "line 5\nline 6\nnow\n> x");
        painter.scroll(1);
        let b = painter.draw(&lines, 0, &live("now", "> x"));
        assert_eq!(screen(&[&a, &b], 10, 4), "line 3\nline 4\nline 5\n> x");
        painter.scroll(-9);
        let c = painter.draw(&lines[..1], 0, &live("", "> x"));
        assert_eq!(screen(&[&c], 10, 4), "\n\nline 1\n> x");
    }

    #[test]
    fn a_long_prompt_is_drawn_by_its_end() {
        assert_eq!(tail(&"x".repeat(1_000_000)).chars().count(), TAIL_CHARS + 1);
    }
}
