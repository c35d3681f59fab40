//! What was looked at → what is told. Pure: every finding has its test here.

mod machine;
mod owners;
mod places;
mod programs;
mod terminal;
#[cfg(test)]
mod tests;

use super::facts::Facts;
use super::finding::Finding;

/// Everything that is told, in the order in which it is shown: what runs, what is around it, where it keeps its things.
#[must_use]
pub fn findings(facts: &Facts) -> Vec<Finding> {
    let path = facts.program.path.display();
    let mut out = vec![Finding::ok("relight", format!("{} ({path})", facts.program.version))];
    let mine = &facts.program.version;
    out.push(owners::host(&facts.host, mine));
    out.extend(owners::sessions(&facts.sessions, mine));
    out.extend(terminal::terminal(&facts.terminal));
    out.push(terminal::around(&facts.around, &facts.terminal.prefix));
    out.push(terminal::clipboard(&facts.around, &facts.terminal));
    out.push(machine::logout(&facts.login));
    out.push(places::settings(&facts.settings));
    out.extend(facts.dirs.iter().map(places::dir));
    out.push(places::machine(&facts.machine));
    out.push(places::sockets(facts.socket_bytes));
    out.extend(facts.disks.iter().map(places::disk));
    out.push(places::database(&facts.database));
    out.extend(machine::kernel(&facts.kernel));
    out.push(programs::git(facts.git.as_ref()));
    out.extend(programs::agents(&facts.agents, &facts.default_agent));
    out
}
