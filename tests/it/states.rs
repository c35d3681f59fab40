//! Each state of a session, reached by a real fault on a real process, as the screen shows it and lets a person out of it.

mod comes_back;
mod stays_down;

use crate::support::Home;
use crate::support::terminal::PREFIX;
use crate::support::told::Told;
use crate::support::tui::{TERM, Tui};

/// A screen of the usual size that shows the session.
fn screen(home: &Home, told: &Told) -> Tui {
    let mut tui = Tui::on(home, &told.id, TERM, (80, 24));
    tui.until_text(home, "I will remember kiwi.");
    tui
}

/// Waits for all of these texts at once. A text may be broken into lines.
#[track_caller]
fn shows(home: &Home, tui: &mut Tui, texts: &[&str]) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    tui.until(home, &format!("{texts:?}"), |shown| {
        let shown = words(shown);
        texts.iter().all(|text| shown.contains(text))
    });
}

/// The agent lives, nothing is offered, and what is typed reaches a conversation that knows its word.
#[track_caller]
fn answers(home: &Home, tui: &mut Tui) {
    tui.until(home, "no banner", |shown| !shown.contains("[r]") && shown.contains("ready: waiting"));
    tui.keys(b"what is the code word?\r");
    tui.until_text(home, "The code word is kiwi.");
}

/// A command after the prefix.
fn after_prefix(tui: &mut Tui, key: &str) {
    tui.keys(format!("{PREFIX}{key}").as_bytes());
}
