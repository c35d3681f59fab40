//! Opening: migrations and their backups, and files that must not be touched.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use super::error::Error;
use super::open::{MIGRATIONS, SCHEMA, network_filesystem};
use super::testing::{Bench, sid};
use super::worker::Store;

/// Hash of each migration as it was released. Never change one: add a line with a new file.
const RECORDED: &[u64] = &[0x8b6e_1bf6_4f54_b1ee, 0xd80f_c756_228e_4348];

/// FNV-1a: the same on every machine and with every compiler.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn migrations_are_only_added() {
    let hashes: Vec<u64> = MIGRATIONS.iter().map(|sql| fnv(sql)).collect();
    assert_eq!(hashes, RECORDED);
}

fn places() -> (TempDir, PathBuf, PathBuf) {
    let dir = TempDir::new().unwrap();
    let (path, backups) = (dir.path().join("data/relight.db"), dir.path().join("data/backups"));
    std::fs::create_dir_all(dir.path().join("data")).unwrap();
    (dir, path, backups)
}

/// A database as the first release wrote it, with a session that was killed in mid-turn.
fn older(path: &Path) {
    let conn = Connection::open(path).unwrap();
    conn.pragma_update(None, "journal_mode", "wal").unwrap();
    conn.execute_batch(MIGRATIONS[0]).unwrap();
    conn.execute_batch(
        "PRAGMA user_version = 1;
         INSERT INTO tasks VALUES ('t', 'old task', 'IN_PROGRESS', NULL, 1, 1);
         INSERT INTO task_sessions (id, task_id, name, state, wanted, agent_profile_id, executor_id, metadata,
             launch_args, launch_env, launch_cwd, created_at, updated_at)
         VALUES ('old', 't', 'old', 'RUNNING', 'run', 'demo', 'local', '{\"resume_token\":\"tok\",\"more\":1}',
             '[]', '[]', '/', 1, 1);
         INSERT INTO terminals (id, session_id, kind, generation, cols, rows, status, created_at, ended_at)
         VALUES ('old-1', 'old', 'agent', 1, 80, 24, 'exited', 1, 2);
         INSERT INTO agent_bindings (terminal_id, session_id, generation, agent_id, agent_session_id, prompted_at,
             start_mode, started_at, ended_at, end_reason, state_at_death, claim_epoch)
         VALUES ('old-1', 'old', 1, 'demo', 'tok', 1, 'first', 1, 2, 'terminal-exited', 'RUNNING', 1);",
    )
    .unwrap();
}

#[tokio::test]
async fn an_older_schema_is_backed_up_and_migrated() {
    let (_dir, path, backups) = places();
    older(&path);
    let store = Store::open(&path, &backups, 77).unwrap();
    let bundle = store.bundle(sid("old")).await.unwrap();
    assert_eq!(bundle.session.metadata.resume_token.as_deref(), Some("tok"));
    assert_eq!(bundle.session.metadata.other["more"], 1);
    assert!(store.find_candidate(sid("old")).await.unwrap().is_some());
    store.close().await;
    let version = |path: &Path| -> i64 {
        Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    };
    assert_eq!(version(&path), SCHEMA);
    let backup = backups.join("relight-v1-77.db");
    assert_eq!(version(&backup), 1);
    let sessions: i64 =
        Connection::open(&backup).unwrap().query_row("SELECT count(*) FROM task_sessions", [], |r| r.get(0)).unwrap();
    assert_eq!(sessions, 1);
    Store::open(&path, &backups, 78).unwrap().close().await;
    assert_eq!(std::fs::read_dir(&backups).unwrap().count(), 1, "no backup without a migration");
}

#[tokio::test]
async fn a_failed_backup_stops_the_migration() {
    let (_dir, path, backups) = places();
    older(&path);
    std::fs::write(&backups, "a file where the directory should be").unwrap();
    let error = Store::open(&path, &backups, 77).unwrap_err();
    assert!(matches!(error, Error::Backup { .. }), "{error}");
    let conn = Connection::open(&path).unwrap();
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 1);
}

#[test]
fn a_newer_schema_is_refused() {
    let (_dir, path, backups) = places();
    older(&path);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", SCHEMA + 1).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = Store::open(&path, &backups, 1).unwrap_err();
    assert_eq!(error, Error::NewerSchema { path: path.clone(), found: SCHEMA + 1, known: SCHEMA });
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(!backups.exists());
}

#[tokio::test]
async fn a_corrupt_file_is_refused_and_left_alone() {
    let (_dir, path, backups) = places();
    std::fs::write(&path, "this is no database, but a person may want it".repeat(100)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = Store::open(&path, &backups, 1).unwrap_err();
    assert!(matches!(&error, Error::Corrupt { path: p, .. } if *p == path), "{error:?}");
    assert!(error.to_string().contains(".recover` saves"), "no backup is promised where none is: {error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let backup = backups.join("relight-v1-1.db");
    std::fs::create_dir_all(&backups).unwrap();
    std::fs::write(&backup, "").unwrap();
    let error = Store::open(&path, &backups, 1).unwrap_err();
    assert!(error.to_string().contains(&backup.display().to_string()), "{error}");

    let bench = Bench::new().await;
    bench.store.close().await;
    let mut bytes = std::fs::read(bench.path()).unwrap();
    for byte in &mut bytes[4096..40_000] {
        *byte ^= 0x5A;
    }
    std::fs::write(bench.path(), &bytes).unwrap();
    let error = Store::open(&bench.path(), &backups, 1).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert_eq!(std::fs::read(bench.path()).unwrap(), bytes);
}

#[test]
fn another_programs_database_is_refused() {
    let (_dir, path, backups) = places();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE songs (name TEXT)").unwrap();
    let error = Store::open(&path, &backups, 1).unwrap_err();
    assert_eq!(error, Error::NotOurs { path });
}

#[test]
fn a_path_that_cannot_be_written_is_refused() {
    let (_dir, path, backups) = places();
    std::fs::create_dir(&path).unwrap();
    assert!(Store::open(&path, &backups, 1).is_err());
    let under_a_file = backups.join("relight.db");
    std::fs::write(&backups, "x").unwrap();
    assert!(matches!(Store::open(&under_a_file, &backups, 1), Err(Error::Open { .. })));
}

#[test]
fn network_filesystems_are_known() {
    assert_eq!(network_filesystem(0x6969), Some("NFS"));
    assert_eq!(network_filesystem(0xFF53_4D42), Some("CIFS"));
    assert_eq!(network_filesystem(0xEF53), None);
}

#[tokio::test]
async fn the_file_is_the_owners_and_its_settings_are_durable() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new().await;
    let mode = std::fs::metadata(bench.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (sync, keys, journal) = bench
        .store
        .read(|conn| {
            Ok((
                conn.pragma_query_value(None, "synchronous", |r| r.get::<_, i64>(0))?,
                conn.pragma_query_value(None, "foreign_keys", |r| r.get::<_, i64>(0))?,
                conn.pragma_query_value(None, "journal_mode", |r| r.get::<_, String>(0))?,
            ))
        })
        .await
        .unwrap();
    assert_eq!((sync, keys, journal.as_str()), (2, 1, "wal"));
}

#[tokio::test]
async fn a_locked_database_says_so() {
    let bench = Bench::new().await;
    bench.store.read(|conn| Ok(conn.busy_timeout(std::time::Duration::from_millis(20))?)).await.unwrap();
    let other = Connection::open(bench.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = bench.store.create_session(bench.new_session("s")).await.unwrap_err();
    assert_eq!(error, Error::Locked { path: bench.path() });
    assert!(bench.store.tasks().await.is_ok(), "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    bench.store.create_session(bench.new_session("s")).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_says_so_and_nothing_is_half_done() {
    let mut bench = Bench::new().await;
    bench.prompted("s").await;
    let before = bench.bundle("s").await;
    let limit = |pages: i64| {
        move |conn: &Connection| {
            conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
            Ok(())
        }
    };
    bench.store.read(limit(1)).await.unwrap();
    let mut new = bench.new_session("big");
    new.launch.args = vec!["x".repeat(1_000_000)];
    let error = bench.store.create_session(new.clone()).await.unwrap_err();
    assert_eq!(error, Error::DiskFull { path: bench.path() });
    assert!(matches!(bench.store.session_of("big").await, Err(Error::NotFound { .. })));
    assert_eq!(bench.bundle("s").await, before);
    bench.store.read(limit(1_000_000)).await.unwrap();
    bench.store.create_session(new).await.unwrap();
}

/// What reads and what changes may wait together. Named by the fault: the reader shared the transaction that failed, so a
/// session that was just made was not read and never started.
#[tokio::test]
async fn a_change_that_finds_no_space_costs_no_reader_its_answer() {
    let bench = Bench::new().await;
    let full = |conn: &Connection| Ok(conn.pragma_update_and_check(None, "max_page_count", 1, |_| Ok(()))?);
    bench.store.read(full).await.unwrap();
    let mut new = bench.new_session("big");
    new.launch.args = vec!["x".repeat(1_000_000)];
    let (go, wait) = std::sync::mpsc::channel();
    let (busy, made, tasks, ()) = tokio::join!(
        bench.store.read(move |_| Ok(wait.recv().is_ok())),
        bench.store.create_session(new),
        bench.store.tasks(),
        async { go.send(()).unwrap() },
    );
    assert_eq!((busy.unwrap(), made.unwrap_err()), (true, Error::DiskFull { path: bench.path() }));
    assert_eq!(tasks.unwrap().len(), 1);
}

#[tokio::test]
async fn an_odd_value_is_named_and_costs_no_other_session() {
    let mut bench = Bench::new().await;
    bench.dead("good").await;
    bench.dead("odd").await;
    bench.sql("UPDATE task_sessions SET state = 'SLEEPING' WHERE id = 'odd'");
    let error = bench.store.bundle(sid("odd")).await.unwrap_err();
    let Error::BadColumn { table, row, column, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*table, row.as_str(), *column), ("task_sessions", "odd", "state"));
    assert!(error.to_string().contains("SLEEPING"), "{error}");
    let bundles = bench.store.bundles().await.unwrap();
    assert_eq!(bundles.iter().map(|b| b.session.id.as_str()).collect::<Vec<_>>(), ["good"]);
}

#[tokio::test]
async fn a_closed_store_answers_and_a_panicking_job_costs_no_other() {
    let bench = Bench::new().await;
    let boom = bench.store.write(|_| -> super::error::Result<()> { panic!("a bug") });
    let fine = bench.store.tasks();
    let (boom, fine) = tokio::join!(boom, fine);
    assert_eq!(boom.unwrap_err(), Error::Closed);
    assert_eq!(fine.unwrap().len(), 1);
    bench.store.close().await;
    assert_eq!(bench.store.tasks().await, Err(Error::Closed));
}

impl Store {
    /// Only here: a session or its absence.
    async fn session_of(&self, id: &str) -> super::error::Result<crate::domain::rows::Session> {
        let id = sid(id);
        self.read(move |conn| super::load::session(conn, &id)).await
    }
}
