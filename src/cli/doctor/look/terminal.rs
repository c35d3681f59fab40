//! What is around this call: its terminal, and multiplexers.

use std::env;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::doctor::facts::{Around, Terminal};
use crate::cli::local;
use crate::proc::ask;
use crate::tui::chord::Chord;

/// A tmux that is well answers at once.
const TMUX_DEADLINE: Duration = Duration::from_secs(2);
/// Where terminfo entries lie besides what the environment names.
const TERMINFO: [&str; 4] = ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo"];
/// What programs in relight's terminals get.
const INNER: &str = "xterm-256color";
/// Programs that read and write the clipboard.
const CLIPBOARDS: [&str; 4] = ["wl-copy", "xclip", "xsel", "pbcopy"];

/// A variable that is set and not empty, as text.
fn var(name: &str) -> Option<String> {
    env::var_os(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().into_owned())
}

/// The terminal. `prefix` is relight's.
pub fn terminal(prefix: String) -> Terminal {
    let term = var("TERM");
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    Terminal {
        there: io::stdin().is_terminal() && io::stdout().is_terminal(),
        known: term.as_deref().is_some_and(known),
        inner_known: known(INNER),
        term,
        colorterm: var("COLORTERM"),
        no_color: var("NO_COLOR").is_some(),
        locale: locale.into_iter().find_map(|name| Some((name.to_owned(), var(name)?))),
        ssh: var("SSH_CONNECTION").is_some(),
        prefix,
        clipboards: CLIPBOARDS.into_iter().filter(|name| local::which(name).is_some()).map(String::from).collect(),
    }
}

/// Whether there is a terminfo entry.
fn known(term: &str) -> bool {
    let Some(first) = term.bytes().next().filter(|_| !term.contains('/')) else { return false };
    let mut places: Vec<PathBuf> = env::var_os("TERMINFO").map(PathBuf::from).into_iter().collect();
    places.extend(env::var_os("HOME").map(|home| Path::new(&home).join(".terminfo")));
    places.extend(env::var_os("TERMINFO_DIRS").iter().flat_map(env::split_paths));
    places.extend(TERMINFO.map(PathBuf::from));
    let entry = |place: &PathBuf| {
        let (letter, number) = (char::from(first).to_string(), format!("{first:02x}"));
        [letter, number].iter().any(|dir| place.join(dir).join(term).exists())
    };
    places.iter().filter(|place| !place.as_os_str().is_empty()).any(entry)
}

/// The multiplexers, the innermost first as far as that can be known.
pub async fn around() -> Vec<Around> {
    let mut out = Vec::new();
    if var("TMUX").is_some() {
        out.push(tmux().await);
    }
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    if var("STY").is_some() {
        // What a .screenrc makes of it, screen tells nobody.
        out.push(Around { name: "screen".into(), keys: keys(&["Ctrl-A"]), copies: None });
    }
    if var("ZELLIJ").is_some() {
        let taken = ["Ctrl-P", "Ctrl-T", "Ctrl-N", "Ctrl-S", "Ctrl-O", "Ctrl-G", "Ctrl-H", "Ctrl-Q"];
        out.push(Around { name: "zellij".into(), keys: keys(&taken), copies: None });
    }
    if var("RELIGHT_TERMINAL").is_some() {
        out.push(Around { name: "relight".into(), keys: Vec::new(), copies: None });
    }
    out
}

async fn tmux() -> Around {
    let mut around = Around { name: "tmux".into(), keys: Vec::new(), copies: None };
    let Some(tmux) = local::which("tmux") else { return around };
    let option = |scope: &'static str, name: &'static str| {
        let tmux = tmux.clone();
        async move { ask::first_line(&tmux, &["show-options", scope, name], TMUX_DEADLINE).await.ok() }
    };
    let (first, second, clipboard) =
        tokio::join!(option("-gv", "prefix"), option("-gv", "prefix2"), option("-sv", "set-clipboard"));
    around.keys =
        [first, second].into_iter().flatten().filter(|key| key != "None").map(|key| in_our_words(&key)).collect();
    // `external`, the default, is for what tmux itself copies.
    around.copies = clipboard.map(|setting| setting == "on");
    around
}

/// A key in tmux's words (`C-b`, `M-Space`) in ours.
fn in_our_words(key: &str) -> String {
    let ours = key.replace("C-", "ctrl-").replace("M-", "alt-").replace("S-", "shift-");
    ours.parse::<Chord>().map_or_else(|_| key.to_owned(), |chord| chord.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_tmux_are_said_in_our_words() {
        for (theirs, ours) in [("C-b", "Ctrl-B"), ("C-Space", "Ctrl-Space"), ("M-a", "Alt-A"), ("`", "`")] {
            assert!(in_our_words(theirs).eq_ignore_ascii_case(ours), "{theirs}: {}", in_our_words(theirs));
        }
        let default: Chord = crate::tui::keymap::DEFAULT_PREFIX;
        assert_eq!(in_our_words("C-Space"), default.to_string());
    }

    #[test]
    fn a_terminal_without_an_entry_is_unknown() {
        assert!(!known("no-such-terminal") && !known("") && !known("../x"));
    }
}
