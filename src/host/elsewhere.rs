//! Whether a conversation is open in a process that is not ours: two agents on one conversation diverge, so such a one is not
//! adopted.

use std::path::Path;

use crate::agent::token;
use crate::domain::profile::Profile;
use crate::proc::identity;

/// Says where conversation `id` of this agent is open: by the agent's own lock file, if it has one, and by the arguments of
/// every process that can be read. `None`: nowhere that can be seen.
#[must_use]
pub fn open(profile: &Profile, id: &str, env: &[(String, String)]) -> Option<String> {
    by_lock(profile, id, env).or_else(|| by_arguments(id))
}

fn by_lock(profile: &Profile, id: &str, env: &[(String, String)]) -> Option<String> {
    let path = token::lock(profile, id, env)?;
    let text = std::fs::read_to_string(&path).ok()?;
    let pid = token::pid_in(profile, &text)?;
    living(pid).then(|| format!("process {pid} ({})", path.display()))
}

fn by_arguments(id: &str) -> Option<String> {
    let own = i32::try_from(std::process::id()).ok();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()) else { continue };
        if Some(pid) == own || !runs_with(&entry.path(), id) {
            continue;
        }
        if living(pid) {
            return Some(format!("process {pid}"));
        }
    }
    None
}

/// An agent that was started with the id as an argument of its own; the command that adopts it (`adopt … --token ID`) is none.
fn runs_with(proc: &Path, id: &str) -> bool {
    let Ok(line) = std::fs::read(proc.join("cmdline")) else { return false };
    let mut args = line.split(|b| *b == 0);
    let adopts = line.split(|b| *b == 0).any(|a| a == b"adopt");
    !adopts && args.any(|arg| arg == id.as_bytes())
}

fn living(pid: i32) -> bool {
    identity::of(pid).ok().flatten().is_some_and(|who| identity::alive(&who))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_the_id_among_its_arguments_has_it_open() {
        let id = "3c1c0f9e-5d6b-4f0e-9a55-elsewhere-test";
        assert_eq!(open(&Profile::default(), id, &[]), None);
        #[expect(clippy::disallowed_types, reason = "a real process that stands for an agent")]
        let mut child = std::process::Command::new("sh")
            .args(["-c", "echo up; read x", "sh", id])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // A process that has just been started has no arguments yet.
        std::io::Read::read_exact(&mut child.stdout.take().unwrap(), &mut [0; 3]).unwrap();
        assert_eq!(open(&Profile::default(), id, &[]), Some(format!("process {}", child.id())));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(open(&Profile::default(), id, &[]), None);
    }
}
