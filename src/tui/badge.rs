//! What stands for an activity: a glyph, a word, how urgent it is. Readable without colour.

use crate::domain::words::Activity;

/// The glyph; of a form of its own for each activity, one cell wide.
#[must_use]
pub const fn glyph(activity: Activity, ascii: bool) -> &'static str {
    match (activity, ascii) {
        (Activity::Starting, false) => "◌",
        (Activity::Working, false) => "●",
        (Activity::NeedsPermission, false) => "▲",
        (Activity::NeedsInput, false) => "◆",
        (Activity::Ready, false) => "○",
        (Activity::Background, false) => "◐",
        (Activity::Interrupted, false) => "◇",
        (Activity::RateLimited, false) => "◷",
        (Activity::Resuming, false) => "↻",
        (Activity::Unreachable, false) => "≈",
        (Activity::Error, false) => "✗",
        (Activity::Ended, false) => "·",
        (Activity::Starting, true) => ":",
        (Activity::Working, true) => "*",
        (Activity::NeedsPermission, true) => "!",
        (Activity::NeedsInput, true) => "?",
        (Activity::Ready, true) => "o",
        (Activity::Background, true) => "&",
        (Activity::Interrupted, true) => "/",
        (Activity::RateLimited, true) => "%",
        (Activity::Resuming, true) => "@",
        (Activity::Unreachable, true) => "~",
        (Activity::Error, true) => "X",
        (Activity::Ended, true) => ".",
    }
}

/// What goes on by itself turns: the sign for a quarter of a second, counted from 0.
#[must_use]
pub const fn turning(turn: u8, ascii: bool) -> &'static str {
    match (turn % 4, ascii) {
        (0, false) => "◐",
        (1, false) => "◓",
        (2, false) => "◑",
        (_, false) => "◒",
        (0, true) => "|",
        (1, true) => "/",
        (2, true) => "-",
        (_, true) => "\\",
    }
}

/// The activity in words.
#[must_use]
pub const fn word(activity: Activity) -> &'static str {
    match activity {
        Activity::Starting => "starting",
        Activity::Working => "working",
        Activity::NeedsPermission => "permission",
        Activity::NeedsInput => "input",
        Activity::Ready => "ready",
        Activity::Background => "background",
        Activity::Interrupted => "interrupted",
        Activity::RateLimited => "limited",
        Activity::Resuming => "resuming",
        Activity::Unreachable => "unreachable",
        Activity::Error => "error",
        Activity::Ended => "ended",
    }
}

/// How much it wants a person, 0 not at all. `unseen`: what it did was not looked at yet.
#[must_use]
pub const fn urgency(activity: Activity, unseen: bool) -> u8 {
    match activity {
        Activity::NeedsPermission => 5,
        Activity::NeedsInput => 4,
        Activity::Error => 3,
        Activity::Interrupted => 2,
        Activity::Ready | Activity::Ended | Activity::Background if unseen => 1,
        _ => 0,
    }
}

/// The kind of colour an activity has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// Goes on by itself.
    Busy,
    /// Wants a person.
    Wants,
    /// Went wrong.
    Bad,
    /// Of the past.
    Faint,
}

/// The tone of an activity.
#[must_use]
pub const fn tone(activity: Activity) -> Tone {
    match activity {
        Activity::Working | Activity::Background | Activity::Starting | Activity::Resuming => Tone::Busy,
        Activity::NeedsPermission | Activity::NeedsInput | Activity::Interrupted => Tone::Wants,
        Activity::Error | Activity::Unreachable | Activity::RateLimited => Tone::Bad,
        Activity::Ended => Tone::Faint,
        Activity::Ready => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn every_activity_has_a_glyph_of_its_own() {
        for ascii in [false, true] {
            let glyphs: HashSet<_> = Activity::ALL.iter().map(|a| glyph(*a, ascii)).collect();
            assert_eq!(glyphs.len(), Activity::ALL.len());
            assert!(glyphs.iter().all(|g| g.width() == 1 && (!ascii || g.is_ascii())));
        }
    }
}
