//! A database that cannot be used: exit code 7 in words, the file untouched, agents go on, and all is there once it is mended.

use std::fs;
use std::path::PathBuf;

use relight::domain::launch::ProcIdentity;
use rusqlite::Connection;

use crate::support::Home;
use crate::support::kill::{self, Signal};
use crate::support::told::Told;

/// The newest schema of this program.
const SCHEMA: i64 = 2;

/// A session whose agent lives, no host, and the path of the database.
struct Scene {
    home: Home,
    told: Told,
    agent: ProcIdentity,
    agentctl: ProcIdentity,
    path: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let told = Told::new(&home, "kiwi");
        let (agent, agentctl) = (home.agent(&told.id), home.agentctl(&told.id));
        let path = home.path().join("data/relight.db");
        let scene = Self { home, told, agent, agentctl, path };
        scene.stop();
        scene
    }

    /// Ends the host, and nobody starts one.
    #[track_caller]
    fn stop(&self) {
        self.home.run(&["host", "stop"]).ok();
    }

    /// Whoever wants a host hears why there is none; the file is as it was, and the agent lives.
    #[track_caller]
    fn refused(&self, words: &[&str]) {
        let before = fs::read(&self.path).ok();
        for args in [&["ls"][..], &["host", "run"], &["new", "--agent", "demo", "--detach"]] {
            self.home.run(args).exits(7).says(&[self.path.to_str().unwrap()]).says(words);
        }
        let error = self.home.run(&["--json", "ls"]).exits(7).error();
        assert_eq!((&error["code"], &error["exit_code"]), (&"database".into(), &7.into()), "{error}");
        self.home.run(&["host", "status"]).exits(5);
        assert_eq!(fs::read(&self.path).ok(), before, "the file was changed");
        assert!(relight::proc::identity::alive(&self.agent), "the agent ended");
        self.stop();
    }

    /// Everything is as it was: the same process, the same conversation.
    #[track_caller]
    fn works(&self) {
        self.home.next_host();
        self.home.until_alive(&self.told.id, 1);
        assert_eq!(self.home.agent(&self.told.id), self.agent, "the same process");
        self.told.token_is_kept(&self.home);
        self.home.ask(&self.told.id, "what is the code word?", "The code word is kiwi.");
        self.stop();
    }
}

#[test]
fn a_damaged_database_is_left_as_it_is() {
    let scene = Scene::new();
    let good = fs::read(&scene.path).unwrap();
    let mut header = good.clone();
    header[..100].fill(0xA5);
    fs::write(&scene.path, header).unwrap();
    scene.refused(&["is damaged", "left as it is", "-wal", ".recover` saves", "there is no backup"]);
    fs::write(&scene.path, &good[..good.len() / 2 + 100]).unwrap();
    scene.refused(&["is damaged", "left as it is"]);
    fs::write(&scene.path, "this is no database, but a person may want it".repeat(200)).unwrap();
    scene.refused(&["is damaged", "left as it is"]);
    // With a log beside it, an empty file is no new database: SQLite would remove the log.
    fs::write(&scene.path, "").unwrap();
    let log = scene.path.with_extension("db-wal");
    fs::write(&log, "what was not yet in the file").unwrap();
    scene.refused(&["is damaged", "empty"]);
    assert_eq!(fs::read_to_string(&log).unwrap(), "what was not yet in the file");
    fs::remove_file(&log).unwrap();
    // Not a file at all.
    fs::remove_file(&scene.path).unwrap();
    fs::create_dir(&scene.path).unwrap();
    scene.refused(&["cannot be written"]);
    fs::remove_dir(&scene.path).unwrap();
    Connection::open(&scene.path).unwrap().execute_batch("CREATE TABLE songs (name TEXT)").unwrap();
    scene.refused(&["another program", "move it away"]);
    fs::write(&scene.path, good).unwrap();
    scene.works();
}

/// Named by the fault: a new database was begun, and nobody saw the agents any more.
#[test]
fn a_database_that_is_gone_while_agents_run_is_not_begun_anew() {
    let scene = Scene::new();
    let good = fs::read(&scene.path).unwrap();
    let pid = scene.agentctl.pid;
    fs::remove_file(&scene.path).unwrap();
    scene.refused(&["is gone", "a session runs", "put the file back", &format!("`kill {pid}`")]);
    assert!(!scene.path.exists());
    fs::write(&scene.path, "").unwrap();
    scene.refused(&["is gone"]);
    fs::write(&scene.path, good).unwrap();
    scene.works();
    // As it says: once nothing runs, one begins anew.
    fs::remove_file(&scene.path).unwrap();
    kill::signal(&scene.agentctl, Signal::TERM);
    scene.home.until("nothing that runs", || scene.home.living().is_empty());
    assert!(scene.home.ls().is_empty());
}

#[test]
fn a_database_of_a_newer_relight_is_refused_and_untouched() {
    let scene = Scene::new();
    let set =
        |version: i64| Connection::open(&scene.path).unwrap().pragma_update(None, "user_version", version).unwrap();
    set(SCHEMA + 97);
    scene.refused(&["schema 99", "only up to 2", "newer relight"]);
    assert!(!scene.home.path().join("data/backups").exists(), "nothing was begun");
    set(SCHEMA);
    scene.works();
}

#[test]
fn a_database_of_an_older_relight_is_backed_up_and_migrated_with_its_sessions() {
    let home = Home::new();
    let path = home.path().join("data/relight.db");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(include_str!("../../../src/store/migrations/0001_base.sql")).unwrap();
    conn.execute_batch(&format!(
        "PRAGMA user_version = 1;
         INSERT INTO tasks VALUES ('old-task', 'old task', 'IN_PROGRESS', NULL, 1, 1);
         INSERT INTO task_sessions (id, task_id, name, state, wanted, agent_profile_id, executor_id, metadata,
             launch_args, launch_env, launch_cwd, created_at, updated_at)
         VALUES ('old-session', 'old-task', 'old', 'COMPLETED', 'run', 'demo', 'local', '{{\"resume_token\":\"tok\"}}',
             '[]', '[]', '{cwd}', 1, 1);
         INSERT INTO terminals (id, session_id, kind, generation, cols, rows, status, created_at, ended_at)
         VALUES ('old-1', 'old-session', 'agent', 1, 80, 24, 'exited', 1, 2);
         INSERT INTO agent_bindings (terminal_id, session_id, generation, agent_id, agent_session_id, prompted_at,
             start_mode, started_at, ended_at, end_reason, state_at_death, claim_epoch)
         VALUES ('old-1', 'old-session', 1, 'demo', 'tok', 1, 'first', 1, 2, 'detached', 'WAITING_FOR_INPUT', 1);",
        cwd = home.project().display()
    ))
    .unwrap();
    drop(conn);
    let line = home.session("old-session");
    assert_eq!((&line["name"], &line["agent_session_id"]), (&"old".into(), &"tok".into()), "{line}");
    assert_eq!(home.status("old")["resume_reason"], "completed");
    assert_eq!(home.rows("PRAGMA user_version"), [[SCHEMA.to_string()]]);
    let backups: Vec<PathBuf> =
        fs::read_dir(home.path().join("data/backups")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(backups.len(), 1, "{backups:?}");
    let backup = Connection::open(&backups[0]).unwrap();
    let (version, name): (i64, String) = backup
        .query_row("SELECT user_version, (SELECT name FROM task_sessions) FROM pragma_user_version", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!((version, name.as_str()), (1, "old"));
}

/// Named by the fault: a host opened the database, was refused its first write, and ended on whoever had just connected.
#[test]
fn a_database_that_another_program_locks_is_told_and_waited_for() {
    let scene = Scene::new();
    let other = Connection::open(&scene.path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let words = ["is locked by another program", "end that program, or try again"];
    scene.home.run(&["ls"]).exits(7).says(&words);
    assert!(relight::proc::identity::alive(&scene.agent));
    other.execute_batch("ROLLBACK").unwrap();
    // Locked while the host runs: reading goes on, writing is refused in words, agents do not notice.
    scene.home.run(&["ls"]).ok();
    scene.home.until_alive(&scene.told.id, 1);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    scene.home.run(&["rename", &scene.told.id, "another"]).exits(7).says(&words);
    scene.home.run(&["ls"]).ok();
    scene.home.ask(&scene.told.id, "remember fig", "I will remember fig.");
    other.execute_batch("ROLLBACK").unwrap();
    scene.home.run(&["rename", &scene.told.id, "another"]).ok();
    // What the agent did meanwhile is on record in the end.
    scene.home.until_session(&scene.told.id, "its new name and state", |line| {
        line["name"] == "another" && line["state"] == "WAITING_FOR_INPUT"
    });
    assert_eq!(scene.home.agent(&scene.told.id), scene.agent);
    scene.told.token_is_kept(&scene.home);
}
