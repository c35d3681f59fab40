//! Accepts connections on a unix socket: for our own user only, up to a limit, and at its path as long as it lives.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, fstat};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use crate::domain::words::ErrorCode;
use crate::link::error::Error;
use crate::link::reach::Reach;
use crate::link::watch::{LOOK_EVERY, Watch, WatchKind};
use crate::wire::host::WireError;
use crate::wire::{PROTOCOL, PROTOCOL_HEADER};

/// Open connections at most: far above what the clients of one user need, far below the usual limit of descriptors.
pub const MAX_CONNECTIONS: usize = 600;
/// Connections being refused at the same time; further ones are closed without a word.
const MAX_REFUSALS: usize = 16;
/// A refused client has this long to read why.
const REFUSAL_DEADLINE: Duration = Duration::from_secs(1);
/// Pause after a failed accept (no descriptors left): others may close some.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Pause between two tries to come back at a path that vanished.
const REBIND_PAUSE: Duration = Duration::from_secs(1);
/// Other users who try are told about in the log at most this often: their tries must not fill it.
const TELL_EVERY: Duration = Duration::from_mins(1);
/// Only the owner may enter the socket's directory.
const DIR_MODE: u32 = 0o700;
/// Only the owner may connect.
const SOCKET_MODE: u32 = 0o600;
/// Anyone may write into such a directory, but remove only what is theirs: it is shared, as `/tmp` is.
const STICKY: u32 = 0o1000;

/// Choices of a listener.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Open connections at most.
    pub max_connections: usize,
    /// How it learns that its path vanished.
    pub watch: WatchKind,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_connections: MAX_CONNECTIONS, watch: WatchKind::Every(LOOK_EVERY) }
    }
}

/// A listening unix socket. When it is dropped, its path is removed if it is still its own.
#[derive(Debug)]
pub struct UnixListener {
    path: PathBuf,
    inner: tokio::net::UnixListener,
    node: (u64, u64),
    /// The directory as it was at the start, and the owner's lock in it.
    ours: Vec<OwnedFd>,
    removed: watch::Sender<bool>,
    told: Option<Instant>,
    watch: Watch,
    options: Options,
    permits: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
}

impl UnixListener {
    /// Listens at `path` with the default [`Options`]. See [`UnixListener::bind_with`].
    ///
    /// # Errors
    /// [`Error::Bind`].
    pub fn bind(path: &Path) -> Result<Self, Error> {
        Self::bind_with(path, Options::default())
    }

    /// Listens at `path`, in place of whatever socket is there: **only for the holder of the lock that says whose the path
    /// is.** Missing directories are made with mode 0700, and the socket's own directory is narrowed to it; the socket has
    /// mode 0600. The path appears at once with a socket that is already served.
    ///
    /// # Errors
    /// [`Error::Bind`].
    pub fn bind_with(path: &Path, options: Options) -> Result<Self, Error> {
        let (inner, node) = open(path).map_err(|source| Error::Bind { path: path.to_owned(), source })?;
        Ok(Self {
            path: path.to_owned(),
            inner,
            node,
            ours: hold(directory(path)).into_iter().collect(),
            removed: watch::Sender::new(false),
            told: None,
            watch: Watch::new(directory(path), options.watch),
            options,
            permits: Arc::new(Semaphore::new(options.max_connections)),
            refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same, which counts as removed as well when this file, its owner's lock, was.
    #[must_use]
    pub fn guarded_by(mut self, lock: &Path) -> Self {
        self.ours.extend(hold(lock));
        self
    }

    /// Follows whether the socket's directory, or the lock in it, was removed for good. Then the path is not made again: the
    /// lock said whose it is, so another owner may be there by now. See [`removal`].
    #[must_use]
    pub fn removed(&self) -> watch::Receiver<bool> {
        self.removed.subscribe()
    }

    /// Whether it is known that what it holds was removed; its owner is told then.
    fn is_lost(&self) -> bool {
        let lost = self.ours.iter().any(is_removed);
        if lost && !self.removed.send_replace(true) {
            tracing::error!(path = %self.path.display(), "the socket's directory was removed, or the lock in it");
        }
        lost
    }

    fn keep_path(&mut self) {
        if self.is_lost() || node(&self.path).is_ok_and(|node| node == self.node) {
            return;
        }
        let dir = directory(&self.path);
        match open(&self.path) {
            Ok((inner, node)) => {
                tracing::warn!(path = %self.path.display(), "the socket's path had vanished; listening there again");
                (self.inner, self.node) = (inner, node);
                self.watch = Watch::new(dir, self.options.watch);
                // It may have been removed just before, and its directory made anew by us.
                self.is_lost();
            }
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "the socket's path vanished and cannot be made again");
                self.watch = Watch::new(dir, WatchKind::Every(REBIND_PAUSE));
            }
        }
    }

    fn admit(&mut self, stream: UnixStream) -> Option<Connection> {
        let ours = rustix::process::geteuid().as_raw();
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == ours => {}
            Ok(peer) => {
                if self.told.is_none_or(|told| told.elapsed() > TELL_EVERY) {
                    self.told = Some(Instant::now());
                    let (uid, pid) = (peer.uid(), peer.pid());
                    tracing::warn!(path = %self.path.display(), uid, pid, "another user was refused");
                }
                let text = format!("this socket belongs to the user with id {ours}; you are {}", peer.uid());
                self.refuse(stream, "403 Forbidden", WireError::new(ErrorCode::Forbidden, text));
                return None;
            }
            Err(_) => return None,
        }
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Some(Connection { stream, _permit: permit });
        }
        let text = format!("{} connections are open, more are not accepted", self.options.max_connections);
        let error = WireError::new(ErrorCode::TooManyConnections, text).hint("close some clients and try again");
        self.refuse(stream, "503 Service Unavailable", error);
        None
    }

    fn refuse(&self, mut stream: UnixStream, status: &'static str, error: WireError) {
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        tokio::spawn(async move {
            let _permit = permit;
            let said = tokio::time::timeout(REFUSAL_DEADLINE, async {
                let mut sink = [0; 4096];
                // An answer that comes before the question is none.
                if stream.read(&mut sink).await? == 0 {
                    return Ok(());
                }
                stream.write_all(refusal(status, &error).as_bytes()).await?;
                stream.shutdown().await?;
                // The rest is read as well, or the client would see a reset instead of the answer.
                while stream.read(&mut sink).await? > 0 {}
                io::Result::Ok(())
            });
            if !matches!(said.await, Ok(Ok(()))) {
                tracing::debug!(status, "a refused client did not read why");
            }
        });
    }
}

impl Drop for UnixListener {
    fn drop(&mut self) {
        if node(&self.path).is_ok_and(|node| node == self.node)
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::debug!(path = %self.path.display(), %error, "the socket's path stays behind");
        }
    }
}

impl axum::serve::Listener for UnixListener {
    type Io = Connection;
    type Addr = ();

    async fn accept(&mut self) -> (Connection, ()) {
        loop {
            tokio::select! {
                accepted = self.inner.accept() => match accepted {
                    Ok((stream, _)) => {
                        if let Some(connection) = self.admit(stream) {
                            return (connection, ());
                        }
                    }
                    Err(error) => {
                        tracing::warn!(path = %self.path.display(), %error, "cannot accept a connection");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
                () = self.watch.stirred() => self.keep_path(),
            }
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}

/// An accepted connection; it counts until it is dropped.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    _permit: OwnedSemaphorePermit,
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Waits until the directory or the lock of the listener whose [`UnixListener::removed`] this is was removed; for ever if it never is.
pub async fn removal(mut removed: watch::Receiver<bool>) {
    if removed.wait_for(|removed| *removed).await.is_err() {
        // The listener ended, and its directory was there to the end.
        std::future::pending::<()>().await;
    }
}

/// The file or directory, if its links can tell that it was removed: some filesystems count none.
fn hold(path: &Path) -> Option<OwnedFd> {
    let held = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
    (!is_removed(&held)).then_some(held)
}

/// Whether no path leads to a directory or file any more: it has no link. One that cannot be asked at the moment (an error of its
/// disk, a network that is away) is not known to be removed.
fn is_removed(held: &OwnedFd) -> bool {
    fstat(held).is_ok_and(|stat| stat.st_nlink == 0)
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Device and inode at `path`, links not followed.
fn node(path: &Path) -> io::Result<(u64, u64)> {
    let meta = std::fs::symlink_metadata(path)?;
    Ok((meta.dev(), meta.ino()))
}

/// Makes the socket under another name in the same directory and moves it to `path` when it is complete.
fn open(path: &Path) -> io::Result<(tokio::net::UnixListener, (u64, u64))> {
    let dir = directory(path);
    std::fs::DirBuilder::new().recursive(true).mode(DIR_MODE).create(dir)?;
    let mode = std::fs::metadata(dir)?.permissions().mode();
    if mode & 0o077 != 0 && mode & STICKY == 0 {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(DIR_MODE))?;
    }
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    };
    let mut new = std::ffi::OsString::from(".");
    new.push(name);
    new.push(".new");
    let new = dir.join(new);
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let reach = Reach::new(&new)?;
    let listener = std::os::unix::net::UnixListener::bind(reach.path())?;
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(SOCKET_MODE))?;
    listener.set_nonblocking(true)?;
    let listener = tokio::net::UnixListener::from_std(listener)?;
    let node = node(&new)?;
    std::fs::rename(&new, path)?;
    Ok((listener, node))
}

fn refusal(status: &str, error: &WireError) -> String {
    let body = serde_json::to_string(error).unwrap_or_default();
    format!(
        "HTTP/1.1 {status}\r\n{PROTOCOL_HEADER}: {PROTOCOL}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}
