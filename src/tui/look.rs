//! What the outer terminal can show, read from the environment.

use super::painter::Depth;

/// What it can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Only ASCII in what relight itself draws.
    pub ascii: bool,
    /// Colours in what relight itself draws.
    pub colour: bool,
    /// Colours that programs may use.
    pub depth: Depth,
    /// The cursor has several shapes. Old consoles print what asks for one.
    pub shapes: bool,
}

impl Look {
    /// Reads the environment by `var`. NO_COLOR counts when it is not empty; the locale is the first of LC_ALL, LC_CTYPE
    /// and LANG that is set.
    #[must_use]
    pub fn read(var: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| set(name)).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        let utf8 = locale.contains("utf-8") || locale.contains("utf8");
        let truecolor = set("COLORTERM").is_some_and(|v| v.contains("truecolor") || v.contains("24bit"))
            || term.contains("direct")
            || ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"].contains(&term.as_str());
        let depth = if truecolor {
            Depth::True
        } else if term.contains("256color") {
            Depth::Indexed
        } else {
            Depth::Basic
        };
        let plain = term.starts_with("vt1") || term.starts_with("vt2");
        Self {
            ascii: !utf8 || term == "linux",
            colour: set("NO_COLOR").is_none() && !plain,
            depth,
            shapes: !plain && term != "linux",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_what_can_be_shown() {
        let look = |vars: &'static [(&str, &str)]| {
            Look::read(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
        };
        let full = look(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LANG", "de_DE.UTF-8")]);
        assert_eq!(full, Look { ascii: false, colour: true, depth: Depth::True, shapes: true });
        let inner = look(&[("TERM", "screen-256color"), ("LC_ALL", "C"), ("LANG", "C.UTF-8"), ("NO_COLOR", "1")]);
        assert_eq!(inner, Look { ascii: true, colour: false, depth: Depth::Indexed, shapes: true });
        let console = look(&[("TERM", "linux"), ("LANG", "C.UTF-8"), ("NO_COLOR", "")]);
        assert_eq!(console, Look { ascii: true, colour: true, depth: Depth::Basic, shapes: false });
    }
}
