//! The git and files panels of the screen, on a real terminal, with a real repository, whatever became of the agent.

#![expect(clippy::disallowed_types, reason = "the repository is made with git")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::Home;
use crate::support::kill;
use crate::support::told::Told;
use crate::support::tui::Tui;

/// The prefix, Ctrl-Space.
const PREFIX: &[u8] = b"\0";
const ESC: &[u8] = b"\x1b";

fn git(dir: &Path, args: &[&str]) {
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=A Name", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with one changed file and one that git does not know.
fn repository(home: &Home) {
    let at = |name: &str| home.project().join(name);
    git(&home.project(), &["init", "-q", "-b", "main"]);
    fs::create_dir(at("src")).unwrap();
    fs::write(at("src/shop.txt"), "one\ntwo\nthree\n").unwrap();
    git(&home.project(), &["add", "."]);
    git(&home.project(), &["commit", "-q", "-m", "First"]);
    fs::write(at("src/shop.txt"), "one\nzwei\nthree\n").unwrap();
    fs::write(at("notes.txt"), "a \x1b[31mred\x1b]0;evil\x07 note\n").unwrap();
}

/// Opens the panel of this key.
fn panel(tui: &mut Tui, key: &[u8]) {
    tui.keys(PREFIX);
    tui.keys(key);
}

/// Both panels, from a screen on which neither is open.
#[track_caller]
fn works(home: &Home, tui: &mut Tui) {
    panel(tui, b"g");
    tui.until_text(home, "git: main, 2 changed");
    tui.until_text(home, "> M modified  src/shop.txt");
    tui.until_text(home, "? new       notes.txt");
    tui.keys(b"\r");
    tui.until_text(home, "-two");
    tui.until_text(home, "+zwei");
    tui.keys(ESC);
    tui.until_text(home, "? new       notes.txt");
    tui.keys(b"l");
    tui.until_text(home, "git: main, 1 commit");
    tui.keys(b"l");
    tui.until_text(home, "git: main, 2 changed");
    tui.keys(b"q");
    panel(tui, b"f");
    tui.until_text(home, "files: project");
    tui.until_text(home, "> .git/");
    tui.keys(b"/note\r");
    tui.until_text(home, "a ^[[31mred^[]0;evil^G note");
    tui.keys(ESC);
    tui.until_text(home, "/ note");
    tui.keys(ESC);
    tui.until_text(home, "src/");
    tui.keys(b"k\x1b[C");
    tui.until_text(home, "files: src");
    tui.until_text(home, "> shop.txt");
    tui.keys(b"\x1b[D");
    tui.until_text(home, "> src/");
    tui.keys(b"q");
}

#[test]
fn git_and_files_beside_a_living_agent() {
    let home = Home::new();
    repository(&home);
    let told = Told::new(&home, "kiwi");
    let mut tui = Tui::attach(&home, &told.id);
    tui.until_text(&home, "kiwi");
    works(&home, &mut tui);
    let screen = home.screen(&told.id);
    assert!(!screen.contains("note") && !screen.contains("jq"), "keys of a panel reached the agent:\n{screen}");
    // What changes while the agent works is there when its turn has ended.
    panel(&mut tui, b"g");
    tui.until_text(&home, "2 changed");
    fs::write(home.project().join("later.txt"), "later\n").unwrap();
    home.run(&["send", &told.id, "what is the code word?"]).ok();
    tui.until_text(&home, "later.txt");
}

#[test]
fn git_and_files_when_the_agent_is_dead_and_cannot_be_resumed() {
    let home = Home::new();
    repository(&home);
    let told = Told::with(&home, "kiwi", &["--agent", "demo"], &["--misbehave", "no-resume"]);
    let mut tui = Tui::attach(&home, &told.id);
    tui.until_text(&home, "kiwi");
    kill::kill(&home.agent(&told.id));
    home.until("an agent that stays dead", || {
        let status = home.status(&told.id);
        status["is_agent_running"] == false && status["state"] == "ERROR"
    });
    works(&home, &mut tui);
}
