//! Switches for the ways in which agents misbehave.
//!
//! A list of items, separated by commas: `NAME`, `NAME=MS`, each with an optional `resume:` in front (only when it
//! resumes) and an optional `@PATH` behind (only while that file exists).

use std::path::{Path, PathBuf};
use std::time::Duration;

/// What holds for one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "switches that go together in any combination")]
pub struct Switches {
    /// Waits before anything else.
    pub slow_start: Option<Duration>,
    /// Exits with 1 at once.
    pub die: bool,
    /// Exits with 1 without a word, this long after the start.
    pub die_after: Option<Duration>,
    /// Lives on after SIGHUP and without its terminal.
    pub ignore_sighup: bool,
    /// Leaves a process in a session of its own, which ignores SIGHUP.
    pub setsid_child: bool,
    /// Prints a 401 and exits with 1.
    pub login_expired: bool,
    /// Waits before it says goodbye to a signal.
    pub late_goodbye: Option<Duration>,
    /// Exits with 0 on SIGTERM and SIGHUP.
    pub exit0_on_sigterm: bool,
    /// Never answers.
    pub hang: bool,
    /// Prints without end.
    pub flood: bool,
    /// Does not know `--resume`.
    pub no_resume: bool,
    /// Resumes into an empty conversation with another id.
    pub empty_resume: bool,
    /// Runs no hooks.
    pub no_hooks: bool,
}

/// One item of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    name: &'static str,
    time: Option<Duration>,
    resume_only: bool,
    while_exists: Option<PathBuf>,
}

/// Names, and whether each takes a time.
const NAMES: &[(&str, bool)] = &[
    ("slow-start", true),
    ("die", false),
    ("die-after", true),
    ("ignore-sighup", false),
    ("setsid-child", false),
    ("login-expired", false),
    ("late-goodbye", true),
    ("exit0-on-sigterm", false),
    ("hang", false),
    ("flood", false),
    ("no-resume", false),
    ("empty-resume", false),
    ("no-hooks", false),
];

/// Whether `name` is a switch, and takes a time.
pub fn takes_time(name: &str) -> Option<bool> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, time)| *time)
}

/// Reads a list.
///
/// # Errors
/// A sentence about the first item that is not understood.
pub fn parse(list: &str) -> Result<Vec<Item>, String> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty()).map(item).collect()
}

fn item(text: &str) -> Result<Item, String> {
    let (rest, while_exists) = match text.split_once('@') {
        Some((rest, path)) => (rest, Some(PathBuf::from(path))),
        None => (text, None),
    };
    let (rest, resume_only) = rest.strip_prefix("resume:").map_or((rest, false), |rest| (rest, true));
    let (name, time) = rest.split_once('=').map_or((rest, None), |(name, time)| (name, Some(time)));
    let Some((name, timed)) = NAMES.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
        return Err(format!("`{name}` is no misbehaviour; known are: {}", known.join(", ")));
    };
    let time = match (timed, time) {
        (true, Some(ms)) => {
            Some(ms.parse().map(Duration::from_millis).map_err(|_| format!("`{ms}` is no number of ms"))?)
        }
        (true, None) => return Err(format!("`{name}` needs a time: {name}=MS")),
        (false, Some(_)) => return Err(format!("`{name}` takes no value")),
        (false, None) => None,
    };
    Ok(Item { name, time, resume_only, while_exists })
}

/// What holds for this run.
pub fn switches(items: &[Item], resumes: bool, exists: &dyn Fn(&Path) -> bool) -> Switches {
    let mut out = Switches::default();
    for item in items {
        if (item.resume_only && !resumes) || item.while_exists.as_deref().is_some_and(|path| !exists(path)) {
            continue;
        }
        match item.name {
            "slow-start" => out.slow_start = item.time,
            "die" => out.die = true,
            "die-after" => out.die_after = item.time,
            "ignore-sighup" => out.ignore_sighup = true,
            "setsid-child" => out.setsid_child = true,
            "login-expired" => out.login_expired = true,
            "late-goodbye" => out.late_goodbye = item.time,
            "exit0-on-sigterm" => out.exit0_on_sigterm = true,
            "hang" => out.hang = true,
            "flood" => out.flood = true,
            "no-resume" => out.no_resume = true,
            "empty-resume" => out.empty_resume = true,
            _ => out.no_hooks = true,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_applies_when_it_should() {
        let items = parse("slow-start=20, resume:die ,hang@/there,flood@/gone").unwrap();
        let exists = |path: &Path| path == Path::new("/there");
        let first = switches(&items, false, &exists);
        let want = Switches { slow_start: Some(Duration::from_millis(20)), hang: true, ..Switches::default() };
        assert_eq!(first, want);
        assert_eq!(switches(&items, true, &exists), Switches { die: true, ..want });
        assert!(parse("").unwrap().is_empty());
    }

    #[test]
    fn every_name_sets_something_of_its_own() {
        let mut seen = Vec::new();
        for (name, timed) in NAMES {
            let list = if *timed { format!("{name}=5") } else { (*name).to_owned() };
            let got = switches(&parse(&list).unwrap(), false, &|_| true);
            assert_ne!(got, Switches::default(), "{name}");
            assert!(!seen.contains(&got), "{name}");
            seen.push(got);
        }
    }

    #[test]
    fn a_wrong_item_is_named() {
        assert!(parse("dye").unwrap_err().contains("`dye`"));
        assert!(parse("slow-start").unwrap_err().contains("needs a time"));
        assert!(parse("slow-start=x").unwrap_err().contains("`x`"));
        assert!(parse("die=1").unwrap_err().contains("no value"));
    }
}
