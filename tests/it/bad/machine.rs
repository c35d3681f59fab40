//! A state directory of another machine: processes, locks and sockets in it mean nothing here, so nothing in it is touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Home;
use crate::support::told::Told;

const MACHINE: &str = "RELIGHT_TEST_MACHINE_ID";

/// Every file below a directory, with its contents.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all.insert(entry.path(), b"directory".to_vec());
            all.extend(files(&entry.path()));
        } else {
            // A socket has no contents.
            all.insert(entry.path(), fs::read(entry.path()).unwrap_or_default());
        }
    }
    all
}

#[test]
fn another_machines_state_is_refused_with_words_and_left_as_it_is() {
    let mut home = Home::new().env(MACHINE, "machine-one");
    let told = Told::new(&home, "kiwi");
    home.run(&["host", "stop", "--agents"]).ok();
    home.until("nothing to be left", || home.living().is_empty());
    let before = files(home.path());
    home.set_env(MACHINE, Some("machine-two"));
    let session = told.id.as_str();
    for args in [
        &["ls"][..],
        &["new", "--agent", "demo", "--detach"],
        &["status", session],
        &["send", session, "hello"],
        &["capture", session],
        &["resume", session],
        &["kill", session],
        &["events"],
        &["host", "start"],
        &["host", "run"],
        &["host", "restart"],
        &["host", "status"],
        &["host", "stop"],
        &["host", "stop", "--agents"],
    ] {
        home.run(args).exits(6).says(&["another machine", "machine-one", "machine-two", "RELIGHT_HOME"]);
        assert_eq!(home.living(), [], "{args:?}");
    }
    let error = home.run(&["ls", "--json"]).exits(6).error();
    assert_eq!((&error["code"], &error["exit_code"]), (&"bad_config".into(), &6.into()), "{error}");
    let after = files(home.path());
    let changed: Vec<_> =
        before.iter().filter(|(path, text)| after.get(*path) != Some(text)).map(|(path, _)| path).collect();
    let new: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    assert_eq!((changed, new), (vec![], vec![]));
    // On its own machine nothing is lost.
    home.set_env(MACHINE, Some("machine-one"));
    home.run(&["host", "start"]).ok();
    told.back_once(&home, 2);
    told.token_is_kept(&home);
}
