//! German and Czech keyboards type every default key: without AltGr, and without a key that waits for a letter.

use super::Keymap;
use crate::tui::chord::Chord;
use crate::wire::input::KeyCode;

/// What a keyboard types with and without Shift; dead keys, and what only AltGr gives, are not in it. The key between Shift
/// and Y is left out: many keyboards lack it.
struct Layout {
    name: &'static str,
    plain: [&'static str; 4],
    shifted: [&'static str; 4],
}

/// DIN 2137 T1. Dead: `^` and `´` with `` ` ``.
const GERMAN: Layout = Layout {
    name: "German",
    plain: ["1234567890ß", "qwertzuiopü+", "asdfghjklöä#", "yxcvbnm,.-"],
    shifted: ["!\"§$%&/()=?", "QWERTZUIOPÜ*", "ASDFGHJKLÖÄ'", "YXCVBNM;:_"],
};

/// ČSN 36 9050, QWERTZ. Dead: the keys with `°`, with `´` and `ˇ`, and with `¨`.
const CZECH: Layout = Layout {
    name: "Czech",
    plain: [";+ěščřžýáíé=", "qwertzuiopú)", "asdfghjklů§", "yxcvbnm,.-"],
    shifted: ["1234567890%", "QWERTZUIOP/(", "ASDFGHJKL\"!", "YXCVBNM?:_"],
};

/// Keys for the hands of who comes from tmux, each beside one that every keyboard has.
const HABITS: [(&str, &str); 1] = [("kill", "&")];

impl Layout {
    fn types(&self, c: char) -> bool {
        self.plain.iter().chain(&self.shifted).any(|row| row.contains(c))
    }

    /// With Ctrl, terminals know letters and the space bar everywhere; the rest depends on terminal and layout.
    fn has(&self, chord: Chord) -> bool {
        match chord.code {
            KeyCode::Char(' ') => true,
            KeyCode::Char(c) if chord.ctrl => c.is_ascii_alphabetic() && self.types(c),
            KeyCode::Char(c) => self.types(c),
            _ => true,
        }
    }
}

#[test]
fn german_and_czech_keyboards_type_every_default_key() {
    let keymap = Keymap::builtin();
    for layout in [GERMAN, CZECH] {
        assert!(layout.has(keymap.prefix()));
        for binding in keymap.bindings() {
            let name = binding.entry.name;
            for (i, chord) in binding.keys.iter().chain(&binding.direct).enumerate() {
                let habit = i > 0 && HABITS.contains(&(name, chord.to_string().as_str()));
                assert!(habit || layout.has(*chord), "{}: {chord} of {name}", layout.name);
            }
        }
    }
}

#[test]
fn the_layouts_are_what_those_keyboards_are() {
    for c in "@[]{}\\|~€^`".chars() {
        assert!(!GERMAN.types(c) && !CZECH.types(c), "{c} needs AltGr or is dead on both");
    }
    for c in "&#$*<>".chars() {
        assert!(!CZECH.types(c), "{c} needs AltGr on a Czech keyboard");
    }
}
