//! relight's screen in a terminal of its own.

use std::io::{Read as _, Write as _};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use crate::instance::{Instance, PATIENCE, RELIGHT, rest};

/// A client in a terminal of its own.
pub struct Screen {
    child: Box<dyn portable_pty::Child + Send + Sync>,
    _master: Box<dyn portable_pty::MasterPty + Send>,
    writer: Box<dyn std::io::Write + Send>,
    output: Receiver<Vec<u8>>,
}

impl Screen {
    /// Opens one in this instance.
    pub fn open(instance: &Instance) -> Self {
        let size = PtySize { cols: 100, rows: 30, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("a pty");
        let mut command = CommandBuilder::new(RELIGHT);
        command.cwd(instance.path());
        command.env("RELIGHT_HOME", instance.path());
        command.env("HOME", instance.path());
        command.env("TERM", "xterm-256color");
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
        let writer = pty.master.take_writer().expect("a writer");
        let child = pty.slave.spawn_command(command).expect("the built program starts");
        drop(pty.slave);
        Self { child, _master: pty.master, writer, output }
    }

    /// Types.
    pub fn type_in(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).expect("a terminal");
        self.writer.flush().expect("a terminal");
    }

    /// Waits until the terminal has said nothing for a while.
    pub fn settle(&self) {
        while self.output.recv_timeout(Duration::from_millis(150)).is_ok() {}
    }

    /// Waits for output with this in it.
    pub fn until_bytes(&self, text: &str) {
        let mut seen = Vec::new();
        while !seen.windows(text.len()).any(|part| part == text.as_bytes()) {
            seen.extend(self.output.recv_timeout(PATIENCE).expect("output"));
        }
    }

    /// Waits until the screen shows this.
    pub fn until(&self, text: &str) {
        let mut screen = vt100::Parser::new(30.try_into().expect("rows"), 100.try_into().expect("columns"), 0);
        let begin = Instant::now();
        while !screen.screen().rows(0, 100).collect::<Vec<_>>().join("\n").contains(text) {
            assert!(begin.elapsed() < PATIENCE, "`{text}` never came");
            if let Ok(bytes) = self.output.recv_timeout(PATIENCE) {
                screen.process(&bytes);
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The prefix and d: detach.
        let _ = self.writer.write_all(b"\0d");
        let _ = self.writer.flush();
        rest(Duration::from_millis(50));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
