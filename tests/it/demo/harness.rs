//! A demo agent in a PTY of its own. Waits look again whenever output arrives, and no later than their deadline.

use std::io::{Read as _, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// How long anything is waited for: the machine may be busy.
const LIMIT: Duration = Duration::from_secs(30);
/// How often files are looked at while nothing is printed.
const LOOK: Duration = Duration::from_millis(20);

/// Where a demo agent keeps its conversations, and its hooks write.
pub struct Dir(tempfile::TempDir);

impl Dir {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    fn log(&self) -> PathBuf {
        self.path().join("hooks")
    }

    /// Every hook event so far.
    pub fn all_hooks(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Those of one name.
    pub fn hooks(&self, name: &str) -> Vec<Value> {
        self.all_hooks().into_iter().filter(|hook| hook["hook_event_name"] == name).collect()
    }

    /// Waits until the newest event has this name.
    pub fn wait_hook(&self, demo: &mut Demo, name: &str) {
        demo.wait(&format!("hook {name}"), |_| {
            self.all_hooks().last().is_some_and(|hook| hook["hook_event_name"] == name)
        });
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Code(i32),
    Signal(i32),
}

enum News {
    Bytes(Vec<u8>),
    End(End),
}

pub struct Demo {
    pid: Pid,
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    news: Receiver<News>,
    bytes: Vec<u8>,
    parser: vt100::Parser,
    size: (u16, u16),
    end: Option<End>,
}

fn cells(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).unwrap()
}

impl Demo {
    /// Starts `relight demo-agent` with a hook that logs, in a terminal of 100 columns and 30 rows.
    pub fn start(dir: &Dir, args: &[&str]) -> Self {
        Self::start_with(dir, args, &[])
    }

    pub fn start_with(dir: &Dir, args: &[&str], env: &[(&str, &str)]) -> Self {
        let size = (100, 30);
        let pty = native_pty_system()
            .openpty(PtySize { cols: size.0, rows: size.1, pixel_width: 0, pixel_height: 0 })
            .unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_relight"));
        command.arg("demo-agent");
        command.arg("--hook");
        command.arg(format!("cat >> '{0}'; echo >> '{0}'", dir.log().display()));
        command.args(args);
        command.cwd(dir.path());
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("RELIGHT_DEMO_HOME", dir.path().join("store"));
        for (name, value) in env {
            command.env(name, value);
        }
        let mut child = pty.slave.spawn_command(command).unwrap();
        drop(pty.slave);
        let pid = Pid::from_raw(i32::try_from(child.process_id().unwrap()).unwrap()).unwrap();
        let (sender, news) = sync_channel(64);
        let mut reader = pty.master.try_clone_reader().unwrap();
        let writer = pty.master.take_writer().unwrap();
        let bytes = sender.clone();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if bytes.send(News::Bytes(buffer[..n].to_vec())).is_err() {
                    return;
                }
            }
        });
        std::thread::spawn(move || {
            let status = child.wait().unwrap();
            let end = match status.signal() {
                Some(name) if name.starts_with("Kill") => End::Signal(9),
                Some(_) => End::Signal(0),
                None => End::Code(i32::try_from(status.exit_code()).unwrap()),
            };
            let _ = sender.send(News::End(end));
        });
        Self {
            pid,
            master: Some(pty.master),
            writer: Some(writer),
            news,
            bytes: Vec::new(),
            parser: vt100::Parser::new(cells(size.1), cells(size.0), 1000),
            size,
            end: None,
        }
    }

    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Everything printed so far.
    pub fn raw(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn rows(&self) -> Vec<String> {
        self.parser.screen().rows(0, self.size.0).collect()
    }

    fn report(&self) -> String {
        format!("screen:\n{}\nend: {:?}", self.rows().join("\n").trim_end(), self.end)
    }

    /// Waits until `holds`.
    pub fn wait(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + LIMIT;
        while !holds(self) {
            assert!(Instant::now() < deadline, "waited {LIMIT:?} for {what}\n{}", self.report());
            self.hear();
        }
    }

    /// Takes what has arrived, or waits a little for it.
    fn hear(&mut self) {
        match self.news.recv_timeout(LOOK) {
            Ok(News::Bytes(bytes)) => {
                self.parser.process(&bytes);
                self.bytes.extend(bytes);
            }
            Ok(News::End(end)) => self.end = Some(end),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }

    pub fn wait_bytes(&mut self, text: &str) {
        self.wait(&format!("{text:?} in the output"), |demo| {
            demo.bytes.windows(text.len()).any(|part| part == text.as_bytes())
        });
    }

    pub fn wait_screen(&mut self, what: &str, holds: impl Fn(&[String]) -> bool) {
        self.wait(what, |demo| holds(&demo.rows()));
    }

    /// Waits for a text on the screen.
    pub fn wait_text(&mut self, text: &str) {
        self.wait_screen(&format!("{text:?} on the screen"), |rows| rows.join("\n").contains(text));
    }

    pub fn ready(&mut self) {
        self.wait_screen("a line `ready`", |rows| rows.iter().any(|row| row.trim_end() == "ready"));
    }

    /// Types bytes, from another thread, since they may be more than the terminal holds.
    pub fn keys(&mut self, bytes: &[u8]) {
        let mut writer = self.writer.take().unwrap();
        let bytes = bytes.to_vec();
        let (done, whole) = sync_channel(1);
        std::thread::spawn(move || {
            writer.write_all(&bytes).and_then(|()| writer.flush()).unwrap();
            let _ = done.send(writer);
        });
        let mut back = None;
        self.wait("the terminal to take the keys", |_| {
            back = whole.try_recv().ok();
            back.is_some()
        });
        self.writer = back;
    }

    /// Types a line and Enter.
    pub fn say(&mut self, text: &str) {
        self.keys(text.as_bytes());
        self.keys(b"\r");
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    pub fn resize(&mut self, cols: u16, rows: u16) {
        self.size = (cols, rows);
        self.parser.screen_mut().set_size(cells(rows), cells(cols));
        let master = self.master.as_ref().unwrap();
        master.resize(PtySize { cols, rows, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// Lets go of the terminal, with the SIGHUP that the kernel sends when the last one does (our reader still holds
    /// a descriptor).
    pub fn hang_up(&mut self) {
        // A dropped writer types an end-of-file first; this one must not.
        std::mem::forget(self.writer.take());
        self.signal(Signal::HUP);
        self.master = None;
    }

    pub fn alive(&mut self) -> bool {
        self.hear();
        self.end.is_none()
    }

    /// Waits for its end.
    pub fn end(&mut self) -> End {
        self.wait("its end", |demo| demo.end.is_some());
        self.end.unwrap()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if self.end.is_none() {
            let _ = kill_process(self.pid, Signal::KILL);
        }
        std::mem::forget(self.writer.take());
    }
}
