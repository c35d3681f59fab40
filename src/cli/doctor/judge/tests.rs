//! Each finding, from a machine on which everything is well and one thing changed.

use std::path::PathBuf;

use super::findings;
use crate::cli::doctor::facts::{
    Agent, Answer, Around, Database, DatabaseState, Dir, Disk, Facts, Found, Holder, Host, Kernel, Login, Owner,
    Program, Session, Settings, Space, Terminal,
};
use crate::cli::doctor::finding::{Finding, Level};

const ME: u32 = 1_000;
const GIB: u64 = 1 << 30;

fn owner(answer: Answer) -> Owner {
    Owner { held: Ok(true), holder: Some(Holder { pid: 7, alive: true, stopped: false }), socket: true, answer }
}

fn version() -> Answer {
    Answer::Version("1.0.0".into())
}

fn dir(name: &'static str) -> Dir {
    let found = Found { directory: true, owner: ME, mode: 0o40_700, writable: true };
    Dir { name, path: PathBuf::from("/r").join(name), found: Ok(Some(found)), me: ME }
}

/// Everything is well.
fn well() -> Facts {
    let space =
        Space { free_bytes: 50 * GIB, free_files: Some(1_000_000), network: None, memory: false, read_only: false };
    Facts {
        program: Program { version: "1.0.0".into(), path: "/bin/relight".into() },
        host: Host {
            owner: owner(version()),
            socket: "/r/state/host.sock".into(),
            told_to_stop: false,
            failure: None,
            logs: "/r/logs".into(),
        },
        sessions: Ok(vec![Session { id: "s1".into(), owner: owner(version()) }]),
        terminal: Terminal {
            there: true,
            term: Some("xterm-256color".into()),
            known: true,
            inner_known: true,
            colorterm: Some("truecolor".into()),
            no_color: false,
            locale: Some(("LANG".into(), "de_DE.UTF-8".into())),
            ssh: false,
            prefix: "Ctrl-Space".into(),
            clipboards: vec!["xclip".into()],
        },
        around: vec![],
        login: Login { systemd: true, user_manager: true, user: "anna".into(), linger: true, kills: None },
        dirs: ["config", "data", "state", "logs"].map(dir).to_vec(),
        settings: Settings { path: "/r/config/config.toml".into(), exists: true, wrong: None },
        disks: vec![Disk { name: "state and data", path: "/r/state".into(), space: Ok(space) }],
        machine: Ok(()),
        socket_bytes: 80,
        database: Database {
            path: "/r/data/relight.db".into(),
            state: Ok(Some(DatabaseState { schema: 2, known: 2, bytes: 4 << 20, checked: Some("ok".into()) })),
            mode: Some(0o100_600),
        },
        kernel: Kernel { files: (Some(1_024), Some(65_536)), pidfd: Ok(()), autogroup: true },
        agents: vec![agent("claude", true)],
        default_agent: "claude".into(),
        git: Some(Ok("git version 2.47.0".into())),
    }
}

fn agent(name: &str, there: bool) -> Agent {
    Agent {
        name: name.into(),
        program: name.into(),
        found: there.then(|| PathBuf::from("/bin").join(name)),
        version: there.then(|| Ok("2.1".into())),
        resumes: true,
    }
}

/// The findings that are not ok once `change` is made.
fn told(change: impl FnOnce(&mut Facts)) -> Vec<Finding> {
    let mut facts = well();
    change(&mut facts);
    findings(&facts).into_iter().filter(|finding| finding.level > Level::Ok).collect()
}

/// Once `change` is made there is exactly one that is not ok: of this level, about this, with all these words.
#[track_caller]
fn one(level: Level, topic: &str, words: &[&str], change: impl FnOnce(&mut Facts)) {
    let told = told(change);
    let [found] = told.as_slice() else { panic!("one finding was awaited: {told:#?}") };
    assert_eq!((found.level, found.topic), (level, topic), "{found:?}");
    let text = found.text();
    assert!(words.iter().all(|word| text.contains(word)), "`{text}` should say {words:?}");
    assert!(level == Level::Note || found.todo.as_ref().is_some_and(|todo| !todo.is_empty()), "{found:?}");
}

#[track_caller]
fn problem(topic: &str, words: &[&str], change: impl FnOnce(&mut Facts)) {
    one(Level::Problem, topic, words, change);
}

#[track_caller]
fn note(topic: &str, words: &[&str], change: impl FnOnce(&mut Facts)) {
    one(Level::Note, topic, words, change);
}

#[test]
fn where_all_is_well_nothing_is_told_and_every_place_is_named() {
    assert_eq!(told(|_| {}), []);
    let all = findings(&well());
    let text = all.iter().map(Finding::text).collect::<Vec<_>>().join("\n");
    for word in ["/bin/relight", "/r/config/config.toml", "/r/logs", "/r/data/relight.db", "pid 7", "claude", "2.47.0"]
    {
        assert!(text.contains(word), "{word} in {text}");
    }
    // A fresh machine is one where all is well, too.
    let fresh = told(|f| {
        f.host.owner = Owner { held: Ok(false), holder: None, socket: false, answer: Answer::Nobody };
        f.sessions = Ok(vec![]);
        f.dirs.iter_mut().for_each(|dir| dir.found = Ok(None));
        f.settings.exists = false;
        f.database.state = Ok(None);
        f.database.mode = None;
    });
    assert_eq!(fresh, []);
}

#[test]
fn the_host() {
    let free = |answer| Owner { held: Ok(false), holder: None, socket: true, answer };
    problem("host", &["unknown", "no answer"], |f| f.host.owner.held = Err("no answer within 3 s".into()));
    problem("host", &["/r/state/host.sock", "does not hold the lock"], |f| f.host.owner = free(version()));
    note("host", &["pid 7 is relight 0.9.0", "this is 1.0.0", "`relight host restart`"], |f| {
        f.host.owner = owner(Answer::Version("0.9.0".into()));
    });
    problem("host", &["pid 7 cannot be spoken to", "protocol 3"], |f| {
        f.host.owner = owner(Answer::Failed("it speaks protocol 3".into()));
    });
    problem("host", &["pid 7 holds the lock and does not answer", "/r/logs", "kill -9 7"], |f| {
        f.host.owner = owner(Answer::Silent);
    });
    problem("host", &["pid 7 holds the lock and is stopped by a signal", "`kill -CONT 7`"], |f| {
        f.host.owner = owner(Answer::Silent);
        f.host.owner.holder = Some(Holder { pid: 7, alive: true, stopped: true });
    });
    problem("host", &["dead", "kept its lock"], |f| {
        f.host.owner = owner(Answer::Silent);
        f.host.owner.holder = Some(Holder { pid: 7, alive: false, stopped: false });
    });
    problem("host", &["has lost its socket", "makes it again"], |f| {
        f.host.owner = Owner { socket: false, ..owner(Answer::Nobody) };
    });
    problem("host", &["does not listen at its socket"], |f| f.host.owner = owner(Answer::Nobody));
    problem("host", &["could not start: no space", "`relight host run`"], |f| {
        f.host.owner = free(Answer::Nobody);
        f.host.failure = Some("no space".into());
    });
    note("host", &["`relight host stop`", "`relight` starts one"], |f| {
        f.host.owner = free(Answer::Nobody);
        f.host.told_to_stop = true;
    });
}

#[test]
fn sessions() {
    let with = |answer: Answer| {
        move |f: &mut Facts| {
            let another = Session { id: "s2".into(), owner: owner(answer) };
            f.sessions.as_mut().unwrap().push(another);
        }
    };
    note("sessions", &["1 of 2", "s2 (0.9.0)", "host stop --agents"], with(Answer::Version("0.9.0".into())));
    problem("sessions", &["session s2", "does not answer", "kill -9 7"], with(Answer::Silent));
    problem("sessions", &["session s2", "lost its socket"], with(Answer::Nobody));
    problem("sessions", &["s2 (pid 7)", "protocol 3"], with(Answer::Failed("protocol 3".into())));
    problem("sessions", &["session s1", "is stopped", "kill -CONT 7"], |f| {
        let session = &mut f.sessions.as_mut().unwrap()[0];
        session.owner = owner(Answer::Silent);
        session.owner.holder = Some(Holder { pid: 7, alive: true, stopped: true });
    });
    problem("sessions", &["s1", "unknown", "not permitted"], |f| {
        f.sessions.as_mut().unwrap()[0].owner.held = Err("not permitted".into());
    });
    problem("sessions", &["cannot be looked at"], |f| f.sessions = Err("no".into()));
    let ended = |f: &mut Facts| f.sessions.as_mut().unwrap()[0].owner.held = Ok(false);
    assert_eq!(told(ended), [], "an ended session is nothing to tell");
    note("sessions", &["7 of 8", "s6 (0.9.0) and 2 more"], |f| {
        let old = |n| Session { id: format!("s{n}"), owner: owner(Answer::Version("0.9.0".into())) };
        f.sessions.as_mut().unwrap().extend((2..9).map(old));
    });
}

#[test]
fn the_terminal() {
    problem("terminal", &["dumb", "xterm-256color"], |f| f.terminal.term = Some("dumb".into()));
    note("terminal", &["TERM is not set"], |f| f.terminal.term = None);
    note("terminal", &["TERM=odd", "infocmp"], |f| {
        f.terminal.term = Some("odd".into());
        f.terminal.known = false;
    });
    note("terminal", &["xterm-256color", "ncurses"], |f| f.terminal.inner_known = false);
    note("colours", &["rounded to 256", "COLORTERM=truecolor"], |f| f.terminal.colorterm = None);
    note("colours", &["rounded to 16", "ssh"], |f| {
        f.terminal.colorterm = None;
        f.terminal.ssh = true;
        f.terminal.term = Some("xterm".into());
    });
    note("colours", &["NO_COLOR"], |f| f.terminal.no_color = true);
    note("locale", &["LC_ALL=C is not UTF-8", "C.UTF-8"], |f| {
        f.terminal.locale = Some(("LC_ALL".into(), "C".into()));
    });
    note("locale", &["not set"], |f| f.terminal.locale = None);
    let elsewhere = |f: &mut Facts| {
        f.terminal.there = false;
        f.terminal.term = Some("dumb".into());
        f.terminal.colorterm = None;
    };
    assert_eq!(told(elsewhere), [], "a call from a script is no trouble");
    let kitty = |f: &mut Facts| {
        f.terminal.term = Some("xterm-kitty".into());
        f.terminal.colorterm = None;
    };
    assert_eq!(told(kitty), []);
}

#[test]
fn multiplexers() {
    let tmux = |key: &str, copies| Around { name: "tmux".into(), keys: vec![key.into()], copies };
    note("multiplexer", &["inside tmux", "takes Ctrl-B, relight Ctrl-Space"], |f| {
        f.around = vec![tmux("Ctrl-B", Some(true))];
    });
    problem("multiplexer", &["tmux takes relight's prefix Ctrl-Space", "`[keys]`"], |f| {
        f.around = vec![tmux("Ctrl-Space", Some(true))];
    });
    note("multiplexer", &["inside relight"], |f| {
        f.around = vec![Around { name: "relight".into(), keys: vec![], copies: None }];
    });
    let both = told(|f| f.around = vec![tmux("Ctrl-B", Some(false))]);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both[1].topic == "clipboard" && both[1].text().contains("set-clipboard on"), "{both:?}");
}

#[test]
fn a_logout() {
    problem("logout", &["lingering is off for anna", "`loginctl enable-linger`"], |f| f.login.linger = false);
    let old = |kills: Option<bool>| {
        move |f: &mut Facts| {
            f.login.user_manager = false;
            f.login.kills = kills.map(|kills| (kills, "/etc/systemd/logind.conf".into()));
        }
    };
    problem("logout", &["KillUserProcesses=yes", "/etc/systemd/logind.conf", "anna"], old(Some(true)));
    note("logout", &["no file"], old(None));
    assert_eq!(told(old(Some(false))), []);
    let without = |f: &mut Facts| {
        f.login.systemd = false;
        f.login.user_manager = false;
    };
    assert_eq!(told(without), []);
}

#[test]
fn settings_and_directories() {
    problem("settings", &["config.toml:3", "`relight config check`"], |f| {
        f.settings.wrong = Some("/r/config/config.toml:3: `resume.paralel`".into());
    });
    let found = |at: usize, change: fn(&mut Found)| {
        move |f: &mut Facts| change(f.dirs[at].found.as_mut().unwrap().as_mut().unwrap())
    };
    problem("state", &["open to other users (0750)", "`chmod 700 /r/state`"], found(2, |d| d.mode = 0o40_750));
    problem("config", &["written by other users (0770)", "go-w"], found(0, |d| d.mode = 0o40_770));
    assert_eq!(told(found(0, |d| d.mode = 0o40_755)), [], "settings may be read");
    problem("data", &["user with id 0", "chown -R 1000 /r/data"], found(1, |d| d.owner = 0));
    problem(
        "logs",
        &["cannot be written (0500)"],
        found(3, |d| {
            d.mode = 0o40_500;
            d.writable = false;
        }),
    );
    problem("logs", &["no directory"], found(3, |d| d.directory = false));
    problem("state", &["/r/state cannot be looked at"], |f| f.dirs[2].found = Err("no answer within 3 s".into()));
    problem("machine", &["another machine", "RELIGHT_HOME"], |f| f.machine = Err("of another machine".into()));
    note("sockets", &["130 bytes", "107"], |f| f.socket_bytes = 130);
    assert_eq!(told(|f| f.socket_bytes = 107), []);
}

#[test]
fn disks() {
    let with = |change: fn(&mut Space)| move |f: &mut Facts| change(f.disks[0].space.as_mut().unwrap());
    problem("disk", &["network", "NFS", "local disk"], with(|s| s.network = Some("NFS")));
    problem("disk", &["only be read"], with(|s| s.read_only = true));
    problem("disk", &["only 5 MiB are free"], with(|s| s.free_bytes = 5 << 20));
    problem("disk", &["only 3 more files"], with(|s| s.free_files = Some(3)));
    problem("disk", &["cannot be asked", "no answer"], |f| f.disks[0].space = Err("no answer within 3 s".into()));
    note("disk", &["in memory", "reboot"], with(|s| s.memory = true));
    note("disk", &["500 MiB are free"], with(|s| s.free_bytes = 500 << 20));
    assert_eq!(told(with(|s| s.free_files = None)), [], "some count no files");
}

#[test]
fn the_database() {
    let with = |change: fn(&mut DatabaseState)| {
        move |f: &mut Facts| change(f.database.state.as_mut().unwrap().as_mut().unwrap())
    };
    problem("database", &["newer relight", "version 3"], with(|d| d.schema = 3));
    problem("database", &["damaged: page 4", "backups"], with(|d| d.checked = Some("page 4".into())));
    note("database", &["not done in time"], with(|d| d.checked = None));
    assert_eq!(told(with(|d| d.schema = 1)), [], "the next host migrates it");
    problem("database", &["read by other users (0644)", "chmod 600"], |f| f.database.mode = Some(0o100_644));
    let locked = told(|f| f.database.state = Err("it is locked; end that program".into()));
    assert!(locked.len() == 1 && locked[0].level == Level::Problem && locked[0].topic == "database", "{locked:?}");
}

#[test]
fn kernel_and_limits() {
    problem("open files", &["256"], |f| f.kernel.files = (Some(256), Some(256)));
    note("open files", &["1024", "hundred"], |f| f.kernel.files = (Some(1_024), Some(1_024)));
    assert_eq!(told(|f| f.kernel.files = (Some(1_024), None)), []);
    problem("processes", &["not allowed", "Linux 5.3"], |f| f.kernel.pidfd = Err("not allowed".into()));
    note("scheduling", &["autogroup"], |f| f.kernel.autogroup = false);
}

#[test]
fn programs() {
    note("git", &["not on PATH"], |f| f.git = None);
    note("git", &["does not say", "no answer"], |f| f.git = Some(Err("no answer".into())));
    note("agent", &["claude (/bin/claude)", "no answer within 5 s"], |f| {
        f.agents[0].version = Some(Err("no answer within 5 s".into()));
    });
    note("agent", &["cannot take up"], |f| f.agents[0].resumes = false);
    note("agent", &["none is on PATH (claude, codex)", "demo"], |f| {
        f.default_agent = String::new();
        f.agents = vec![agent("claude", false), agent("codex", false)];
    });
    problem("agent", &["codex, your default", "`defaults.agent`"], |f| {
        f.default_agent = "codex".into();
        f.agents.push(agent("codex", false));
    });
    let fewer = |f: &mut Facts| f.agents.push(agent("codex", false));
    assert_eq!(told(fewer), [], "nobody needs every agent");
}
