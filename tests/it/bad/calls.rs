//! Calls at the wrong time, and calls whose stdin, stdout or stderr is closed, full, or read by nobody.

use std::process::{Command, Stdio};

use crate::support::Home;
use crate::support::home::RELIGHT;
use crate::support::reply::Reply;
use crate::support::told::Told;

#[test]
fn what_an_ended_session_cannot_do_is_said_with_the_way_back() {
    let home = Home::new();
    let told = Told::with(&home, "kiwi", &["--agent", "demo", "--name", "fig"], &[]);
    home.run(&["kill", "fig"]).ok();
    let again = "`relight resume --reopen fig`";
    home.run(&["send", "fig", "hello"]).exits(4).says(&["no agent runs in session `fig`", again]);
    home.run(&["capture", "fig"]).exits(4).says(&["session `fig` has ended", again]);
    let reply = home.run(&["resume", "fig"]).exits(4);
    assert!(reply.out.contains("not resumed") && reply.out.contains(again), "{reply:?}");
    home.run(&["kill", "fig"]).ok();
    home.run(&["dismiss", "fig"]).ok();
    assert!(home.run(&["status", "fig"]).ok().out.contains("ended: you ended it"));
    told.token_is_kept(&home);
    home.run(&["resume", "--reopen", "fig"]).ok();
    told.back_once(&home, 2);
}

/// One call through a shell that redirects it.
fn redirected(home: &Home, how: &str, args: &[&str]) -> Reply {
    let command = home.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$0\" \"$@\" {how}"), RELIGHT]).args(args).current_dir(home.project());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
    Reply::new(format!("{} {how}", args.join(" ")), &shell.output().unwrap())
}

/// The program ended by itself, without a fault of ours.
#[track_caller]
fn sound(reply: Reply) -> Reply {
    assert!(reply.code.is_some(), "a signal ended it: {reply:?}");
    assert!(!reply.err.contains("panicked") && !reply.err.contains("fault of relight"), "{reply:?}");
    reply
}

#[test]
fn closed_and_full_outputs_are_no_fault() {
    let home = Home::new();
    let told = Told::new(&home, "kiwi");
    let calls: &[&[&str]] = &[
        &["ls"],
        &["--json", "ls"],
        &["events"],
        &["status", &told.id],
        &["capture", &told.id],
        &["agents"],
        &["config", "example"],
        &["completions", "bash"],
        &["--help"],
    ];
    for args in calls {
        for how in [">&-", "2>&-", "<&-", "<&- >&- 2>&-"] {
            sound(redirected(&home, how, args)).ok();
        }
        // A reader that has gone before the first byte.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output =
            home.command(args).stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let reply = sound(Reply::new(args.join(" "), &output)).ok();
        assert_eq!(reply.err, "");
        if args != &["--help"] {
            sound(redirected(&home, ">/dev/full", args)).exits(1).says(&["cannot write to stdout", "No space left"]);
        }
    }
    sound(redirected(&home, "2>&-", &["status", "nobody"])).exits(3);
    sound(redirected(&home, "2>/dev/full", &["status", "nobody"])).exits(3);
    sound(redirected(&home, "<&-", &["send", &told.id, "-"])).ok();
    // A host that was started so lives as any other.
    home.run(&["host", "stop"]).ok();
    sound(redirected(&home, "<&- >&- 2>&-", &["host", "start"])).ok();
    home.until_alive(&told.id, 1);
    home.ask(&told.id, "what is the code word?", "The code word is kiwi.");
}
