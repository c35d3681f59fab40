//! Tests: keys in every protocol, pastes, mouse; and what the outer terminal sends, read back.

use proptest::prelude::*;

use crate::wire::input::{Key, KeyCode, KeyKind, Mods, Mouse, MouseKind};

use super::decode::{Decoder, Outer, Reply};
use super::encode;
use super::modes::{InputModes, MouseEncoding, MouseTracking};

const S: u8 = Mods::SHIFT;
const A: u8 = Mods::ALT;
const C: u8 = Mods::CTRL;

fn key(code: KeyCode, mods: u8) -> Key {
    Key { code, mods: Mods(mods), kind: KeyKind::Press }
}

fn typed(code: KeyCode, mods: u8, modes: &InputModes) -> String {
    String::from_utf8(encode::key(&key(code, mods), modes)).unwrap().replace('\x1b', "E")
}

/// Key, then what it sends: as ever, with modifyOtherKeys 1 and 2, with kitty flags 1.
#[rustfmt::skip]
const TABLE: &[(KeyCode, u8, &str, &str, &str, &str)] = &[
    (KeyCode::Char('a'), 0, "a", "a", "a", "a"),
    (KeyCode::Char('a'), S, "A", "A", "A", "A"),
    (KeyCode::Char('A'), 0, "A", "A", "A", "A"),
    (KeyCode::Char('a'), C, "\x01", "\x01", "E[27;5;97~", "E[97;5u"),
    (KeyCode::Char('a'), A, "Ea", "Ea", "E[27;3;97~", "E[97;3u"),
    (KeyCode::Char('a'), A | S, "EA", "EA", "E[27;4;65~", "E[97;4u"),
    (KeyCode::Char('a'), C | A, "E\x01", "E\x01", "E[27;7;97~", "E[97;7u"),
    (KeyCode::Char('a'), C | S, "\x01", "\x01", "E[27;6;65~", "E[97;6u"),
    (KeyCode::Char('c'), C, "\x03", "\x03", "E[27;5;99~", "E[99;5u"),
    (KeyCode::Char('j'), C, "\n", "\n", "E[27;5;106~", "E[106;5u"),
    (KeyCode::Char('z'), C, "\x1a", "\x1a", "E[27;5;122~", "E[122;5u"),
    (KeyCode::Char(' '), C, "\0", "\0", "E[27;5;32~", "E[32;5u"),
    (KeyCode::Char('@'), C, "\0", "\0", "E[27;5;64~", "E[64;5u"),
    (KeyCode::Char('['), C, "E", "E", "E[27;5;91~", "E[91;5u"),
    (KeyCode::Char('\\'), C, "\x1c", "\x1c", "E[27;5;92~", "E[92;5u"),
    (KeyCode::Char(']'), C, "\x1d", "\x1d", "E[27;5;93~", "E[93;5u"),
    (KeyCode::Char('^'), C, "\x1e", "\x1e", "E[27;5;94~", "E[94;5u"),
    (KeyCode::Char('_'), C, "\x1f", "\x1f", "E[27;5;95~", "E[95;5u"),
    (KeyCode::Char('/'), C, "\x1f", "\x1f", "E[27;5;47~", "E[47;5u"),
    (KeyCode::Char(';'), C, ";", "E[27;5;59~", "E[27;5;59~", "E[59;5u"),
    (KeyCode::Char('1'), C, "1", "E[27;5;49~", "E[27;5;49~", "E[49;5u"),
    (KeyCode::Char('é'), 0, "é", "é", "é", "é"),
    (KeyCode::Char('é'), A, "Eé", "Eé", "E[27;3;233~", "E[233;3u"),
    (KeyCode::Enter, 0, "\r", "\r", "\r", "\r"),
    (KeyCode::Enter, S, "\r", "E[27;2;13~", "E[27;2;13~", "E[13;2u"),
    (KeyCode::Enter, C, "\r", "E[27;5;13~", "E[27;5;13~", "E[13;5u"),
    (KeyCode::Enter, A, "E\r", "E[27;3;13~", "E[27;3;13~", "E[13;3u"),
    (KeyCode::Tab, 0, "\t", "\t", "\t", "\t"),
    (KeyCode::BackTab, 0, "E[Z", "E[Z", "E[Z", "E[9;2u"),
    (KeyCode::Tab, S, "E[Z", "E[Z", "E[Z", "E[9;2u"),
    (KeyCode::Tab, C, "\t", "E[27;5;9~", "E[27;5;9~", "E[9;5u"),
    (KeyCode::Tab, A, "E\t", "E[27;3;9~", "E[27;3;9~", "E[9;3u"),
    (KeyCode::Backspace, 0, "\x7f", "\x7f", "\x7f", "\x7f"),
    (KeyCode::Backspace, C, "\x08", "\x08", "E[27;5;127~", "E[127;5u"),
    (KeyCode::Backspace, A, "E\x7f", "E\x7f", "E[27;3;127~", "E[127;3u"),
    (KeyCode::Backspace, A | C, "E\x08", "E\x08", "E[27;7;127~", "E[127;7u"),
    (KeyCode::Esc, 0, "E", "E", "E", "E[27u"),
    (KeyCode::Esc, A, "EE", "E[27;3;27~", "E[27;3;27~", "E[27;3u"),
    (KeyCode::Up, 0, "E[A", "E[A", "E[A", "E[A"),
    (KeyCode::Up, S, "E[1;2A", "E[1;2A", "E[1;2A", "E[1;2A"),
    (KeyCode::Down, A, "E[1;3B", "E[1;3B", "E[1;3B", "E[1;3B"),
    (KeyCode::Right, C, "E[1;5C", "E[1;5C", "E[1;5C", "E[1;5C"),
    (KeyCode::Left, C | S, "E[1;6D", "E[1;6D", "E[1;6D", "E[1;6D"),
    (KeyCode::Home, 0, "E[H", "E[H", "E[H", "E[H"),
    (KeyCode::End, C, "E[1;5F", "E[1;5F", "E[1;5F", "E[1;5F"),
    (KeyCode::Insert, 0, "E[2~", "E[2~", "E[2~", "E[2~"),
    (KeyCode::Delete, 0, "E[3~", "E[3~", "E[3~", "E[3~"),
    (KeyCode::Delete, S, "E[3;2~", "E[3;2~", "E[3;2~", "E[3;2~"),
    (KeyCode::PageUp, 0, "E[5~", "E[5~", "E[5~", "E[5~"),
    (KeyCode::PageUp, C, "E[5;5~", "E[5;5~", "E[5;5~", "E[5;5~"),
    (KeyCode::PageDown, A, "E[6;3~", "E[6;3~", "E[6;3~", "E[6;3~"),
    (KeyCode::F(1), 0, "EOP", "EOP", "EOP", "E[P"),
    (KeyCode::F(2), 0, "EOQ", "EOQ", "EOQ", "E[Q"),
    (KeyCode::F(3), 0, "EOR", "EOR", "EOR", "E[13~"),
    (KeyCode::F(4), 0, "EOS", "EOS", "EOS", "E[S"),
    (KeyCode::F(1), S, "E[1;2P", "E[1;2P", "E[1;2P", "E[1;2P"),
    (KeyCode::F(3), C, "E[1;5R", "E[1;5R", "E[1;5R", "E[13;5~"),
    (KeyCode::F(5), 0, "E[15~", "E[15~", "E[15~", "E[15~"),
    (KeyCode::F(6), 0, "E[17~", "E[17~", "E[17~", "E[17~"),
    (KeyCode::F(10), 0, "E[21~", "E[21~", "E[21~", "E[21~"),
    (KeyCode::F(11), 0, "E[23~", "E[23~", "E[23~", "E[23~"),
    (KeyCode::F(12), C, "E[24;5~", "E[24;5~", "E[24;5~", "E[24;5~"),
    (KeyCode::F(13), 0, "E[1;2P", "E[1;2P", "E[1;2P", "E[57376u"),
    (KeyCode::F(25), 0, "E[1;5P", "E[1;5P", "E[1;5P", "E[57388u"),
    (KeyCode::Other(57404), 0, "5", "5", "5", "E[57404u"),
    (KeyCode::Other(57414), 0, "\r", "\r", "\r", "E[57414u"),
    (KeyCode::Other(57419), 0, "E[A", "E[A", "E[A", "E[57419u"),
    (KeyCode::Other(57441), 0, "", "", "", "E[57441u"),
    (KeyCode::Char('c'), 8, "", "", "", "E[99;9u"),
];

#[test]
fn keys_in_four_protocols() {
    let modes = |modify_other_keys, kitty| InputModes { modify_other_keys, kitty, ..InputModes::default() };
    for (code, mods, legacy, one, two, kitty) in TABLE {
        assert_eq!(typed(*code, *mods, &modes(0, 0)), *legacy, "{code:?} {mods} as ever");
        assert_eq!(typed(*code, *mods, &modes(1, 0)), *one, "{code:?} {mods} modifyOtherKeys 1");
        assert_eq!(typed(*code, *mods, &modes(2, 0)), *two, "{code:?} {mods} modifyOtherKeys 2");
        assert_eq!(typed(*code, *mods, &modes(0, 1)), *kitty, "{code:?} {mods} kitty");
    }
}

#[test]
fn keys_with_other_modes_and_flags() {
    let app = InputModes { app_cursor: true, app_keypad: true, newline: true, ..InputModes::default() };
    assert_eq!(typed(KeyCode::Up, 0, &app), "EOA");
    assert_eq!(typed(KeyCode::Home, 0, &app), "EOH");
    assert_eq!(typed(KeyCode::Up, C, &app), "E[1;5A");
    assert_eq!(typed(KeyCode::Other(57404), 0, &app), "EOu");
    assert_eq!(typed(KeyCode::Other(57414), 0, &app), "EOM");
    assert_eq!(typed(KeyCode::Enter, 0, &app), "\r\n");
    let kitty = |kitty| InputModes { kitty, app_cursor: true, ..InputModes::default() };
    assert_eq!(typed(KeyCode::Up, 0, &kitty(1)), "E[A");
    assert_eq!(typed(KeyCode::Char('a'), 0, &kitty(9)), "E[97u");
    assert_eq!(typed(KeyCode::Char('A'), 0, &kitty(13)), "E[97:65;2u");
    assert_eq!(typed(KeyCode::Char('a'), S, &kitty(25)), "E[97;2;65u");
    assert_eq!(typed(KeyCode::Char('a'), 0, &kitty(25)), "E[97;;97u");
    assert_eq!(typed(KeyCode::Enter, 0, &kitty(9)), "E[13u");
    let release = |code, flags| {
        let key = Key { kind: KeyKind::Release, ..key(code, 0) };
        String::from_utf8(encode::key(&key, &kitty(flags))).unwrap().replace('\x1b', "E")
    };
    assert_eq!(release(KeyCode::Char('a'), 0), "");
    assert_eq!(release(KeyCode::Char('a'), 1), "");
    assert_eq!(release(KeyCode::Char('a'), 3), "E[97;1:3u");
    assert_eq!(release(KeyCode::Enter, 3), "");
    assert_eq!(release(KeyCode::Enter, 11), "E[13;1:3u");
    assert_eq!(release(KeyCode::Up, 3), "E[1;1:3A");
    let repeat = Key { kind: KeyKind::Repeat, ..key(KeyCode::Enter, 0) };
    assert_eq!(encode::key(&repeat, &InputModes::default()), b"\r");
    assert_eq!(encode::text("a\r\nb\u{7}é", &InputModes::default()), "a\rbé".as_bytes());
    assert_eq!(encode::text("ab", &kitty(9)), b"\x1b[97u\x1b[98u");
}

#[test]
fn pastes_mouse_and_focus() {
    let plain = InputModes::default();
    let modes = InputModes { bracketed_paste: true, focus: true, ..plain };
    assert_eq!(encode::paste(b"a\nb\r\nc", &plain), b"a\rb\rc");
    assert_eq!(encode::paste(b"a\nb", &modes), b"\x1b[200~a\nb\x1b[201~");
    assert_eq!(encode::paste(b"x\x1b[20\x1b[201~1~y", &modes), b"\x1b[200~xy\x1b[201~");
    assert_eq!((encode::focus(true, &plain), encode::focus(false, &modes)), (vec![], b"\x1b[O".to_vec()));
    let at = |kind, col, row, mods| Mouse { kind, col, row, mods: Mods(mods) };
    let sgr = |mouse| InputModes { mouse, mouse_encoding: MouseEncoding::Sgr, ..plain };
    let x10 = InputModes { mouse: MouseTracking::Click, ..plain };
    let alt = InputModes { alt_screen: true, alternate_scroll: true, ..plain };
    let table: &[(Mouse, InputModes, &[u8])] = &[
        (at(MouseKind::Down(0), 0, 0, 0), sgr(MouseTracking::Click), b"\x1b[<0;1;1M"),
        (at(MouseKind::Up(2), 9, 4, 0), sgr(MouseTracking::Click), b"\x1b[<2;10;5m"),
        (at(MouseKind::Down(1), 300, 4, C | S), sgr(MouseTracking::Click), b"\x1b[<21;301;5M"),
        (at(MouseKind::Drag(0), 1, 1, 0), sgr(MouseTracking::Click), b""),
        (at(MouseKind::Drag(0), 1, 1, 0), sgr(MouseTracking::Drag), b"\x1b[<32;2;2M"),
        (at(MouseKind::Moved, 1, 1, 0), sgr(MouseTracking::Drag), b""),
        (at(MouseKind::Moved, 1, 1, 0), sgr(MouseTracking::Motion), b"\x1b[<35;2;2M"),
        (at(MouseKind::ScrollUp, 1, 1, A), sgr(MouseTracking::Click), b"\x1b[<72;2;2M"),
        (at(MouseKind::Down(0), 0, 0, 0), x10, b"\x1b[M !!"),
        (at(MouseKind::Up(0), 0, 0, 0), x10, b"\x1b[M#!!"),
        (at(MouseKind::Down(0), 223, 0, 0), x10, b""),
        (at(MouseKind::Down(0), 0, 0, 0), plain, b""),
        (at(MouseKind::ScrollDown, 0, 0, 0), alt, b"\x1b[B\x1b[B\x1b[B"),
        (at(MouseKind::ScrollDown, 0, 0, 0), plain, b""),
    ];
    for (mouse, modes, want) in table {
        assert_eq!(encode::mouse(mouse, modes), *want, "{mouse:?}");
    }
}

fn decode(bytes: &[u8]) -> Vec<Outer> {
    let mut decoder = Decoder::new();
    let mut out = decoder.feed(bytes);
    out.extend(decoder.flush());
    out
}

#[test]
fn the_outer_terminal_is_read() {
    let k = |code, mods| Outer::Key(key(code, mods));
    let kind = |code, kind| Outer::Key(Key { kind, ..key(code, 0) });
    let mouse = |kind, col, row| Outer::Mouse(Mouse { kind, col, row, mods: Mods(0) });
    let table: &[(&str, Vec<Outer>)] = &[
        ("a", vec![k(KeyCode::Char('a'), 0)]),
        ("é", vec![k(KeyCode::Char('é'), 0)]),
        ("hello", vec![Outer::Text("hello".to_owned())]),
        ("\x02c", vec![k(KeyCode::Char('b'), C), k(KeyCode::Char('c'), 0)]),
        ("\r", vec![k(KeyCode::Enter, 0)]),
        ("\x7f\t\0", vec![k(KeyCode::Backspace, 0), k(KeyCode::Tab, 0), k(KeyCode::Char(' '), C)]),
        ("E", vec![k(KeyCode::Esc, 0)]),
        ("EE", vec![k(KeyCode::Esc, 0), k(KeyCode::Esc, 0)]),
        ("Ea", vec![k(KeyCode::Char('a'), A)]),
        ("E\r", vec![k(KeyCode::Enter, A)]),
        ("E\x7f", vec![k(KeyCode::Backspace, A)]),
        ("E\x01", vec![k(KeyCode::Char('a'), A | C)]),
        ("E[", vec![k(KeyCode::Char('['), A)]),
        ("E]", vec![k(KeyCode::Char(']'), A)]),
        ("EO", vec![k(KeyCode::Char('O'), A)]),
        ("E[A", vec![k(KeyCode::Up, 0)]),
        ("EOA", vec![k(KeyCode::Up, 0)]),
        ("EE[A", vec![k(KeyCode::Up, A)]),
        ("E[1;5C", vec![k(KeyCode::Right, C)]),
        ("E[Z", vec![k(KeyCode::BackTab, 0)]),
        ("EOP", vec![k(KeyCode::F(1), 0)]),
        ("E[P", vec![k(KeyCode::F(1), 0)]),
        ("E[11~", vec![k(KeyCode::F(1), 0)]),
        ("E[14~E[15~E[17~E[24~", [4, 5, 6, 12].map(|n| k(KeyCode::F(n), 0)).to_vec()),
        ("E[1;2R", vec![k(KeyCode::F(3), S)]),
        ("E[[C", vec![k(KeyCode::F(3), 0)]),
        ("E[1~E[4~E[3;2~", vec![k(KeyCode::Home, 0), k(KeyCode::End, 0), k(KeyCode::Delete, S)]),
        ("EOM", vec![k(KeyCode::Other(57414), 0)]),
        ("EOu", vec![k(KeyCode::Other(57404), 0)]),
        ("E[13;2u", vec![k(KeyCode::Enter, S)]),
        ("E[27;2;13~", vec![k(KeyCode::Enter, S)]),
        ("E[13;3u", vec![k(KeyCode::Enter, A)]),
        ("E[9;2u", vec![k(KeyCode::BackTab, 0)]),
        ("E[97;2u", vec![k(KeyCode::Char('a'), S)]),
        ("E[97:65;2u", vec![k(KeyCode::Char('a'), S)]),
        ("E[43:49;4u", vec![k(KeyCode::Char('1'), A)]),
        ("E[110:78;4u", vec![k(KeyCode::Char('n'), S | A)]),
        ("E[45:95;8u", vec![k(KeyCode::Char('-'), S | A | C)]),
        ("E[45:95;6u", vec![k(KeyCode::Char('-'), S | C)]),
        ("E[27;6;65~", vec![k(KeyCode::Char('a'), S | C)]),
        ("E[99;133u", vec![k(KeyCode::Char('c'), C)]),
        ("E[97;65u", vec![k(KeyCode::Char('a'), 0)]),
        ("E[13;1:1uE[13;1:3u", vec![k(KeyCode::Enter, 0), kind(KeyCode::Enter, KeyKind::Release)]),
        ("E[1;1:2A", vec![kind(KeyCode::Up, KeyKind::Repeat)]),
        ("E[57376u", vec![k(KeyCode::F(13), 0)]),
        ("E[0;;229:228u", vec![Outer::Text("åä".to_owned())]),
        ("E[<0;3;4M", vec![mouse(MouseKind::Down(0), 2, 3)]),
        ("E[<0;3;4m", vec![mouse(MouseKind::Up(0), 2, 3)]),
        ("E[<35;1;1M", vec![mouse(MouseKind::Moved, 0, 0)]),
        ("E[<32;1;1M", vec![mouse(MouseKind::Drag(0), 0, 0)]),
        ("E[<65;1;1M", vec![mouse(MouseKind::ScrollDown, 0, 0)]),
        ("E[M !!x", vec![mouse(MouseKind::Down(0), 0, 0), k(KeyCode::Char('x'), 0)]),
        ("E[IE[O", vec![Outer::Focus(true), Outer::Focus(false)]),
        ("E[?62;22c", vec![Outer::Reply(Reply::PrimaryAttributes(vec![62, 22]))]),
        ("E[>1;10;0c", vec![Outer::Reply(Reply::SecondaryAttributes(vec![1, 10, 0]))]),
        ("E[?5u", vec![Outer::Reply(Reply::KittyFlags(5))]),
        ("E[?2026;2$y", vec![Outer::Reply(Reply::Mode { mode: 2026, state: 2 })]),
        ("E[12;40R", vec![Outer::Reply(Reply::CursorPosition { row: 12, col: 40 })]),
        ("E]11;rgb:0/0/0\x07", vec![Outer::Reply(Reply::Osc(b"11;rgb:0/0/0".to_vec()))]),
        ("E]11;rgb:0/0/0E\\x", vec![Outer::Reply(Reply::Osc(b"11;rgb:0/0/0".to_vec())), k(KeyCode::Char('x'), 0)]),
        ("EP>|kitty(1)E\\", vec![Outer::Reply(Reply::Dcs(b">|kitty(1)".to_vec()))]),
        ("E_Gi=1;OKE\\", vec![Outer::Reply(Reply::Other(b"\x1b_Gi=1;OK\x1b\\".to_vec()))]),
        (
            "E[200~x\nyE[201~z",
            vec![Outer::PasteStart, Outer::PasteChunk(b"x\ny".to_vec()), Outer::PasteEnd, k(KeyCode::Char('z'), 0)],
        ),
        ("E[1;", vec![]),
        ("E]11;rgb:", vec![]),
        ("\u{85}", vec![]),
    ];
    for (input, want) in table {
        assert_eq!(&decode(input.replace('E', "\x1b").as_bytes()), want, "{input:?}");
    }
}

/// Replies and mouse reports that come in pieces, with pauses between, leak nothing into the keys.
#[test]
fn split_replies_never_become_keys() {
    let quiet = |out: &[Outer]| {
        out.iter().all(|o| matches!(o, Outer::Reply(_) | Outer::Mouse(_)) || *o == Outer::Key(key(KeyCode::Esc, 0)))
    };
    for whole in ["E]11;rgb:1212/1313/1414E\\", "E[<35;10;10M", "E[?62;22;52c", "EP>|xterm(390)E\\", "E[?2026;2$y"] {
        let bytes = whole.replace('E', "\x1b").into_bytes();
        for cut in 1..bytes.len() {
            let mut decoder = Decoder::new();
            let mut out = decoder.feed(&bytes[..cut]);
            // A pause after the first byte makes an Escape key of it, which cannot be known better.
            if cut > 2 {
                out.extend(decoder.flush());
                out.extend(decoder.flush());
            }
            out.extend(decoder.feed(&bytes[cut..]));
            assert!(quiet(&out) && out.len() == 1, "{whole} cut at {cut}: {out:?}");
            let mut decoder = Decoder::new();
            let mut out = decoder.feed(&bytes[..1]);
            out.extend(decoder.flush());
            out.extend(decoder.feed(&bytes[1..]));
            assert!(quiet(&out), "{whole} after a pause: {out:?}");
        }
    }
    // ESC and a letter in two reads are two keys.
    let mut decoder = Decoder::new();
    assert!(decoder.feed(b"\x1b").is_empty() && decoder.pending());
    assert_eq!(decoder.feed(b"a"), [KeyCode::Esc, KeyCode::Char('a')].map(|code| Outer::Key(key(code, 0))));
    assert!(!decoder.pending());
}

/// A reply that never ends gives the keyboard back.
#[test]
fn a_reply_without_end_is_given_up() {
    let mut decoder = Decoder::new();
    decoder.feed(b"\x1b]11;rgb:");
    for _ in 0..100 {
        assert_eq!(decoder.flush(), []);
    }
    assert_eq!(decoder.feed(b"x"), [Outer::Key(key(KeyCode::Char('x'), 0))]);
    decoder.feed(b"\x1b]52;c;");
    decoder.feed(&vec![b'A'; 300_000]);
    assert_eq!(decoder.feed(b"\x07y"), [Outer::Key(key(KeyCode::Char('y'), 0))]);
}

fn any_code() -> impl Strategy<Value = KeyCode> {
    use KeyCode::*;
    prop_oneof![
        prop::sample::select(vec!['a', 'z', '1', ';', ' ', '/', 'é', 'ß', '\u{4f60}']).prop_map(Char),
        (1_u8..=35).prop_map(F),
        prop::sample::select(vec![
            Enter, Tab, Backspace, Esc, Up, Down, Left, Right, Home, End, PageUp, PageDown, Insert, Delete
        ]),
        (57358_u32..57364).prop_map(Other),
        (57399_u32..57455).prop_map(Other),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// With all keys as sequences, every key reads back as itself.
    #[test]
    fn kitty_keys_read_back(code in any_code(), mods in 0_u8..64, kind in 0_usize..3, extra in 0_u8..4) {
        let kind = [KeyKind::Press, KeyKind::Repeat, KeyKind::Release][kind];
        let sent = Key { code, mods: Mods(mods), kind };
        let bytes = encode::key(&sent, &InputModes { kitty: 0b1011 | extra << 2, ..InputModes::default() });
        let mut want = sent;
        if code == KeyCode::Tab && sent.mods.has(S) {
            want = Key { code: KeyCode::BackTab, mods: Mods(mods & !S), kind };
        }
        prop_assert_eq!(Decoder::new().feed(&bytes), vec![Outer::Key(want)], "{}", String::from_utf8_lossy(&bytes));
    }

    /// A paste is the same bytes, however it is cut and whatever it holds.
    #[test]
    fn pastes_read_back(body in prop::collection::vec(prop::sample::select(b"a\x1b[201~\n\xff\x00".to_vec()), 0..60), cut in 0_usize..80) {
        let bytes = encode::paste(&body, &InputModes { bracketed_paste: true, ..InputModes::default() });
        let inside = &bytes[6..bytes.len() - 6];
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let mut decoder = Decoder::new();
        let mut out = decoder.feed(first);
        out.extend(decoder.feed(second));
        prop_assert_eq!(out.first(), Some(&Outer::PasteStart));
        prop_assert_eq!(out.last(), Some(&Outer::PasteEnd));
        let got: Vec<u8> = out.iter().filter_map(|o| if let Outer::PasteChunk(b) = o { Some(b.clone()) } else { None }).flatten().collect();
        prop_assert_eq!(got, inside);
    }

    /// Cuts change only how text is grouped.
    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0_usize..300) {
        let mut decoder = Decoder::new();
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        decoder.feed(first);
        decoder.flush();
        decoder.feed(second);
        decoder.flush();
    }
}
