//! Notices that a path may have vanished: by inotify on its directory, or by looking at it now and then.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::inotify::{CreateFlags, WatchFlags};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::proc::ready;

/// Bytes of events read at once: what they say does not matter, only that there were some.
const EVENT_BYTES: usize = 4096;

/// How a listener learns that its path vanished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchKind {
    /// By inotify, at once, without wake-ups in between. A user has 128 inotify instances by default, so only for what
    /// exists once. Where there are none left: every 30 s.
    Inotify,
    /// By looking at this interval.
    Every(Duration),
}

/// How often a path is looked at when nothing tells about it: rare enough to be no load with a hundred processes, and what is
/// connected does not need the path.
pub const LOOK_EVERY: Duration = Duration::from_secs(30);

/// A watch on the directory of one path.
#[derive(Debug)]
pub struct Watch {
    /// Readable when the path should be looked at.
    source: Option<AsyncFd<OwnedFd>>,
    every: Duration,
}

impl Watch {
    /// Watches `dir`. Never fails: without inotify it looks now and then.
    pub fn new(dir: &Path, kind: WatchKind) -> Self {
        let (inotify, every) = match kind {
            WatchKind::Inotify => (inotify(dir), LOOK_EVERY),
            WatchKind::Every(every) => (None, every),
        };
        Self { source: inotify.or_else(|| timer(every)), every }
    }

    /// Returns when the path should be looked at. Dropping the future loses nothing.
    pub async fn stirred(&self) {
        let Some(source) = &self.source else {
            return tokio::time::sleep(self.every).await;
        };
        match source.readable().await {
            Ok(mut guard) => {
                let mut buffer = [MaybeUninit::<u8>::uninit(); EVENT_BYTES];
                while rustix::io::read(source.get_ref(), &mut buffer[..]).is_ok_and(|(read, _)| !read.is_empty()) {}
                guard.clear_ready();
            }
            Err(_) => tokio::time::sleep(self.every).await,
        }
    }
}

/// One of the kernel's: the runtime's own timers wake a process several times on the way to one that is far off.
fn timer(every: Duration) -> Option<AsyncFd<OwnedFd>> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags).ok()?;
    let time = Timespec::try_from(every).ok()?;
    let setting = Itimerspec { it_interval: time, it_value: time };
    rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::empty(), &setting).ok()?;
    ready::register(timer, Interest::READABLE).ok()
}

fn inotify(dir: &Path) -> Option<AsyncFd<OwnedFd>> {
    let inotify = rustix::fs::inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
    let flags = WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR;
    rustix::fs::inotify::add_watch(&inotify, dir, flags).ok()?;
    ready::register(inotify, Interest::READABLE).ok()
}
