//! What is around this terminal.

use crate::cli::doctor::facts::{Around, Terminal};
use crate::cli::doctor::finding::Finding;

/// Terminals with 24-bit colours that need not say so.
const DIRECT: &[&str] = &["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"];

/// Kind, colours and locale.
pub fn terminal(terminal: &Terminal) -> [Finding; 3] {
    [kind(terminal), colours(terminal), locale(terminal)]
}

fn kind(terminal: &Terminal) -> Finding {
    const TOPIC: &str = "terminal";
    let missing =
        "programs in relight's terminals get TERM=xterm-256color, and this machine has no terminfo entry for it";
    let found = match terminal.term.as_deref() {
        Some("dumb") if terminal.there => {
            let todo = "set TERM to what your terminal is (most are `xterm-256color`)";
            Finding::problem(TOPIC, "TERM=dumb: the screen cannot be shown in it", todo)
        }
        _ if !terminal.there => Finding::ok(TOPIC, "this call is not on one: what it can show was not looked at"),
        None => Finding::note(TOPIC, "TERM is not set: only basic colours are used")
            .todo("set it to what your terminal is (most are `xterm-256color`)"),
        Some(term) if !terminal.known => Finding::note(
            TOPIC,
            format!("TERM={term} has no terminfo entry here: relight needs none, other programs do"),
        )
        .todo("copy it from the machine where the terminal runs: `infocmp -x | ssh HERE tic -x -`"),
        Some(term) => Finding::ok(TOPIC, format!("TERM={term}")),
    };
    if found.todo.is_none() && !terminal.inner_known {
        return Finding::note(TOPIC, missing).todo("install it (Debian: ncurses-base, Alpine: ncurses-terminfo-base)");
    }
    found
}

fn colours(terminal: &Terminal) -> Finding {
    const TOPIC: &str = "colours";
    let term = terminal.term.as_deref().unwrap_or_default();
    let says = terminal.colorterm.as_deref().unwrap_or_default();
    if terminal.no_color {
        return Finding::note(TOPIC, "NO_COLOR is set: relight's own bars have none; agents decide for themselves");
    }
    if says.contains("truecolor") || says.contains("24bit") || term.contains("direct") || DIRECT.contains(&term) {
        return Finding::ok(TOPIC, "24 bits");
    }
    if !terminal.there {
        return Finding::ok(TOPIC, "not looked at: this call is on no terminal");
    }
    let fewer = if term.contains("256color") { "256" } else { "16" };
    let lost = if terminal.ssh { " (ssh does not hand it on by itself)" } else { "" };
    Finding::note(TOPIC, format!("agents' colours are rounded to {fewer}: COLORTERM does not say `truecolor`{lost}"))
        .todo("if your terminal has them, set COLORTERM=truecolor")
}

fn locale(terminal: &Terminal) -> Finding {
    const TOPIC: &str = "locale";
    let todo = "set LANG to one that has it, for example `C.UTF-8`; agents inherit it";
    match &terminal.locale {
        Some((name, value)) => {
            let small = value.to_ascii_lowercase();
            if small.contains("utf-8") || small.contains("utf8") {
                return Finding::ok(TOPIC, format!("{name}={value}"));
            }
            Finding::note(TOPIC, format!("{name}={value} is not UTF-8: relight draws in ASCII")).todo(todo)
        }
        None => Finding::note(TOPIC, "LC_ALL, LC_CTYPE and LANG are not set: relight draws in ASCII").todo(todo),
    }
}

/// Multiplexers around this call.
pub fn around(around: &[Around], prefix: &str) -> Finding {
    const TOPIC: &str = "multiplexer";
    let Some(first) = around.first() else {
        return Finding::ok(TOPIC, "this is not inside tmux, screen, zellij or relight");
    };
    let names = around.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(" inside ");
    if let Some(same) = around.iter().find(|one| one.keys.iter().any(|key| key.eq_ignore_ascii_case(prefix))) {
        let todo = format!("press {prefix} twice for relight, or set another `prefix` under `[keys]`");
        return Finding::problem(TOPIC, format!("{} takes relight's prefix {prefix} for itself", same.name), todo);
    }
    let keys = match first.keys.join(", ") {
        keys if keys.is_empty() => String::new(),
        keys => format!(": it takes {keys}, relight {prefix}"),
    };
    if around.iter().any(|one| one.name == "relight") {
        return Finding::note(TOPIC, format!("this is inside {names}: a screen in a screen shows itself"))
            .todo("attach from a terminal outside; `relight ls` and the like work here");
    }
    Finding::note(TOPIC, format!("this is inside {names}{keys}"))
}

/// What is copied, and where it goes.
pub fn clipboard(around: &[Around], terminal: &Terminal) -> Finding {
    const TOPIC: &str = "clipboard";
    if let Some(one) = around.iter().find(|one| one.copies == Some(false)) {
        return Finding::note(TOPIC, format!("{} does not hand on what programs in it copy", one.name))
            .todo("`tmux set -s set-clipboard on`, also in your tmux.conf");
    }
    let tools = match terminal.clipboards.join(", ") {
        tools if tools.is_empty() => "no clipboard program is on PATH (agents paste pictures by one)".to_owned(),
        tools => format!("on PATH: {tools}"),
    };
    Finding::ok(TOPIC, format!("text is copied by OSC 52, if your terminal allows it; {tools}"))
}
