//! A client on a terminal: the built program in a PTY of its own, and what it shows.

use std::io::{Read as _, Write};
use std::num::NonZeroU16;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use relight::domain::launch::ProcIdentity;

use super::home::{Home, PATIENCE, RELIGHT};
use super::kill;

/// Columns and rows, if nothing else is said.
pub const SIZE: (u16, u16) = (100, 30);
/// The kind of terminal, likewise.
pub const TERM: Option<&str> = Some("xterm-256color");
/// How often a condition is looked at while nothing is printed.
const LOOK: Duration = Duration::from_millis(20);

/// The program in a terminal. It belongs to its instance: dropping either ends it.
pub struct Tui {
    process: ProcIdentity,
    size: (u16, u16),
    /// Held so that the terminal stays.
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    end: Option<JoinHandle<u32>>,
}

impl Tui {
    /// Shows a session: `relight attach`.
    pub fn attach(home: &Home, session: &str) -> Self {
        Self::on(home, session, TERM, SIZE)
    }

    /// The same on a terminal of this kind (`TERM`; `None`: not set) and of so many columns and rows.
    pub fn on(home: &Home, session: &str, term: Option<&str>, size: (u16, u16)) -> Self {
        Self::start(home, &["attach", session], term, size)
    }

    /// The program with these arguments on such a terminal.
    pub fn start(home: &Home, args: &[&str], term: Option<&str>, (cols, rows): (u16, u16)) -> Self {
        let size = PtySize { cols, rows, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("a pty");
        let mut command = CommandBuilder::new(RELIGHT);
        command.args(args);
        let plain = home.command(&[]);
        command.cwd(home.project());
        command.env_clear();
        for (name, value) in plain.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        if let Some(term) = term {
            command.env("TERM", term);
        }
        let mut child = pty.slave.spawn_command(command).expect("the built program starts");
        drop(pty.slave);
        let pid = child.process_id().and_then(|pid| i32::try_from(pid).ok()).expect("a pid");
        let process = kill::identify(pid).expect("the client lives");
        let (sender, output) = sync_channel(64);
        let mut reader = pty.master.try_clone_reader().expect("a reader");
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        let end = std::thread::spawn(move || child.wait().expect("its end").exit_code());
        let writer = pty.master.take_writer().expect("a writer");
        let screen = vt100::Parser::new(cells(rows), cells(cols), 0);
        Self { process, size: (cols, rows), master: pty.master, writer, output, screen, end: Some(end) }
    }

    /// Its process.
    pub fn process(&self) -> &ProcIdentity {
        &self.process
    }

    /// Types bytes.
    pub fn keys(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).and_then(|()| self.writer.flush()).expect("the terminal takes keys");
    }

    /// What stands on its screen.
    pub fn rows(&self) -> Vec<String> {
        self.screen.screen().rows(0, cells(self.size.0).get()).collect()
    }

    /// The same as one text.
    pub fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// Its window gets another size.
    pub fn resize(&mut self, (cols, rows): (u16, u16)) {
        self.size = (cols, rows);
        self.master.resize(PtySize { cols, rows, pixel_width: 0, pixel_height: 0 }).expect("a size");
        self.screen.screen_mut().set_size(cells(rows), cells(cols));
    }

    /// Waits until it has ended; gives its exit code and what then stands on the screen.
    #[track_caller]
    pub fn ended(&mut self, home: &Home) -> (u32, String) {
        (self.until_end(home, b""), self.text())
    }

    /// Takes what it prints within a moment; `false` when there is nothing more to come.
    fn read(&mut self) -> bool {
        match self.output.recv_timeout(LOOK) {
            Ok(bytes) => self.screen.process(&bytes),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        true
    }

    /// Waits until it has ended, typing `keys` meanwhile; gives its exit code.
    #[track_caller]
    pub fn until_end(&mut self, home: &Home, keys: &[u8]) -> u32 {
        let end = self.end.take().expect("it was not awaited before");
        home.until("the end of the client", || {
            while let Ok(bytes) = self.output.try_recv() {
                self.screen.process(&bytes);
            }
            // It may be gone by now, and its terminal with it.
            let _ = self.writer.write_all(keys).and_then(|()| self.writer.flush());
            end.is_finished()
        });
        while let Ok(bytes) = self.output.recv_timeout(LOOK) {
            self.screen.process(&bytes);
        }
        end.join().expect("no panic")
    }

    /// Waits until its screen shows `text`.
    #[track_caller]
    pub fn until_text(&mut self, home: &Home, text: &str) {
        self.until(home, &format!("`{text}`"), |shown| shown.contains(text));
    }

    /// Waits until what its screen shows fits.
    #[track_caller]
    pub fn until(&mut self, home: &Home, what: &str, fits: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !fits(&self.text()) {
            let told = |why: &str| format!("{why}: {what} on the client's screen:\n{}\n{}", self.text(), home.report());
            assert!(Instant::now() < deadline, "{}", told("never came"));
            let more = self.read();
            assert!(more || fits(&self.text()), "the client ended before {what}:\n{}\n{}", self.text(), home.report());
        }
    }
}

/// What is larger than the program ever draws is not looked at.
fn cells(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n.clamp(1, 1_000)).expect("a size")
}

impl Drop for Tui {
    fn drop(&mut self) {
        kill::kill(&self.process);
    }
}
