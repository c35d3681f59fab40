//! Looks for an agent's conversation id in the files that it writes or holds open.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::agent::token::{TokenWatch, pid_in};
use crate::domain::profile::Profile;
use crate::proc::table;

/// Files with an id are small; of a larger one only this much is read.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The conversation id of the agent with process `pid`, if it can be read now. Blocks for some milliseconds.
#[must_use]
pub fn find(watch: &TokenWatch, profile: &Profile, pid: i32) -> Option<String> {
    match watch {
        TokenWatch::File { path, .. } => watch.of_text(&read(path)?),
        TokenWatch::Directory { dir, .. } => {
            let family = family(pid);
            entries(dir).into_iter().find_map(|path| {
                let token = watch.of_path(&path)?;
                family.contains(&pid_in(profile, &read(&path)?)?).then_some(token)
            })
        }
        TokenWatch::OpenFile { .. } => family(pid).into_iter().find_map(|pid| {
            let open = entries(Path::new(&format!("/proc/{pid}/fd")));
            open.into_iter().filter_map(|fd| fs::read_link(fd).ok()).find_map(|path| watch.of_path(&path))
        }),
    }
}

fn read(path: &Path) -> Option<String> {
    let file = fs::File::open(path).ok()?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::Read::take(file, MAX_FILE_BYTES), &mut text).ok()?;
    Some(text)
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The process and its descendants.
fn family(pid: i32) -> BTreeSet<i32> {
    let living = table::living().unwrap_or_default();
    let mut family = BTreeSet::from([pid]);
    loop {
        let more: Vec<i32> =
            living.iter().filter(|s| family.contains(&s.ppid) && !family.contains(&s.pid)).map(|s| s.pid).collect();
        if more.is_empty() {
            return family;
        }
        family.extend(more);
    }
}
