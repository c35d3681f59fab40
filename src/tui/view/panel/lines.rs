//! A file or a diff, line by line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::pen::Pen;
use crate::tui::panel::ask::Ask;
use crate::tui::panel::text::{Text, cut};
use crate::tui::tabbar::mark;
use crate::tui::view::ink::line;

/// Draws a text.
pub fn draw(text: &Text, pen: &Pen<'_>, area: Rect, buf: &mut Buffer) {
    let (faint, width, height) = (pen.palette.faint, usize::from(area.width), usize::from(area.height));
    let nothing = match &text.ask {
        _ if text.binary => "It is binary: there are no lines to show.",
        Ask::Diff(_) => "Nothing in it differs from the last commit any more.",
        _ => "The file is empty.",
    };
    if text.binary || text.rows() == 0 {
        return pen.say(nothing, faint, area, buf);
    }
    let (first, gutter) = (text.first(height), text.gutter(width));
    for (row, number) in (0..area.height).zip(first..text.rows()) {
        if number == text.lines() {
            line(buf, area, row, &[(" The rest is too large to be shown.", faint)]);
            break;
        }
        let whole = text.line(number);
        let (sign, style) = match &text.ask {
            Ask::Diff(_) => ("", style(whole, pen)),
            Ask::New(_) => ("+", pen.palette.added),
            _ => ("", pen.palette.bar),
        };
        let number = if gutter > 0 { format!("{:>gutter$}", number + 1) } else { String::new() };
        let room = width.saturating_sub(gutter + 1 + sign.len());
        let (shown, more) = cut(whole, text.left, room, pen.ascii);
        line(buf, area, row, &[(&number, faint), (" ", faint), (sign, style), (&shown, style)]);
        if more && area.width > 0 {
            let sign = mark(pen.ascii);
            let at = Rect { x: area.right().saturating_sub(sign.chars().count() as u16).max(area.x), ..area };
            line(buf, Rect { width: area.right() - at.x, ..at }, row, &[(sign, faint)]);
        }
    }
}

/// The style of a line of a diff; its first character says the same.
fn style(line: &str, pen: &Pen<'_>) -> Style {
    let palette = pen.palette;
    match line.chars().next() {
        Some('+') if !line.starts_with("+++ ") => palette.added,
        Some('-') if !line.starts_with("--- ") => palette.removed,
        Some('@') => palette.key,
        Some(' ') | None => palette.bar,
        Some(_) => palette.faint,
    }
}
