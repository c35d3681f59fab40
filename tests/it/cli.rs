//! The command line, as far as it goes without a host: help, completions, settings, exit codes.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::Home;

#[test]
fn help_documents_commands_exit_codes_and_environment() {
    let home = Home::new();
    let help = home.run(&["--help"]).ok();
    for word in
        ["attach", "new", "ls", "status", "send", "capture", "resume", "adopt", "kill", "dismiss", "events", "doctor"]
    {
        assert!(help.out.contains(&format!("\n  {word} ")), "`{word}` is not in the help");
    }
    for word in ["host", "config", "agents", "completions", "RELIGHT_HOME=DIR", "Exit codes:"] {
        assert!(help.out.contains(word), "`{word}` is not in the help");
    }
    for word in ["agentctl serve", "demo-agent", "\n  hook", "\n  detach"] {
        assert!(!help.out.contains(word), "`{word}` is for relight itself");
    }
    assert!(home.run(&["--version"]).ok().out.starts_with("relight "));
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let home = Home::new();
    home.run(&["nonsense"]).exits(2);
    home.run(&["send", "only-a-session"]).exits(2);
    home.run(&["events", "--since", "x"]).exits(2);
    home.run(&["attach"]).exits(2).says(&["terminal"]);
    assert!(home.living().is_empty(), "no host was needed");
}

#[test]
fn completions_are_made_for_every_shell() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.run(&["completions", shell]).ok().out.contains("relight"), "{shell}");
    }
}

#[test]
fn the_settings_file_is_found_shown_and_checked() {
    let home = Home::new();
    let path = home.json(&["config", "path"])["path"].as_str().unwrap().to_owned();
    assert_eq!(path, home.path().join("config/config.toml").to_string_lossy());
    assert!(home.run(&["config", "check"]).ok().out.contains("the defaults hold"));
    let example = home.run(&["config", "example"]).ok().out;
    assert_eq!(example, include_str!("../../config.example.toml"));
    home.write_config(&example);
    assert_eq!(home.json(&["config", "check"])["valid"], true);
}

#[test]
fn a_broken_settings_file_is_exit_code_6_with_file_line_and_key() {
    let home = Home::new();
    home.write_config("[resume]\nparalel = 3\n");
    home.run(&["config", "check"]).exits(6).says(&["config.toml:2", "`resume.paralel`", "did you mean `parallel`"]);
    let reply = home.run(&["config", "check", "--json"]).exits(6);
    assert_eq!((&reply.error()["code"], &reply.error()["exit_code"]), (&"bad_config".into(), &6.into()));
    home.write_config("[defaults]\nagent = \"nobody\"\n");
    home.run(&["config", "check"]).exits(6).says(&["nobody", "claude"]);
    home.write_config("[resume\n");
    home.run(&["agents"]).exits(6).says(&["config.toml:1"]);
}

/// Settings of keys, and what is said about them.
const BROKEN_KEYS: &[(&str, &[&str])] = &[
    (
        "[keys.after_prefix]\nzoom = [\"f5\"]\nlast = [\"f5\"]\n",
        &["config.toml:2: `keys.after_prefix.zoom = [\"f5\"]`", "F5 is a key of `last` too"],
    ),
    (
        "[keys]\n\nafter_prefix = { zoom = [\"c\"] }\n",
        &["config.toml:3: `keys.after_prefix.zoom = [\"c\"]`", "`new`", "`[]`"],
    ),
    ("[keys.direct]\n# x\nsplit-rigth = []\n", &["config.toml:3: `keys.direct.split-rigth = []`", "`split-right`?"]),
    ("[keys]\nprefix = \"ctrl-l\"\n", &["config.toml:2: `keys.prefix = \"ctrl-l\"`", "`redraw`"]),
    ("[keys.direct]\nclose = [\"ctrl-c\"]\n", &["config.toml:2", "programs in a terminal need Ctrl-C"]),
];

#[test]
fn keys_that_cannot_be_are_refused_by_the_check_and_by_the_screen() {
    let home = Home::new();
    for (text, words) in BROKEN_KEYS {
        home.write_config(text);
        for args in [&["config", "check"][..], &["attach"]] {
            home.run(args).exits(6).says(words);
        }
    }
    home.write_config("[keys]\nprefix = \"ctrl-b\"\n[keys.after_prefix]\nzoom = [\"c\"]\nnew = []\n");
    assert_eq!(home.json(&["config", "check"])["valid"], true);
    assert!(home.living().is_empty());
}

#[test]
fn agents_are_listed_with_what_they_can() {
    let home = Home::new();
    home.write_config(
        "[agents.mine]\nextends = \"demo\"\nlabel = \"Mine\"\n[agents.gone]\nprogram = \"/no/such/program\"\n",
    );
    let agents = home.json(&["agents"]);
    let find = |name: &str| agents.as_array().unwrap().iter().find(|a| a["name"] == name).unwrap().clone();
    assert_eq!((&find("mine")["label"], &find("mine")["resumes"]), (&"Mine".into(), &true.into()));
    assert_eq!((&find("demo")["installed"], &find("gone")["installed"]), (&true.into(), &false.into()));
    assert_eq!(find("shell")["agent"], false);
}

#[test]
fn a_relative_home_is_refused() {
    let home = Home::new().env("RELIGHT_HOME", "relative/path");
    home.run(&["config", "path"]).exits(6).says(&["RELIGHT_HOME", "relative/path", "absolute"]);
}

#[test]
fn without_a_host_its_status_says_so_and_starts_none() {
    let home = Home::new();
    let reply = home.run(&["host", "status", "--json"]).exits(5);
    assert_eq!(reply.json()["running"], false);
    assert!(home.run(&["host", "stop"]).ok().out.contains("no host ran"));
    assert!(home.path().join("state/host.stopped").exists());
    assert!(home.living().is_empty());
}

#[test]
fn a_host_that_cannot_start_says_why_to_whoever_asked() {
    let home = Home::new();
    home.write_config("[log]\nlevel = \"loud\"\n");
    home.run(&["ls"]).exits(6).says(&["config.toml:2", "log.level", "debug"]);
    home.run(&["host", "run"]).exits(6).says(&["log.level"]);
    assert!(home.living().is_empty());
}

#[test]
fn the_state_directory_of_another_machine_is_refused() {
    let home = Home::new().env("RELIGHT_TEST_MACHINE_ID", "this-one");
    std::fs::create_dir_all(home.path().join("state")).unwrap();
    std::fs::write(home.path().join("state/machine-id"), "another\n").unwrap();
    home.run(&["ls"]).exits(6).says(&["another machine", "this-one", "RELIGHT_HOME"]);
}

#[test]
fn the_state_directory_is_its_owners_alone() {
    let home = Home::new();
    home.run(&["host", "stop"]).ok();
    let mode = std::fs::metadata(home.path().join("state")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
