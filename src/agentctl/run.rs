//! One agentctl's life: lock, recover, serve, end.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::domain::ids::SessionId;
use crate::domain::journal::Body;
use crate::link::listen::{UnixListener, removal};
use crate::link::place::SessionDir;
use crate::link::server;
use crate::proc::lock::{self, LockFile};
use crate::proc::{clock, detach, identity, limits, reap, testpoint};

use super::ending;
use super::error::Error;
use super::journal::Damage;
use super::kept;
use super::ledger::Ledger;
use super::recover;
use super::routes;
use super::shared::{Make, Phase, Shared};
use super::starter::{self, HostStart};

/// What an agentctl is told at its start.
#[derive(Debug, Clone)]
pub struct Options {
    /// Session that it supervises.
    pub session: SessionId,
    /// The session's directory.
    pub dir: SessionDir,
    /// The relight program, for hooks and for starting a host.
    pub relight: PathBuf,
    /// Directory that files and git show before any launch names one.
    pub directory: Option<PathBuf>,
    /// Lines of history that each terminal keeps in memory.
    pub history_lines: usize,
    /// How a host is started when none is there; `None`: never.
    pub host: Option<HostStart>,
}

/// Runs until it is told to end (SIGTERM, SIGINT, `POST /shutdown`, the removal of its directory) and everything has ended. Wants a runtime with one thread.
///
/// # Errors
/// [`Error::Held`] when the session has an agentctl; others when it cannot take over what an earlier one left, or not serve.
pub async fn run(options: Options) -> Result<(), Error> {
    for dir in [options.dir.path(), &options.dir.spool_dir(), &options.dir.history_dir()] {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|e| Error::file("make the directory", dir, e))?;
    }
    // Held until this function returns, and so by the kernel until this process ends.
    let _lock = take_lock(&options)?;
    testpoint::reach("agentctl.locked");
    let mut signals = Signals::listen()?;
    // Without the right to either it still works, for fewer terminals and with strays left to init.
    if let Err(error) = limits::raise_nofile() {
        tracing::warn!(%error, "the limit of open files stays");
    }
    if let Err(error) = detach::become_subreaper() {
        tracing::warn!(%error, "orphans of agents go to init");
    }
    let reaper = tokio::spawn(reap::run());
    let shared = take_over(&options).await?;
    let listener = UnixListener::bind(&options.dir.socket())
        .map_err(|e| Error::Socket { path: options.dir.socket(), why: e.to_string() })?
        .guarded_by(&options.dir.lock());
    let starter = options.host.map(|start| tokio::spawn(starter::run(Arc::clone(&shared), start)));
    let ender = {
        let (shared, removed) = (Arc::clone(&shared), listener.removed());
        tokio::spawn(async move {
            let by = tokio::select! {
                by = signals.next() => by,
                () = removal(removed) => "the removal of the session's directory or lock",
            };
            ending::end(&shared, by).await;
        })
    };
    let mut phase = shared.phase();
    let stop = async move {
        // An error would mean that everything shared is gone, which is the end as well.
        let _ = phase.wait_for(|phase| *phase == Phase::Ended).await;
    };
    server::serve(listener, routes::router(Arc::clone(&shared)), stop).await;
    let mut feeds = shared.feeds();
    // The last records are read meanwhile, see `ending::end`.
    let _ = tokio::time::timeout(ending::FEED_WAIT, feeds.wait_for(|count| *count == 0)).await;
    ender.abort();
    reaper.abort();
    if let Some(starter) = starter {
        starter.abort();
    }
    Ok(())
}

fn take_lock(options: &Options) -> Result<LockFile, Error> {
    let path = options.dir.lock();
    match LockFile::try_take(&path) {
        Ok(Some(lock)) => Ok(lock),
        Ok(None) => {
            let holder = lock::holder_info(&path).map_or("of unknown pid".into(), |who| format!("pid {}", who.pid));
            Err(Error::Held { session: options.session.to_string(), holder })
        }
        Err(error) => Err(Error::process("take the session's lock", error)),
    }
}

/// Opens the journal, brings it to the truth and says that this agentctl is here.
pub(super) async fn take_over(options: &Options) -> Result<Arc<Shared>, Error> {
    let boot_id = identity::boot_id().map_err(|e| Error::process("read the boot id", e))?;
    let me = identity::me().map_err(|e| Error::process("read our own identity", e))?;
    let path = options.dir.journal();
    let (ledger, damage) = Ledger::open(&path, boot_id.clone())?;
    tell_damage(&path, damage);
    recover::recover(&ledger, &options.dir, &boot_id, clock::boot_ms()).await?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    ledger.record(Body::SupervisorStarted { identity: me.clone(), version })?;
    let directory = options.directory.clone().or_else(|| kept::directory(&options.dir));
    Ok(Shared::new(Make {
        session: options.session.clone(),
        dir: options.dir.clone(),
        relight: options.relight.clone(),
        directory,
        history_lines: options.history_lines,
        me,
        ledger,
    }))
}

fn tell_damage(path: &Path, damage: Damage) {
    let aside = path.with_extension("torn");
    match damage {
        Damage::None => {}
        Damage::Torn(bytes) => {
            tracing::warn!(bytes, aside = %aside.display(), "the journal's last record was unfinished; set aside");
        }
        Damage::Lost(bytes) => {
            tracing::error!(bytes, aside = %aside.display(), "the journal was damaged; what follows the damage is set aside");
        }
    }
}

/// What ends an agentctl from outside.
struct Signals {
    term: Signal,
    int: Signal,
    hup: Signal,
}

impl Signals {
    fn listen() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(|e| Error::process("listen to signals", e));
        Ok(Self {
            term: listen(SignalKind::terminate())?,
            int: listen(SignalKind::interrupt())?,
            hup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for one. The terminal from which we were started may go: SIGHUP is nothing.
    async fn next(&mut self) -> &'static str {
        loop {
            tokio::select! {
                _ = self.term.recv() => return "SIGTERM",
                _ = self.int.recv() => return "SIGINT",
                _ = self.hup.recv() => {}
            }
        }
    }
}
