//! The outer terminal: found, put into raw mode, given its modes, read, written and put back, whatever happens.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{self, InputModes, LocalModes, OptionalActions, OutputModes, Termios};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use crate::domain::launch::Size;

use super::error::Error;

/// Bytes read at once: a paste is cut into such pieces.
const READ_BYTES: usize = 16 * 1024;

/// Everything off that a program which was killed here may have left on, then what is needed: alternate screen,
/// bracketed paste, focus; a wheel that types arrows into a composer is switched off. Then the question whether the kitty
/// keyboard protocol is spoken. What an earlier client pushed for its keys stands on the alternate screen: it is popped
/// there, and what the shell has on the main screen stays.
const ENTER: &[u8] =
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1049h\x1b[<9u\x1b[?1007s\x1b[?1007l\
\x1b[?2004h\x1b[?1004h\x1b[r\x1b[?6l\x1b[?7h\x1b[4l\x1b(B\x0f\x1b[m\x1b[2J\x1b[?u";
/// Everything that was switched on is off again. It may come in the middle of a picture: a string that has begun is ended,
/// and a terminal without an alternate screen is left empty.
const LEAVE: &[u8] = b"\x1b\\\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1007h\x1b[?1007r\
\x1b[m\x1b[?25h\x1b[H\x1b[2J";
/// The shape of the cursor that the person has set.
const CURSOR_SHAPE: &[u8] = b"\x1b[0 q";
/// The kitty keyboard protocol: keys that are ambiguous otherwise come as numbers (1), with what Shift makes of them (4).
pub const KITTY_PUSH: &[u8] = b"\x1b[>5u";
const KITTY_POP: &[u8] = b"\x1b[<1u";
const MAIN_SCREEN: &[u8] = b"\x1b[?1049l";

/// How long the last bytes wait for a terminal that takes none, as behind a slow link that still shows a picture.
const PATIENCE: Duration = Duration::from_secs(1);

/// What it takes to put the terminal back.
struct Saved {
    tty: File,
    termios: Termios,
    kitty: bool,
    shapes: bool,
}

/// Also reached by the panic hook, which has no other way to it. One screen at a time.
static SAVED: Mutex<Option<Saved>> = Mutex::new(None);

/// A panic has put the terminal back.
static PANICKED: Notify = Notify::const_new();

/// The outer terminal, until it is dropped.
pub struct Outer {
    fd: AsyncFd<OwnedFd>,
}

impl Outer {
    /// Opens the terminal anew, apart from the shell's descriptors: those must stay blocking. `shapes`: its cursor has
    /// several.
    ///
    /// # Errors
    /// [`Error::NoTerminal`], [`Error::Terminal`], [`Error::Wait`].
    pub fn open(shapes: bool) -> Result<Self, Error> {
        let tty = open_tty().map_err(Error::NoTerminal)?;
        let saved = Saved {
            termios: healed(termios::tcgetattr(&tty).map_err(|e| Error::NoTerminal(e.into()))?),
            tty: tty.try_clone().map_err(Error::NoTerminal)?,
            kitty: false,
            shapes,
        };
        #[expect(
            deprecated,
            reason = "its successor is unsafe for the sake of borrowed descriptors; this one is owned"
        )]
        let fd = AsyncFd::with_interest(OwnedFd::from(tty), Interest::READABLE | Interest::WRITABLE)
            .map_err(|source| Error::Wait { what: "the terminal", source })?;
        if let Ok(mut slot) = SAVED.lock() {
            *slot = Some(saved);
        }
        restore_on_panic();
        let outer = Self { fd };
        outer.enter()?;
        Ok(outer)
    }

    /// Raw mode, and the modes that the screen needs. Also after the program was stopped and goes on.
    ///
    /// # Errors
    /// [`Error::Terminal`].
    pub fn enter(&self) -> Result<(), Error> {
        let failed = |what| move |e: Errno| Error::Terminal { what, source: e.into() };
        let mut raw = termios::tcgetattr(self.fd.get_ref()).map_err(failed("asked for its modes"))?;
        raw.make_raw();
        termios::tcsetattr(self.fd.get_ref(), OptionalActions::Now, &raw).map_err(failed("set to raw mode"))?;
        write_now(self.fd.get_ref(), ENTER);
        Ok(())
    }

    /// Columns and rows, each at most [`Size::MAX`]: what a larger terminal has more of stays empty.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        match termios::tcgetwinsize(self.fd.get_ref()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.min(Size::MAX), size.ws_row.min(Size::MAX)),
            _ => (80, 24),
        }
    }

    /// What was typed; empty when the terminal is gone.
    ///
    /// # Errors
    /// None that matter: every failure of a terminal means that it is gone.
    pub async fn read(&self) -> Vec<u8> {
        loop {
            let Ok(mut ready) = self.fd.readable().await else { return vec![] };
            let mut bytes = vec![0; READ_BYTES];
            match ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut *bytes)?)) {
                Ok(Ok(count)) => {
                    bytes.truncate(count);
                    return bytes;
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(_)) => return vec![],
                Err(_not_yet) => {}
            }
        }
    }

    /// Writes as much of `bytes` as the terminal takes now, waiting until it takes something; `None` when it is gone.
    pub async fn write(&self, bytes: &[u8]) -> Option<usize> {
        loop {
            let mut ready = self.fd.writable().await.ok()?;
            match ready.try_io(|fd| Ok(rustix::io::write(fd.get_ref(), bytes)?)) {
                Ok(Ok(count)) => return Some(count),
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(_)) => return None,
                Err(_not_yet) => {}
            }
        }
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        restore();
    }
}

fn open_tty() -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .custom_flags((OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed());
    let stdin = io::stdin();
    if !termios::isatty(stdin.as_fd()) {
        return Err(io::Error::new(io::ErrorKind::NotFound, "standard input is no terminal"));
    }
    // In a container the name may belong to another place's /dev.
    let named = termios::ttyname(stdin.as_fd(), vec![]).ok().and_then(|name| name.into_string().ok());
    match named.map(|name| options.open(name)) {
        Some(Ok(tty)) if termios::isatty(&tty) => Ok(tty),
        _ => options.open("/dev/tty"),
    }
}

/// Modes that a shell can work with. A client that was killed here leaves raw ones, and neither shells nor anything else
/// start a program in these.
fn healed(mut found: Termios) -> Termios {
    let cooked = LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHO | LocalModes::IEXTEN;
    if !found.local_modes.intersects(cooked) && !found.output_modes.contains(OutputModes::OPOST) {
        found.local_modes |= cooked;
        found.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
        found.input_modes |= InputModes::ICRNL | InputModes::IXON;
    }
    found
}

/// Writes short sequences; a terminal that takes nothing is waited for only so long, one that is gone not at all.
fn write_now(fd: impl AsFd, mut bytes: &[u8]) {
    let end = Instant::now() + PATIENCE;
    while !bytes.is_empty() {
        match rustix::io::write(&fd, bytes) {
            Ok(count) if count > 0 => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let left = end.saturating_duration_since(Instant::now());
                let Ok(left) = Timespec::try_from(left) else { return };
                let mut polled = [PollFd::new(&fd, PollFlags::OUT)];
                if Instant::now() >= end || matches!(poll(&mut polled, Some(&left)), Ok(0)) {
                    return;
                }
            }
            _ => return,
        }
    }
}

impl Saved {
    fn put_back(&self) {
        let mut bytes = vec![];
        if self.kitty {
            bytes.extend_from_slice(KITTY_POP);
        }
        bytes.extend_from_slice(LEAVE);
        if self.shapes {
            bytes.extend_from_slice(CURSOR_SHAPE);
        }
        bytes.extend_from_slice(MAIN_SCREEN);
        write_now(&self.tty, &bytes);
        let _gone = termios::tcsetattr(&self.tty, OptionalActions::Flush, &self.termios);
    }
}

/// The terminal as it was found, until [`Outer::enter`] is called again.
pub fn suspend() {
    let mut slot = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(saved) = slot.as_mut() {
        saved.put_back();
        saved.kitty = false;
    }
}

/// Puts the terminal back as it was found. Does nothing the second time.
pub fn restore() {
    // In a panic another thread may hold it for a moment only; a poisoned lock still has what is needed.
    let mut slot = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(saved) = slot.take() {
        saved.put_back();
    }
}

/// The kitty keyboard protocol was switched on: leaving switches it off.
pub fn kitty_on() {
    if let Ok(mut slot) = SAVED.lock()
        && let Some(saved) = slot.as_mut()
    {
        saved.kitty = true;
    }
}

/// Ends when the terminal was put back by a panic: nothing may be drawn any more.
pub async fn panicked() {
    PANICKED.notified().await;
}

fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // The pane's parser is caught where it is called, and answered by a new keyframe: the screen goes on.
            if info.location().is_some_and(|at| at.file().contains("vt100-")) {
                tracing::error!(%info, "the pane's parser failed");
                return;
            }
            tracing::error!(%info, "the screen ends by an internal error");
            restore();
            PANICKED.notify_one();
            before(info);
        }));
    });
}
