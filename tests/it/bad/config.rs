//! Settings that cannot be used: refused with file, line, key and value, and what runs goes on.

use std::fs;

use crate::support::Home;
use crate::support::kill;
use crate::support::told::Told;

/// Settings, and what is said about them.
const BROKEN: &[(&str, &[&str])] = &[
    ("[resume\nauto = \"always\"\n", &["config.toml:1", "`relight config example`"]),
    ("[resume]\nparallel = \"three\"\n", &["config.toml:2", "`resume.parallel = \"three\"`", "1 to 64"]),
    ("[resume]\nparallel = 100000\n", &["config.toml:2", "`resume.parallel = 100000`", "1 to 64"]),
    ("[ui]\nmouse = 1\n", &["config.toml:2", "`ui.mouse = 1`", "true, \"program\" or false"]),
    ("[resume]\nparalel = 3\n", &["config.toml:2", "unknown key `resume.paralel`", "did you mean `parallel`?"]),
    ("[resme]\n", &["config.toml:1", "unknown key `resme`", "did you mean `resume`?"]),
    ("[agents.mine]\nextends = \"nobody\"\n", &["agents.mine", "`nobody`", "claude"]),
    (
        "[agents.mine]\nextends = \"demo\"\n[agents.mine.launch]\nargz = []\n",
        &["config.toml:4", "agents.mine.launch.argz", "did you mean `args`?"],
    ),
    ("[agents.mine]\nlabel = \"no program\"\n", &["agents.mine", "`program` is needed"]),
    ("[agents.mine]\nprogram = 3\n", &["config.toml:2", "`agents.mine.program = 3`", "string"]),
    ("[agents.\"a b\"]\nprogram = \"x\"\n", &["agents.a b", "a name is made of"]),
];

#[test]
fn broken_settings_are_refused_wherever_they_are_read() {
    let home = Home::new();
    for (text, words) in BROKEN {
        home.write_config(text);
        for args in [&["config", "check"][..], &["host", "run"], &["ls"], &["new", "--detach"], &["agents"]] {
            let reply = home.run(args).exits(6).says(words);
            assert_eq!(reply.out, "", "{text}");
        }
    }
    assert!(home.living().is_empty(), "no host came of it");
    home.write_config("");
    assert_eq!(home.run(&["ls", "--json"]).ok().json(), serde_json::json!([]));
}

#[test]
fn a_settings_file_that_cannot_be_read_is_named() {
    let home = Home::new();
    let file = home.path().join("config/config.toml");
    fs::create_dir_all(&file).unwrap();
    home.run(&["config", "check"]).exits(6).says(&["cannot read", "config/config.toml", "check that it is yours"]);
    fs::remove_dir(&file).unwrap();
    fs::write(&file, [b'[', 0xFF, 0xFE, b']']).unwrap();
    home.run(&["ls"]).exits(6).says(&["config/config.toml", "UTF-8"]);
    assert!(home.living().is_empty());
    // And where there is no directory for it at all, the defaults hold.
    fs::remove_dir_all(home.path().join("config")).unwrap();
    assert!(home.run(&["config", "check"]).ok().out.contains("the defaults hold"));
    home.run(&["ls"]).ok();
}

#[test]
fn broken_settings_harm_nothing_that_runs() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let agent = home.agent(&told.id);
    home.write_config("[resume\n");
    home.run(&["status", &told.id]).ok();
    home.ask(&told.id, "remember fig", "I will remember fig.");
    home.run(&["new", "--agent", "demo", "--detach"]).exits(6).says(&["config.toml:1"]);
    assert_eq!(home.ls().len(), 1, "no session was made");
    // The next host cannot start; the agent does not notice.
    home.kill_host();
    home.run(&["ls"]).exits(6).says(&["config.toml:1"]);
    assert!(relight::proc::identity::alive(&agent));
    home.write_config("");
    home.next_host();
    home.until_alive(&told.id, 1);
    assert_eq!(home.agent(&told.id), agent, "the same process");
    told.token_is_kept(&home);
    home.ask(&told.id, "what is the code word?", "The code word is fig.");
    kill::kill(&agent);
    home.until_alive(&told.id, 2);
}
