//! The outer terminal: found, put into raw mode, given its modes, read, written and put back, whatever happens.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::{Mutex, Once};

use rustix::fs::OFlags;
use rustix::termios::{self, OptionalActions, Termios};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::domain::launch::Size;

use super::error::Error;

/// Bytes read at once: a paste is cut into such pieces.
const READ_BYTES: usize = 16 * 1024;

/// Everything off that a program which was killed here may have left on, then what is needed: alternate screen,
/// bracketed paste, focus; a wheel that types arrows into a composer is switched off. Then the question whether the kitty
/// keyboard protocol is spoken.
const ENTER: &[u8] =
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1049h\x1b[?1007s\x1b[?1007l\x1b[?2004h\x1b[?1004h\
\x1b[m\x1b[2J\x1b[?u";
/// Everything that was switched on is off again.
const LEAVE: &[u8] = b"\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1007h\x1b[?1007r\x1b[m\
\x1b[0 q\x1b[?25h";
/// The kitty keyboard protocol: keys that are ambiguous otherwise come as numbers (1), with what Shift makes of them (4).
pub const KITTY_PUSH: &[u8] = b"\x1b[>5u";
const KITTY_POP: &[u8] = b"\x1b[<1u";
const MAIN_SCREEN: &[u8] = b"\x1b[?1049l";

/// What it takes to put the terminal back.
struct Saved {
    tty: File,
    termios: Termios,
    kitty: bool,
}

/// Also reached by the panic hook, which has no other way to it. One screen at a time.
static SAVED: Mutex<Option<Saved>> = Mutex::new(None);

/// The outer terminal, until it is dropped.
pub struct Outer {
    fd: AsyncFd<OwnedFd>,
}

impl Outer {
    /// Opens the terminal anew, apart from the shell's descriptors: those must stay blocking.
    ///
    /// # Errors
    /// [`Error::NoTerminal`], [`Error::Terminal`], [`Error::Wait`].
    pub fn open() -> Result<Self, Error> {
        let tty = open_tty().map_err(Error::NoTerminal)?;
        let saved = Saved {
            termios: termios::tcgetattr(&tty).map_err(|e| Error::NoTerminal(e.into()))?,
            tty: tty.try_clone().map_err(Error::NoTerminal)?,
            kitty: false,
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
        let failed = |what| move |e: rustix::io::Errno| Error::Terminal { what, source: e.into() };
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

/// Writes short sequences at once; a terminal that takes nothing is not waited for.
fn write_now(fd: impl AsFd, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(&fd, bytes) {
            Ok(count) if count > 0 => bytes = bytes.get(count..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
}

/// Puts the terminal back as it was found. Does nothing the second time.
pub fn restore() {
    // In a panic another thread may hold it for a moment only; a poisoned lock still has what is needed.
    let mut slot = SAVED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(saved) = slot.take() {
        if saved.kitty {
            write_now(&saved.tty, KITTY_POP);
        }
        write_now(&saved.tty, LEAVE);
        write_now(&saved.tty, MAIN_SCREEN);
        let _gone = termios::tcsetattr(&saved.tty, OptionalActions::Flush, &saved.termios);
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

/// Whether the terminal was put back already, as a panic does: nothing may be drawn any more.
#[must_use]
pub fn is_restored() -> bool {
    SAVED.lock().map_or(true, |slot| slot.is_none())
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
            restore();
            before(info);
        }));
    });
}
