//! Where a server is reached, as `executors_running.agentctl_url` spells it, and how to connect to it.

use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout_at};

use crate::link::error::Error;
use crate::link::memory::MemoryDialer;
use crate::link::reach::Reach;
use crate::link::stream::Stream;

/// A local connect that takes longer meets a server that accepts nothing any more.
pub const CONNECT_DEADLINE: Duration = Duration::from_secs(3);
/// Pause before the next try while a server's backlog is full.
const BACKLOG_PAUSE: Duration = Duration::from_millis(5);

/// A way to connect that another room brings (a bridge over the standard streams of `ssh` or `docker exec`).
pub trait Dial: fmt::Debug + Send + Sync + 'static {
    /// The address in words, as stored.
    fn url(&self) -> String;
    /// Connects.
    fn dial(&self) -> Pin<Box<dyn Future<Output = io::Result<Stream>> + Send + '_>>;
}

/// Where a server is reached.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// A unix socket of this machine.
    Unix(PathBuf),
    /// A listener in this process.
    Memory(MemoryDialer),
    /// Anything else that carries bytes.
    Dial(Arc<dyn Dial>),
}

impl FromStr for Endpoint {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self, Error> {
        match url.strip_prefix("unix:") {
            Some(path) if Path::new(path).is_absolute() => Ok(Self::Unix(PathBuf::from(path))),
            _ => Err(Error::BadUrl { url: url.chars().take(200).collect() }),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Memory(_) => f.write_str("memory:"),
            Self::Dial(dial) => f.write_str(&dial.url()),
        }
    }
}

impl Endpoint {
    /// Connects, within [`CONNECT_DEADLINE`] on this machine. On a unix socket the server must be of our own user.
    ///
    /// # Errors
    /// [`Error::NobodyThere`], [`Error::Silent`], [`Error::OtherOwner`] or [`Error::Io`].
    pub async fn connect(&self) -> Result<Stream, Error> {
        let deadline = Instant::now() + CONNECT_DEADLINE;
        let dialed = match self {
            Self::Unix(path) => return self.unix(path, deadline).await,
            Self::Memory(dialer) => timeout_at(deadline, dialer.dial()).await,
            // How long a bridge may take is its own affair and the request's deadline's.
            Self::Dial(dial) => Ok(dial.dial().await),
        };
        match dialed {
            Ok(stream) => stream.map_err(|source| self.failed(source)),
            Err(_) => Err(self.silent()),
        }
    }

    async fn unix(&self, path: &Path, deadline: Instant) -> Result<Stream, Error> {
        let reach = Reach::new(path).map_err(|source| self.failed(source))?;
        loop {
            match timeout_at(deadline, UnixStream::connect(reach.path())).await {
                Ok(Ok(stream)) => {
                    let uid = stream.peer_cred().map_err(|source| self.failed(source))?.uid();
                    if uid != rustix::process::geteuid().as_raw() {
                        return Err(Error::OtherOwner { at: self.to_string(), uid });
                    }
                    return Ok(Box::new(stream));
                }
                // The backlog is full: the server lives and is slow.
                Ok(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() >= deadline {
                        return Err(self.silent());
                    }
                    sleep(BACKLOG_PAUSE).await;
                }
                Ok(Err(source)) => return Err(self.failed(source)),
                Err(_) => return Err(self.silent()),
            }
        }
    }

    fn silent(&self) -> Error {
        Error::Silent { at: self.to_string(), what: "connect".into(), after: CONNECT_DEADLINE }
    }

    fn failed(&self, source: io::Error) -> Error {
        use io::ErrorKind as K;
        let at = self.to_string();
        match source.kind() {
            K::NotFound | K::ConnectionRefused | K::NotADirectory => Error::NobodyThere { at, source },
            _ => Error::Io { at, what: "connect".into(), source },
        }
    }
}
