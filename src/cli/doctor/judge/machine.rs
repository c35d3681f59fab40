//! The machine: logout, kernel, limits.

use crate::cli::doctor::facts::{Kernel, Login};
use crate::cli::doctor::finding::Finding;

/// With a hard limit below this, a host with a hundred sessions runs out.
const FEW_FILES: u64 = 4_096;
/// Below this, a handful of sessions does.
const TOO_FEW_FILES: u64 = 512;

/// Whether agents outlive a logout.
pub fn logout(login: &Login) -> Finding {
    const TOPIC: &str = "logout";
    let user = &login.user;
    if !login.systemd {
        return Finding::ok(TOPIC, "no systemd here: a logout ends nothing");
    }
    if login.user_manager {
        // The scopes of relight's processes lie below it.
        return if login.linger {
            Finding::ok(TOPIC, format!("lingering is on for {user}: a logout ends nothing"))
        } else {
            Finding::problem(
                TOPIC,
                format!("lingering is off for {user}: your last logout ends the host and every agent"),
                "`loginctl enable-linger`",
            )
        };
    }
    match &login.kills {
        Some((true, file)) => Finding::problem(
            TOPIC,
            format!("KillUserProcesses=yes in {}: your logout ends the host and every agent", file.display()),
            format!("set it to `no` there, or add {user} to KillExcludeUsers; then restart systemd-logind"),
        ),
        Some((false, _)) => Finding::ok(TOPIC, "KillUserProcesses=no: a logout ends nothing"),
        None => Finding::note(TOPIC, "whether a logout ends background processes is in no file of systemd-logind")
            .todo("`loginctl enable-linger` makes sure where a user manager runs"),
    }
}

/// Limits and what the kernel can.
pub fn kernel(kernel: &Kernel) -> [Finding; 3] {
    [files(kernel.files), pidfd(kernel), autogroup(kernel)]
}

fn files((soft, hard): (Option<u64>, Option<u64>)) -> Finding {
    const TOPIC: &str = "open files";
    let word = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
    let what = format!("the limit is {}, and may be raised to {}", word(soft), word(hard));
    let todo = "raise the hard limit (`ulimit -Hn`, /etc/security/limits.conf, `LimitNOFILE=`)";
    match hard {
        Some(hard) if hard < TOO_FEW_FILES => Finding::problem(TOPIC, what, todo),
        Some(hard) if hard < FEW_FILES => {
            Finding::note(TOPIC, format!("{what}: too few for a hundred sessions")).todo(todo)
        }
        _ => Finding::ok(TOPIC, what),
    }
}

fn pidfd(kernel: &Kernel) -> Finding {
    const TOPIC: &str = "processes";
    match &kernel.pidfd {
        Ok(()) => Finding::ok(TOPIC, "are held by descriptors: no signal reaches another one"),
        Err(why) => {
            let todo = "relight needs Linux 5.3 or later, /proc, and a sandbox that allows pidfd_open";
            Finding::problem(TOPIC, format!("cannot be held by descriptors: {why}"), todo)
        }
    }
}

fn autogroup(kernel: &Kernel) -> Finding {
    const TOPIC: &str = "scheduling";
    if kernel.autogroup {
        return Finding::ok(TOPIC, "terminal sessions are groups: an agent that floods steps back");
    }
    Finding::note(TOPIC, "no autogroups: while an agent floods, keys may be slower in the others")
        .todo("`sysctl kernel.sched_autogroup_enabled=1`, where the kernel has it")
}
