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

/// Columns and rows.
const SIZE: (u16, u16) = (100, 30);
/// How often a condition is looked at while nothing is printed.
const LOOK: Duration = Duration::from_millis(20);

/// `relight attach` in a terminal. It belongs to its instance: dropping either ends it.
pub struct Tui {
    process: ProcIdentity,
    /// Held so that the terminal stays.
    _master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    cols: u16,
    end: Option<JoinHandle<u32>>,
}

impl Tui {
    /// Shows a session.
    pub fn attach(home: &Home, session: &str) -> Self {
        Self::on(home, session, Some("xterm-256color"), SIZE)
    }

    /// The same on a terminal of this kind (`TERM`; `None`: not set) and of so many columns and rows.
    pub fn on(home: &Home, session: &str, term: Option<&str>, (cols, rows): (u16, u16)) -> Self {
        let size = PtySize { cols, rows, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("a pty");
        let mut command = CommandBuilder::new(RELIGHT);
        command.args(["attach", session]);
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
        // What is larger than the program ever draws is not looked at.
        let cells = |n: u16| NonZeroU16::new(n.clamp(1, 1_000)).expect("a size");
        let writer = pty.master.take_writer().expect("a writer");
        let screen = vt100::Parser::new(cells(rows), cells(cols), 0);
        Self { process, _master: pty.master, writer, output, screen, cols: cells(cols).get(), end: Some(end) }
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
        self.screen.screen().rows(0, self.cols).collect()
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
        let deadline = Instant::now() + PATIENCE;
        while !self.rows().join("\n").contains(text) {
            let shown = || self.rows().join("\n");
            assert!(
                Instant::now() < deadline,
                "`{text}` never came on the client's screen:\n{}\n{}",
                shown(),
                home.report()
            );
            match self.output.recv_timeout(LOOK) {
                Ok(bytes) => self.screen.process(&bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    assert!(self.rows().join("\n").contains(text), "the client ended:\n{}\n{}", shown(), home.report());
                }
            }
        }
    }
}

impl Drop for Tui {
    fn drop(&mut self) {
        kill::kill(&self.process);
    }
}
