//! Real programs on real terminals.
#![expect(clippy::disallowed_types, reason = "real processes are what is tested")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

use crate::domain::launch::{Exit, Size};
use crate::proc::pidfd::Signal;
use crate::proc::{identity, table};
use crate::pty::error::{Error, SendError};
use crate::pty::reader::Reader;
use crate::pty::spawn::{Pty, SpawnSpec, spawn};
use crate::pty::writer::QUEUE_BYTES;

/// Deadline of every wait: far above what a loaded machine needs.
const LIMIT: Duration = Duration::from_secs(30);

fn spec(script: &str) -> SpawnSpec {
    SpawnSpec {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), std::env::var("PATH").unwrap()), ("TERM".into(), "xterm-256color".into())],
        cwd: "/".into(),
        size: Size::DEFAULT,
    }
}

async fn read_to_end(reader: &mut Reader) -> Vec<u8> {
    let mut all = Vec::new();
    let mut buffer = vec![0; 65_536];
    loop {
        match timeout(LIMIT, reader.read(&mut buffer)).await.expect("end of output").unwrap() {
            0 => return all,
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
}

async fn read_until(reader: &mut Reader, text: &str) -> Vec<u8> {
    let mut all = Vec::new();
    let mut buffer = vec![0; 4096];
    while !String::from_utf8_lossy(&all).contains(text) {
        let read = timeout(LIMIT, reader.read(&mut buffer)).await;
        let count = read.unwrap_or_else(|_| panic!("waited in vain for {text:?} after {all:?}")).unwrap();
        assert!(count > 0, "output ended before {text:?}: {}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&buffer[..count]);
    }
    all
}

async fn exit(pty: &Pty) -> Exit {
    timeout(LIMIT, pty.control.wait_exit()).await.expect("end of the process")
}

#[tokio::test]
async fn exit_code_and_output() {
    let mut pty = spawn(&spec("printf hello; exit 7")).unwrap();
    assert_eq!(read_to_end(&mut pty.reader).await, b"hello");
    assert_eq!(exit(&pty).await, Exit::Code(7));
    assert_eq!(pty.control.exit(), Some(Exit::Code(7)));
    assert!(!identity::alive(pty.control.identity()));
    assert!(!pty.control.signal_group(Signal::TERM).unwrap(), "nobody is there any more");
    let closed = async {
        let mut tick = tokio::time::interval(Duration::from_millis(5));
        while pty.writer.send(Bytes::from_static(b"x")).await != Err(SendError::Closed) {
            tick.tick().await;
        }
    };
    timeout(LIMIT, closed).await.expect("the writer is told that nobody reads any more");
}

#[tokio::test]
async fn the_signal_that_ended_it_is_known_and_the_whole_group_gets_it() {
    let mut pty = spawn(&spec("sleep 1000 & echo child=$!.; wait")).unwrap();
    let said = String::from_utf8(read_until(&mut pty.reader, ".").await).unwrap();
    let child: i32 = said.split("child=").nth(1).unwrap().split('.').next().unwrap().parse().unwrap();
    let child = identity::of(child).unwrap().unwrap();
    assert!(pty.control.signal_group(Signal::KILL).unwrap());
    assert_eq!(exit(&pty).await, Exit::Signal(9));
    // The end of output says that the child, too, has let the terminal go.
    read_to_end(&mut pty.reader).await;
    // It lets go of the terminal a moment before it is gone.
    let gone = async {
        let mut tick = tokio::time::interval(Duration::from_millis(5));
        while identity::alive(&child) {
            tick.tick().await;
        }
    };
    timeout(LIMIT, gone).await.expect("the child is ended too");
}

#[tokio::test]
async fn output_ends_later_than_the_process_when_somebody_holds_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let gate = dir.path().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
    // The background process ignores the hangup of its leader's end and holds the terminal until the gate opens.
    let script = format!("trap '' HUP; (read line < {}; echo $line) & exit 3", gate.display());
    let mut pty = spawn(&spec(&script)).unwrap();
    assert_eq!(exit(&pty).await, Exit::Code(3));
    assert_eq!(pty.reader.try_read(&mut [0; 64]).unwrap(), None, "no output yet, and no end of it");
    std::fs::write(&gate, "late\n").unwrap();
    assert_eq!(read_to_end(&mut pty.reader).await, b"late\r\n");
}

#[tokio::test]
async fn a_megabyte_both_ways_is_exact() {
    const BYTES: usize = 1024 * 1024;
    let mut pty = spawn(&spec(&format!("stty raw -echo; printf ready; head -c {BYTES}"))).unwrap();
    read_until(&mut pty.reader, "ready").await;
    let mut number: u32 = 1;
    let sent: Vec<u8> = (0..BYTES)
        .map(|_| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 24) as u8
        })
        .collect();
    let writer = pty.writer.clone();
    let bytes = Bytes::from(sent.clone());
    let sending = tokio::spawn(async move { timeout(LIMIT, writer.send(bytes)).await.expect("taken") });
    let got = read_to_end(&mut pty.reader).await;
    assert!(got == sent, "{} bytes came back of {}", got.len(), sent.len());
    assert_eq!(sending.await.unwrap(), Ok(()));
    assert_eq!(pty.writer.queued(), 0);
    assert_eq!(exit(&pty).await, Exit::Code(0));
}

#[tokio::test]
async fn a_program_that_never_reads_blocks_nobody() {
    let mut pty = spawn(&spec("stty raw -echo; printf ready; exec sleep 1000")).unwrap();
    read_until(&mut pty.reader, "ready").await;
    let chunk = Bytes::from(vec![b'x'; 1024 * 1024]);
    let mut taken = 0;
    let refused = loop {
        match pty.writer.try_send(chunk.clone()) {
            Ok(()) => taken += chunk.len(),
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, SendError::Full { limit: QUEUE_BYTES, .. }), "{refused:?}");
    assert!((QUEUE_BYTES / 2..=QUEUE_BYTES).contains(&taken), "{taken}");
    // Another terminal goes on meanwhile, and the stuck one can still be ended.
    let mut other = spawn(&spec("echo fine")).unwrap();
    assert_eq!(read_to_end(&mut other.reader).await, b"fine\r\n");
    pty.control.signal_group(Signal::KILL).unwrap();
    assert_eq!(exit(&pty).await, Exit::Signal(9));
    // The full terminal, of which nobody is left, is given up: the writer's task neither waits nor spins.
    let waits = timeout(LIMIT, pty.writer.send(Bytes::from_static(b"x"))).await.expect("an answer");
    assert!(waits.is_err(), "{waits:?}");
}

#[tokio::test]
async fn what_cannot_start_is_refused_with_words() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let try_program = |program: &Path| spawn(&SpawnSpec { program: program.into(), ..spec("") }).unwrap_err();
    let error = try_program(Path::new("no-such-program"));
    assert!(matches!(&error, Error::ProgramMissing { .. }) && error.to_string().contains("no-such-program"), "{error}");
    assert!(matches!(try_program(Path::new("/no/such/program")), Error::ProgramMissing { .. }));
    assert!(matches!(try_program(Path::new("")), Error::ProgramMissing { .. }));
    assert!(matches!(try_program(Path::new("/usr")), Error::NotExecutable { .. }));
    assert!(matches!(try_program(&file("plain", "#!/bin/sh\n", 0o644)), Error::NotExecutable { .. }));
    assert!(matches!(try_program(&file("text", "echo hello\n", 0o755)), Error::NotExecutable { .. }));
    let error = try_program(&file("script", "#! /no/such/interpreter -x\n", 0o755));
    assert!(matches!(&error, Error::InterpreterMissing { interpreter, .. }
        if interpreter == Path::new("/no/such/interpreter")));

    let try_dir = |cwd: &Path| spawn(&SpawnSpec { cwd: cwd.into(), ..spec("") }).unwrap_err();
    assert!(matches!(try_dir(Path::new("/no/such/dir")), Error::DirectoryMissing { .. }));
    assert!(matches!(try_dir(Path::new("/bin/sh")), Error::DirectoryUnusable { .. }));
    assert!(matches!(try_dir(Path::new("relative")), Error::DirectoryUnusable { .. }));

    let long = SpawnSpec { args: vec!["-c".into(), "x".repeat(200_000)], ..spec("") };
    assert!(matches!(spawn(&long), Err(Error::TooLong { .. })));
    let many = SpawnSpec { args: vec!["x".repeat(100_000); 100], ..spec("") };
    assert!(matches!(spawn(&many), Err(Error::TooLong { .. })));
    let nul = SpawnSpec { args: vec!["a\0b".into()], ..spec("") };
    assert!(matches!(spawn(&nul), Err(Error::Unpassable { .. })));

    // Only the PATH that is given counts, and a file without permission does not hide a good one behind it.
    file("tool", "#!/bin/sh\n", 0o644);
    let second = dir.path().join("second");
    std::fs::create_dir(&second).unwrap();
    file("second/tool", "#!/bin/sh\nexit 5\n", 0o755);
    let path = format!("{}:{}:/usr/bin:/bin", dir.path().display(), second.display());
    let found = SpawnSpec { program: "tool".into(), env: vec![("PATH".into(), path)], args: vec![], ..spec("") };
    assert_eq!(exit(&spawn(&found).unwrap()).await, Exit::Code(5));
}

#[tokio::test]
async fn the_longest_arguments_that_pass_the_check_do_start() {
    let long = "x".repeat(crate::pty::check::MAX_STRING_BYTES - 1);
    let args = vec!["-c".into(), "printf '%s' \"${#1}\"".into(), "sh".into(), long.clone()];
    let mut pty = spawn(&SpawnSpec { args, ..spec("") }).unwrap();
    assert_eq!(read_to_end(&mut pty.reader).await, long.len().to_string().as_bytes());
}

#[tokio::test]
async fn environment_and_directory_are_exactly_those_given() {
    let dir = tempfile::tempdir().unwrap();
    let mut wanted = spec("pwd -P; /usr/bin/env");
    wanted.env.push(("EMPTY".into(), String::new()));
    wanted.env.push(("SHELL".into(), "/bin/sh".into()));
    wanted.env.push(("RELIGHT_TERMINAL".into(), "t1".into()));
    wanted.cwd = dir.path().canonicalize().unwrap();
    let mut pty = spawn(&wanted).unwrap();
    let text = String::from_utf8(read_to_end(&mut pty.reader).await).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.remove(0), wanted.cwd.to_str().unwrap());
    let mut expected: Vec<String> = wanted.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    // The shell's own.
    lines.retain(|line| !["PWD=", "_=", "OLDPWD=", "SHLVL="].iter().any(|own| line.starts_with(own)));
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn size_is_set_and_told() {
    let mut first = spec("stty size; trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.02; done");
    first.size = Size { cols: 101, rows: 33 };
    let mut pty = spawn(&first).unwrap();
    let said = read_until(&mut pty.reader, "ready").await;
    assert!(said.starts_with(b"33 101\r\n"), "{said:?}");
    pty.control.resize(Size { cols: 30, rows: 8 }).unwrap();
    assert_eq!(pty.control.size().unwrap(), Size { cols: 30, rows: 8 });
    read_until(&mut pty.reader, "8 30").await;
    assert_eq!(exit(&pty).await, Exit::Code(0));
}

#[tokio::test]
async fn a_stopped_leader_goes_on() {
    let mut pty = spawn(&spec("echo before; kill -STOP $$; echo between; kill -STOP $$; echo after")).unwrap();
    assert_eq!(read_to_end(&mut pty.reader).await, b"before\r\nbetween\r\nafter\r\n");
    assert_eq!(exit(&pty).await, Exit::Code(0));
}

#[tokio::test]
async fn the_leader_leads_session_group_and_foreground() {
    let mut pty = spawn(&spec("echo ready; exec sleep 1000")).unwrap();
    read_until(&mut pty.reader, "ready").await;
    let pid = pty.control.identity().pid;
    let stat = table::stat(pid).unwrap().unwrap();
    assert_eq!((stat.sid, stat.pgid), (pid, pid));
    assert_eq!(pty.control.foreground_pgid(), Some(pid));
    assert!(pty.control.signal_foreground(Signal::INT).unwrap());
    assert_eq!(exit(&pty).await, Exit::Signal(2));
}

#[tokio::test]
async fn dropping_the_terminal_hangs_up_and_runs_nothing_half_typed() {
    let dir = tempfile::tempdir().unwrap();
    let (ran, hung_up) = (dir.path().join("ran"), dir.path().join("hung-up"));
    // A shell would run the line that portable-pty's writer completes when it is dropped.
    let script = format!(
        "trap 'echo > {}; exit 0' HUP; echo ready; read line; [ -n \"$line\" ] && echo > {}",
        hung_up.display(),
        ran.display()
    );
    let mut pty = spawn(&spec(&script)).unwrap();
    read_until(&mut pty.reader, "ready").await;
    timeout(LIMIT, pty.writer.send(Bytes::from_static(b"touch danger"))).await.unwrap().unwrap();
    let control = pty.control.clone();
    let life = std::sync::Arc::clone(&control.life);
    drop(pty);
    drop(control);
    timeout(LIMIT, life.wait()).await.expect("the end, seen by the task that outlives the handles");
    assert!(hung_up.exists());
    assert!(!ran.exists());
}

/// Set in the process of its own in which descriptors and zombies are counted.
const ALONE: &str = "RELIGHT_TEST_PTY_CYCLES";

#[tokio::test]
async fn three_hundred_cycles_leave_nothing() {
    if std::env::var_os(ALONE).is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "pty::tests::three_hundred_cycles_leave_nothing", "--nocapture"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let me = std::process::id() as i32;
    let children = || table::all().unwrap().into_iter().filter(|stat| stat.ppid == me).count();
    let cycle = async || {
        let mut pty = spawn(&spec("exit 0")).unwrap();
        read_to_end(&mut pty.reader).await;
        assert_eq!(exit(&pty).await, Exit::Code(0));
    };
    cycle().await; // The runtime's own descriptors are there from now on.
    let before = descriptors();
    for _ in 0..300 {
        cycle().await;
    }
    let settled = async {
        let mut tick = tokio::time::interval(Duration::from_millis(10));
        while descriptors() > before || children() > 0 {
            tick.tick().await;
        }
    };
    let end = timeout(LIMIT, settled).await;
    assert!(end.is_ok(), "{} descriptors, {before} before; {} children", descriptors(), children());
}
