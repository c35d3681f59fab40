//! Names and ids that are hostile: stripped or refused, never on a terminal as they are, and no other session is touched.

use relight::domain::plain::steers;

use crate::support::Home;
use crate::support::home::text;
use crate::support::reply::Reply;
use crate::support::told::Told;

/// Escape sequences, a bell, 8-bit controls, turned writing, a broken line, letters that nobody sees.
const HOSTILE: &str = "a\x1b[31m\x1b]0;owned\x07b\u{9b}5m\u{202e}c\u{2028}\r\nd\u{200b}\u{e0041}\u{7f}";
/// What is left of it.
const STRIPPED: &str = "a[31m]0;ownedb5mcd";

/// Nothing in the output steers a terminal.
#[track_caller]
fn quiet(reply: Reply) -> Reply {
    for text in [&reply.out, &reply.err] {
        assert!(!text.contains(|c| c != '\n' && steers(c)), "{reply:?}");
    }
    reply
}

#[test]
fn a_hostile_name_never_reaches_a_terminal_as_it_is() {
    let home = Home::new();
    let new = |name: &str, task: &str| {
        let args = ["new", "--agent", "demo", "--detach", "--name", name, "--task", task, "--json"];
        text(&quiet(home.run(&args)).ok().json(), "session_id")
    };
    let id = new(HOSTILE, HOSTILE);
    let line = home.session(&id);
    assert_eq!((&line["name"], &line["task_title"]), (&STRIPPED.into(), &STRIPPED.into()), "{line}");
    home.run(&["send", &id, &format!("remember {HOSTILE}")]).ok();
    for args in [
        &["ls"][..],
        &["ls", "--json"],
        &["status", &id],
        &["status", &id, "--json"],
        &["events"],
        &["events", "--json"],
    ] {
        quiet(home.run(args).ok());
    }
    // What the agent printed is its own, but for controls.
    let shown = home.run(&["capture", &id, "--history", "100"]).ok().out;
    assert!(!shown.contains(|c: char| c != '\n' && c.is_control()), "{shown:?}");
    home.run(&["status", STRIPPED]).ok();
    // Nothing is left: refused, and the name stays.
    quiet(home.run(&["rename", &id, "\x1b\u{202e}\x07 "])).exits(2).says(&["cannot be empty"]);
    assert_eq!(home.session(&id)["name"], STRIPPED);
    home.run(&["rename", &id, &format!("{HOSTILE}-2")]).ok();
    assert_eq!(home.session(&id)["name"], format!("{STRIPPED}-2"));
    home.run(&["rename", &id, &"long".repeat(20_000)]).ok();
    assert_eq!(home.session(&id)["name"], "long".repeat(20));
    // Letters of any script are letters.
    home.run(&["rename", &id, "שלום עולם 界 👩\u{200d}💻"]).ok();
    assert_eq!(home.session(&id)["name"], "שלום עולם 界 👩\u{200d}💻");
    assert_eq!(home.session(&new("\x1b\x07", "t"))["name"], "demo", "as without a name");
}

#[test]
fn a_hostile_id_names_no_session_and_touches_none() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let agent = home.agent(&told.id);
    let long = "a".repeat(10 * 1024);
    let hostile = [
        "../..",
        "../../data/relight.db",
        "'; DROP TABLE task_sessions; --",
        "\" OR 1=1 --",
        "%",
        "____",
        "",
        " ",
        "*",
        "-x",
        "--json",
        HOSTILE,
        "界界界界",
        &long,
    ];
    for id in hostile {
        for args in [
            &["status", "--", id][..],
            &["send", "--", id, "text"],
            &["capture", "--", id],
            &["resume", "--", id],
            &["kill", "--", id],
            &["dismiss", "--", id],
            &["rename", "--", id, "new"],
        ] {
            let reply = quiet(home.run(args)).exits(3).says(&["there is no session `", "`relight ls`"]);
            assert!(reply.err.len() < 500, "it is repeated in full: {reply:?}");
        }
        let error = quiet(home.run(&["--json", "status", "--", id])).exits(3).error();
        assert_eq!(error["code"], "session_not_found", "{error}");
    }
    // Without `--` such a text is an option that there is not.
    home.run(&["status", "-x"]).exits(2);
    assert_eq!(home.rows("SELECT count(*) FROM task_sessions"), [["1"]]);
    assert_eq!(home.agent(&told.id), agent);
    home.ask(&told.id, "what is the code word?", "The code word is kiwi.");
    // As agent, executor and directory.
    let new = |option: &str, value: &str| home.run(&["new", "--detach", &format!("{option}={value}")]);
    for id in hostile.iter().filter(|id| !id.is_empty()) {
        assert!(quiet(new("--agent", id)).exits(3).says(&["no agent profile"]).err.len() < 700);
        assert!(
            quiet(home.run(&["new", "--detach", "--agent", "demo", &format!("--executor={id}")])).exits(4).err.len()
                < 700
        );
    }
    assert_eq!(home.rows("SELECT count(*) FROM task_sessions"), [["1"]]);
}

#[test]
fn a_name_that_fits_several_is_refused_and_names_them() {
    let home = Home::new();
    let new = || text(&home.json(&["new", "--agent", "demo", "--detach", "--name", "fig"]), "session_id");
    let (first, second) = (new(), new());
    assert_eq!(home.session(&second)["name"], "fig-2", "open sessions have names of their own");
    home.run(&["kill", &first]).ok();
    let third = new();
    home.run(&["kill", &third]).ok();
    let reply = home.run(&["resume", "--reopen", "fig"]).exits(3);
    reply.says(&["`fig` names 2 sessions", &first[..8], &third[..8], "use more of the id"]);
    assert_eq!(home.run(&["--json", "status", "fig"]).exits(3).error()["code"], "session_ambiguous");
    home.run(&["status", &first[..8]]).ok();
    assert!(home.session(&second)["pid"].is_number());
}
