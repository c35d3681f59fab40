//! Who a process is: boot id, pid and start time, so that a reused pid is never taken for it.

use std::fs;

use crate::domain::launch::ProcIdentity;
use crate::proc::error::{Error, Result};
use crate::proc::table;

const BOOT_ID_FILE: &str = "/proc/sys/kernel/random/boot_id";

/// Environment variable that, in debug builds, stands in for the kernel's boot id: a test's reboot.
pub const TEST_BOOT_ID: &str = "RELIGHT_TEST_BOOT_ID";

/// Id of the running boot.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn boot_id() -> Result<String> {
    if cfg!(debug_assertions)
        && let Ok(fake) = std::env::var(TEST_BOOT_ID)
        && !fake.is_empty()
    {
        return Ok(fake);
    }
    let text = fs::read_to_string(BOOT_ID_FILE).map_err(|source| Error::Read { path: BOOT_ID_FILE.into(), source })?;
    Ok(text.trim().to_owned())
}

/// Identity of this process.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn me() -> Result<ProcIdentity> {
    let pid = rustix::process::getpid().as_raw_nonzero().get();
    match of(pid)? {
        Some(identity) => Ok(identity),
        None => Err(Error::Form { path: format!("/proc/{pid}").into(), text: "this process is missing".into() }),
    }
}

/// Identity of the process that has this pid now, a zombie too (a child that ended at once still has an identity);
/// `None` when there is none.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn of(pid: i32) -> Result<Option<ProcIdentity>> {
    match table::stat(pid)? {
        Some(stat) => Ok(Some(ProcIdentity { boot_id: boot_id()?, pid, start_time: stat.start_time })),
        None => Ok(None),
    }
}

/// Whether this very process lives. A zombie, a reused pid and a process of another boot are dead.
pub fn alive(identity: &ProcIdentity) -> bool {
    if boot_id().ok().as_ref() != Some(&identity.boot_id) {
        return false;
    }
    match table::stat(identity.pid) {
        Ok(Some(stat)) => stat.start_time == identity.start_time && !stat.dead(),
        Ok(None) | Err(_) => false,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "real processes are what is tested")]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{WaitId, WaitIdOptions};

    use super::*;

    #[test]
    fn we_live_and_another_start_time_or_boot_does_not() {
        let me = me().unwrap();
        assert!(alive(&me));
        assert!(!alive(&ProcIdentity { start_time: me.start_time + 1, ..me.clone() }));
        assert!(!alive(&ProcIdentity { boot_id: "another".into(), ..me.clone() }));
        assert_eq!(of(me.pid).unwrap(), Some(me));
    }

    #[test]
    fn a_zombie_is_dead_but_has_an_identity() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let identity = of(child.id() as i32).unwrap().unwrap();
        assert!(alive(&identity));
        child.kill().unwrap();
        let raw = rustix::process::Pid::from_raw(identity.pid).unwrap();
        rustix::process::waitid(WaitId::Pid(raw), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        // Not waited for yet: a zombie.
        assert_eq!(of(identity.pid).unwrap().as_ref(), Some(&identity));
        assert!(!alive(&identity));
        child.wait().unwrap();
        assert_eq!(of(identity.pid).unwrap(), None);
    }
}
