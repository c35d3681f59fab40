//! Every command of the screen, once: its name in settings, what it does in words, the heading that it stands under.

/// Something a person can ask the screen to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// Opens the form for a new session.
    New,
    /// Opens the form for a name.
    Rename,
    /// Resumes, retries, or asks an absent host again.
    Resume,
    /// Puts a failure away.
    Dismiss,
    /// Shows everything that is known of the session, and why it is so.
    Explain,
    /// Lists sessions that were ended, to bring one back.
    Reopen,
    /// Ends a session for good.
    Kill,
    /// Next tab.
    Next,
    /// Previous tab.
    Previous,
    /// The tab that was chosen before.
    Last,
    /// The next tab that waits for a person.
    Waiting,
    /// Tab by number, from 1.
    Jump(u8),
    /// A second pane to the right.
    SplitRight,
    /// A second pane below.
    SplitDown,
    /// The pane to the left gets the keys.
    FocusLeft,
    /// The pane to the right gets the keys.
    FocusRight,
    /// The pane above gets the keys.
    FocusUp,
    /// The pane below gets the keys.
    FocusDown,
    /// The other pane gets the keys.
    FocusNext,
    /// The focused pane takes the whole screen, or gives it back.
    Zoom,
    /// Another shell in the second pane.
    Shell,
    /// The next of the session's shells in the second pane.
    NextShell,
    /// Closes the focused pane; the agent's pane: ends the session.
    Close,
    /// What git says of the session's directory.
    Git,
    /// The files of the session's directory.
    Files,
    /// What relight has announced.
    Messages,
    /// The list of sessions at the side.
    Sidebar,
    /// Leaves; everything goes on.
    Detach,
    /// Ends host and agents.
    Quit,
    /// Draws everything anew.
    Redraw,
    /// Shows all keys.
    Help,
}

/// A heading of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Beginning, ending, bringing back.
    Sessions,
    /// Going from one session to another.
    Tabs,
    /// What one session shows side by side.
    Panes,
    /// Looking at something else than a terminal.
    Views,
    /// relight itself.
    Relight,
}

impl Group {
    /// The heading in words.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Sessions => "Sessions",
            Self::Tabs => "Tabs",
            Self::Panes => "Panes",
            Self::Views => "Views",
            Self::Relight => "relight",
        }
    }
}

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it does.
    pub command: Command,
    /// The heading that it stands under.
    pub group: Group,
    /// Its name in settings.
    pub name: &'static str,
    /// One, two or three words for the hint after the prefix, at most 12 characters.
    pub hint: &'static str,
    /// One line for people, without a full stop.
    pub help: &'static str,
}

const fn row(command: Command, group: Group, name: &'static str, hint: &'static str, help: &'static str) -> Entry {
    Entry { command, group, name, hint, help }
}

macro_rules! jump {
    ($n:literal) => {
        row(Command::Jump($n), Group::Tabs, concat!("tab-", $n), concat!("tab ", $n), concat!("Go to tab ", $n))
    };
}

use Command as C;
use Group::{Panes, Relight, Sessions, Tabs, Views};

/// The table, in the order in which help shows it.
pub const TABLE: &[Entry] = &[
    row(C::New, Sessions, "new", "new", "Start a new session"),
    row(C::Rename, Sessions, "rename", "rename", "Give this session another name"),
    row(C::Resume, Sessions, "resume", "resume", "Resume this session, or retry what failed"),
    row(C::Dismiss, Sessions, "dismiss", "dismiss", "Put this failure away"),
    row(C::Explain, Sessions, "explain", "explain", "Show all that is known of this session, and why"),
    row(C::Reopen, Sessions, "reopen", "reopen", "List closed sessions, to bring one back"),
    row(C::Kill, Sessions, "kill", "kill", "End this session for good (asks first)"),
    row(C::Next, Tabs, "next", "next", "Go to the next tab"),
    row(C::Previous, Tabs, "previous", "previous", "Go to the previous tab"),
    row(C::Last, Tabs, "last", "last", "Go back to the tab chosen before"),
    row(C::Waiting, Tabs, "waiting", "waiting", "Go to the next tab that waits for you"),
    jump!(1),
    jump!(2),
    jump!(3),
    jump!(4),
    jump!(5),
    jump!(6),
    jump!(7),
    jump!(8),
    jump!(9),
    row(C::SplitRight, Panes, "split-right", "split right", "Open a shell to the right"),
    row(C::SplitDown, Panes, "split-down", "split down", "Open a shell below"),
    row(C::FocusLeft, Panes, "focus-left", "focus left", "Go to the pane on the left"),
    row(C::FocusRight, Panes, "focus-right", "focus right", "Go to the pane on the right"),
    row(C::FocusUp, Panes, "focus-up", "focus up", "Go to the pane above"),
    row(C::FocusDown, Panes, "focus-down", "focus down", "Go to the pane below"),
    row(C::FocusNext, Panes, "focus-next", "other pane", "Go to the other pane"),
    row(C::Zoom, Panes, "zoom", "zoom", "Give this pane the whole screen, or take it back"),
    row(C::Shell, Panes, "shell", "new shell", "Open another shell in the second pane"),
    row(C::NextShell, Panes, "next-shell", "next shell", "Show the next of the shells in the second pane"),
    row(C::Close, Panes, "close", "close", "Close this pane; the agent's: end the session"),
    row(C::Git, Views, "git", "git", "Show what git says of this session's directory"),
    row(C::Files, Views, "files", "files", "Show the files of this session's directory"),
    row(C::Messages, Views, "messages", "messages", "Show what relight has announced"),
    row(C::Sidebar, Views, "sidebar", "sidebar", "Show or hide the list of sessions at the side"),
    row(C::Detach, Relight, "detach", "detach", "Leave; every session goes on"),
    row(C::Quit, Relight, "quit", "quit all", "Stop host and agents until the next start"),
    row(C::Redraw, Relight, "redraw", "redraw", "Draw the screen anew"),
    row(C::Help, Relight, "help", "help", "Show all keys"),
];

impl Command {
    /// Its row.
    #[must_use]
    pub fn entry(self) -> &'static Entry {
        TABLE.iter().find(|entry| entry.command == self).unwrap_or(&NONE)
    }

    /// The command of this name in settings.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|entry| entry.name == name).map(|entry| entry.command)
    }
}

/// The row of a command that is not in the table, as `Jump(0)`.
const NONE: Entry = row(C::Help, Relight, "", "", "");

/// What a person wants most, first: the order of the hint after the prefix. The rest follows in the order of [`TABLE`].
pub const OFTEN: &[Command] = &[
    C::New,
    C::Jump(1),
    C::Next,
    C::Waiting,
    C::Detach,
    C::SplitRight,
    C::FocusLeft,
    C::Zoom,
    C::Close,
    C::Git,
    C::Files,
    C::SplitDown,
    C::Previous,
    C::Last,
    C::Shell,
    C::Explain,
    C::Rename,
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_command_has_a_name_a_hint_and_a_help_text_once() {
        for entry in TABLE {
            assert!(
                (9..=50).contains(&entry.help.len()) && !entry.help.ends_with('.'),
                "{}: {}",
                entry.name,
                entry.help
            );
            assert!(!entry.hint.is_empty() && entry.hint.len() <= 12, "{}", entry.name);
            assert!(entry.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b.is_ascii_digit()));
            assert_eq!(Command::named(entry.name), Some(entry.command));
            assert_eq!(entry.command.entry(), entry);
        }
        let names: HashSet<_> = TABLE.iter().map(|entry| entry.name).collect();
        let hints: HashSet<_> = TABLE.iter().map(|entry| entry.hint).collect();
        let commands: HashSet<_> = TABLE.iter().map(|entry| entry.command).collect();
        assert_eq!((names.len(), hints.len(), commands.len()), (TABLE.len(), TABLE.len(), TABLE.len()));
    }

    #[test]
    fn a_group_stands_together() {
        let mut seen = vec![];
        for entry in TABLE {
            if seen.last() != Some(&entry.group) {
                assert!(!seen.contains(&entry.group), "{}", entry.name);
                seen.push(entry.group);
            }
        }
    }
}
