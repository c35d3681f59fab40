//! `relight demo`: the guide leads through, and nothing is left behind, however the screen ends.

use std::fs;
use std::path::PathBuf;

use relight::proc::identity;

use crate::support::Home;
use crate::support::home::RELIGHT;
use crate::support::kill::{self, Signal};
use crate::support::terminal::{PREFIX, Terminal};

/// A place for demos. Dropped, it ends what still runs of them.
struct Demos {
    home: Home,
    place: PathBuf,
}

impl Demos {
    fn new() -> Self {
        let home = Home::new();
        let place = home.path().join("tmp");
        fs::create_dir(&place).unwrap();
        let home = home.env("TMPDIR", place.display().to_string());
        Self { home, place }
    }

    /// Starts one and waits until its guide says what to do.
    fn start(&self, args: &[&str]) -> Terminal {
        let mut terminal = Terminal::new((80, 24));
        terminal.start(&self.home, &[&["demo"], args].concat());
        terminal.until(&self.home, "the first step", |terminal| pid(terminal).is_some());
        terminal
    }

    /// Directories of demos.
    fn left(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.place).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn gone(&self, dir: &PathBuf) {
        assert!(!self.left().contains(dir), "{:?}", self.left());
        assert_eq!(kill::living_of(dir), []);
    }
}

impl Drop for Demos {
    fn drop(&mut self) {
        for dir in fs::read_dir(&self.place).into_iter().flatten().flatten() {
            for (process, _) in kill::living_of(&dir.path()) {
                kill::signal(&process, Signal::KILL);
            }
        }
    }
}

/// The process that the guide says to kill.
fn pid(terminal: &Terminal) -> Option<i32> {
    let text = terminal.text();
    let rest = text.split("kill -9 ").nth(1)?;
    rest.split_whitespace().next()?.parse().ok()
}

#[test]
fn the_guide_leads_through_and_nothing_is_left_behind() {
    let demos = Demos::new();
    let home = &demos.home;
    let mut terminal = demos.start(&[]);
    let [dir] = demos.left().try_into().unwrap();
    for name in ["guide", "api", "docs", "shop"] {
        terminal.until_text(home, name);
    }
    let prefixed = |terminal: &mut Terminal, key: &str| terminal.keys(&format!("{PREFIX}{key}"));
    let first = pid(&terminal).and_then(kill::identify).expect("an agent that lives");
    kill::kill(&first);
    terminal.until_text(home, "[x] 1. `api` was killed and came back by itself, once.");
    prefixed(&mut terminal, "2");
    terminal.until_text(home, "I will remember amber.");
    terminal.keys("what is the code word?\r");
    terminal.until_text(home, "The code word is amber.");
    prefixed(&mut terminal, "1");
    terminal.until_text(home, "[x] 2.");
    terminal.until(home, "the host's pid", |terminal| pid(terminal).is_some());
    kill::kill(&pid(&terminal).and_then(kill::identify).expect("a host that lives"));
    terminal.until_text(home, "[x] 3. The host was killed; every agent went on.");
    prefixed(&mut terminal, "3");
    terminal.until_text(home, "Allow running");
    prefixed(&mut terminal, "X");
    terminal.until_text(home, "[y] yes");
    terminal.keys("y");
    terminal.until(home, "no tab of what was ended", |terminal| !terminal.rows()[0].contains("docs"));
    prefixed(&mut terminal, "1");
    terminal.until_text(home, "[x] 4. `docs` was ended, and stayed ended.");
    prefixed(&mut terminal, "u");
    terminal.until_text(home, "Bring a closed session back");
    terminal.until_text(home, ">docs");
    terminal.keys("\r");
    terminal.until(home, "its tab", |terminal| terminal.rows()[0].contains("docs"));
    prefixed(&mut terminal, "1");
    terminal.until_text(home, "[x] 5. `docs` is back, since you asked for it.");
    terminal.until_text(home, "ended and removed then");
    prefixed(&mut terminal, "d");
    assert_eq!(terminal.until_code(home), 0, "{}", terminal.text());
    terminal.until_text(home, "the demo is over");
    demos.gone(&dir);
    assert_eq!(home.living(), [], "the instance around it was not touched");
    assert!(!home.path().join("home/.relight-demo").exists(), "nothing in the person's own directory");
}

#[test]
fn a_demo_that_is_kept_goes_on() {
    let demos = Demos::new();
    let mut terminal = demos.start(&["--keep"]);
    let [dir] = demos.left().try_into().unwrap();
    let agent = pid(&terminal).and_then(kill::identify).expect("an agent that lives");
    terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(terminal.until_code(&demos.home), 0, "{}", terminal.text());
    terminal.until_text(&demos.home, "the demo is kept");
    assert!(identity::alive(&agent));
    // Another one leaves it alone.
    let mut other = demos.start(&[]);
    other.keys(&format!("{PREFIX}d"));
    assert_eq!(other.until_code(&demos.home), 0);
    assert_eq!(demos.left(), std::slice::from_ref(&dir));
    assert!(identity::alive(&agent));
    let home = format!("RELIGHT_HOME={}", dir.display());
    terminal.start_program(&demos.home, "env", &[&home, RELIGHT, "ls"]);
    terminal.until_code(&demos.home);
    terminal.until_text(&demos.home, "waiting for your next prompt");
    terminal.start_program(&demos.home, "env", &[&home, RELIGHT, "host", "stop", "--agents"]);
    assert_eq!(terminal.until_code(&demos.home), 0);
    demos.home.until("the end of what it said", || kill::living_of(&dir).is_empty());
}

#[test]
fn a_demo_that_is_told_to_end_cleans_up_and_the_next_one_does_for_one_that_was_killed() {
    let demos = Demos::new();
    let mut terminal = demos.start(&[]);
    let [dir] = demos.left().try_into().unwrap();
    kill::signal(terminal.process(), Signal::TERM);
    assert_eq!(terminal.until_code(&demos.home), 143);
    demos.gone(&dir);

    let mut terminal = demos.start(&[]);
    let [dir] = demos.left().try_into().unwrap();
    kill::kill(terminal.process());
    terminal.until_end(&demos.home);
    assert!(!kill::living_of(&dir).is_empty(), "its agents know nothing of it");
    let mut terminal = demos.start(&[]);
    demos.gone(&dir);
    terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(terminal.until_code(&demos.home), 0);
    terminal.until_text(&demos.home, "also removed: what 1 killed demo(s) had left");
    assert_eq!(demos.left(), [] as [PathBuf; 0]);
}

#[test]
fn without_a_terminal_it_says_so_and_makes_nothing() {
    let demos = Demos::new();
    demos.home.run(&["demo"]).exits(2).says(&["needs a terminal"]);
    assert_eq!(demos.left(), [] as [PathBuf; 0]);
    assert_eq!(demos.home.living(), []);
}
