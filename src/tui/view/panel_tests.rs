//! Pictures of the panels.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::pictures::{check, picture, styles};
use super::tests::shop;
use super::view;
use crate::domain::plain::steers;
use crate::domain::words::ExecutorStatus;
use crate::screen::decode::Outer;
use crate::tui::chord::Chord;
use crate::tui::msg::{Call, Msg, Refusal};
use crate::tui::panel::ask::{Ask, Found};
use crate::tui::panel::git::Page;
use crate::tui::samples::{after_prefix, commits, git_status, id, press, running, take_status, tell, text, tree};
use crate::tui::state::State;
use crate::tui::update::update;
use crate::wire::agentctl::{FileText, GitStatus};
use crate::wire::input::{KeyCode, Mods, Mouse, MouseKind};

const CHANGES: &[(&str, &str)] = &[
    ("R ", "src/checkout/basket.rs"),
    ("M ", "src/lib.rs"),
    ("AM", "src/checkout/payment_providers/invoice.rs"),
    (" M", "README.md"),
    (" D", "old/notes.txt"),
    ("UU", "Cargo.toml"),
    ("??", "docs/checkout/"),
    ("??", "todo.txt"),
];

const DIFF: &str = "diff --git a/README.md b/README.md\nindex 0123456..89abcde 100644\n--- a/README.md\n+++ b/README.md\n\
                    @@ -1,4 +1,5 @@ The shop\n # Shop\n \n-Sells things.\n+Sells things, and takes them back within thirty days of \
                    the day of purchase.\n+\n See docs.\n\\ No newline at end of file\n";

fn code() -> String {
    let line = |n| format!("fn line_{n}() -> u32 {{\n\tone({n}) + two({n}) + three({n}) + four({n}) + five({n})\n}}\n");
    (1..=120).map(line).collect::<Vec<_>>().concat()
}

fn git(size: (u16, u16)) -> State {
    let mut state = shop(size);
    after_prefix(&mut state, 'g');
    tell(&mut state, "web", Ask::Status, git_status(CHANGES));
    state
}

fn files(size: (u16, u16)) -> State {
    let mut state = shop(size);
    after_prefix(&mut state, 'f');
    let entries = [
        (".git/", 0),
        ("docs/", 0),
        ("src/", 0),
        (".gitignore", 16),
        ("Cargo.lock", 38_204),
        ("Cargo.toml", 812),
        ("README.md", 5_120),
        ("latest.log@", 0),
        ("\u{1b}[31mred\u{202e}.txt", 3),
        ("漢字.md", 2_400_000),
    ];
    tell(&mut state, "web", Ask::Tree(String::new()), tree(&entries));
    state
}

fn diff(size: (u16, u16), all: &str) -> State {
    let mut state = git(size);
    for _ in 0..4 {
        press(&mut state, Chord::key(KeyCode::Down));
    }
    press(&mut state, Chord::key(KeyCode::Enter));
    tell(&mut state, "web", Ask::Diff("README.md".into()), text(all));
    state
}

fn preview(size: (u16, u16), file: FileText) -> State {
    let mut state = files(size);
    update(&mut state, Msg::Outer(Outer::Text("/readme".into())));
    press(&mut state, Chord::key(KeyCode::Enter));
    tell(&mut state, "web", Ask::File("README.md".into()), Found::Text(file));
    state
}

fn whole(text: impl Into<String>) -> FileText {
    FileText { text: text.into(), truncated: false, binary: false }
}

#[test]
fn changes() {
    check("git", git);
}

#[test]
fn changes_in_ascii_without_colour() {
    check("git-ascii", |size| {
        let mut state = git(size);
        state.setup.ascii = true;
        state.setup.colour = false;
        state
    });
}

#[test]
fn a_diff() {
    check("git-diff", |size| diff(size, DIFF));
}

#[test]
fn a_diff_alone() {
    check("git-diff-zoomed", |size| {
        let mut state = diff(size, DIFF);
        after_prefix(&mut state, 'z');
        state
    });
}

#[test]
fn without_colour_nothing_that_relight_draws_has_one() {
    for mut state in [git((80, 24)), diff((80, 24), DIFF), files((80, 24))] {
        state.setup.colour = false;
        let plain = styles(&state);
        assert!(!plain.contains(|c: char| c.is_ascii_alphabetic()), "{plain}");
    }
}

#[test]
fn commits_are_listed() {
    check("git-log", |size| {
        let mut state = git(size);
        press(&mut state, Chord::char('l'));
        let subjects = ["Take things back within thirty days", "Baskets keep their order", "First"];
        tell(&mut state, "web", Ask::Log, commits(&subjects));
        press(&mut state, Chord::key(KeyCode::Down));
        state
    });
}

#[test]
fn a_directory() {
    check("files", files);
}

#[test]
fn a_directory_while_the_agent_has_the_focus() {
    check("files-unfocused", |size| {
        let mut state = files(size);
        after_prefix(&mut state, '-');
        after_prefix(&mut state, 'o');
        state
    });
}

#[test]
fn a_filter() {
    check("files-filter", |size| {
        let mut state = files(size);
        update(&mut state, Msg::Outer(Outer::Text("/carg".into())));
        state
    });
}

#[test]
fn a_preview() {
    check("files-preview", |size| {
        let mut state = preview(size, whole(code()));
        press(&mut state, Chord::key(KeyCode::PageDown));
        state
    });
}

#[test]
fn a_preview_alone() {
    check("files-preview-zoomed", |size| {
        let mut state = preview(size, whole(code()));
        after_prefix(&mut state, 'z');
        state
    });
}

#[test]
fn what_cannot_be_read() {
    check("git-failed", |size| {
        let mut state = shop(size);
        after_prefix(&mut state, 'g');
        let message = "`git status` took longer than 10 s and was given up".into();
        let refusal = Refusal { code: Some(crate::domain::words::ErrorCode::Timeout), message, hint: None };
        update(&mut state, Msg::Answered(Call::Workspace { session: id("web"), ask: Ask::Status }, Err(refusal)));
        state
    });
}

#[test]
fn while_the_executor_starts() {
    check("git-starting", |size| {
        let mut state = git(size);
        let line = state.chosen().unwrap().line.clone();
        let starting = Some(ExecutorStatus::Starting);
        take_status(&mut state, crate::domain::status::Status { executor_status: starting, ..running(&line) });
        state
    });
}

#[test]
fn the_keys_at_the_foot_can_be_clicked() {
    let mut state = diff((80, 24), DIFF);
    for (words, left) in [("Esc back", Some(false)), ("l commits", Some(false)), ("Enter", None)] {
        let mut buf = Buffer::empty(Rect::new(0, 0, 80, 24));
        state.spots = super::draw(&state, &mut buf).1;
        let row: String = (0..80).map(|x| buf.cell((x, 22)).map_or(" ", |cell| cell.symbol())).collect();
        let Some(at) = row.find(words) else {
            assert_eq!(left, None, "{words} in {row}");
            continue;
        };
        let col = row[..at].chars().count() as u16;
        let mouse = Mouse { kind: MouseKind::Down(0), col, row: 22, mods: Mods(0) };
        update(&mut state, Msg::Outer(Outer::Mouse(mouse)));
        assert_eq!(state.chosen().map(|tab| tab.panels.git.text.is_some()), left);
    }
    assert_eq!(state.chosen().map(|tab| tab.panels.git.page), Some(Page::Commits));
}

#[test]
fn what_there_is_not_is_said_in_words() {
    let says = |state: &State, words: &str| assert!(picture(state).contains(words), "{}", picture(state));
    let size = (120, 24);
    let mut state = git(size);
    let none = GitStatus { repository: false, branch: None, ahead_behind: None, entries: vec![] };
    press(&mut state, Chord::char('R'));
    tell(&mut state, "web", Ask::Status, Found::Status(none));
    says(&state, "This directory is not in a git repository.");
    says(&state, "git: no repository");
    press(&mut state, Chord::char('R'));
    tell(&mut state, "web", Ask::Status, git_status(&[]));
    says(&state, "Nothing has changed since the last commit.");
    says(&state, "git: main +2 -0, no changes");
    says(&diff(size, ""), "Nothing in it differs");
    says(&diff(size, "diff --git a/x b/x\nBinary files a/x and b/x differ\n"), "It is binary");
    says(&diff(size, " Binary files are what they are\n"), "Binary files are what they are");
    says(&preview(size, whole("")), "The file is empty.");
    says(&preview(size, FileText { text: String::new(), truncated: false, binary: true }), "It is binary");
    says(&preview(size, FileText { text: "a\n".into(), truncated: true, binary: false }), "The rest is too large");
    let mut state = shop(size);
    after_prefix(&mut state, 'f');
    says(&state, "Reading…");
    tell(&mut state, "web", Ask::Tree(String::new()), tree(&[]));
    says(&state, "The directory is empty.");
}

#[test]
fn nothing_that_a_file_holds_steers_the_terminal() {
    let bad = "a\x1b]0;title\x07b\x1b[2J\u{9b}31mc\u{202e}d\x00\r\x08\n".repeat(3);
    let names = [("evil\u{1b}[2J\n.txt", 1)];
    for size in [(30, 8), (80, 24)] {
        let mut renamed = files(size);
        press(&mut renamed, Chord::char('R'));
        tell(&mut renamed, "web", Ask::Tree(String::new()), tree(&names));
        let mut changed = git(size);
        press(&mut changed, Chord::char('R'));
        tell(&mut changed, "web", Ask::Status, git_status(&[("??", "evil\u{1b}[2J\n.txt")]));
        let mut logged = git(size);
        press(&mut logged, Chord::char('l'));
        tell(&mut logged, "web", Ask::Log, commits(&["evil\u{1b}[2J\u{9b}"]));
        for state in [diff(size, &bad), preview(size, whole(bad.clone())), renamed, changed, logged] {
            let mut buf = Buffer::empty(Rect::new(0, 0, size.0, size.1));
            view(&state, &mut buf);
            for cell in &buf.content {
                assert!(!cell.symbol().contains(steers), "{:?}", cell.symbol());
            }
        }
    }
}

#[test]
fn every_panel_fits_every_size_without_panic() {
    for size in [(0, 0), (1, 1), (2, 2), (1, 8), (30, 1), (5, 3), (41, 9), (80, 2), (500, 200)] {
        for make in [git, files] {
            let mut state = make(size);
            for code in [KeyCode::Down, KeyCode::PageDown, KeyCode::End, KeyCode::Up, KeyCode::PageUp, KeyCode::Home] {
                press(&mut state, Chord::key(code));
                picture(&state);
            }
        }
        let mut state = preview(size, whole(code()));
        for code in [KeyCode::End, KeyCode::Right, KeyCode::Left, KeyCode::Esc] {
            press(&mut state, Chord::key(code));
            picture(&state);
        }
        picture(&diff(size, DIFF));
    }
}
