//! Looks at a database file without changing it: for a person who asks whether it is sound.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::{Error, Result};
use super::open::{APPLICATION_ID, beside};

/// How long a statement waits for another connection's lock: looking is no reason to wait long.
const BUSY: Duration = Duration::from_secs(1);

/// How a database file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Version of its tables; 0 for an empty file.
    pub schema: i64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// What SQLite's quick check found: `ok`, or the first thing that is wrong; `None`: it did not come to its end in time.
    pub checked: Option<String>,
}

/// Looks at the file at `path`; `None` when there is none. The check is given up after `limit`. Blocks. A host may use the
/// database meanwhile.
///
/// # Errors
/// It is no database, damaged so that it cannot be read, of another program, locked, or not to be read by this user.
pub fn inspect(path: &Path, backups_dir: &Path, limit: Duration) -> Result<Option<Inspection>> {
    look(path, limit).map_err(|error| error.at(path, backups_dir))
}

fn look(path: &Path, limit: Duration) -> Result<Option<Inspection>> {
    let bytes = match std::fs::metadata(path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::Open { path: path.to_owned(), detail: error.to_string() }),
    };
    let logged = std::fs::metadata(beside(path, "-wal")).is_ok_and(|wal| wal.len() > 0);
    if bytes == 0 && logged {
        let detail = "it is empty, and its -wal file is not".to_owned();
        return Err(Error::Corrupt { path: path.to_owned(), advice: String::new(), detail });
    }
    // Without a log nobody has it open, and SQLite is told that nobody will: it then makes no file beside it.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(uri(path, !logged), flags)?;
    conn.busy_timeout(BUSY)?;
    let pragma = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let schema = pragma("user_version")?;
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && pragma("application_id")? != APPLICATION_ID {
        return Err(Error::NotOurs { path: path.to_owned() });
    }
    Ok(Some(Inspection { schema, bytes, checked: check(&conn, limit)? }))
}

/// The quick check, given up after `limit`.
fn check(conn: &Connection, limit: Duration) -> Result<Option<String>> {
    let interrupt = conn.get_interrupt_handle();
    let (done, over) = sync_channel::<()>(1);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                interrupt.interrupt();
            }
        });
        let found = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        drop(done);
        match found {
            Ok(verdict) => Ok(Some(verdict)),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(None),
            Err(error) => Err(error.into()),
        }
    })
}

/// The path as SQLite reads it with its settings.
fn uri(path: &Path, immutable: bool) -> String {
    let mut out = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            out.push(char::from(*byte));
        } else {
            // Writing into a text never fails.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out.push_str(if immutable { "?mode=ro&immutable=1" } else { "?mode=ro" });
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::store::{SCHEMA, Store};

    /// Long enough for any check here.
    const LIMIT: Duration = Duration::from_mins(1);

    fn names(dir: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(dir).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_database_is_looked_at_while_it_is_used_and_afterwards_and_nothing_changes() {
        let dir = tempfile::Builder::new().prefix("relight 50% #?").tempdir().unwrap();
        let path = dir.path().join("relight.db");
        let look = || inspect(&path, dir.path(), LIMIT);
        assert_eq!(look().unwrap(), None);
        assert!(names(dir.path()).is_empty());
        let store = Store::open(&path, dir.path(), 1).unwrap();
        let used = look().unwrap().unwrap();
        assert_eq!((used.schema, used.checked.as_deref()), (SCHEMA, Some("ok")));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store.close());
        let before = (names(dir.path()), fs::read(&path).unwrap());
        let after = look().unwrap().unwrap();
        assert_eq!((after.schema, after.checked.as_deref()), (SCHEMA, Some("ok")));
        assert_eq!((names(dir.path()), fs::read(&path).unwrap()), before);
    }

    #[test]
    fn what_is_no_database_of_ours_or_damaged_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("relight.db");
        let look = || inspect(&path, dir.path(), LIMIT);
        fs::write(&path, "this is no database, and long enough to be seen as none by whoever looks at it").unwrap();
        assert!(matches!(look(), Err(Error::Corrupt { .. })), "{:?}", look());
        fs::remove_file(&path).unwrap();
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
        assert!(matches!(look(), Err(Error::NotOurs { .. })), "{:?}", look());
        fs::remove_file(&path).unwrap();
        let store = Store::open(&path, dir.path(), 1).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store.close());
        let mut bytes = fs::read(&path).unwrap();
        let half = bytes.len() / 2;
        bytes[half..].fill(0x5a);
        fs::write(&path, bytes).unwrap();
        let found = look();
        let told = |found: &Inspection| found.checked.as_deref().is_some_and(|checked| checked != "ok");
        let seen = match &found {
            Err(Error::Corrupt { .. }) => true,
            Ok(Some(found)) => told(found),
            _ => false,
        };
        assert!(seen, "{found:?}");
    }

    #[test]
    fn a_check_that_takes_too_long_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("relight.db");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(&format!(
            "PRAGMA application_id = {APPLICATION_ID};
             CREATE TABLE rows (a, b);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
             INSERT INTO rows SELECT i, hex(randomblob(16)) FROM n;
             CREATE INDEX by_b ON rows (b);"
        ))
        .unwrap();
        let found = inspect(&path, dir.path(), Duration::from_micros(1)).unwrap().unwrap();
        assert_eq!(found.checked, None);
    }
}
