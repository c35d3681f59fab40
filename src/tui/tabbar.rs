//! What the tab bar shows in a given width: every tab if they fit, else a window around the chosen one, with the most
//! urgent of the others always visible.

use unicode_width::UnicodeWidthStr;

use super::badge::{self, Tone};
use super::edit::cut_to;
use super::state::{State, Tab};
use crate::domain::ids::SessionId;

/// Longest names tried, in cells, from roomy to tight; with the activity in words or without.
const FITS: [(usize, bool); 4] = [(24, true), (24, false), (14, false), (8, false)];

/// A part of the bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// First column.
    pub from: u16,
    /// Text.
    pub text: String,
    /// The session that it stands for; none for marks.
    pub session: Option<SessionId>,
    /// It is the chosen one.
    pub chosen: bool,
    /// Tone of its badge.
    pub tone: Tone,
}

/// The bar in `width` cells.
#[must_use]
pub fn arrange(state: &State, width: u16) -> Vec<Piece> {
    let room = usize::from(width);
    let ascii = state.setup.ascii;
    for (name, word) in FITS {
        let labels: Vec<String> = (0..state.tabs.len()).map(|i| label(state, i, name, word)).collect();
        if labels.iter().map(|l| l.width()).sum::<usize>() <= room {
            return place(state, labels.into_iter().enumerate().map(|(i, l)| (Some(i), l)), room);
        }
    }
    let (left, right) = if ascii { ("<", ">") } else { ("‹", "›") };
    let name = if room < 40 { 8 } else { 14 };
    let at = state.place().unwrap_or(0);
    let pin = urgent(state, at).map(|i| (i, label(state, i, 8, false)));
    let free = room.saturating_sub(2 + pin.as_ref().map_or(0, |(_, l)| l.width()));
    let labels: Vec<String> = (0..state.tabs.len()).map(|i| label(state, i, name, false)).collect();
    let (from, to) = window(&labels, at, free);
    let mut parts = vec![(None, if from > 0 { left } else { " " }.to_owned())];
    parts.extend(labels.iter().enumerate().take(to).skip(from).map(|(i, l)| (Some(i), cut_to(l, free, mark(ascii)))));
    parts.push((None, if to < labels.len() { right } else { " " }.to_owned()));
    if let Some((i, text)) = pin.filter(|(i, _)| *i < from || *i >= to) {
        parts.push((Some(i), text));
    }
    place(state, parts.into_iter(), room)
}

/// The session whose part of the bar is at this column.
#[must_use]
pub fn hit(state: &State, width: u16, col: u16) -> Option<SessionId> {
    let pieces = arrange(state, width);
    let inside = |p: &&Piece| col >= p.from && usize::from(col - p.from) < p.text.width();
    pieces.iter().find(inside).and_then(|piece| piece.session.clone())
}

/// What stands for text that was cut off.
#[must_use]
pub const fn mark(ascii: bool) -> &'static str {
    if ascii { "~" } else { "…" }
}

fn place(state: &State, parts: impl Iterator<Item = (Option<usize>, String)>, room: usize) -> Vec<Piece> {
    let mut pieces = vec![];
    let mut column = 0;
    for (i, text) in parts {
        let text = cut_to(&text, room.saturating_sub(column), "");
        let tab = i.and_then(|i| state.tabs.get(i));
        let from = column;
        column += text.width();
        if !text.is_empty() {
            pieces.push(Piece {
                from: u16::try_from(from).unwrap_or(u16::MAX),
                text,
                session: tab.map(|tab| tab.id().clone()),
                chosen: tab.is_some_and(|tab| state.current.as_ref() == Some(tab.id())),
                tone: tab.map_or(Tone::Faint, |tab| badge::tone(tab.line.activity)),
            });
        }
    }
    pieces
}

fn label(state: &State, i: usize, name: usize, word: bool) -> String {
    let Some(tab) = state.tabs.get(i) else { return String::new() };
    let ascii = state.setup.ascii;
    let glyph = badge::glyph(tab.line.activity, ascii);
    let shown = cut_to(shown_name(tab), name, mark(ascii));
    let unseen = if tab.unseen { "*" } else { "" };
    let word = if word { format!(" {}", badge::word(tab.line.activity)) } else { String::new() };
    format!(" {} {glyph} {shown}{unseen}{word} ", i + 1)
}

fn shown_name(tab: &Tab) -> &str {
    if tab.line.name.is_empty() { &tab.line.agent_label } else { &tab.line.name }
}

/// The most urgent tab besides the chosen one.
fn urgent(state: &State, chosen: usize) -> Option<usize> {
    let others = state.tabs.iter().enumerate().filter(|(i, tab)| *i != chosen && tab.urgency() > 0);
    others.max_by_key(|(i, tab)| (tab.urgency(), std::cmp::Reverse(*i))).map(|(i, _)| i)
}

/// The longest run of labels around `at` that fits.
fn window(labels: &[String], at: usize, free: usize) -> (usize, usize) {
    let width = |i: usize| labels.get(i).map_or(usize::MAX, |l| l.width());
    let (mut from, mut to) = (at.min(labels.len()), (at + 1).min(labels.len()));
    let mut used = width(at).min(free);
    loop {
        let before = from;
        let behind = to;
        if to < labels.len() && used + width(to) <= free {
            used += width(to);
            to += 1;
        }
        if from > 0 && used + width(from - 1) <= free {
            from -= 1;
            used += width(from);
        }
        if (before, behind) == (from, to) {
            return (from, to);
        }
    }
}
