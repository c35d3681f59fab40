//! What clicks, drags and the wheel do.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::update;
use crate::config::settings::MouseUse;
use crate::domain::words::{Activity, SessionState};
use crate::screen::decode::Outer;
use crate::screen::frames::Framer;
use crate::screen::model::Model;
use crate::tui::chord::Chord;
use crate::tui::desk::Shows;
use crate::tui::msg::{Call, Effect, Msg};
use crate::tui::reports::{Reports, reports};
use crate::tui::samples::{after_prefix, failed, id, line, listed, press, take_status};
use crate::tui::state::{Mode, State};
use crate::tui::view::draw;
use crate::wire::host::SessionLine;
use crate::wire::input::{KeyCode, Mods, Mouse, MouseKind, StreamInput};

fn lines() -> Vec<SessionLine> {
    ["api", "web", "docs"].iter().zip(1..).map(|(name, at)| line(name, Activity::Ready, "", at)).collect()
}

/// Draws, as before every click of a person who sees something; gives the rows.
fn drawn(state: &mut State) -> Vec<String> {
    let mut buf = Buffer::empty(Rect::new(0, 0, state.size.0, state.size.1));
    let (_, spots) = draw(state, &mut buf);
    update(state, Msg::Drawn(spots));
    let row = |y| (0..buf.area.width).map(|x| buf.cell((x, y)).map_or(" ", |cell| cell.symbol())).collect();
    (0..buf.area.height).map(row).collect()
}

fn act(state: &mut State, kind: MouseKind, col: u16, row: u16) -> Vec<Effect> {
    drawn(state);
    update(state, Msg::Outer(Outer::Mouse(Mouse { kind, col, row, mods: Mods(0) })))
}

fn click(state: &mut State, col: u16, row: u16) -> Vec<Effect> {
    let mut effects = act(state, MouseKind::Down(0), col, row);
    effects.extend(act(state, MouseKind::Up(0), col, row));
    effects
}

/// Clicks on the first cell of a text that is shown once.
fn click_on(state: &mut State, text: &str) -> Vec<Effect> {
    let rows = drawn(state);
    let found: Vec<(usize, usize)> =
        rows.iter().enumerate().filter_map(|(y, row)| Some((row.find(text)?, y))).collect();
    let [(byte, y)] = found[..] else { panic!("`{text}` is at {found:?}\n{}", rows.join("\n")) };
    let x = rows[y][..byte].chars().count();
    click(state, u16::try_from(x).unwrap(), u16::try_from(y).unwrap())
}

/// Lets the agent's program ask for something.
fn asks(state: &mut State, bytes: &[u8]) {
    let mut model = Model::new(state.new_size(), 100);
    model.feed(bytes);
    let mut framer = Framer::new();
    framer.update(&mut model);
    update(state, Msg::Frame(7, framer.frame_since(0).expect("a keyframe")));
}

fn sent(effects: &[Effect]) -> Vec<(u32, MouseKind, u16, u16)> {
    let sent = |effect: &Effect| match effect {
        Effect::Send(stream, StreamInput::Mouse(mouse)) => Some((*stream, mouse.kind, mouse.col, mouse.row)),
        _ => None,
    };
    effects.iter().filter_map(sent).collect()
}

#[test]
fn a_click_on_a_tab_chooses_it_and_the_wheel_goes_through_them() {
    let mut state = listed((80, 24), &lines());
    click_on(&mut state, "1 ");
    assert_eq!(state.current, Some(id("api")));
    for (kind, name) in [(MouseKind::ScrollDown, "web"), (MouseKind::ScrollUp, "api"), (MouseKind::ScrollUp, "docs")] {
        act(&mut state, kind, 40, 0);
        assert_eq!(state.current, Some(id(name)), "{kind:?}");
    }
    assert_eq!(click(&mut state, 79, 0), [], "nothing is there");
}

#[test]
fn a_click_on_a_session_at_the_side_chooses_it() {
    let mut state = listed((80, 24), &lines());
    after_prefix(&mut state, 's');
    assert!(matches!(state.mode, Mode::Sidebar(_)));
    drawn(&mut state);
    let side = state.layout().sidebar.unwrap();
    click(&mut state, side.x + 4, side.y + 1);
    assert_eq!((state.current.clone(), &state.mode), (Some(id("api")), &Mode::Normal));
    // It goes on being there, and works without the keys too; the task's own line does nothing.
    click(&mut state, side.x + 4, side.y + 2);
    assert_eq!(state.current, Some(id("web")));
    click(&mut state, side.x + 4, side.y);
    assert_eq!(state.current, Some(id("web")));
    // Where it lies over the panes it goes.
    let mut small = listed((40, 12), &lines());
    after_prefix(&mut small, 's');
    click(&mut small, 5, 2);
    assert_eq!((small.current.clone(), small.sidebar, &small.mode), (Some(id("api")), false, &Mode::Normal));
}

#[test]
fn a_click_on_what_a_banner_offers_does_it() {
    let mut state = listed((80, 24), &lines());
    take_status(&mut state, failed(&lines()[2]));
    let effects = click_on(&mut state, "[r] Retry");
    assert!(effects.contains(&Effect::Call(Call::Resume { session: id("docs"), reopen: false })), "{effects:?}");
    let effects = click_on(&mut state, "Dismiss");
    assert_eq!(effects, [Effect::Call(Call::Dismiss(id("docs")))]);
    let effects = click_on(&mut state, "could not be started");
    assert_eq!(effects, [], "its text is no button");
    // Who only looks changes nothing.
    state.setup.read_only = true;
    assert!(!drawn(&mut state).join("\n").contains("[r]"));
}

#[test]
fn a_question_is_answered_by_a_click_and_a_form_filled() {
    let mut state = listed((80, 24), &lines());
    after_prefix(&mut state, 'X');
    assert_eq!(click_on(&mut state, "[n] no"), []);
    assert_eq!(state.mode, Mode::Normal);
    after_prefix(&mut state, 'X');
    click(&mut state, 3, 0);
    assert!(matches!(state.mode, Mode::Ask(_)), "what lies below is not reached");
    assert_eq!(click_on(&mut state, "[y] yes"), [Effect::Call(Call::Kill(id("docs")))]);
    after_prefix(&mut state, 'c');
    click_on(&mut state, "Name ");
    let Mode::Form(form) = &state.mode else { panic!("{:?}", state.mode) };
    assert_eq!(form.fields[form.at].label, "Name");
    click_on(&mut state, "Agent ");
    click_on(&mut state, "Claude Code");
    let Mode::Form(form) = &state.mode else { panic!("{:?}", state.mode) };
    assert_eq!((form.at, form.text("Agent")), (0, "codex"));
}

#[test]
fn a_row_is_marked_by_one_click_and_opened_by_the_next() {
    let mut closed = lines();
    for (line, at) in closed.iter_mut().zip([9, 8]) {
        line.state = SessionState::Cancelled;
        line.ended_at = Some(at);
    }
    let mut state = listed((80, 24), &closed);
    after_prefix(&mut state, 'u');
    assert_eq!(click_on(&mut state, "web  /home"), []);
    assert_eq!(state.mode, Mode::Reopen(1));
    let effects = click_on(&mut state, "web  /home");
    assert!(effects.contains(&Effect::Call(Call::Resume { session: id("web"), reopen: true })), "{effects:?}");
    after_prefix(&mut state, 'u');
    click(&mut state, 40, 23);
    assert_eq!(state.mode, Mode::Normal, "a click beside a list leaves it");
    after_prefix(&mut state, '?');
    act(&mut state, MouseKind::ScrollDown, 40, 10);
    assert_eq!(state.mode, Mode::Help(3));
}

#[test]
fn what_the_hint_and_the_status_line_show_can_be_clicked() {
    let mut state = listed((80, 24), &lines());
    click_on(&mut state, "help ");
    assert_eq!(state.mode, Mode::Help(0));
    press(&mut state, Chord::key(KeyCode::Esc));
    press(&mut state, crate::tui::keymap::DEFAULT_PREFIX);
    click_on(&mut state, "explain");
    assert_eq!(state.mode, Mode::Explain(0));
    let mut none = listed((80, 24), &[]);
    click_on(&mut none, "start a session");
    assert!(matches!(none.mode, Mode::Form(_)));
}

#[test]
fn a_program_that_wants_the_mouse_gets_clicks_drags_and_the_wheel_in_its_own_cells() {
    let mut state = listed((80, 24), &lines());
    assert_eq!(reports(&state), Reports::Clicks);
    for kind in [MouseKind::Down(0), MouseKind::Up(0), MouseKind::ScrollUp, MouseKind::Down(1), MouseKind::Up(1)] {
        assert_eq!(act(&mut state, kind, 9, 5), [], "nothing for a program that does not want it");
    }
    asks(&mut state, b"\x1b[?1002h\x1b[?1006h");
    assert_eq!(reports(&state), Reports::Drags);
    let seven = |kind, col, row| vec![(7, kind, col, row)];
    for kind in [MouseKind::Down(0), MouseKind::Drag(0), MouseKind::Up(0), MouseKind::ScrollDown, MouseKind::Down(2)] {
        assert_eq!(sent(&act(&mut state, kind, 9, 5)), seven(kind, 9, 4), "{kind:?}");
    }
    act(&mut state, MouseKind::Up(2), 9, 5);
    // A drag that leaves the pane ends at its edge, and chooses no tab.
    act(&mut state, MouseKind::Down(0), 9, 5);
    assert_eq!(sent(&act(&mut state, MouseKind::Drag(0), 2, 0)), seven(MouseKind::Drag(0), 2, 0));
    assert_eq!(sent(&act(&mut state, MouseKind::Up(0), 99, 23)), seven(MouseKind::Up(0), 79, 21));
    assert_eq!(state.current, Some(id("docs")));
    // A button that went down elsewhere is none of its business.
    act(&mut state, MouseKind::Down(0), 2, 0);
    assert_eq!(sent(&act(&mut state, MouseKind::Up(0), 9, 5)), []);
}

#[test]
fn the_wheel_becomes_arrows_where_a_program_on_the_alternate_screen_leaves_it_so() {
    let mut state = listed((80, 24), &lines());
    asks(&mut state, b"\x1b[?1049h\x1b[?1007h");
    let wheel = |state: &mut State| sent(&act(state, MouseKind::ScrollUp, 9, 5));
    // The terminal's side knows the form that arrows have at the moment.
    assert_eq!(wheel(&mut state), [(7, MouseKind::ScrollUp, 9, 4)]);
    assert_eq!(sent(&click(&mut state, 9, 5)), [], "clicks do not");
    asks(&mut state, b"\x1b[?1049h\x1b[?1007l");
    assert_eq!(wheel(&mut state), []);
}

#[test]
fn a_click_gives_a_pane_the_focus_and_its_program_gets_it_too_if_it_wants() {
    let mut state = listed((81, 24), &lines());
    asks(&mut state, b"\x1b[?1000h");
    let docs = id("docs");
    state.tab_mut(&docs).unwrap().desk.open(Shows::Git);
    assert!(state.desk().away);
    assert_eq!(sent(&act(&mut state, MouseKind::ScrollUp, 9, 5)), [(7, MouseKind::ScrollUp, 9, 3)], "needs no focus");
    assert!(state.desk().away);
    let effects = click(&mut state, 9, 5);
    assert!(!state.desk().away);
    assert_eq!(sent(&effects), [(7, MouseKind::Down(0), 9, 3), (7, MouseKind::Up(0), 9, 3)]);
    // On the line that names it: the focus alone.
    state.tab_mut(&docs).unwrap().desk.away = true;
    assert_eq!(sent(&click(&mut state, 9, 1)), []);
    assert!(!state.desk().away);
}

#[test]
fn who_has_the_mouse_is_the_persons_choice() {
    let mut state = listed((80, 24), &lines());
    state.setup.mouse = MouseUse::Program;
    assert_eq!(reports(&state), Reports::Off);
    asks(&mut state, b"\x1b[?1000h");
    assert_eq!(reports(&state), Reports::Clicks);
    state.setup.mouse = MouseUse::Never;
    assert_eq!(reports(&state), Reports::Off);
}

#[test]
fn who_drags_without_shift_is_told_how_text_is_selected() {
    let mut state = listed((80, 24), &lines());
    click(&mut state, 9, 5);
    assert_eq!(state.said, None, "a click is no drag");
    act(&mut state, MouseKind::Down(0), 9, 5);
    act(&mut state, MouseKind::Up(0), 30, 6);
    assert!(state.said.as_ref().is_some_and(|said| said.contains("Shift")), "{:?}", state.said);
}
