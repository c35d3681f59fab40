//! Tests: every query is answered once and in order, signals are read, hostile strings cost nothing, a death is tidied up.

use crate::domain::launch::Size;

use super::event::{BlockedOn, ModelEvent, ProgramState, PromptMark};
use super::frames::Framer;
use super::model::Model;
use super::modes::{InputModes, MouseEncoding, MouseTracking};

fn model() -> Model {
    Model::new(Size { cols: 20, rows: 4 }, 50)
}

fn replies(model: &mut Model, bytes: &[u8]) -> String {
    let reply = |event| if let ModelEvent::Reply(bytes) = event { Some(bytes) } else { None };
    let bytes: Vec<u8> = model.feed(bytes).into_iter().filter_map(reply).flatten().collect();
    String::from_utf8(bytes).unwrap().replace('\x1b', "E").replace('\x07', "B")
}

/// Queries, and what comes back from a fresh terminal of 20 x 4.
const QUERIES: &[(&str, &str)] = &[
    ("E[c", "E[?62;22;52c"),
    ("E[0c", "E[?62;22;52c"),
    ("E[>c", "E[>1;100;0c"),
    ("E[5n", "E[0n"),
    ("E[6n", "E[1;1R"),
    ("abE[6n", "E[1;3R"),
    ("E[?6n", "E[?1;3;1R"),
    ("E[?996n", "E[?997;1n"),
    ("E[?2026$p", "E[?2026;2$y"),
    ("E[?2026hE[?2026$pE[?2026l", "E[?2026;1$y"),
    ("E[?2004$p", "E[?2004;2$y"),
    ("E[?2004hE[?2004$p", "E[?2004;1$y"),
    ("E[?1004$p", "E[?1004;2$y"),
    ("E[?1007$p", "E[?1007;1$y"),
    ("E[?1016$p", "E[?1016;0$y"),
    ("E[?2027$p", "E[?2027;0$y"),
    ("E[?2031$p", "E[?2031;2$y"),
    ("E[?2031hE[?2031$p", "E[?2031;1$y"),
    ("E[4$p", "E[4;2$y"),
    ("E[>q", "EP>|relight VERSIONE\\"),
    ("E[>0q", "EP>|relight VERSIONE\\"),
    ("E]10;?B", "E]10;rgb:d8d8/d8d8/d8d8B"),
    ("E]11;?E\\", "E]11;rgb:1212/1313/1414E\\"),
    ("E]12;?B", "E]12;rgb:d8d8/d8d8/d8d8B"),
    ("E]4;0;?B", "E]4;0;rgb:1d1d/1f1f/2121B"),
    ("E]4;1;?;15;?B", "E]4;1;rgb:cccc/5555/5555BE]4;15;rgb:ffff/ffff/ffffB"),
    ("E]11;#102030BE]11;?B", "E]11;rgb:1010/2020/3030B"),
    ("E]11;rgb:f/80/8000BE]11;?B", "E]11;rgb:ffff/8080/7f7fB"),
    ("E]111BE]11;?B", "E]11;rgb:1212/1313/1414B"),
    ("E[?u", "E[?0u"),
    ("E[>5uE[?u", "E[?5u"),
    ("E[>1uE[?uE[<uE[?uE[<9uE[?u", "E[?1uE[?5uE[?0u"),
    ("E[=3uE[=4;2uE[?uE[=1;3uE[?uE[<u", "E[?7uE[?6u"),
    ("E[>4;2mE[?4m", "E[>4;2m"),
    ("E[14tE[16tE[18t", "E[4;80;200tE[6;20;10tE[8;4;20t"),
    ("E]7501;?E\\", "E]7501;?E\\"),
    ("E]7501;?B", "E]7501;?B"),
    ("EP+q544eE\\", "EP1+r544e=787465726D2D323536636F6C6F72E\\"),
    ("EP+q787878;4d73E\\", "EP0+r787878E\\EP1+r4d73=5C455D35323B257031"),
    ("EP$q qE\\", "EP1$r0 qE\\"),
    ("EP$qmE\\", "EP0$rE\\"),
    ("E]99;i=a1:p=?;E\\", "E]99;i=a1:p=?;p=title,bodyE\\"),
    // Nobody answers these.
    ("E]52;c;?B", ""),
    ("E_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAAE\\", ""),
    ("E]1337;CapabilitiesE\\E]66;w=2;xB", ""),
    ("E[1cE[uE[7nE[21tE[>4;?m", ""),
];

fn bytes(text: &str) -> Vec<u8> {
    text.replace('E', "\x1b").replace('B', "\x07").into_bytes()
}

#[test]
fn every_query_is_answered_as_it_should_be() {
    let mut model = model();
    for (query, want) in QUERIES {
        let want = want.replace("VERSION", env!("CARGO_PKG_VERSION"));
        let got = replies(&mut model, &bytes(query));
        assert!(got == want || (got.starts_with(&want) && want.ends_with("257031")), "{query}: {got}, not {want}");
    }
    // The payload of a swallowed text-size sequence is not printed.
    assert_eq!(model.lines(0, false), ["ab"]);
}

#[test]
fn queries_in_one_write_are_answered_once_in_order_and_in_one_reply() {
    let burst =
        "E]10;?B E]11;?B E]12;?B E]4;0;?B E[c E[>c E[>q E[6n E[?u E[?996n E[14t E[16t E[18t EP+q4d73E\\ E[?2026$p";
    let queries: Vec<&str> = burst.split(' ').collect();
    let mut alone = model();
    let mut want = String::new();
    for query in &queries {
        want += &replies(&mut alone, &bytes(query));
    }
    let whole = bytes(&queries.concat());
    let events = model().feed(&whole);
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(replies(&mut model(), &whole), want);
    for cut in 0..whole.len() {
        let mut model = model();
        let got = replies(&mut model, &whole[..cut]) + &replies(&mut model, &whole[cut..]);
        assert_eq!(got, want, "cut at {cut}");
    }
    // Inside a synchronized update as well, and the cursor is where the program is.
    assert_eq!(replies(&mut model(), b"\x1b[?2026habc\x1b[6n\x1b[?2026l"), "E[1;4R");
}

#[test]
fn signals_are_read() {
    use ModelEvent as E;
    let status = |state, kind, app: &str, msg: Option<&str>, progress| E::ProgramStatus {
        state,
        kind,
        app: Some(app.to_owned()),
        id: None,
        title: None,
        msg: msg.map(str::to_owned),
        progress,
    };
    let note = |title: &str, text: &str| E::Notification { title: title.to_owned(), text: text.to_owned() };
    let table: &[(&str, Vec<E>)] = &[
        ("E]0;a;b\u{9c}; cB", vec![E::Title("a;b; c".to_owned())]),
        ("E]2;  \u{202e}xB", vec![E::Title("x".to_owned())]),
        ("E[22tE]2;yBE[23t", vec![E::Title("y".to_owned()), E::Title("x".to_owned())]),
        ("B", vec![E::Bell]),
        ("BB", vec![E::Bell]),
        ("E]9;done; reallyB", vec![note("", "done; really")]),
        ("E]9;4;1;42B", vec![E::Busy(true), E::Progress(Some(42))]),
        ("E]9;4;3B", vec![E::Busy(true), E::Progress(None)]),
        ("E]9;4;0;B", vec![E::Busy(false), E::Progress(None)]),
        ("E]777;notify;T;b;cE\\", vec![note("T", "b;c")]),
        ("E]99;i=1:d=0;HelloE\\E]99;i=1:p=body;WorldE\\", vec![note("Hello", "World")]),
        ("E]99;e=1;SGk=E\\", vec![note("Hi", "")]),
        ("E]7;file://box/tmp/a%20bB", vec![E::Cwd("/tmp/a b".to_owned())]),
        ("E]7;kitty-nonsenseB", vec![]),
        ("E]133;AB", vec![E::PromptMark(PromptMark::Prompt)]),
        ("E]133;D;3B", vec![E::PromptMark(PromptMark::Done(Some(3)))]),
        ("E]52;c;aGVsbG8B", vec![E::Clipboard(b"hello".to_vec())]),
        ("E]52;c;B", vec![]),
        ("E]7501;state=idle:app=codexE\\", vec![status(ProgramState::Idle, None, "codex", None, None)]),
        (
            "E]7501;state=blocked:app=x:kind=permission:msg=aGkgdGhlcmU=:progress=7B",
            vec![status(ProgramState::Blocked, Some(BlockedOn::Permission), "x", Some("hi there"), Some(7))],
        ),
        // A message with a control character or bad base64 is left out, a state that does not exist drops the report.
        (
            "E]7501;state=working:app=x:msg=G1t:progress=101B",
            vec![status(ProgramState::Working, None, "x", None, None)],
        ),
        ("E]7501;state=working:app=x:msg=%%B", vec![status(ProgramState::Working, None, "x", None, None)]),
        ("E]7501;state=tired:app=xB", vec![]),
    ];
    let mut model = model();
    for (input, want) in table {
        assert_eq!(&model.feed(&bytes_of(input)), want, "{input}");
    }
}

/// As `bytes`, where only an E in front of a sequence is ESC and only a B at its end BEL.
fn bytes_of(text: &str) -> Vec<u8> {
    let text = text.replace("E]", "\x1b]").replace("E[", "\x1b[").replace("E\\", "\x1b\\");
    let text = if text == "B" || text == "BB" { text.replace('B', "\x07") } else { text };
    match text.strip_suffix('B') {
        Some(text) => text.replace("BE", "\x07\x1b").replace("B\x1b", "\x07\x1b") + "\x07",
        None => text.replace("B\x1b", "\x07\x1b"),
    }
    .into_bytes()
}

#[test]
fn endless_strings_cost_nothing_and_end() {
    let mut model = model();
    let block = vec![b'x'; 1 << 20];
    for start in ["\x1b]0;", "\x1b]52;c;", "\x1bP+q", "\x1b_G", "\x1b[1;"] {
        model.feed(start.as_bytes());
        for _ in 0..4 {
            assert_eq!(model.feed(&block), []);
        }
        model.feed(b"\x18\x1b[2J\x1b[Hok");
        assert!(model.lines(0, false)[0].ends_with("ok"), "after {start:?}: {:?}", model.lines(0, false));
    }
    // The end of a string that was too long is an end as well, and an ESC starts something new.
    model.feed(b"\x1b]0;");
    model.feed(&block);
    assert_eq!(model.feed(b"\x1b\\\x1b]0;short\x07"), [ModelEvent::Title("short".to_owned())]);
    model.feed(b"\x1b]0;never ended\x1b[2J\x1b[Hfine");
    assert_eq!(model.lines(0, false), ["fine"]);
}

#[test]
fn one_cell_cannot_fill_memory_and_a_repeat_cannot_stall() {
    let mut model = model();
    model.feed("a".as_bytes());
    let marks = "\u{301}".repeat(10_000);
    model.feed(marks.as_bytes());
    for _ in 0..100 {
        model.feed("\x1b[D\x1b[C\u{301}\x1b[65535b".as_bytes());
    }
    assert!(model.lines(0, false)[0].chars().count() <= 17);
    let repeats = b"x\x1b[65535b".repeat(200);
    model.feed(&repeats);
    assert_eq!(model.lines(0, false)[2], "x".repeat(20));
}

#[test]
fn deep_stacks_are_bounded() {
    let mut model = model();
    for _ in 0..5_000 {
        model.feed(b"\x1b[>1u\x1b[22t\x1b]0;a\x07\x1b]0;b\x07");
    }
    assert_eq!(model.input_modes().kitty, 1);
    model.feed(b"\x1b[<16u");
    assert_eq!(model.input_modes().kitty, 0);
}

#[test]
fn a_death_is_tidied_up() {
    let mut model = model();
    model.feed(
        b"before\r\n\x1b[?1049h\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b[?25l\x1b[>5u\x1b[>4;2m",
    );
    model.feed(
        b"\x1b[?1h\x1b=\x1b[2;3r\x1b[4h\x1b[20h\x1b[?6h\x1b[?7l\x1b[1;31m\x1b(0\x1b[?2026h\x1b[4 qlqk\x1b]0;cut of",
    );
    let modes = model.input_modes();
    assert_eq!((modes.mouse, modes.mouse_encoding), (MouseTracking::Motion, MouseEncoding::Sgr));
    assert!(
        modes.alt_screen && modes.app_cursor && modes.app_keypad && modes.kitty == 5 && modes.modify_other_keys == 2
    );
    model.reset_after_death();
    assert_eq!(model.input_modes(), InputModes { alternate_scroll: true, ..InputModes::default() });
    assert_eq!((model.cursor().row, model.cursor().visible, model.cursor().shape), (1, true, 0));
    assert_eq!(model.sync_deadline(), None);
    model.feed(b"q\r\n1\r\n2\r\n3\r\n4");
    assert_eq!(model.lines(9, true), ["before", "q", "1", "2", "3", "4"]);
}

#[test]
fn a_synchronized_update_holds_frames_and_nothing_else() {
    let (mut model, mut framer) = (model(), Framer::new());
    framer.update(&mut model);
    model.feed(b"\x1b[?2026hhalf");
    let hold = model.sync_deadline().expect("it is open");
    assert!(!framer.update(&mut model));
    assert_eq!(framer.frame_since(framer.state()), None);
    // The end stops the reading, so that the picture is taken as it was meant.
    let fed = model.feed_part(b" whole\x1b[?2026l\x1b[?2026hnext");
    assert_eq!(fed.used, 14);
    assert!(framer.update(&mut model));
    model.feed(b"\x1b[?2026hnext");
    assert_ne!(model.sync_deadline().map(|hold| hold.number), Some(hold.number));
    model.end_sync();
    assert!(framer.update(&mut model));
}

#[test]
fn lines_that_leave_a_region_at_the_top_are_history() {
    let mut model = Model::new(Size { cols: 20, rows: 24 }, 200);
    model.feed(b"\x1b[1;20r\x1b[20;1H");
    for n in 0..100 {
        model.feed(format!("line {n}\r\n").as_bytes());
    }
    model.feed(b"\x1b[r\x1b[1;0r");
    assert!(model.history_len() >= 80, "{}", model.history_len());
    assert_eq!(model.lines(200, false)[20..23], ["line 1", "line 2", "line 3"].map(str::to_owned));
}

#[test]
fn text_dumps_are_as_people_read_them() {
    let mut model = model();
    model.feed("\u{4f60}\u{597d} e\u{301}  \r\n\x1b[1;31mred\x1b[m x\r\n\x1b[44m  \x1b[m\r\n".as_bytes());
    assert_eq!(model.lines(0, false), ["\u{4f60}\u{597d} e\u{301}", "red x"]);
    assert_eq!(model.lines(0, true), ["\u{4f60}\u{597d} e\u{301}", "\x1b[1;31mred\x1b[0m x", "\x1b[44m  \x1b[49m"]);
    // A wide character that did not fit leaves a column free that is no blank of the text.
    model.feed("\x1b[2J\x1b[H0123456789012345678\u{4f60}".as_bytes());
    assert_eq!(model.lines(0, false), ["0123456789012345678", "\u{4f60}"]);
}
