//! Settings that cannot be used: refused with file, line, key and value, and what runs goes on.

use crate::support::Home;
use crate::support::reply::Reply;

/// Settings, and what is said about them.
const BROKEN: &[(&str, &[&str])] = &[
    ("[resume\nauto = \"always\"\n", &["config.toml:1", "`relight config example`"]),
    ("[resume]\nparallel = \"three\"\n", &["config.toml:2", "`resume.parallel = \"three\"`", "1 to 64"]),
    ("[resume]\nparallel = 100000\n", &["config.toml:2", "`resume.parallel = 100000`", "1 to 64"]),
    ("[ui]\nmouse = 1\n", &["config.toml:2", "`ui.mouse = 1`", "boolean"]),
    ("[resume]\nparalel = 3\n", &["config.toml:2", "unknown key `resume.paralel`", "did you mean `parallel`?"]),
    ("[resme]\n", &["config.toml:1", "unknown key `resme`", "did you mean `resume`?"]),
    ("[agents.mine]\nextends = \"nobody\"\n", &["agents.mine", "`nobody`", "claude"]),
    (
        "[agents.mine]\nextends = \"demo\"\n[agents.mine.launch]\nargz = []\n",
        &["config.toml:4", "agents.mine.launch.argz", "`args`"],
    ),
    ("[agents.mine]\nlabel = \"no program\"\n", &["agents.mine", "program"]),
];

#[test]
fn broken_settings_are_refused_wherever_they_are_read() {
    let home = Home::new();
    for (text, words) in BROKEN {
        home.write_config(text);
        for args in [&["config", "check"][..], &["host", "run"], &["ls"], &["new", "--detach"], &["agents"]] {
            let reply: Reply = home.run(args).exits(6).says(words);
            assert_eq!(reply.out, "", "{text}");
        }
    }
    assert!(home.living().is_empty(), "no host came of it");
    home.write_config("");
    assert_eq!(home.run(&["ls", "--json"]).ok().json(), serde_json::json!([]));
}
