//! The processes that the demo agent starts: its hooks, its tool, and the one that it leaves when told to.
#![expect(
    clippy::disallowed_types,
    reason = "an agent starts its own hooks and tools; nothing of relight does it for it"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::options::LEFTOVER;

/// A hook that takes longer is ended: a goodbye must not be lost to one that hangs.
const HOOK_LIMIT: Duration = Duration::from_secs(2);
/// Pause between two looks at a running hook.
const LOOK: Duration = Duration::from_millis(2);
/// Most output of a tool that is shown, in bytes.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Runs the hook command with the event on its standard input, and waits for it, at most [`HOOK_LIMIT`].
pub fn run(command: &str, event: &Value) {
    let child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return };
    if let Some(mut stdin) = child.stdin.take() {
        let text = event.to_string();
        // Apart, since a hook that does not read must not hold us beyond the limit.
        std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    }
    wait(&mut child, HOOK_LIMIT);
}

fn wait(child: &mut Child, limit: Duration) {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(LOOK);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Runs a tool's command; gives what it printed, and its end when that was not success.
pub fn tool(command: &str) -> String {
    let output = Command::new("sh").arg("-c").arg(command).stdin(Stdio::null()).output();
    let output = match output {
        Ok(output) => output,
        Err(e) => return format!("the tool could not be started: {e}"),
    };
    let mut bytes = output.stdout;
    bytes.extend(output.stderr);
    bytes.truncate(MAX_OUTPUT_BYTES);
    let mut text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    if !output.status.success() {
        let _ = write!(text, "\n({})", output.status);
    }
    text
}

/// Leaves a process in a session of its own that ignores SIGHUP; gives its pid.
pub fn leave_child() -> Option<u32> {
    let program = std::env::current_exe().ok()?;
    let child = Command::new(program)
        .args(["demo-agent", LEFTOVER])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    Some(child.id())
}

/// Is the process that [`leave_child`] leaves. Returns only when it cannot be.
pub fn be_leftover() -> i32 {
    let _ = rustix::process::setsid();
    // An ignored signal stays ignored over an exec.
    let problem = Command::new("sh").arg("-c").arg("trap '' HUP; exec sleep 86400").exec();
    let _ = writeln!(std::io::stderr(), "cannot start sh: {problem}");
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_reads_its_event_and_one_that_hangs_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("got");
        run(&format!("cat > '{}'", file.display()), &serde_json::json!({"a": 1}));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"a\":1}");
        let began = Instant::now();
        run("exec sleep 60", &Value::Null);
        assert!(began.elapsed() >= HOOK_LIMIT && began.elapsed() < HOOK_LIMIT * 5);
    }

    #[test]
    fn a_tool_gives_its_output_and_a_bad_end() {
        assert_eq!(tool("echo a; echo b >&2"), "a\nb");
        assert_eq!(tool("exit 3"), "\n(exit status: 3)");
    }
}
