//! Notices that a path may have vanished: by inotify on its directory, or by looking at it now and then.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::inotify::{CreateFlags, WatchFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::proc::ready;

/// Bytes of inotify events read at once: what they say does not matter, only that there were some.
const EVENT_BYTES: usize = 4096;

/// How a listener learns that its path vanished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchKind {
    /// By inotify, at once, without wake-ups in between. A user has 128 inotify instances by default, so only for what
    /// exists once. Where there are none left: every 15 s.
    Inotify,
    /// By looking at this interval.
    Every(Duration),
}

/// How often a path is looked at when nothing tells about it: rare enough to be no load with a hundred processes.
pub const LOOK_EVERY: Duration = Duration::from_secs(15);

/// A watch on the directory of one path.
#[derive(Debug)]
pub struct Watch {
    inotify: Option<AsyncFd<OwnedFd>>,
    every: Duration,
}

impl Watch {
    /// Watches `dir`. Never fails: without inotify it looks now and then.
    pub fn new(dir: &Path, kind: WatchKind) -> Self {
        match kind {
            WatchKind::Inotify => Self { inotify: open(dir), every: LOOK_EVERY },
            WatchKind::Every(every) => Self { inotify: None, every },
        }
    }

    /// Returns when the path should be looked at. Dropping the future loses nothing.
    pub async fn stirred(&self) {
        let Some(inotify) = &self.inotify else {
            return tokio::time::sleep(self.every).await;
        };
        match inotify.readable().await {
            Ok(mut guard) => {
                let mut buffer = [MaybeUninit::<u8>::uninit(); EVENT_BYTES];
                while rustix::io::read(inotify.get_ref(), &mut buffer[..]).is_ok_and(|(read, _)| !read.is_empty()) {}
                guard.clear_ready();
            }
            Err(_) => tokio::time::sleep(self.every).await,
        }
    }
}

fn open(dir: &Path) -> Option<AsyncFd<OwnedFd>> {
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
