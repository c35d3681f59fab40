//! Reads the settings file.

use std::fs;
use std::io;
use std::path::Path;

use super::dirs::Dirs;
use super::error::Error;
use super::profiles::Profiles;
use super::settings::{Config, Raw};
use super::text;

/// Reads `config.toml`; a file that is not there gives the defaults.
///
/// # Errors
/// What is wrong, with file, line, key and value.
pub fn load(dirs: &Dirs) -> Result<Config, Error> {
    let path = dirs.config_file();
    match fs::read_to_string(&path) {
        Ok(text) => parse(&path, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Config::default()),
        Err(source) => Err(Error::File { action: "read", path, source }),
    }
}

/// Checks `text`, the contents of `file`.
///
/// # Errors
/// As [`load`].
pub fn parse(file: &Path, text: &str) -> Result<Config, Error> {
    let raw: Raw = text::read(file, text)?;
    let table: toml::Table = text::read(file, text)?;
    let own = table.get("agents").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    Ok(Config::new(raw, Profiles::with(own)?))
}

/// A mistake that the settings file alone does not show, at the entry `path` of it: what `message` says, with file, line
/// and value.
#[must_use]
pub fn mistake(dirs: &Dirs, path: &[String], message: String) -> Error {
    let file = dirs.config_file();
    let text = fs::read_to_string(&file).unwrap_or_default();
    text::at(&file, &text, path, message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::domain::rules::{AllWord, ResumeStates};

    use super::*;

    const EXAMPLE: &str = include_str!("../../config.example.toml");

    fn check(text: &str) -> Result<Config, String> {
        parse(Path::new("/c/config.toml"), text).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn refuses(text: &str, words: &[&str]) {
        let error = check(text).unwrap_err();
        for word in words {
            assert!(error.contains(word), "`{error}` should say `{word}`");
        }
    }

    fn keys(table: &toml::Table, above: &str, out: &mut BTreeSet<String>) {
        for (name, value) in table {
            let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
            match value {
                toml::Value::Table(inner) => keys(inner, &path, out),
                _ => _ = out.insert(path),
            }
        }
    }

    #[test]
    fn the_example_names_every_key_with_its_default() {
        assert_eq!(check(EXAMPLE).unwrap(), Config::default());
        let (mut written, mut known) = (BTreeSet::new(), BTreeSet::new());
        keys(&EXAMPLE.parse().unwrap(), "", &mut written);
        keys(&toml::Table::try_from(Raw::default()).unwrap(), "", &mut known);
        assert_eq!(written, known);
        for key in known {
            let name = key.rsplit('.').next().unwrap();
            let lines: Vec<&str> = EXAMPLE.lines().collect();
            let at = lines.iter().position(|line| line.starts_with(&format!("{name} = "))).unwrap();
            assert!(lines[at - 1].starts_with("# "), "`{key}` is not explained");
        }
    }

    #[test]
    fn an_empty_file_is_the_defaults() {
        assert_eq!(check("").unwrap(), Config::default());
        assert!(Config::default().profiles.get("demo").is_some());
    }

    #[test]
    fn values_are_taken() {
        let config = check("[resume]\nstates = \"all\"\nparallel = 2\n[keys]\nprefix = \"ctrl-a\"").unwrap();
        assert_eq!(config.resume.states, ResumeStates::All(AllWord::All));
        assert_eq!((config.resume.parallel, config.keys.prefix.as_str()), (2, "ctrl-a"));
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest_known_one() {
        refuses("\n[resume]\nparalel = 2", &["/c/config.toml:3:", "`resume.paralel`", "did you mean `parallel`?"]);
        refuses("[resum]\nauto = 1", &["/c/config.toml:1:", "`resum`", "`resume`"]);
        refuses("[agents.x.launch]\nargz = []", &[":2:", "agents.x.launch.argz", "`args`"]);
        refuses("zzzzzz = 1", &["unknown key `zzzzzz`; the keys here are: resume,"]);
    }

    #[test]
    fn a_bad_value_names_key_value_and_range() {
        refuses("[resume]\nparallel = 0", &[":2:", "`resume.parallel = 0`", "1 to 64"]);
        refuses("[resume]\nparallel = \"x\"", &["`resume.parallel = \"x\"`", "1 to 64"]);
        refuses("[resume]\nauto = \"often\"", &["resume.auto = \"often\"", "always", "on_view", "never"]);
        refuses("[resume]\nstates = [\n\"RUNNING\",\n\"ERROR\"]", &["resume.states", "WAITING_FOR_INPUT"]);
        refuses("[keys.direct]\nzoom = \"f5\"", &["keys.direct.zoom", "sequence"]);
        refuses("[ui]\nmouse = 1", &["ui.mouse = 1", "true, \"program\" or false"]);
        refuses("[executors.x]\nruntime = \"vm\"", &["executors.x.runtime", "docker"]);
        refuses("[defaults]\nshell = \"zsh\"", &["defaults.shell", "absolute path"]);
    }

    #[test]
    fn text_that_is_no_toml_names_its_line() {
        refuses("[resume]\nauto = always", &["/c/config.toml:2:"]);
        refuses("[resume", &["/c/config.toml:1:", "config example"]);
        refuses("a = 1\na = 2", &[":2:", "duplicate key"]);
    }
}
