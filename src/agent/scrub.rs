//! The environment of a program in our terminal: without what belongs to the terminal or multiplexer around relight.

/// Variables that the outer terminal, multiplexer or session set for their own children. A program that saw them would
/// talk to the wrong terminal, or refuse to start inside itself.
const OUTER: &[&str] = &[
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOW",
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "TERMCAP",
    "TERMINFO",
    "COLORTERM",
    "LC_TERMINAL",
    "LC_TERMINAL_VERSION",
    "VTE_VERSION",
    "WINDOWID",
    "COLUMNS",
    "LINES",
    "TILIX_ID",
    "TERMINATOR_UUID",
    "WT_SESSION",
    "WT_PROFILE_ID",
    "VSCODE_INJECTION",
    "OLDPWD",
    "PWD",
    "_",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "RELIGHT_TERMINAL",
    "RELIGHT_SESSION",
    "RELIGHT_GENERATION",
    "RELIGHT_EXECUTOR",
];

/// The same by their beginning.
const OUTER_PREFIXES: &[&str] = &[
    "KITTY_",
    "WEZTERM_",
    "ZELLIJ",
    "ALACRITTY_",
    "GHOSTTY_",
    "KONSOLE_",
    "GNOME_TERMINAL_",
    "ITERM_",
    "TERM_FEATURES",
    "VSCODE_SHELL_",
    "HERDR_",
];

/// Whether a variable belongs to what is around relight, and so is not handed on.
#[must_use]
pub fn is_outer(name: &str) -> bool {
    OUTER.contains(&name) || OUTER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Sets `name`, replacing what stood there.
pub fn set(env: &mut Vec<(String, String)>, name: &str, value: impl Into<String>) {
    env.retain(|(other, _)| other != name);
    env.push((name.to_owned(), value.into()));
}

/// `env` without outer variables, of a name given twice the last one, and with what our terminals are:
/// `TERM=xterm-256color`, `COLORTERM=truecolor`.
#[must_use]
pub fn scrub(env: &[(String, String)]) -> Vec<(String, String)> {
    let mut kept: Vec<(String, String)> = Vec::with_capacity(env.len() + 2);
    for (name, value) in env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') || is_outer(name) {
            continue;
        }
        set(&mut kept, name, value.clone());
    }
    set(&mut kept, "TERM", "xterm-256color");
    set(&mut kept, "COLORTERM", "truecolor");
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_variables_go_and_the_persons_own_stay() {
        let env: Vec<(String, String)> = [
            ("PATH", "/bin"),
            ("TMUX", "/tmp/tmux-0/default,1,0"),
            ("TMUX_PANE", "%1"),
            ("TMUX_TMPDIR", "/run/me"),
            ("KITTY_WINDOW_ID", "1"),
            ("ZELLIJ", "0"),
            ("ZELLIJ_SESSION_NAME", "x"),
            ("TERM", "tmux-256color"),
            ("COLUMNS", "80"),
            ("RELIGHT_TERMINAL", "outer"),
            ("RELIGHT_HOME", "/x"),
            ("PATH", "/usr/bin"),
            ("A=B", "no"),
        ]
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .into();
        let got = scrub(&env);
        let names: Vec<_> = got.iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(
            names,
            ["TMUX_TMPDIR=/run/me", "RELIGHT_HOME=/x", "PATH=/usr/bin", "TERM=xterm-256color", "COLORTERM=truecolor"]
        );
    }
}
