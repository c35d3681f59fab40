//! Kinds of terminals: what each can show, in every size, also inside another multiplexer.

use std::process::Command;

use crate::support::Home;
use crate::support::home::RELIGHT;
use crate::support::missing;
use crate::support::modes::Modes;
use crate::support::terminal::{PREFIX, Terminal};
use crate::support::told::Told;

/// Everything that relight draws itself, one after the other, and back.
const TOUR: [&str; 9] = ["?", "c", "s", "m", "e", "u", "X", ",", "%"];

fn tour(home: &Home, terminal: &mut Terminal) {
    for key in TOUR {
        terminal.keys(&format!("{PREFIX}{key}"));
        terminal.until_quiet();
        terminal.keys("\x1b");
        terminal.until_quiet();
    }
    terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(terminal.until_code(home), 0);
}

#[test]
fn every_kind_of_terminal_shows_the_screen_and_is_left_as_it_was() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    for term in ["screen-256color", "tmux-256color", "linux", "xterm", "vt100", "vt220", "xterm-kitty", "nonsense"] {
        let mut terminal = Terminal::new((80, 24));
        terminal.env("TERM", Some(term));
        let before = terminal.termios();
        terminal.start(&home, &["attach", &told.id]);
        terminal.until_text(&home, "I will remember kiwi.");
        terminal.keys(&format!("{PREFIX}d"));
        assert_eq!(terminal.until_code(&home), 0, "{term}");
        assert_eq!(terminal.termios(), before, "{term}");
        assert_eq!(terminal.modes.left(), Modes::default().left(), "{term}");
        assert!(terminal.rows()[2].starts_with("detached"), "{term}: {}", terminal.text());
        let shapes = terminal.raw.windows(2).any(|two| two == b" q");
        assert_eq!(shapes, !["linux", "vt100", "vt220"].contains(&term), "{term}");
    }
}

#[test]
fn without_utf8_every_byte_that_relight_draws_is_ascii() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    for (name, value) in [("LANG", "C"), ("LC_ALL", "POSIX"), ("TERM", "linux")] {
        let mut terminal = Terminal::new((80, 24));
        terminal.env(name, Some(value));
        terminal.start(&home, &["attach", &told.id]);
        terminal.until_text(&home, "I will remember kiwi.");
        tour(&home, &mut terminal);
        let at = terminal.raw.iter().position(|byte| !byte.is_ascii());
        let near = at.map(|at| String::from_utf8_lossy(&terminal.raw[at.saturating_sub(60)..at + 9]).into_owned());
        assert_eq!(near, None, "{name}={value}");
    }
    // With it, what is drawn is not only that: the test looks at the right bytes.
    let mut terminal = Terminal::new((80, 24));
    terminal.start(&home, &["attach", &told.id]);
    terminal.until_text(&home, "I will remember kiwi.");
    tour(&home, &mut terminal);
    assert!(!terminal.raw.is_ascii());
}

#[test]
fn without_colour_relight_sets_none() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    for (name, value, coloured) in [("NO_COLOR", "1", false), ("TERM", "vt100", false), ("NO_COLOR", "", true)] {
        let mut terminal = Terminal::new((80, 24));
        terminal.env(name, Some(value));
        terminal.start(&home, &["attach", &told.id]);
        terminal.until_text(&home, "I will remember kiwi.");
        tour(&home, &mut terminal);
        let colours = terminal.modes.colours;
        assert_eq!(colours > 0, coloured, "{name}={value}: {colours} colours were set");
    }
}

#[test]
fn sizes_change_as_fast_as_they_like_without_harm() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let mut terminal = Terminal::new((80, 24));
    terminal.start(&home, &["attach", &told.id]);
    terminal.until_text(&home, "I will remember kiwi.");
    let sizes = [(1, 1), (2, 2), (3, 3), (500, 200), (1, 200), (500, 1), (80, 2), (20, 3), (59, 7), (60, 8)];
    for key in ["", "?", "c", "s", "X", "e", "%", "\x00"] {
        terminal.keys(&format!("\x1b{PREFIX}{key}"));
        for size in sizes.iter().chain(sizes.iter().rev()) {
            terminal.resize(*size);
            terminal.pump(std::time::Duration::from_millis(15));
        }
        terminal.keys("\x1b");
    }
    terminal.resize((80, 24));
    terminal.until_quiet();
    terminal.keys("\x1b\x1b");
    terminal.until_text(&home, "kiwi");
    terminal.until(&home, "the status line", |t| t.rows()[23].contains("help"));
    terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(terminal.until_code(&home), 0);
    told.back_once(&home, 1);
}

#[test]
fn it_works_inside_tmux() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return missing("tmux", "`tmux` cannot be run");
    }
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let socket = home.path().join("tmux.sock");
    let tmux = |args: &[&str]| {
        let mut command = Command::new("tmux");
        command.env_clear().envs(home.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.arg("-S").arg(&socket).args(["-f", "/dev/null", "-u"]).args(args);
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let client = format!("{RELIGHT} attach {}; echo over; sleep 1000", told.id);
    tmux(&["new-session", "-d", "-x", "80", "-y", "24", &client]);
    let shows = |text: &str| home.until(&format!("`{text}` in tmux"), || tmux(&["capture-pane", "-p"]).contains(text));
    shows("I will remember kiwi.");
    tmux(&["send-keys", "-l", "what is the code word?"]);
    tmux(&["send-keys", "Enter"]);
    shows("The code word is kiwi.");
    tmux(&["resize-window", "-x", "60", "-y", "12"]);
    shows("help");
    tmux(&["send-keys", "C-Space", "d"]);
    shows("detached");
    shows("over");
    let flags = tmux(&["display", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{keypad_cursor_flag}"]);
    assert_eq!(flags.trim(), "0 0 1 0");
    tmux(&["kill-server"]);
}
