//! The host and the agentctls: alive, silent, left over, of another version.

use crate::cli::doctor::facts::{Answer, Holder, Host, Owner, Probe, Session};
use crate::cli::doctor::finding::Finding;

/// Names of sessions that one line lists.
const LISTED: usize = 5;

/// The host.
pub fn host(host: &Host, mine: &str) -> Finding {
    const TOPIC: &str = "host";
    let owner = &host.owner;
    let pid = owner.holder.map_or_else(|| "an unknown process".to_owned(), |holder| format!("pid {}", holder.pid));
    let held = match &owner.held {
        Ok(held) => *held,
        Err(why) => return Finding::problem(TOPIC, format!("whether one runs is unknown: {why}"), "mend that"),
    };
    match &owner.answer {
        Answer::Version(version) if !held => Finding::problem(
            TOPIC,
            format!("relight {version} answers at {} and does not hold the lock beside it", host.socket.display()),
            "end it, and run `relight host start`",
        ),
        Answer::Version(version) if version != mine => {
            Finding::note(TOPIC, format!("{pid} is relight {version}, and this is {mine}"))
                .todo("`relight host restart` makes it the same; the agents go on")
        }
        Answer::Version(_) => Finding::ok(TOPIC, format!("runs ({pid}) and answers")),
        Answer::Failed(why) => Finding::problem(
            TOPIC,
            format!("{pid} cannot be spoken to: {why}"),
            "`relight host restart` with the newest relight; the agents go on",
        ),
        _ if !held => absent(host),
        Answer::Silent => {
            let (logs, number) = (host.logs.display(), number(owner));
            let todo = format!(
                "wait, if it has just started; its log is in {logs}; `kill -9 {number}` ends it, and the agents go on"
            );
            silent(TOPIC, "", owner, &pid, todo)
        }
        Answer::Nobody => {
            let lost = if owner.socket { "does not listen at" } else { "has lost" };
            Finding::problem(
                TOPIC,
                format!("{pid} holds the lock and {lost} its socket {}", host.socket.display()),
                format!("wait a moment, it makes it again; else `kill {}`, and the agents go on", number(owner)),
            )
        }
    }
}

/// Nobody holds its lock.
fn absent(host: &Host) -> Finding {
    const TOPIC: &str = "host";
    if let Some(why) = &host.failure {
        return Finding::problem(
            TOPIC,
            format!("none runs; the last one could not start: {why}"),
            "mend that; `relight host run` shows a start here",
        );
    }
    if host.told_to_stop {
        return Finding::note(TOPIC, "none runs: `relight host stop` ended it, and no agentctl starts another")
            .todo("`relight` starts one");
    }
    Finding::ok(TOPIC, "none runs; `relight` starts one")
}

fn stopped(owner: &Owner) -> bool {
    owner.holder.is_some_and(|holder| holder.stopped)
}

fn number(owner: &Owner) -> String {
    owner.holder.map_or_else(|| "PID".into(), |holder| holder.pid.to_string())
}

/// It holds its lock and says nothing.
fn silent(topic: &'static str, of: &str, owner: &Owner, pid: &str, todo: String) -> Finding {
    let how = match owner.holder {
        Some(Holder { stopped: true, .. }) => "is stopped by a signal",
        Some(Holder { alive: false, .. }) => "is dead, and another process has kept its lock open",
        _ => "does not answer",
    };
    let todo = if stopped(owner) { format!("`kill -CONT {}` lets it go on", number(owner)) } else { todo };
    Finding::problem(topic, format!("{pid} holds the lock{of} and {how}"), todo)
}

/// The agentctls.
pub fn sessions(sessions: &Probe<Vec<Session>>, mine: &str) -> Vec<Finding> {
    const TOPIC: &str = "sessions";
    let all = match sessions {
        Ok(all) => all,
        Err(why) => return vec![Finding::problem(TOPIC, format!("cannot be looked at: {why}"), "mend that")],
    };
    let mut out = Vec::new();
    let (mut well, mut old) = (0_usize, Vec::new());
    for Session { id, owner } in all {
        let pid = owner.holder.map_or_else(|| "a process".to_owned(), |holder| format!("pid {}", holder.pid));
        match (&owner.held, &owner.answer) {
            (Err(why), _) => {
                out.push(Finding::problem(TOPIC, format!("whether {id} has an agentctl is unknown: {why}"), "mend that"));
            }
            (Ok(false), _) => {}
            (Ok(true), Answer::Version(version)) if version == mine => well += 1,
            (Ok(true), Answer::Version(version)) => old.push(format!("{id} ({version})")),
            (Ok(true), Answer::Silent) => {
                let number = number(owner);
                let todo =
                    format!("nothing is started in its place; `kill -9 {number}` ends it, and its agent comes back");
                out.push(silent(TOPIC, &format!(" of session {id}"), owner, &pid, todo));
            }
            (Ok(true), Answer::Nobody) => out.push(Finding::problem(
                TOPIC,
                format!("{pid} holds the lock of session {id} and has lost its socket"),
                format!("wait a moment, it makes it again; else `kill -9 {}`, and its agent comes back", number(owner)),
            )),
            (Ok(true), Answer::Failed(why)) => out.push(Finding::problem(
                TOPIC,
                format!("the agentctl of {id} ({pid}) cannot be spoken to: {why}"),
                "`relight host stop --agents` with the relight that started it; the agents come back with the next host",
            )),
        }
    }
    if !old.is_empty() {
        let names = listed(&old);
        out.insert(
            0,
            Finding::note(
                TOPIC,
                format!("{} of {} run another relight than {mine}: {names}", old.len(), old.len() + well),
            )
            .todo("they work; `relight host stop --agents`, then `relight`, renews all, and the agents come back"),
        );
    } else if out.is_empty() {
        let text = match well {
            0 => "none runs".to_owned(),
            1 => "1 agentctl runs and answers".to_owned(),
            many => format!("{many} agentctls run and answer"),
        };
        out.push(Finding::ok(TOPIC, text));
    }
    out
}

/// The first few, and how many more there are.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
