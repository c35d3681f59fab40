//! What is written of the default keys elsewhere equals them: docs/keys.md, which is made here, and the example settings.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::{Bindings, DEFAULTS, Keymap, Keys, Tables};

const EXAMPLE: &str = include_str!("../../../config.example.toml");

/// The whole of docs/keys.md.
fn document() -> String {
    let keymap = Keymap::builtin();
    let prefix = keymap.prefix();
    let mut out = format!(
        "# Keys

Everything that you type goes to the agent, except what follows the prefix, {prefix}. Press the prefix and let go, then press the
key: what works at that moment is shown at once. The prefix pressed twice goes to the terminal itself, Esc takes it back. The keys
under *alone* need no prefix. On a German or Czech keyboard every key that is named first needs neither AltGr nor a dead key.
"
    );
    let mut group = None;
    for row in keymap.rows() {
        if group.replace(row.entry.group) != Some(row.entry.group) {
            let heading = row.entry.group.heading();
            write!(out, "\n## {heading}\n\n| key | alone | what it does | name in settings |\n|---|---|---|---|\n")
                .unwrap();
        }
        let code = |keys: &[String]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" ");
        let mut names: Vec<&str> = row.commands.iter().map(|command| command.entry().name).collect();
        if names.len() > 4 {
            names = vec![names[0], "to", names[names.len() - 1]];
        }
        let names = names.iter().map(|name| if *name == "to" { (*name).into() } else { format!("`{name}`") });
        let names = names.collect::<Vec<_>>().join(" ");
        writeln!(out, "| {} | {} | {} | {names} |", code(&row.keys), code(&row.direct), row.help).unwrap();
    }
    out.push_str(
        r#"
## In the panels

The git and files panels take these keys alone while they have the focus. Whatever else is typed there goes nowhere.

| key | what it does |
|---|---|
| `Up` `Down` `k` `j` `PageUp` `PageDown` `Home` `End` | Choose a row, or scroll a text |
| `Enter` `Right` | Open it: the diff of a change, a directory, a file |
| `Left` | Go back from a text, or to the directory above |
| `Right` `Left` | In a text that is wider than the panel: scroll sideways |
| `Esc` | Go back; from a list to the agent's pane |
| `R` | Read it again; while the agent works and when its turn ends that happens by itself |
| `l` | git: show the newest commits, or the changes |
| `/` | files: show only the names that contain what is typed |
| `q` | Close the panel |

## Your own

In `config.toml` (`relight config path` says where it is):

```toml
[keys]
prefix = "ctrl-b"

[keys.after_prefix]
split-right = ["|", "v"]   # in place of the command's default keys; the first is the one that is shown
sidebar = []               # no key

[keys.direct]
next = ["alt-n"]           # without the prefix
```

A key is a character or one of `space`, `enter`, `tab`, `backspace`, `esc`, `up`, `down`, `left`, `right`, `home`, `end`, `pageup`,
`pagedown`, `insert`, `delete`, `f1` to `f35`, with `ctrl-`, `alt-` and `shift-` before it. `relight config check` refuses a key that
means two things, and direct keys that every program in a terminal needs: plain characters, Enter, Tab, Esc, Backspace, arrows, Ctrl-C,
Ctrl-D and the like. A terminal does not tell Ctrl-I from Tab, Ctrl-M from Enter and Ctrl-[ from Esc.
"#,
    );
    out
}

#[test]
fn the_document_of_the_keys_is_made_from_the_defaults() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/keys.md");
    let made = document();
    // The variable that also writes the pictures of the screen anew.
    if std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always" || how == "force") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == made,
        "docs/keys.md is not what the keys are (- written, + made); \
         `INSTA_UPDATE=always cargo test --lib keymap::written` writes it anew:\n{}",
        difference(&written, &made)
    );
}

/// The lines that only one of two texts has.
fn difference(old: &str, new: &str) -> String {
    let side = |a: &str, b: &str, mark: &str| {
        let others: Vec<&str> = b.lines().collect();
        let only = a.lines().filter(|line| !others.contains(line));
        only.flat_map(|line| [mark, " ", line, "\n"]).collect::<String>()
    };
    side(old, new, "-") + &side(new, old, "+")
}

#[test]
fn a_difference_names_the_lines_of_both() {
    assert_eq!(difference("a\nb\n", "a\nc\n"), "- b\n+ c\n");
}

#[test]
fn the_example_settings_name_every_default_key() {
    let mut tables: BTreeMap<String, Bindings> = BTreeMap::new();
    let mut table = None;
    for line in EXAMPLE.lines() {
        if let Some(heading) = line.strip_prefix('[') {
            table = heading.strip_prefix("keys.").map(|name| name.trim_end_matches(']').to_owned());
        } else if let (Some(table), Some(binding)) = (&table, line.strip_prefix("# ")) {
            let binding: Bindings = toml::from_str(binding).unwrap_or_else(|error| panic!("{line}: {error}"));
            tables.entry(table.clone()).or_default().extend(binding);
        }
    }
    let defaults: Tables = toml::from_str(DEFAULTS).unwrap();
    assert_eq!(tables.remove("after_prefix").unwrap_or_default(), defaults.after_prefix);
    assert_eq!(tables.remove("direct").unwrap_or_default(), defaults.direct);
    assert!(tables.is_empty(), "{tables:?}");
    let all = Keys { after_prefix: defaults.after_prefix, direct: defaults.direct, ..Keys::default() };
    assert_eq!(Keymap::with(&all), Ok(Keymap::builtin()), "written out they are the same keys");
}
