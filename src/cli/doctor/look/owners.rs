//! Who holds the locks of host and agentctls, and what they answer.

use std::fs;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::cli::doctor::facts::{Answer, Holder, Host, Owner, Probe, Session};
use crate::cli::failure::Failure;
use crate::cli::reach;
use crate::config::dirs::Dirs;
use crate::link;
use crate::link::agentctl::AgentctlClient;
use crate::link::endpoint::Endpoint;
use crate::link::place::SessionDir;
use crate::proc::{identity, lock, table};

use super::within::blocking;

/// Agentctls asked at the same time: each answers at once, or not within three seconds.
const AT_ONCE: usize = 64;

/// The host.
pub async fn host(dirs: &Dirs) -> Host {
    let socket = dirs.host_socket();
    let endpoint = Endpoint::Unix(socket.clone());
    let ask = async { link::host::hello(&endpoint).await.map(|hello| hello.version) };
    let owner = owner(dirs.host_lock(), socket.clone(), true, ask).await;
    let (stopped, failed) = (dirs.host_stopped(), reach::failure_file(dirs));
    let marks = blocking(move || {
        let failure = fs::read(failed).ok().and_then(|text| serde_json::from_slice::<Failure>(&text).ok());
        (stopped.exists(), failure.map(|failure| failure.message))
    });
    let (told_to_stop, failure) = marks.await.unwrap_or_default();
    Host { owner, socket, told_to_stop, failure, logs: dirs.logs.clone() }
}

/// Every session that has a directory.
pub async fn sessions(state: &Path) -> Probe<Vec<Session>> {
    let dir = state.join("sessions");
    let found = blocking(move || match fs::read_dir(&dir) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", dir.display())),
    });
    let mut paths: Vec<PathBuf> = found.await??;
    paths.sort();
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let mut asked = JoinSet::new();
    for (place, path) in paths.into_iter().enumerate() {
        let slots = Arc::clone(&slots);
        asked.spawn(async move {
            let _slot = slots.acquire_owned().await;
            (place, session(path).await)
        });
    }
    let mut all = Vec::new();
    while let Some(session) = asked.join_next().await {
        all.push(session.map_err(|error| error.to_string())?);
    }
    all.sort_by_key(|(place, _)| *place);
    Ok(all.into_iter().map(|(_, session)| session).collect())
}

async fn session(path: PathBuf) -> Session {
    let id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let dir = SessionDir::at(path);
    let client = AgentctlClient::new(Endpoint::Unix(dir.socket()), None);
    let ask = async { client.health().await.map(|health| health.version) };
    Session { id, owner: owner(dir.lock(), dir.socket(), false, ask).await }
}

/// An owner of a lock, which is asked when the lock is held, or `always`.
async fn owner(
    lock: PathBuf,
    socket: PathBuf,
    always: bool,
    ask: impl Future<Output = Result<String, link::Error>>,
) -> Owner {
    let found = blocking(move || {
        let held = lock::is_held(&lock).map_err(|error| error.to_string());
        (held, holder(&lock), socket.exists())
    });
    let (held, holder, socket) = found.await.unwrap_or_else(|why| (Err(why), None, false));
    let answer = if held == Ok(true) || (always && socket) { answer(ask.await) } else { Answer::Nobody };
    Owner { held, holder, socket, answer }
}

fn holder(lock: &Path) -> Option<Holder> {
    let named = lock::holder_info(lock)?;
    let alive = identity::alive(&named);
    let state = table::stat(named.pid).ok().flatten().map(|stat| stat.state);
    Some(Holder { pid: named.pid, alive, stopped: alive && matches!(state, Some('T' | 't')) })
}

fn answer(answered: Result<String, link::Error>) -> Answer {
    match answered {
        Ok(version) => Answer::Version(version),
        Err(link::Error::NobodyThere { .. }) => Answer::Nobody,
        Err(link::Error::Silent { .. }) => Answer::Silent,
        Err(error) => Answer::Failed(error.to_string()),
    }
}
