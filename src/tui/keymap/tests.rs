//! The default keys, the person's over them, and what is refused.

use std::collections::HashSet;

use super::*;

fn with(text: &str) -> Result<Keymap, String> {
    let keys: Keys = toml::from_str(text).unwrap();
    Keymap::with(&keys).map_err(|mistake| mistake.to_string())
}

#[track_caller]
fn refuses(text: &str, words: &[&str]) {
    let error = with(text).unwrap_err();
    for word in words {
        assert!(error.contains(word), "`{error}` should say `{word}`");
    }
}

#[test]
fn the_defaults_give_every_command_a_key_and_no_key_twice() {
    let keymap = with("").unwrap();
    assert_eq!(keymap, Keymap::builtin());
    assert_eq!(keymap.prefix(), DEFAULT_PREFIX);
    assert_eq!(keymap.bindings().len(), TABLE.len());
    let mut seen = HashSet::new();
    for binding in keymap.bindings() {
        assert!(!binding.keys.is_empty(), "{} has no key", binding.entry.name);
        for chord in &binding.keys {
            assert!(seen.insert(*chord), "{chord}");
        }
    }
    let tables: Tables = toml::from_str(DEFAULTS).unwrap();
    for name in tables.after_prefix.keys().chain(tables.direct.keys()) {
        assert!(Command::named(name).is_some(), "assets/keymap.toml names `{name}`");
    }
}

#[test]
fn a_key_is_looked_up_as_it_arrives() {
    let keymap = Keymap::builtin();
    let after = |chord: Chord| keymap.after_prefix(&chord.to_key());
    assert_eq!(after(Chord::char('c')), Some(Command::New));
    assert_eq!(after(Chord::char('C')), None);
    assert_eq!(after(Chord::char('"')), Some(Command::SplitDown));
    assert_eq!(after(Chord::key(KeyCode::BackTab)), Some(Command::Previous));
    assert_eq!(keymap.direct(&Chord::alt('7').to_key()), Some(Command::Jump(7)));
    assert_eq!(keymap.direct(&Chord::char('7').to_key()), None);
}

#[test]
fn a_persons_keys_take_the_place_of_a_commands_own() {
    let keymap = with(
        "prefix = \"ctrl-b\"\n[after_prefix]\nsplit-right = [\"|\", \"V\"]\nquit = []\n[direct]\nnext = [\"alt-n\"]",
    );
    let keymap = keymap.unwrap();
    let after = |chord: Chord| keymap.after_prefix(&chord.to_key());
    assert_eq!(
        (after(Chord::char('|')), after(Chord::char('V'))),
        (Some(Command::SplitRight), Some(Command::SplitRight))
    );
    assert_eq!((after(Chord::char('v')), after(Chord::char('q'))), (None, None));
    assert_eq!(keymap.direct(&Chord::alt('n').to_key()), Some(Command::Next));
    assert_eq!(keymap.direct(&Chord::alt('1').to_key()), Some(Command::Jump(1)), "the others keep theirs");
    assert_eq!(keymap.spoken(Command::Help).as_deref(), Some("Ctrl-B ?"));
    assert_eq!(keymap.spoken(Command::Quit), None);
    let swapped = with("[after_prefix]\nnew = [\"n\"]\nnext = [\"c\"]").unwrap();
    assert_eq!(swapped.after_prefix(&Chord::char('n').to_key()), Some(Command::New));
}

#[test]
fn a_command_that_does_not_exist_is_refused_with_the_nearest_name() {
    refuses(
        "[after_prefix]\nsplit-rigth = [\"v\"]",
        &["`keys.after_prefix.split-rigth`", "did you mean `split-right`?"],
    );
    refuses("[direct]\nxyzzy = [\"f5\"]", &["`keys.direct.xyzzy`", "the commands are: new, rename,"]);
}

#[test]
fn a_text_that_is_no_key_is_refused() {
    refuses("[after_prefix]\nzoom = [\"hyper-z\"]", &["`keys.after_prefix.zoom`", "`hyper-z` is not a key", "`f12`"]);
    refuses("prefix = \"\"", &["`keys.prefix`", "is not a key"]);
}

#[test]
fn a_key_of_two_commands_is_refused_with_both_names() {
    let named = ["`keys.after_prefix.zoom`", "c is a key of `new` by default", "keys.after_prefix.new", "`[]`"];
    refuses("[after_prefix]\nzoom = [\"c\"]", &named);
    // The default's row stands below the person's in the table.
    let named = ["`keys.after_prefix.new`", "z is a key of `zoom` by default", "keys.after_prefix.zoom"];
    refuses("[after_prefix]\nnew = [\"z\"]", &named);
    let named = ["`keys.after_prefix.zoom`", "F5 is a key of `new` too"];
    refuses("[after_prefix]\nzoom = [\"f5\"]\nnew = [\"f5\"]", &named);
    refuses("[direct]\nzoom = [\"alt-3\"]", &["`keys.direct.zoom`", "Alt-3 is a key of `tab-3` by default"]);
    refuses("[after_prefix]\nzoom = [\"ctrl-i\"]", &["Tab is a key of `next`"]);
    assert!(with("[after_prefix]\nzoom = [\"c\"]\nnew = []").is_ok());
    assert!(with("[after_prefix]\nzoom = [\"z\", \"z\"]").is_ok());
}

#[test]
fn the_prefix_is_no_other_key() {
    refuses("[after_prefix]\nlast = [\"ctrl-space\"]", &["`keys.after_prefix.last`", "Ctrl-Space is the prefix"]);
    refuses("[direct]\nlast = [\"ctrl-@\"]", &["`keys.direct.last`", "Ctrl-Space is the prefix"]);
    refuses("prefix = \"ctrl-l\"", &["`keys.prefix`", "Ctrl-L is a key of `redraw` by default"]);
    refuses("prefix = \"alt-1\"", &["`keys.prefix`", "Alt-1 is a key of `tab-1` by default"]);
    refuses("[after_prefix]\nlast = [\"esc\"]", &["Esc takes the prefix back"]);
}

#[test]
fn what_programs_in_a_terminal_need_stays_theirs() {
    let needed = [
        "a",
        "?",
        "space",
        "shift-a",
        "enter",
        "shift-enter",
        "alt-enter",
        "tab",
        "shift-tab",
        "esc",
        "backspace",
        "up",
        "left",
        "home",
        "pagedown",
        "delete",
        "ctrl-c",
        "ctrl-d",
        "ctrl-z",
        "ctrl-j",
        "ctrl-h",
        "ctrl-i",
        "ctrl-m",
        "ctrl-[",
    ];
    for key in needed {
        refuses(&format!("[direct]\nlast = [\"{key}\"]"), &["`keys.direct.last`", "need", "keys.after_prefix"]);
    }
    for key in ["f1", "alt-a", "alt-left", "ctrl-left", "shift-up", "ctrl-t", "ctrl-alt-c"] {
        assert!(with(&format!("[direct]\nlast = [\"{key}\"]")).is_ok(), "{key}");
    }
    for key in ["a", "enter", "ctrl-c", "ctrl-d", "ctrl-h", "ctrl-i", "ctrl-[", "up"] {
        refuses(&format!("prefix = \"{key}\""), &["`keys.prefix`", "need"]);
    }
    for key in ["ctrl-a", "ctrl-b", "ctrl-z", "ctrl-j", "f12", "alt-space", "ctrl-]"] {
        assert!(with(&format!("prefix = \"{key}\"")).is_ok(), "{key}");
    }
}
