//! The name of a program that runs, as a person knows it.

use std::fs;

use crate::domain::plain::steers;
use crate::proc::table::{self, Stat};

/// Longest name, in characters.
const NAME_CHARS: usize = 40;
/// The kernel keeps no more than this of a program's name, in bytes.
const COMM_BYTES: usize = 15;
/// The program's own path, or, for a script, its interpreter's with an argument or two before it.
const PATH_ARGS: usize = 4;

/// Name of the program that leads the process group `group`, or, when its leader has ended, of the oldest living process in
/// it: at most 40 characters, none of them a control character. `None`: nothing of the group lives.
#[must_use]
pub fn of_group(group: i32) -> Option<String> {
    let member = |stat: &Stat| stat.pgid == group && !stat.dead();
    let leader = table::stat(group).ok().flatten().filter(member);
    let oldest = || table::living().ok()?.into_iter().filter(member).min_by_key(|stat| (stat.start_time, stat.pid));
    name(leader.or_else(oldest)?.pid)
}

fn name(pid: i32) -> Option<String> {
    let comm = fs::read(format!("/proc/{pid}/comm")).ok()?;
    let comm = comm.strip_suffix(b"\n").unwrap_or(&comm);
    let whole =
        if comm.len() < COMM_BYTES { None } else { longer(&fs::read(format!("/proc/{pid}/cmdline")).ok()?, comm) };
    let name = clean(whole.as_deref().unwrap_or(comm));
    Some(if name.is_empty() { format!("process {pid}") } else { name })
}

/// The name that was cut to `comm`, from the command line.
fn longer(cmdline: &[u8], comm: &[u8]) -> Option<Vec<u8>> {
    let names =
        cmdline.split(|byte| *byte == 0).take(PATH_ARGS).filter_map(|arg| arg.rsplit(|byte| *byte == b'/').next());
    names.filter(|name| name.starts_with(comm)).map(<[u8]>::to_vec).next()
}

fn clean(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().filter(|c| !steers(*c)).take(NAME_CHARS).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "real processes are what is tested")]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use rustix::process::{WaitId, WaitIdOptions};

    use super::*;

    #[test]
    fn a_group_is_named_by_its_leader_and_without_it_by_what_is_left() {
        let mut leader = Command::new("cat");
        let leader = leader.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut leader = leader.spawn().unwrap();
        let group = i32::try_from(leader.id()).unwrap();
        assert_eq!(of_group(group).as_deref(), Some("cat"));
        let mut other = Command::new("sleep").arg("1000").process_group(group).spawn().unwrap();
        assert_eq!(of_group(group).as_deref(), Some("cat"));
        leader.kill().unwrap();
        let raw = rustix::process::Pid::from_raw(group).unwrap();
        rustix::process::waitid(WaitId::Pid(raw), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        // A zombie: its number still is the group's.
        assert_eq!(of_group(group).as_deref(), Some("sleep"));
        other.kill().unwrap();
        other.wait().unwrap();
        leader.wait().unwrap();
        assert_eq!(of_group(group), None);
    }

    #[test]
    fn a_name_that_the_kernel_cut_is_whole_and_nothing_in_it_is_a_control_character() {
        let script = b"/bin/sh\0-e\0/home/a/deploy-the-whole-shop.sh\0now\0";
        assert_eq!(longer(script, b"deploy-the-whol").as_deref(), Some(&b"deploy-the-whole-shop.sh"[..]));
        assert_eq!(longer(b"worker\0", b"another-name-ab"), None);
        assert_eq!(clean(b"a\x1b[2Jb\xffc"), "a[2Jb\u{fffd}c");
        assert_eq!(clean(&[b'x'; 90]).len(), 40);
    }
}
