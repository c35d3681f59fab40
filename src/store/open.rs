//! Opening the database: checks of the place and the file, migrations with a backup before each run of them.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::domain::rows::Millis;

use super::error::{Error, Result};
use super::limits::{BUSY_TIMEOUT, CHECKED_BYTES};
use super::worker::Store;

/// Every migration in order; the n-th leads to `user_version` n. Files are only ever added.
pub(super) const MIGRATIONS: &[&str] =
    &[include_str!("migrations/0001_base.sql"), include_str!("migrations/0002_ends_and_prompts.sql")];

/// Newest schema known here.
pub const SCHEMA: i64 = MIGRATIONS.len() as i64;

/// Marks the file as ours: `rlgt`.
pub(super) const APPLICATION_ID: i64 = 1_919_706_996;

/// Pages copied in one step of a backup, and the pause after each, in which other connections may write.
const BACKUP_PAGES: i32 = 4_096;
const BACKUP_PAUSE: Duration = Duration::from_millis(1);

/// Statements that a connection keeps prepared: about as many as the store has.
const CACHED_STATEMENTS: usize = 128;

/// Filesystems that other machines may write to at the same time, by the magic number of `statfs`.
const NETWORK: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFE53_4D42, "SMB2"),
    (0xFF53_4D42, "CIFS"),
    (0x5346_414F, "AFS"),
    (0x7375_7245, "Coda"),
    (0x00C3_6400, "Ceph"),
    (0x0BD0_0BD0, "Lustre"),
    (0x0116_1970, "GFS2"),
    (0x7461_636F, "OCFS2"),
];

impl Store {
    /// Opens the database at `path`, made anew when there is none; migrates an older one after a backup into
    /// `backups_dir`. Blocks; call it before the runtime serves, or on a blocking thread.
    ///
    /// # Errors
    /// The place is a network filesystem, the file is damaged, of another program, of a newer relight, locked, or cannot
    /// be written; a backup or a migration failed. The file is then as it was.
    pub fn open(path: &Path, backups_dir: &Path, now_ms: Millis) -> Result<Self> {
        let conn = connect(path, backups_dir, now_ms).map_err(|e| e.at(path, backups_dir))?;
        Self::start(conn, path, backups_dir, false)
    }

    /// An empty database in memory, for tests of other rooms.
    ///
    /// # Errors
    /// No memory, or no thread.
    pub fn open_in_memory() -> Result<Self> {
        let place = Path::new(":memory:");
        let mut conn = Connection::open_in_memory()?;
        settings(&conn)?;
        migrate(&mut conn, place)?;
        Self::start(conn, place, place, true)
    }
}

/// The name of the network filesystem with this magic number, as `statfs` gives it: a database would be damaged there.
#[must_use]
pub fn network_filesystem(magic: u64) -> Option<&'static str> {
    NETWORK.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

fn connect(path: &Path, backups: &Path, now: Millis) -> Result<Connection> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let open = |path: &Path, e: &dyn std::fmt::Display| Error::Open { path: path.to_owned(), detail: e.to_string() };
    std::fs::create_dir_all(parent).map_err(|e| open(parent, &e))?;
    let place = rustix::fs::statfs(parent).map_err(|e| open(parent, &e))?;
    // Signed on some architectures; the magic numbers have 32 bits.
    if let Some(kind) = network_filesystem(place.f_type as u64 & 0xFFFF_FFFF) {
        return Err(Error::NetworkFilesystem { path: path.to_owned(), kind });
    }
    let size = match std::fs::metadata(path) {
        Ok(found) => found.len(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            private_file(path).map_err(|e| open(path, &e))?;
            0
        }
        Err(e) => return Err(open(path, &e)),
    };
    if size == 0 && std::fs::metadata(beside(path, "-wal")).is_ok_and(|wal| wal.len() > 0) {
        // SQLite would take it for a new one, and remove what the log still holds.
        let detail = "it is empty, and its -wal file is not".to_owned();
        return Err(Error::Corrupt { path: path.to_owned(), advice: String::new(), detail });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    let found = check(&conn, path, size)?;
    settings(&conn)?;
    if found < SCHEMA {
        if found > 0 {
            back_up(&conn, path, backups, found, now)?;
        }
        migrate(&mut conn, path)?;
    }
    // Whoever asks is told now that another program holds it, and not in the middle of what a host begins with.
    conn.transaction_with_behavior(TransactionBehavior::Immediate)?.rollback()?;
    Ok(conn)
}

/// The file that SQLite keeps beside the database under the same name with this ending.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The environment of agents is in it: readable by its owner only.
fn private_file(path: &Path) -> std::io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map(|_| ())
}

/// Looks before anything is written. Returns the schema version; 0 for an empty file.
fn check(conn: &Connection, path: &Path, size: u64) -> Result<i64> {
    let pragma = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let found = pragma("user_version")?;
    let ours = pragma("application_id")? == APPLICATION_ID;
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && !ours {
        return Err(Error::NotOurs { path: path.to_owned() });
    }
    if found > SCHEMA {
        return Err(Error::NewerSchema { path: path.to_owned(), found, known: SCHEMA });
    }
    if size > 0 && (size <= CHECKED_BYTES || found < SCHEMA) {
        let verdict: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if verdict != "ok" {
            return Err(Error::Corrupt { path: path.to_owned(), advice: String::new(), detail: verdict });
        }
    }
    Ok(found)
}

fn settings(conn: &Connection) -> Result<()> {
    conn.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    conn.busy_timeout(BUSY_TIMEOUT)?;
    let mode: String = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" && mode != "memory" {
        return Err(Error::Sqlite {
            path: PathBuf::new(),
            detail: format!("journal mode is `{mode}` instead of `wal`"),
        });
    }
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "foreign_keys", "ON")?;
    Ok(())
}

fn back_up(conn: &Connection, path: &Path, backups: &Path, version: i64, now: Millis) -> Result<()> {
    let target = backups.join(format!("relight-v{version}-{now}.db"));
    let failed = |e: &dyn std::fmt::Display| Error::Backup { path: target.clone(), detail: e.to_string() };
    std::fs::create_dir_all(backups).map_err(|e| failed(&e))?;
    private_file(&target).map_err(|e| failed(&e))?;
    let mut copy = Connection::open(&target).map_err(|e| failed(&e))?;
    let backup = rusqlite::backup::Backup::new(conn, &mut copy).map_err(|e| failed(&e))?;
    backup.run_to_completion(BACKUP_PAGES, BACKUP_PAUSE, None).map_err(|e| failed(&e))?;
    drop(backup);
    copy.close().map_err(|(_, e)| failed(&e))?;
    let file = std::fs::File::open(&target).map_err(|e| failed(&e))?;
    file.sync_all().map_err(|e| failed(&e))?;
    tracing::info!(database = %path.display(), backup = %target.display(), "backed up before a migration");
    Ok(())
}

fn migrate(conn: &mut Connection, path: &Path) -> Result<()> {
    for (index, sql) in MIGRATIONS.iter().enumerate() {
        let version = index as i64 + 1;
        let failed = |e: rusqlite::Error| match Error::from(e) {
            Error::Sqlite { detail, .. } => Error::Migration { path: path.to_owned(), version, detail },
            other => other,
        };
        // Another process may be doing the same: who comes second finds it done.
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let found: i64 = tx.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
        if found < version {
            tx.execute_batch(sql).map_err(failed)?;
            tx.pragma_update(None, "user_version", version).map_err(failed)?;
        }
        tx.commit().map_err(failed)?;
    }
    Ok(())
}
