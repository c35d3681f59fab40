//! A terminal that stays while programs come and go on it: what they wrote, what it shows, the modes they leave.

use std::fs::{File, OpenOptions};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use alacritty_terminal::vte;
use relight::domain::launch::ProcIdentity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{self, Termios, Winsize};

use super::home::{Home, PATIENCE, RELIGHT};
use super::kill;
use super::modes::Modes;

/// How long it looks for output at once.
const LOOK: Duration = Duration::from_millis(20);

/// Ticks of the kernel's clock in a second, as it tells them.
const TICKS: f64 = 100.0;

/// The prefix.
pub const PREFIX: &str = "\x00";

/// A terminal of a person, with at most one program on it.
pub struct Terminal {
    /// `None`: it was closed.
    master: Option<OwnedFd>,
    /// Held so that it stays without a program. `None`: closed.
    slave: Option<File>,
    screen: vt100::Parser,
    cols: u16,
    parser: vte::Parser,
    /// The modes it is in.
    pub modes: Modes,
    /// Everything that was written to it.
    pub raw: Vec<u8>,
    /// It answers that it speaks the kitty keyboard protocol.
    pub kitty: bool,
    env: Vec<(String, Option<String>)>,
    child: Option<Child>,
    process: Option<ProcIdentity>,
}

impl Terminal {
    /// A terminal with so many columns and rows, with what a shell has left on it.
    pub fn new((cols, rows): (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pty");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("its other side");
        let name = ptsname(&master, vec![]).expect("its name").into_string().expect("plain text");
        let flags = OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut options = OpenOptions::new();
        let slave = options.read(true).write(true).custom_flags(flags.bits().cast_signed()).open(name);
        rustix::io::ioctl_fionbio(&master, true).expect("no waiting");
        let cells = |n: u16| NonZeroU16::new(n.clamp(1, 1_000)).expect("a size");
        let mut terminal = Self {
            master: Some(master),
            slave: Some(slave.expect("its other side")),
            screen: vt100::Parser::new(cells(rows), cells(cols), 0),
            cols: cells(cols).get(),
            parser: vte::Parser::new(),
            modes: Modes::default(),
            raw: vec![],
            kitty: false,
            env: vec![("TERM".into(), Some("xterm-256color".into()))],
            child: None,
            process: None,
        };
        terminal.resize((cols, rows));
        rustix::io::write(terminal.slave(), b"before\n$ relight\n").expect("a prompt");
        terminal
    }

    /// Sets or removes a variable for programs started from now on.
    pub fn env(&mut self, name: &str, value: Option<&str>) {
        self.env.push((name.into(), value.map(Into::into)));
    }

    fn slave(&self) -> &File {
        self.slave.as_ref().expect("it was not closed")
    }

    /// The kernel's modes of it.
    pub fn termios(&self) -> String {
        let termios: Termios = termios::tcgetattr(self.slave()).expect("its modes");
        format!("{termios:?}")
    }

    /// Starts relight on it, as the leader of a session of its own that it controls.
    pub fn start(&mut self, home: &Home, args: &[&str]) {
        self.spawn(home, "setsid", &[&["--ctty", RELIGHT], args].concat());
    }

    /// Starts another program on it, likewise.
    pub fn start_program(&mut self, home: &Home, program: &str, args: &[&str]) {
        self.spawn(home, "setsid", &[&["--ctty", program], args].concat());
    }

    /// Starts relight on it, but it controls nothing: no signal comes from it.
    pub fn start_apart(&mut self, home: &Home, args: &[&str]) {
        self.spawn(home, RELIGHT, args);
    }

    fn spawn(&mut self, home: &Home, program: &str, args: &[&str]) {
        assert!(self.child.is_none(), "a program is on it");
        let mut command = Command::new(program);
        command.args(args).current_dir(home.project()).env_clear();
        for (name, value) in home.command(&[]).get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let side = || self.slave().try_clone().expect("its other side");
        command.stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().expect("the built program starts");
        self.process = kill::identify(i32::try_from(child.id()).expect("a pid"));
        self.child = Some(child);
    }

    /// The program on it.
    #[track_caller]
    pub fn process(&self) -> &ProcIdentity {
        self.process.as_ref().expect("a program is on it")
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        let mut bytes = keys.as_bytes();
        let end = Instant::now() + PATIENCE;
        while let Some(master) = self.master.as_ref().filter(|_| !bytes.is_empty()) {
            match rustix::io::write(master, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) => assert!(error == rustix::io::Errno::AGAIN && Instant::now() < end, "typing: {error}"),
            }
            self.pump(Duration::ZERO);
        }
    }

    /// Presses, and lets go of, a button of the mouse on a cell, from 0.
    pub fn click(&mut self, col: usize, row: usize) {
        let (col, row) = (col + 1, row + 1);
        self.keys(&format!("\x1b[<0;{col};{row}M\x1b[<0;{col};{row}m"));
    }

    /// Clicks on the first cell of a text that it shows.
    #[track_caller]
    pub fn click_on(&mut self, text: &str) {
        let (col, row) = self.find(text).unwrap_or_else(|| panic!("`{text}` is not shown:\n{}", self.text()));
        self.click(col, row);
    }

    /// Column and row of a text, from 0.
    pub fn find(&self, text: &str) -> Option<(usize, usize)> {
        let rows = self.rows();
        let found = rows.iter().enumerate().find_map(|(y, row)| Some((row.find(text)?, y)));
        found.map(|(byte, y)| (unicode_width::UnicodeWidthStr::width(&rows[y][..byte]), y))
    }

    /// Gives it another size.
    pub fn resize(&mut self, (cols, rows): (u16, u16)) {
        let size = Winsize { ws_col: cols, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        termios::tcsetwinsize(self.slave(), size).expect("a size");
        let cells = |n: u16| NonZeroU16::new(n.clamp(1, 1_000)).expect("a size");
        self.screen.screen_mut().set_size(cells(rows), cells(cols));
        self.cols = cells(cols).get();
    }

    /// Takes what is written to it within `time`.
    pub fn pump(&mut self, time: Duration) {
        let end = Instant::now() + time;
        let mut buffer = vec![0; 64 * 1024];
        while let Some(master) = &self.master {
            match rustix::io::read(master, &mut *buffer) {
                Ok(0) => return,
                Ok(count) => self.take(&buffer[..count]),
                Err(rustix::io::Errno::AGAIN) => {
                    let left = end.saturating_duration_since(Instant::now());
                    let left = Timespec::try_from(left).expect("a time");
                    if poll(&mut [PollFd::new(master, PollFlags::IN)], Some(&left)) == Ok(0) {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
        self.screen.process(bytes);
        self.parser.advance(&mut self.modes, bytes);
        if self.kitty && bytes.windows(4).any(|part| part == b"\x1b[?u") {
            self.keys("\x1b[?0u");
        }
    }

    /// What it shows.
    pub fn rows(&self) -> Vec<String> {
        self.screen.screen().rows(0, self.cols).collect()
    }

    /// The same as one text.
    pub fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// Whether it shows the alternate screen.
    pub fn alternate(&self) -> bool {
        self.screen.screen().alternate_screen()
    }

    /// Waits until something holds of it.
    #[track_caller]
    pub fn until(&mut self, home: &Home, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            self.pump(LOOK);
            if holds(self) {
                return;
            }
            assert!(Instant::now() < end, "waited for {what}:\n{}\n{}", self.text(), home.report());
        }
    }

    /// Waits until it shows `text`.
    #[track_caller]
    pub fn until_text(&mut self, home: &Home, text: &str) {
        self.until(home, &format!("`{text}`"), |terminal| terminal.text().contains(text));
    }

    /// Waits until nothing was written for a moment.
    pub fn until_quiet(&mut self) {
        let mut length = usize::MAX;
        while length != self.raw.len() {
            length = self.raw.len();
            self.pump(Duration::from_millis(400));
        }
    }

    /// Waits until the program on it has ended; gives how, and the seconds of processor time it had taken when last seen.
    #[track_caller]
    pub fn until_end(&mut self, home: &Home) -> (ExitStatus, f64) {
        let mut child = self.child.take().expect("a program is on it");
        let end = Instant::now() + PATIENCE;
        let mut busy = 0.0;
        loop {
            self.pump(LOOK);
            // One that ended at once was never seen.
            busy = self.process.as_ref().and_then(processor_time).unwrap_or(busy);
            if let Some(status) = child.try_wait().expect("its end") {
                self.pump(Duration::ZERO);
                self.process = None;
                return (status, busy);
            }
            assert!(Instant::now() < end, "waited for the end of the client:\n{}\n{}", self.text(), home.report());
            if self.master.is_none() {
                std::thread::yield_now();
            }
        }
    }

    /// The same; gives its exit code, as a shell tells it.
    #[track_caller]
    pub fn until_code(&mut self, home: &Home) -> i32 {
        let (status, _) = self.until_end(home);
        status.code().unwrap_or_else(|| 128 + status.signal().expect("a signal"))
    }

    /// Sets modes of it by `stty`.
    pub fn stty(&self, modes: &str) {
        let side = self.slave().try_clone().expect("its other side");
        let status = Command::new("stty").arg(modes).stdin(side).status().expect("`stty` starts");
        assert!(status.success(), "stty {modes}: {status}");
    }

    /// How many bytes wait to be read of it, as far as the kernel tells.
    pub fn unread(&self) -> u64 {
        rustix::io::ioctl_fionread(self.master.as_ref().expect("it was not closed")).expect("a number")
    }

    /// Closes it, as when a window is closed or a link is cut.
    pub fn close(&mut self) {
        self.pump(Duration::ZERO);
        self.master = None;
        self.slave = None;
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended.
            _ = child.kill();
            _ = child.wait();
        }
    }
}

/// Seconds of processor time that a process has taken so far.
pub fn processor_time(process: &ProcIdentity) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).ok()?;
    let fields: Vec<u64> = stat.rsplit_once(')')?.1.split_whitespace().map(|f| f.parse().unwrap_or(0)).collect();
    #[expect(clippy::cast_precision_loss, reason = "a few ticks")]
    Some((fields.get(11)? + fields.get(12)?) as f64 / TICKS)
}
