//! Sees how a terminal's process ends, apart from the end of its output, and lets it go on when it stops.

use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, WaitIdStatus, waitid};
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::domain::launch::Exit;
use crate::proc::pidfd::{PidFd, Signal};
use crate::proc::reap::Waited;
use crate::pty::error::{Error, Result};

/// Least pause between two SIGCONTs: a program that stops again at once (a background read of the terminal) must not
/// keep a core busy.
const CONT_PAUSE_MIN: Duration = Duration::from_millis(100);
/// Most such pause; it doubles while stops follow each other closely.
const CONT_PAUSE_MAX: Duration = Duration::from_secs(10);

/// What is known of the process's end. While it is not reaped its number belongs to nobody else.
#[derive(Debug)]
pub(super) struct Life {
    ended: Mutex<Option<Exit>>,
    news: watch::Sender<Option<Exit>>,
}

impl Life {
    pub(super) fn exit(&self) -> Option<Exit> {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `act` while the process is certainly not reaped; `None` when it is.
    pub(super) fn while_unreaped<T>(&self, act: impl FnOnce() -> T) -> Option<T> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.is_none().then(act)
    }

    pub(super) async fn wait(&self) -> Exit {
        let mut news = self.news.subscribe();
        match news.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Unknown),
            Err(_) => Exit::Unknown,
        }
    }

    /// Reaps the process if it has ended.
    fn look(&self, process: &PidFd) -> Option<Exit> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let exit = loop {
            match waitid(WaitId::PidFd(process.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
                Err(Errno::INTR) => {}
                Ok(None) => return None,
                Ok(Some(status)) => break how(&status),
                // Somebody else waited for our child: it is gone, and how is not known.
                Err(_) => break Exit::Unknown,
            }
        };
        *ended = Some(exit);
        self.news.send_replace(Some(exit));
        Some(exit)
    }
}

fn how(status: &WaitIdStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

/// Starts the task that waits for `process`, our child. It ends with the process, whoever else is gone by then.
pub(super) fn watch(process: PidFd, registered: Waited) -> Result<Arc<Life>> {
    let life = Arc::new(Life { ended: Mutex::new(None), news: watch::Sender::new(None) });
    let changes = signal(SignalKind::child())
        .map_err(|source| Error::Terminal { what: "listen to changes of children", source })?;
    tokio::spawn(follow(process, registered, Arc::clone(&life), changes));
    Ok(life)
}

async fn follow(process: PidFd, _registered: Waited, life: Arc<Life>, mut changes: SignalStream) {
    let mut pause = CONT_PAUSE_MIN;
    let mut not_before = Instant::now();
    let mut stopped = false;
    loop {
        stopped = stopped || has_stopped(&process);
        let now = Instant::now();
        if stopped && now >= not_before {
            if let Err(error) = process.signal(Signal::CONT) {
                tracing::debug!(%error, "a stopped process could not be continued");
            }
            stopped = false;
            pause = if now > not_before + CONT_PAUSE_MAX { CONT_PAUSE_MIN } else { (pause * 2).min(CONT_PAUSE_MAX) };
            not_before = now + pause;
        }
        tokio::select! {
            end = process.exited() => {
                if let Err(error) = end {
                    tracing::warn!(%error, "a process's end is waited for by SIGCHLD alone");
                    changes.recv().await;
                }
            }
            _ = changes.recv() => {}
            () = sleep_until(not_before), if stopped => {}
        }
        if life.look(&process).is_some() {
            return;
        }
    }
}

/// Whether the process has stopped since the last time we asked.
fn has_stopped(process: &PidFd) -> bool {
    matches!(
        waitid(WaitId::PidFd(process.as_fd()), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG),
        Ok(Some(status)) if status.stopped()
    )
}
