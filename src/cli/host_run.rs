//! `relight host run`: lock, machine, log, database, host, socket, signals — the wiring of the host process, in order.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{broadcast, oneshot};

use crate::config;
use crate::config::Config;
use crate::config::dirs::Dirs;
use crate::executor::Executors;
use crate::host::run::Host;
use crate::host::shared::{BUS_CAPACITY, Parts};
use crate::link::listen::{Options, UnixListener, removal};
use crate::link::watch::WatchKind;
use crate::proc::lock::{self, LockFile};
use crate::proc::{clock, detach, identity, limits};
use crate::serve;
use crate::store::Store;
use crate::wire::PROTOCOL;
use crate::wire::host::{Hello, Push, Stop};

use super::failure::{Exit, Failure, Result};
use super::{caller, logging, lost, reach};

/// Is the host until it is told to stop. Who started it in the background reads a failure from the failure file.
pub async fn run(dirs: &Dirs) -> Result<ExitCode> {
    config::machine::refuse_foreign(&dirs.state)?;
    dirs.create()?;
    let Some(lock) = LockFile::try_take(&dirs.host_lock())? else {
        let who = lock::holder_info(&dirs.host_lock()).map(|id| format!(" (pid {})", id.pid)).unwrap_or_default();
        let failure = Failure::new(format!("a host runs already{who}"));
        return Err(Failure { code: Exit::Refused, word: "host_running".into(), ..failure });
    };
    let result = start(dirs).await;
    if let Err(failure) = &result {
        tracing::error!(code = failure.word, "the host ends: {}", failure.message);
        // Whoever waits for this host reads the words from here, once the lock is free.
        if let Ok(text) = serde_json::to_vec(failure) {
            let _ = fs::write(reach::failure_file(dirs), text);
        }
    }
    drop(lock);
    result
}

async fn start(dirs: &Dirs) -> Result<ExitCode> {
    config::machine::check(&dirs.state)?;
    let config = config::load(dirs)?;
    logging::start(&dirs.logs, "host", &config.log, None)?;
    limits::raise_nofile()?;
    reach::remove(&dirs.host_stopped())?;
    let stop = serve(dirs, config).await?;
    if !stop.restart {
        let mark = dirs.host_stopped();
        fs::write(&mark, "").map_err(|error| Failure::config(format!("cannot write {}: {error}", mark.display())))?;
    }
    tracing::info!("the host has ended");
    Ok(ExitCode::SUCCESS)
}

/// SIGTERM or SIGINT: an end without the mark, so that an agentctl may start another host.
async fn told_by_signal() {
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        tracing::error!("signals cannot be watched");
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => tracing::info!("told to end by SIGTERM"),
        _ = int.recv() => tracing::info!("told to end by SIGINT"),
    }
}

/// Agents that are told to end say goodbye within five seconds; then their agentctls fence what is left.
const AGENTS_END: Duration = Duration::from_secs(15);

/// Opens the database, serves at once, recovers, and returns when a client tells the host to stop or a signal does.
async fn serve(dirs: &Dirs, config: Config) -> Result<Stop> {
    lost::refuse(dirs)?;
    let (database, backups) = (dirs.database(), dirs.backups());
    let opened = tokio::task::spawn_blocking(move || Store::open(&database, &backups, clock::now_ms())).await;
    let store = opened.map_err(|error| Failure::new(format!("opening the database failed: {error}")))??;
    let (bus, _) = broadcast::channel(BUS_CAPACITY);
    let events = bus.clone();
    store.on_commit(move |committed| {
        for event in committed {
            // That nobody listens is no error.
            let _ = events.send(Push::Event(event.clone()));
        }
    });
    let relight = detach::own_program()?;
    let hello = Hello { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned(), identity: identity::me()? };
    let host = Arc::new(Host::new(Parts {
        store: store.clone(),
        executors: Executors::new(relight, dirs.state.clone(), dirs.logs.clone(), &config.executors)
            .with_history(config.terminal.history_lines)
            .with_log(config.log.clone()),
        shell: shell(&config),
        profiles: config.profiles,
        policy: config.resume,
        refresh_env: config.refresh_env,
        bus,
        hello,
        database: dirs.database(),
    }));
    if std::env::var(reach::STARTED_BY).is_ok_and(|who| who == reach::CLIENT) {
        host.note_environment(&caller::variables());
    }
    // A person has one host: it may have an inotify instance, and never wakes up only to look.
    let listening = Options { watch: WatchKind::Inotify, ..Options::default() };
    let listener = UnixListener::bind_with(&dirs.host_socket(), listening)?.guarded_by(&dirs.host_lock());
    let removed = listener.removed();
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(serve::run(listener, Arc::clone(&host), async {
        let _ = ended.await;
    }));
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "the host serves");
    host.recover().await?;
    let mut lost = false;
    let stop = tokio::select! {
        stop = host.stopped() => stop,
        () = told_by_signal() => Stop { agents: false, restart: true },
        () = removal(removed) => {
            lost = true;
            Stop { agents: false, restart: true }
        }
    };
    if stop.agents {
        host.end_agents(AGENTS_END).await;
    }
    let _ = end.send(());
    if let Err(error) = serving.await {
        tracing::warn!(%error, "the socket's task failed");
    }
    host.settle().await;
    store.close().await;
    if lost {
        let text = format!(
            "the state directory {}, or the host's lock in it, was removed while the host ran, so it ends",
            dirs.state.display()
        );
        return Err(Failure::config(text).hint("start relight again; what the database still has comes back"));
    }
    Ok(stop)
}

/// The shell of shell terminals: as configured, else the person's own.
fn shell(config: &Config) -> String {
    if !config.defaults.shell.is_empty() {
        return config.defaults.shell.clone();
    }
    std::env::var("SHELL").ok().filter(|shell| shell.starts_with('/')).unwrap_or_else(|| "/bin/sh".to_owned())
}
