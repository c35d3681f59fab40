//! However the screen ends, the terminal is as it was: its modes in the kernel, its own modes, what stood on it.

use std::fs;

use crate::support::Home;
use crate::support::kill::{self, Signal};
use crate::support::modes::Modes;
use crate::support::terminal::{PREFIX, Terminal};
use crate::support::told::Told;

const SIZE: (u16, u16) = (80, 24);

/// A terminal that the screen has taken: alternate screen, raw, keys, mouse and pastes.
struct Taken {
    terminal: Terminal,
    before: String,
}

impl Taken {
    #[track_caller]
    fn new(home: &Home, told: &Told, prepare: impl Fn(&mut Terminal)) -> Self {
        let mut terminal = Terminal::new(SIZE);
        terminal.kitty = true;
        prepare(&mut terminal);
        let before = terminal.termios();
        let mut taken = Self { terminal, before };
        taken.take(home, told);
        taken
    }

    /// Starts the screen on it, and looks that there is something to undo.
    #[track_caller]
    fn take(&mut self, home: &Home, told: &Told) {
        self.terminal.start(home, &["attach", &told.id]);
        self.until_taken(home);
    }

    #[track_caller]
    fn until_taken(&mut self, home: &Home) {
        let taken = |t: &Terminal| {
            let modes = [1049, 2004, 1004, 1000, 1006].into_iter().all(|mode| t.modes.is_on(mode));
            modes && t.modes.keys[1] == [5] && t.alternate() && t.text().contains("I will remember kiwi.")
        };
        self.terminal.until(home, "a terminal that is taken", taken);
        assert_ne!(self.terminal.termios(), self.before);
    }

    /// Looks that it is as it was, with these words behind what stood there.
    #[track_caller]
    fn is_back(&mut self, words: &str) {
        let how = format!("after `{words}`:\n{}", self.terminal.text());
        assert_eq!(self.terminal.termios(), self.before, "{how}");
        assert_eq!(self.terminal.modes.left(), Modes::default().left(), "{how}");
        assert!(!self.terminal.alternate(), "{how}");
        let rows = self.terminal.rows();
        assert_eq!([rows[0].trim_end(), rows[1].trim_end()], ["before", "$ relight"], "{how}");
        assert!(rows[2].starts_with(words.lines().next().unwrap_or_default()), "{how}");
        assert!(!self.terminal.modes.title, "{how}");
    }
}

#[test]
fn detach_and_signals_leave_the_terminal_as_it_was() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let mut taken = Taken::new(&home, &told, |_| ());
    taken.terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(taken.terminal.until_code(&home), 0);
    taken.is_back("detached; the agents go on");
    for (signal, code) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131), (Signal::TERM, 143)] {
        let mut taken = Taken::new(&home, &told, |_| ());
        kill::signal(taken.terminal.process(), signal);
        assert_eq!(taken.terminal.until_code(&home), code);
        taken.is_back("");
    }
    // Another answer of the same terminal: no echo, as somebody has set it.
    let quiet = |terminal: &mut Terminal| terminal.stty("-echo");
    let mut taken = Taken::new(&home, &told, quiet);
    taken.terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(taken.terminal.until_code(&home), 0);
    taken.is_back("detached");
    told.back_once(&home, 1);
}

#[test]
fn the_end_of_the_host_leaves_the_terminal_as_it_was() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let mut taken = Taken::new(&home, &told, |_| ());
    let host = home.host().unwrap();
    kill::kill(&host);
    taken.terminal.until(&home, "the next host", |_| home.host().is_some_and(|next| next != host));
    taken.terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(taken.terminal.until_code(&home), 0);
    taken.is_back("detached");
    taken.take(&home, &told);
    taken.terminal.keys(&format!("{PREFIX}q"));
    taken.terminal.until_text(&home, "Stop the host");
    taken.terminal.keys("y");
    assert_eq!(taken.terminal.until_code(&home), 0);
    taken.terminal.until_text(&home, "the host and the agents have ended");
    assert!(home.host().is_none());
}

#[test]
fn an_internal_error_leaves_the_terminal_as_it_was_and_can_be_read_there_and_in_the_log() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    for (place, words) in [("screen", "an error of the screen, on purpose"), ("task", "an error of a task, on purpose")]
    {
        let mut taken = Taken::new(&home, &told, |terminal| terminal.env("RELIGHT_TEST_PANIC", Some(place)));
        taken.terminal.keys("\x1c");
        let code = taken.terminal.until_code(&home);
        assert!(code != 0 && code < 128, "{code}");
        taken.is_back("");
        let text = taken.terminal.text();
        assert!(text.contains(words), "{text}");
        let logs = fs::read_dir(home.path().join("logs")).unwrap().flatten();
        let clients = logs.filter(|log| log.file_name().to_string_lossy().starts_with("client"));
        let log: String = clients.map(|log| fs::read_to_string(log.path()).unwrap()).collect();
        assert!(log.contains(words), "{log}");
    }
    told.back_once(&home, 1);
}

/// Named by the fault: the next client saved the raw modes that it found and gave them to the shell when it left.
#[test]
fn what_a_killed_client_left_is_mended_by_the_next_one() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let mut taken = Taken::new(&home, &told, |_| ());
    kill::signal(taken.terminal.process(), Signal::KILL);
    assert_eq!(taken.terminal.until_code(&home), 137);
    assert_ne!(taken.terminal.termios(), taken.before, "nobody could have put it back");
    assert_eq!(taken.terminal.modes.keys[1], [5]);
    taken.take(&home, &told);
    taken.terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(taken.terminal.until_code(&home), 0);
    taken.is_back("detached");
}

#[test]
fn a_stopped_client_gives_the_terminal_back_and_takes_it_again() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let mut taken = Taken::new(&home, &told, |_| ());
    let client = taken.terminal.process().clone();
    for _ in 0..2 {
        kill::signal(&client, Signal::TSTP);
        taken.terminal.until(&home, "a stopped client", |_| kill::is_stopped(&client));
        taken.is_back("");
        kill::signal(&client, Signal::CONT);
        taken.until_taken(&home);
    }
    // Who is stopped without a word can give nothing back, but has it all again.
    kill::signal(&client, Signal::STOP);
    taken.terminal.until(&home, "a stopped client", |_| kill::is_stopped(&client));
    kill::signal(&client, Signal::CONT);
    taken.until_taken(&home);
    taken.terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(taken.terminal.until_code(&home), 0);
    taken.is_back("detached");
}

/// A reader of the terminal that is told of its end by nobody must not look for it for ever.
#[test]
fn a_terminal_that_is_gone_ends_the_client_at_once_with_hardly_any_work() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    for apart in [false, true] {
        let mut terminal = Terminal::new(SIZE);
        let args = ["attach", &told.id];
        if apart {
            terminal.start_apart(&home, &args);
        } else {
            terminal.start(&home, &args);
        }
        terminal.until_text(&home, "I will remember kiwi.");
        terminal.until_quiet();
        terminal.close();
        let closed = std::time::Instant::now();
        let (status, busy) = terminal.until_end(&home);
        let time = closed.elapsed();
        assert_eq!(status.code(), Some(129), "{status:?}");
        assert!(busy < 1.5 && time.as_secs() < 20, "{busy} s of work, {time:?}");
    }
    told.back_once(&home, 1);
}
