//! Tests: what a view refuses, and what it draws.

use bytes::Bytes;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use crate::domain::launch::Size;
use crate::wire::frame::{Frame, FrameHead, OverlayKind};

use super::frames::Framer;
use super::model::Model;
use super::view::{NeedKeyframe, View};

fn shown(size: Size, output: &str) -> View {
    let (mut model, mut framer, mut view) = (Model::new(size, 10), Framer::new(), View::new(size));
    model.feed(output.as_bytes());
    framer.update(&mut model);
    view.apply(&framer.frame_since(0).unwrap()).unwrap();
    view
}

#[test]
fn a_frame_that_does_not_follow_is_refused_and_a_keyframe_mends_it() {
    let size = Size { cols: 10, rows: 3 };
    let (mut model, mut framer, mut view) = (Model::new(size, 10), Framer::new(), View::new(size));
    let mut frames = Vec::new();
    for text in ["one", " two", "\r\nthree"] {
        model.feed(text.as_bytes());
        assert!(framer.update(&mut model));
        frames.push(framer.frame_since(framer.state() - 1).unwrap());
        assert!(!framer.update(&mut model), "nothing changed since");
    }
    assert_eq!(frames.iter().map(|f| (f.head.base, f.head.state)).collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(frames[1].head.sent, [0]);
    view.apply(&frames[0]).unwrap();
    assert_eq!(view.apply(&frames[2]), Err(NeedKeyframe { have: 1 }));
    assert_eq!(view.text(0, 0, 10), "one");
    view.apply(&framer.frame_since(0).unwrap()).unwrap();
    assert_eq!((view.text(0, 0, 10), view.text(1, 0, 3)), ("one two".to_owned(), "thr".to_owned()));
    // Another size and another screen are keyframes, as is a state from nowhere.
    model.resize(Size { cols: 12, rows: 3 });
    framer.update(&mut model);
    assert_eq!(framer.frame_since(3).unwrap().head.base, 0);
    model.feed(b"\x1b[?1049h");
    framer.update(&mut model);
    assert_eq!(framer.frame_since(4).unwrap().head.base, 0);
    assert_eq!(framer.frame_since(99).unwrap().head.base, 0);
    view.apply(&framer.frame_since(3).unwrap()).unwrap();
    assert_eq!((view.size().cols, view.modes().alt, view.text(0, 0, 12)), (12, true, String::new()));
}

#[test]
fn a_fault_in_the_parser_is_caught() {
    let mut view = View::new(Size { cols: 80, rows: 24 });
    let vt = Bytes::from_static("\x1b[24;80H\u{26a0}\u{fe0f}\x1b[23;80Hx".as_bytes());
    let frame = Frame { head: FrameHead { state: 5, cols: 80, rows: 24, ..FrameHead::default() }, vt };
    assert_eq!(view.apply(&frame), Err(NeedKeyframe { have: 0 }));
    assert_eq!((view.state(), view.text(0, 0, 80)), (0, String::new()));
    // Sizes that no terminal has are clamped, and ranges outside are dropped.
    let frame = Frame { head: FrameHead { state: 6, sent: vec![0, 999], ..FrameHead::default() }, vt: Bytes::new() };
    view.apply(&frame).unwrap();
    assert_eq!(view.size(), Size { cols: 2, rows: 1 });
}

#[test]
fn it_draws_styles_wide_characters_and_what_lies_over_them() {
    let view = shown(
        Size { cols: 12, rows: 3 },
        "\x1b[41m\u{4f60}\x1b[m\x1b[1;2mbd\x1b[m\x1b[9ms\x1b[m\x1b[4:3;58;2;1;2;3mu\x1b[m\u{26a0}\u{fe0f}!\x1b[8mpw\x1b[m\r\n\
         \x1b]8;;http://a.example/\x1b\\link\x1b]8;;\x1b\\ no",
    );
    let mut buffer = Buffer::filled(Rect::new(0, 0, 20, 5), ratatui::buffer::Cell::new("#"));
    view.render(Rect::new(2, 1, 12, 3), &mut buffer);
    let at = |col: u16| &buffer[(2 + col, 1)];
    assert_eq!((at(0).symbol(), at(0).bg, at(1).bg), ("\u{4f60}", Color::Indexed(1), Color::Indexed(1)));
    assert_eq!((at(2).symbol(), at(2).modifier), ("b", Modifier::BOLD | Modifier::DIM));
    assert_eq!((at(4).symbol(), at(4).modifier), ("s", Modifier::CROSSED_OUT));
    assert_eq!((at(5).modifier, at(5).underline_color), (Modifier::UNDERLINED, Color::Rgb(1, 2, 3)));
    assert_eq!((at(6).symbol(), at(7).symbol()), ("\u{26a0}", "!"));
    assert_eq!((at(8).symbol(), at(9).symbol()), (" ", " "));
    assert_eq!((view.link_at(1, 3), view.link_at(1, 5)), (Some("http://a.example/"), None));
    assert!(view.overlay(0).iter().any(|range| range.what == OverlayKind::Underline(3) && range.from == 5));
    assert_eq!((buffer[(1, 1)].symbol(), buffer[(14, 1)].symbol(), buffer[(2, 4)].symbol()), ("#", "#", "#"));
    // Cut through a wide character, outside of the buffer, and without room.
    let mut small = Buffer::empty(Rect::new(0, 0, 4, 2));
    view.render(Rect::new(3, 0, 50, 50), &mut small);
    assert_eq!(small[(3, 0)].symbol(), " ");
    view.render(Rect::new(9, 9, 5, 5), &mut small);
    view.render(Rect::new(0, 0, 0, 0), &mut small);
}
