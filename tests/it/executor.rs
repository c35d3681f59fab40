//! Local executors: a real agentctl in the background, started, asked after, killed, stopped, started by two at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use relight::config::settings::{Level, Log};
use relight::domain::ids::{ExecutorId, SessionId, TaskId};
use relight::domain::launch::ProcIdentity;
use relight::domain::rows::{ExecutorRunning, JournalCursor};
use relight::domain::words::{ErrorCode, ExecutorStatus, Runtime};
use relight::executor::{Error, Executors, Probe};
use relight::link::place::SessionDir;
use relight::proc::table;

use crate::support::home::{PATIENCE, RELIGHT};
use crate::support::kill::{self, Signal};

/// One session's executor in a state directory of its own; its agentctl ends with it.
struct Bed {
    dir: tempfile::TempDir,
    executors: Executors,
    row: ExecutorRunning,
}

impl Bed {
    fn new() -> Self {
        Self::with_program(Path::new(RELIGHT))
    }

    fn with_program(program: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        fs::create_dir(&state).unwrap();
        // A person stopped the host, it says: no agentctl starts one.
        fs::write(state.join("host.stopped"), "").unwrap();
        let executors =
            Executors::new(program.into(), state, dir.path().join("logs"), &std::collections::BTreeMap::new());
        let row = row(&executors);
        Self { dir, executors, row }
    }

    fn place(&self) -> SessionDir {
        SessionDir::new(self.executors.state(), &self.row.session_id)
    }

    async fn alive(&self) -> ProcIdentity {
        match self.executors.probe(&self.row).await {
            Probe::Alive(health) => health.identity,
            other => panic!("not alive: {other:?}\n{}", self.logs()),
        }
    }

    fn logs(&self) -> String {
        let entries = fs::read_dir(self.dir.path().join("logs")).into_iter().flatten().flatten();
        entries.map(|entry| fs::read_to_string(entry.path()).unwrap_or_default()).collect()
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        // Not only the holder of the lock: one that came second may just be about to try it.
        let state = self.executors.state().as_os_str().as_encoded_bytes();
        for pid in table::pids().unwrap_or_default() {
            let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if arguments.split(|byte| *byte == 0).any(|argument| argument == state)
                && let Some(process) = kill::identify(pid)
            {
                kill::kill(&process);
            }
        }
    }
}

fn row(executors: &Executors) -> ExecutorRunning {
    let session_id = SessionId::new("s1").unwrap();
    ExecutorRunning {
        id: ExecutorId::new("e1").unwrap(),
        task_id: TaskId::new("t1").unwrap(),
        runtime: Runtime::Local,
        agentctl_url: executors.url(&session_id),
        session_id,
        agentctl_port: None,
        container_id: None,
        pid: None,
        pid_start_time: None,
        boot_id: None,
        auth_token: None,
        status: ExecutorStatus::Starting,
        supports_session_resume: true,
        supports_workspace_only: true,
        resume_token: None,
        workspace_path: "/".into(),
        worktree_id: None,
        worktree_path: None,
        worktree_branch: None,
        last_seen_at: None,
        unreachable_since: None,
        journal_cursor: JournalCursor::default(),
        error_message: None,
    }
}

/// Files and git answer before anything was ever launched.
#[tokio::test]
async fn its_workspace_answers_at_once() {
    let mut bed = Bed::new();
    for (path, worktree) in [("project", None), ("tree", Some("tree"))] {
        let dir = bed.dir.path().join(path);
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join(format!("{path}.txt")), "").unwrap();
        let text = |path: &str| bed.dir.path().join(path).display().to_string();
        (bed.row.workspace_path, bed.row.worktree_path) = (text("project"), worktree.map(text));
        bed.executors.start(&bed.row).await.unwrap_or_else(|e| panic!("{e}\n{}", bed.logs()));
        let client = bed.executors.client(&bed.row);
        let tree = client.workspace("/workspace/tree?path=").await.unwrap().to_string();
        assert!(tree.contains(&format!("{path}.txt")), "{tree}");
        client.shutdown().await.unwrap();
        bed.executors.ended(&bed.row, PATIENCE).await.unwrap();
    }
}

/// All sessions' agentctls write into one file: each line names its session, and the settings are the host's.
#[tokio::test]
async fn its_log_names_the_session_and_has_the_level_that_the_host_was_told() {
    for (level, logged) in [(Level::Error, false), (Level::Debug, true)] {
        let mut bed = Bed::new();
        bed.executors = bed.executors.clone().with_log(Log { level, keep: 1 });
        let logs = bed.dir.path().join("logs");
        fs::create_dir_all(&logs).unwrap();
        let old = ["2001-01-01", "2001-01-02", "2001-01-03"].map(|day| logs.join(format!("agentctl.{day}.log")));
        for file in &old {
            fs::write(file, "").unwrap();
        }
        bed.executors.start(&bed.row).await.unwrap_or_else(|e| panic!("{e}\n{}", bed.logs()));
        let entries = fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path());
        let today = entries.filter(|path| path.extension().is_some_and(|ext| ext == "log") && !old.contains(path));
        let mark = "a line of another session=s1 that was here before\n";
        for path in today {
            fs::write(path, mark).unwrap();
        }
        // A torn journal is said as a warning by the next one.
        kill::kill(&bed.alive().await);
        let journal = bed.place().journal();
        let mut bytes = fs::read(&journal).unwrap();
        bytes.truncate(bytes.len() - 1);
        fs::write(&journal, bytes).unwrap();
        bed.executors.start(&bed.row).await.unwrap();
        let text = bed.logs();
        assert_eq!(text.contains("the journal's last record was unfinished"), logged, "{text}");
        assert!(text.lines().all(|line| line.contains(" session=s1 ")), "{text}");
        // One is kept, and that is today's.
        assert!(text.contains(mark), "{text}");
        assert!(!old.iter().any(|file| file.exists()));
    }
}

#[tokio::test]
async fn free_then_started_then_killed_then_started_again() {
    let bed = Bed::new();
    assert_eq!(bed.executors.probe(&bed.row).await, Probe::Free);
    let health = bed.executors.start(&bed.row).await.unwrap_or_else(|e| panic!("{e}\n{}", bed.logs()));
    assert_eq!(health.session_id, bed.row.session_id);
    assert_eq!(bed.alive().await, health.identity);
    kill::kill(&health.identity);
    assert_eq!(bed.executors.probe(&bed.row).await, Probe::Free, "the kernel gave its lock back");
    let again = bed.executors.start(&bed.row).await.unwrap();
    assert_ne!(again.identity, health.identity);
    assert!(again.incarnation > health.incarnation);
    bed.executors.client(&bed.row).shutdown().await.unwrap();
    bed.executors.ended(&bed.row, PATIENCE).await.unwrap();
    assert_eq!(bed.executors.probe(&bed.row).await, Probe::Free);
}

#[tokio::test]
async fn two_that_start_one_session_find_the_same_agentctl() {
    let bed = Bed::new();
    let (one, two) = tokio::join!(bed.executors.start(&bed.row), bed.executors.start(&bed.row));
    assert_eq!(one.unwrap().identity, two.unwrap().identity);
}

#[tokio::test]
async fn held_and_silent_is_neither_alive_nor_dead() {
    let bed = Bed::new();
    let who = bed.executors.start(&bed.row).await.unwrap().identity;
    kill::signal(&who, Signal::STOP);
    let stopped = bed.executors.probe(&bed.row).await;
    let early = bed.executors.ended(&bed.row, Duration::from_millis(50)).await;
    kill::signal(&who, Signal::CONT);
    assert!(matches!(stopped, Probe::Silent(_)), "{stopped:?}");
    assert!(matches!(early, Err(Error::StillRuns { .. })), "{early:?}");
    assert_eq!(bed.alive().await, who);
}

#[tokio::test]
async fn a_removed_socket_comes_back_under_the_same_agentctl() {
    let bed = Bed::new();
    let who = bed.executors.start(&bed.row).await.unwrap().identity;
    fs::remove_file(bed.place().socket()).unwrap();
    let begin = Instant::now();
    let back = loop {
        match bed.executors.probe(&bed.row).await {
            Probe::Alive(health) => break health.identity,
            Probe::Silent(_) => assert!(begin.elapsed() < PATIENCE, "the socket never came back"),
            other => panic!("{other:?}"),
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(back, who);
}

#[tokio::test]
async fn a_program_that_does_not_start_is_told_with_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let broken = |name: &str, text: &str| -> PathBuf {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    // The intermediate process itself fails.
    let bed = Bed::with_program(&broken("fails", "#!/bin/sh\necho no luck >&2\nexit 1\n"));
    let error = bed.executors.start(&bed.row).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutorError);
    let text = error.to_string();
    assert!(text.contains("agentctl.stderr"), "{text}");
    assert!(bed.logs().contains("no luck"));
    // It starts, and nothing takes the lock.
    let bed = Bed::with_program(&broken("idle", "#!/bin/sh\nexit 0\n"));
    let text = bed.executors.start(&bed.row).await.unwrap_err().to_string();
    assert!(text.contains("lock"), "{text}");
}

#[tokio::test]
async fn runtimes_of_later_versions_are_refused_by_name() {
    let bed = Bed::new();
    for runtime in [Runtime::Docker, Runtime::Ssh, Runtime::Remote] {
        let row = ExecutorRunning { runtime, ..bed.row.clone() };
        let error = bed.executors.start(&row).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutorUnsupported);
        assert!(error.to_string().contains(runtime.as_str()), "{error}");
        assert!(matches!(bed.executors.probe(&row).await, Probe::Unsupported(_)));
    }
}
