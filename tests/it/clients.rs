//! Several screens on one host: each has its own view and size, one may only look, one may send the others away, and one
//! that stands still holds nobody up.

use std::io::{BufRead as _, BufReader};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use relight::domain::launch::ProcIdentity;
use serde_json::Value;

use crate::support::Home;
use crate::support::home::{PATIENCE, text};
use crate::support::kill::{self, Signal};
use crate::support::tui::{SIZE, TERM, Tui};

/// The prefix, as a terminal sends it.
const PREFIX: &[u8] = b"\x00";
/// A smaller window.
const SMALL: (u16, u16) = (70, 20);
/// Another one.
const NARROW: (u16, u16) = (60, 24);
/// How long the host waits for a client that takes nothing.
const WRITE_DEADLINE: Duration = Duration::from_secs(30);
/// What a client prints that was sent away.
const SENT_AWAY: &str = "Detached by another client.";

/// A session that is a shell; gives its id.
#[track_caller]
fn shell(home: &Home, name: &str) -> String {
    let id = text(&home.json(&["new", "--agent", "shell", "--name", name, "--detach"]), "session_id");
    home.until_alive(&id, 1);
    // It reads: what is typed from here on is taken.
    home.run(&["send", &id, &format!("PS1=; echo this is the'' shell {name}")]).ok();
    home.until_screen(&id, &format!("this is the shell {name}"));
    id
}

/// The command that prints the terminal's size behind `mark`.
fn ask_size(mark: &str) -> String {
    format!("echo {mark}-$(stty size | tr ' ' x)")
}

/// Columns and rows of the session's terminal, as the shell in it says. `mark` is used once.
#[track_caller]
fn size_now(home: &Home, id: &str, mark: &str) -> (u16, u16) {
    home.run(&["send", id, &ask_size(mark)]).ok();
    let begin = format!("{mark}-");
    let mut found = None;
    home.until(&format!("a size behind `{mark}`"), || {
        found = home.screen(id).lines().find_map(|line| {
            let (rows, cols) = line.trim().strip_prefix(&begin)?.split_once('x')?;
            Some((cols.parse().ok()?, rows.parse().ok()?))
        });
        found.is_some()
    });
    found.expect("a size")
}

/// Waits until the session's terminal has this many columns and rows.
#[track_caller]
fn until_size(home: &Home, id: &str, mark: &str, wanted: (u16, u16)) {
    until_size_after(home, id, mark, wanted, || {});
}

/// The same while something is done before each look.
#[track_caller]
fn until_size_after(home: &Home, id: &str, mark: &str, wanted: (u16, u16), mut first: impl FnMut()) {
    let mut times = 0;
    home.until(&format!("a terminal of {wanted:?}"), || {
        first();
        times += 1;
        size_now(home, id, &format!("{mark}{times}")) == wanted
    });
}

/// Size of the pane in a window of this size: without tab bar and status line.
fn pane((cols, rows): (u16, u16)) -> (u16, u16) {
    (cols, rows - 2)
}

/// The prefix and this key.
fn after_prefix(tui: &mut Tui, key: u8) {
    tui.keys(PREFIX);
    tui.keys(&[key]);
}

/// How many clients the host has, without the one that asks.
fn clients(home: &Home) -> u64 {
    let status = home.json(&["host", "status"]);
    status["clients"].as_u64().expect("a number") - 1
}

#[test]
fn each_client_has_its_own_tab_and_its_own_size() {
    let home = Home::new();
    let (one, two) = (shell(&home, "one"), shell(&home, "two"));
    let mut large = Tui::attach(&home, &one);
    large.until_text(&home, "this is the shell one");
    until_size(&home, &one, "alone", pane(SIZE));
    let mut small = Tui::start(&home, &["attach", &two], TERM, SMALL);
    small.until_text(&home, "this is the shell two");
    until_size(&home, &two, "small", pane(SMALL));
    assert!(!large.text().contains("this is the shell two"), "{}", large.text());

    after_prefix(&mut large, b'n');
    large.until_text(&home, "this is the shell two");
    after_prefix(&mut small, b'n');
    small.until_text(&home, "this is the shell one");
    small.until_text(&home, "alone1-28x100");
    assert!(!small.text().contains("this is the shell two"), "it did not follow the other");
    // Each terminal has the size of the one window that shows it.
    until_size(&home, &one, "swapped", pane(SMALL));
    until_size(&home, &two, "swapped", pane(SIZE));

    // Looking alone changes no size, typing does.
    after_prefix(&mut small, b'n');
    small.until_text(&home, "-28x100");
    assert_eq!(size_now(&home, &two, "looked-at"), pane(SIZE));
    until_size_after(&home, &two, "typed", pane(SMALL), || small.keys(b"\r"));
    // Who is left alone has its own size again.
    after_prefix(&mut small, b'd');
    assert_eq!(small.ended(&home).0, 0);
    until_size(&home, &two, "left", pane(SIZE));
    large.until_text(&home, "-28x100");
}

#[test]
fn a_client_that_only_looks_types_nothing_and_sets_no_size() {
    let home = Home::new();
    let id = shell(&home, "watched");
    let agent = home.agent(&id);
    let mut owner = Tui::attach(&home, &id);
    until_size(&home, &id, "before", pane(SIZE));
    let mut looker = Tui::start(&home, &["attach", "-r", &id], TERM, SMALL);
    looker.until_text(&home, "read-only");
    looker.until_text(&home, "-28x100");
    looker.keys(b"echo typed by who looks\r");
    looker.keys(b"\x1b[200~echo pasted by who looks\r\x1b[201~");
    looker.resize((60, 15));
    after_prefix(&mut looker, b'x');
    looker.until_text(&home, "This client is read-only.");
    after_prefix(&mut looker, b'?');
    // It has taken all of that.
    looker.until_text(&home, "Keys, after");
    looker.keys(b"q");
    owner.keys(b"echo typed by the ow''ner\r");
    looker.until_text(&home, "typed by the owner");
    assert_eq!(size_now(&home, &id, "after"), pane(SIZE));
    let shown = home.screen(&id);
    assert!(!shown.contains("by who looks"), "{shown}");
    // Left alone it still sets none.
    after_prefix(&mut owner, b'd');
    assert_eq!(owner.ended(&home).0, 0);
    assert_eq!(size_now(&home, &id, "alone"), pane(SIZE));
    assert_eq!(home.agent(&id), agent, "nobody ended it");
    after_prefix(&mut looker, b'd');
    let (code, shown) = looker.ended(&home);
    assert_eq!((code, shown.contains("detached; the agents go on")), (0, true), "{shown}");
}

#[test]
fn who_detaches_the_others_is_alone_and_calls_go_on() {
    let home = Home::new();
    let id = shell(&home, "shared");
    let host = home.host().expect("a host");
    let mut follower = home.start(&["events", "--follow", "--json"]);
    let lines = BufReader::new(follower.stdout.take().expect("its output")).lines();
    let (sender, events) = sync_channel(64);
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut others = [Tui::attach(&home, &id), Tui::start(&home, &["attach", "-r"], TERM, SMALL)];
    for other in &mut others {
        other.until_text(&home, "this is the shell shared");
    }
    home.until("three clients", || clients(&home) == 3);

    // Something that cannot be shown sends nobody away.
    let mut lost = Tui::start(&home, &["attach", "-d", "nobody"], TERM, SIZE);
    let (code, shown) = lost.ended(&home);
    assert_eq!((code, shown.contains("nobody")), (3, true), "{shown}");
    assert_eq!(clients(&home), 3, "they are still there");

    let mut mine = Tui::start(&home, &["attach", "-d", &id], TERM, SIZE);
    for other in &mut others {
        let (code, shown) = other.ended(&home);
        assert_eq!((code, shown.contains(SENT_AWAY)), (0, true), "{shown}");
    }
    mine.until_text(&home, "this is the shell shared");
    home.until("one screen and the call", || clients(&home) == 2);
    mine.keys(b"echo still typed\r");
    mine.until_text(&home, "\nstill typed");
    assert_eq!(home.host(), Some(host), "the same host");

    home.run(&["rename", &id, "mine"]).ok();
    let next = || events.recv_timeout(PATIENCE).expect("the call that follows the events goes on");
    while serde_json::from_str::<Value>(&next()).expect("an event")["type"] != "session.renamed" {}
    follower.kill().expect("it lives");
    follower.wait().expect("its end");
}

#[test]
fn a_client_that_stands_still_holds_nobody_up_and_leaves_when_it_goes_on() {
    let home = Home::new();
    let id = shell(&home, "busy");
    let mut still = Tui::start(&home, &["attach", &id], TERM, NARROW);
    still.until_text(&home, "this is the shell busy");
    still.keys(b"echo typed fi''rst\r");
    still.until_text(&home, "typed first");
    let mut other = Tui::start(&home, &["attach", &id], TERM, SMALL);
    other.until_text(&home, "this is the shell busy");
    stop(&home, still.process());

    // More than all the sockets and queues on the way to it hold.
    other.keys(b"seq 300000; echo all''done\r");
    other.until_text(&home, "alldone");
    other.keys(b"echo it''works\r");
    other.until_text(&home, "itworks");
    // A moment after the other has typed, its typing takes the size over.
    until_size_after(&home, &id, "other", pane(SMALL), || other.keys(b"\r"));

    let mut mine = Tui::start(&home, &["attach", "-d", &id], TERM, SIZE);
    let (code, shown) = other.ended(&home);
    assert_eq!((code, shown.contains(SENT_AWAY)), (0, true), "{shown}");
    mine.until_text(&home, "itworks");
    // The one that stands still has lost its say about the size, though it typed last of those that are left.
    let begin = Instant::now();
    until_size(&home, &id, "mine", pane(SIZE));
    assert!(begin.elapsed() < WRITE_DEADLINE, "the host waited for the one that stands still");
    mine.keys(b"echo mi''ne\r");
    mine.until_text(&home, "mine");
    assert!(kill::is_stopped(still.process()), "it stood still all the time");
    kill::signal(still.process(), Signal::CONT);
    let (code, shown) = still.ended(&home);
    assert_eq!((code, shown.contains(SENT_AWAY)), (0, true), "{shown}");
}

#[track_caller]
fn stop(home: &Home, process: &ProcIdentity) {
    kill::signal(process, Signal::STOP);
    home.until("a client that stands still", || kill::is_stopped(process));
}
