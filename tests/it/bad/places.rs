//! Directories that are missing, gone, in the way, too long, or somebody else's.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::Home;
use crate::support::home::RELIGHT;
use crate::support::kill;
use crate::support::reply::Reply;
use crate::support::told::Told;

#[test]
fn a_directory_that_is_missing_is_named_and_nothing_is_made() {
    let home = Home::new();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    for command in [&["new", "--detach", "--agent", "demo"][..], &["adopt", "--agent", "demo", "--token", "t"]] {
        let in_dir = |dir: &str| home.run(&[command, &["--cwd", dir]].concat());
        in_dir("/no/such/place").exits(4).says(&["`/no/such/place`", "No such file", "--cwd"]);
        in_dir(file.to_str().unwrap()).exits(4).says(&["it is not a directory", "--cwd"]);
        in_dir("").exits(2);
    }
    // Called from a directory that was removed.
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
    let from_gone = |args: &[&str]| {
        let command = home.command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-c", script, RELIGHT]).args(args).current_dir(home.project()).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Reply::new(args.join(" "), &shell.output().unwrap())
    };
    from_gone(&["new", "--detach", "--agent", "demo"]).exits(4).says(&["the present directory", "--cwd"]);
    from_gone(&["ls"]).ok();
    assert!(home.ls().is_empty() && home.rows("SELECT id FROM tasks").is_empty(), "nothing was made");
    let project = home.project();
    from_gone(&["new", "--detach", "--agent", "demo", "--cwd", project.to_str().unwrap()]).ok();
}

#[test]
fn a_directory_that_is_gone_when_the_host_starts_is_an_error_in_words_and_mended_by_putting_it_back() {
    let home = Home::new();
    let (dir, away) = (home.path().join("work"), home.path().join("away"));
    fs::create_dir(&dir).unwrap();
    let cwd = dir.to_str().unwrap();
    let told = Told::with(&home, "kiwi", &["--agent", "demo", "--cwd", cwd], &[]);
    home.run(&["host", "stop", "--agents"]).ok();
    fs::rename(&dir, &away).unwrap();
    for _ in 0..2 {
        home.next_host();
        home.until("its state", || home.status(&told.id)["state"] == "ERROR");
        let status = home.status(&told.id);
        assert_eq!(
            (&status["executor_status"], &status["resume_reason"]),
            (&"error".into(), &"worktree_missing".into())
        );
        let words = home.run(&["status", &told.id]).ok().out;
        assert!(words.contains(cwd) && words.contains("bring it back"), "{words}");
        let error = home.run(&["--json", "resume", &told.id]).exits(4).error();
        assert_eq!(error["code"], "worktree_missing", "{error}");
        assert!(error["message"].as_str().unwrap().contains(cwd) && error["hint"].is_string(), "{error}");
        home.run(&["capture", &told.id]).exits(5).says(&[cwd, "mend that"]);
        told.token_is_kept(&home);
        assert_eq!(home.agents_with(&told.token), []);
    }
    fs::rename(&away, &dir).unwrap();
    assert_eq!(home.json(&["resume", &told.id])["resumed"], true);
    told.back_once(&home, 2);
}

#[test]
fn a_very_long_home_works() {
    let home = Home::called(&format!("relight-it-{}", "long".repeat(50)));
    assert!(home.path().join("state/host.sock").as_os_str().len() > 2 * 108);
    let told = Told::new(&home, "kiwi");
    kill::kill(&home.agent(&told.id));
    home.until_alive(&told.id, 2);
    home.next_host();
    told.back_once(&home, 2);
}

#[test]
fn a_home_that_cannot_be_one_is_refused_and_starts_nothing() {
    let mut home = Home::new();
    let file = home.path().join("file");
    fs::write(&file, "mine").unwrap();
    let (long, deep) = ("x".repeat(300), format!("/{}", "long/".repeat(1_000)));
    let cases: &[(&str, &[&str])] = &[
        ("relative/path", &["RELIGHT_HOME=`relative/path`", "absolute"]),
        (file.to_str().unwrap(), &["Not a directory", "RELIGHT_HOME"]),
        ("/dev/null", &["Not a directory", "RELIGHT_HOME"]),
        ("/proc/nowhere", &["/proc/nowhere", "RELIGHT_HOME"]),
        (&format!("/tmp/{long}"), &["too long", "RELIGHT_HOME"]),
        (&deep, &["too long", "RELIGHT_HOME"]),
    ];
    let own = home.path().to_path_buf();
    for (place, words) in cases {
        home.set_env("RELIGHT_HOME", Some(place));
        for args in [&["ls"][..], &["host", "start"], &["new", "--agent", "demo", "--detach"], &["events"]] {
            home.run(args).exits(6).says(words);
        }
        home.run(&["host", "run"]).exits(6).says(&["RELIGHT_HOME"]);
        assert!(kill::living_of(Path::new(place)).is_empty(), "{place}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    home.set_env("RELIGHT_HOME", None);
    home.set_env("RELIGHT_HOME", Some(own.to_str().unwrap()));
    home.run(&["ls"]).ok();
}

/// Any user but ours.
const OTHER: &str = "65534";

#[test]
fn a_home_that_is_not_ours_is_refused_and_what_runs_in_it_goes_on() {
    if rustix::process::geteuid().as_raw() != 0 {
        eprintln!("not tried: only root can become another user");
        return;
    }
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    // The other user may not read the directory where this program lies.
    let shared = tempfile::Builder::new().prefix("relight-other-").tempdir().unwrap();
    let program = shared.path().join("relight");
    fs::copy(RELIGHT, &program).unwrap();
    let open = |path: &Path| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    open(shared.path());
    open(home.path());
    let as_other = |place: &Path, args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", OTHER, "--regid", OTHER, "--clear-groups", "--"]).arg(&program).args(args);
        command.current_dir("/").env_clear().env("RELIGHT_HOME", place).env("HOME", shared.path());
        command.output().map(|output| Reply::new(args.join(" "), &output))
    };
    let fresh = shared.path().join("fresh");
    let first = match as_other(&fresh, &["ls"]) {
        Ok(reply) => reply,
        Err(error) => return eprintln!("not tried: setpriv cannot be started: {error}"),
    };
    first.exits(6).says(&["cannot make the directory", "Permission denied", "RELIGHT_HOME"]);
    as_other(&fresh, &["host", "run"]).unwrap().exits(6).says(&["Permission denied"]);
    // A place where another user's host runs.
    for args in [&["ls"][..], &["host", "status"], &["kill", &told.id], &["host", "stop", "--agents"]] {
        as_other(home.path(), args).unwrap().exits(8).says(&["another user", "RELIGHT_HOME"]);
    }
    assert!(!fresh.exists());
    home.ask(&told.id, "what is the code word?", "The code word is kiwi.");
}
