//! What keys and answers do to the panes of a session.

use super::update;
use crate::domain::ids::TerminalId;
use crate::domain::launch::{Exit, Size};
use crate::domain::words::{Activity, ErrorCode, ExecutorStatus, TerminalKind};
use crate::screen::frames::Framer;
use crate::screen::model::Model;
use crate::tui::chord::Chord;
use crate::tui::desk::{Shows, Split};
use crate::tui::form::Question;
use crate::tui::msg::{Answer, Call, Effect, Msg, Refusal};
use crate::tui::samples::{after_prefix, answer_attach, id, line, listed, press, setup, terminal};
use crate::tui::state::{Mode, State};
use crate::wire::agentctl::{StreamEvent, TerminalInfo};
use crate::wire::host::{Attached, Push, SessionLine};
use crate::wire::input::{KeyCode, StreamInput};

fn shell(number: u32) -> TerminalId {
    TerminalId::new(format!("shell-{number}")).unwrap()
}

fn info(terminal: TerminalId, exit: Option<Exit>) -> TerminalInfo {
    TerminalInfo {
        id: terminal,
        kind: TerminalKind::Shell,
        generation: 0,
        identity: None,
        exit,
        size: Size::DEFAULT,
        title: String::new(),
        token: None,
        state: None,
        foreground: None,
    }
}

fn lines() -> Vec<SessionLine> {
    vec![line("api", Activity::Ready, "", 1), line("web", Activity::Ready, "", 2)]
}

/// The screen of a session with a shell to the right of its agent, as stream 8.
fn with_shell() -> State {
    let mut state = listed((81, 24), &lines());
    let effects = after_prefix(&mut state, '%');
    assert_eq!(effects, [Effect::Call(Call::Terminals(id("web")))]);
    let effects = update(&mut state, Msg::Answered(Call::Terminals(id("web")), Ok(Answer::Terminals(vec![]))));
    let open = Call::Shell { session: id("web"), size: Some(Size { cols: 40, rows: 21 }) };
    assert!(effects.contains(&Effect::Call(open.clone())), "{effects:?}");
    let effects = update(&mut state, Msg::Answered(open, Ok(Answer::Terminal(shell(1)))));
    answer_shell(&mut state, &effects, 8);
    state
}

fn answer_shell(state: &mut State, effects: &[Effect], stream: u32) {
    let attach = effects.iter().find_map(|effect| match effect {
        Effect::Call(call @ Call::Attach { shows: Shows::Shell(_), .. }) => Some(call.clone()),
        _ => None,
    });
    let attached = Attached { stream, session_id: id("web"), terminal_id: Some(shell(1)) };
    update(state, Msg::Answered(attach.expect("an attach to the shell"), Ok(Answer::Attached(attached))));
}

fn typed(effects: &[Effect]) -> Vec<u32> {
    let typed = |effect: &Effect| match effect {
        Effect::Send(stream, StreamInput::Key(_)) => Some(*stream),
        _ => None,
    };
    effects.iter().filter_map(typed).collect()
}

#[test]
fn a_split_opens_a_shell_beside_the_agent_and_gives_it_the_keys() {
    let mut state = listed((81, 24), &lines());
    after_prefix(&mut state, '%');
    let effects = update(&mut state, Msg::Answered(Call::Terminals(id("web")), Ok(Answer::Terminals(vec![]))));
    let open = effects.iter().find(|effect| matches!(effect, Effect::Call(Call::Shell { .. }))).cloned();
    let Some(Effect::Call(open)) = open else { panic!("{effects:?}") };
    let effects = update(&mut state, Msg::Answered(open, Ok(Answer::Terminal(shell(1)))));
    assert!(effects.contains(&Effect::Send(7, StreamInput::Resize(Size { cols: 40, rows: 21 }))), "{effects:?}");
    answer_shell(&mut state, &effects, 8);
    assert_eq!(typed(&press(&mut state, Chord::char('x'))), [8]);
    assert_eq!(typed(&after_prefix(&mut state, 'o')), [] as [u32; 0]);
    assert_eq!(typed(&press(&mut state, Chord::char('x'))), [7]);
    press(&mut state, crate::tui::keymap::DEFAULT_PREFIX);
    press(&mut state, Chord::key(KeyCode::Right));
    assert_eq!(typed(&press(&mut state, Chord::char('x'))), [8]);
}

#[test]
fn a_shell_that_runs_already_is_shown_again_and_an_ended_one_is_not() {
    let mut state = listed((81, 24), &lines());
    after_prefix(&mut state, '"');
    let terminals = vec![info(shell(1), Some(Exit::Code(0))), info(shell(2), None), info(shell(3), None)];
    update(&mut state, Msg::Answered(Call::Terminals(id("web")), Ok(Answer::Terminals(terminals.clone()))));
    assert_eq!(state.desk().beside, Some(Shows::Shell(shell(2))));
    assert_eq!(state.desk().split, Split::Down);
    for next in [3, 2] {
        after_prefix(&mut state, '.');
        update(&mut state, Msg::Answered(Call::Terminals(id("web")), Ok(Answer::Terminals(terminals.clone()))));
        assert_eq!(state.desk().beside, Some(Shows::Shell(shell(next))));
    }
}

#[test]
fn zoom_hides_the_other_pane_and_lets_go_of_its_stream() {
    let mut state = with_shell();
    let effects = after_prefix(&mut state, 'z');
    assert!(effects.contains(&Effect::Call(Call::Detach(7))), "{effects:?}");
    assert!(effects.contains(&Effect::Send(8, StreamInput::Resize(Size { cols: 81, rows: 22 }))), "{effects:?}");
    let effects = after_prefix(&mut state, 'z');
    assert!(effects.iter().any(|e| matches!(e, Effect::Call(Call::Attach { shows: Shows::Agent, .. }))));
}

#[test]
fn a_shell_in_which_something_runs_is_closed_only_after_a_question() {
    let mut state = with_shell();
    let effects = after_prefix(&mut state, 'x');
    let close = |force| Call::Close { session: id("web"), terminal: shell(1), force };
    assert_eq!(effects, [Effect::Call(close(false))]);
    let busy = Refusal { code: Some(ErrorCode::TerminalBusy), message: "`make` runs in this shell".into(), hint: None };
    update(&mut state, Msg::Answered(close(false), Err(busy)));
    assert!(matches!(&state.mode, Mode::Ask(Question::Close { what, .. }) if what.contains("make")));
    assert_eq!(press(&mut state, Chord::char('y')), [Effect::Call(close(true))]);
    let effects = update(&mut state, Msg::Answered(close(true), Ok(Answer::Done)));
    assert_eq!(state.desk().beside, None);
    assert!(effects.contains(&Effect::Call(Call::Detach(8))), "{effects:?}");
    assert!(effects.contains(&Effect::Send(7, StreamInput::Resize(Size { cols: 81, rows: 22 }))), "{effects:?}");
}

#[test]
fn a_shell_that_ends_takes_its_pane_with_it() {
    let mut state = with_shell();
    let event = StreamEvent::Exited { exit: Exit::Code(3) };
    let effects = update(&mut state, Msg::Push(Push::Stream { stream: 8, event }));
    assert_eq!(state.desk().beside, None);
    assert_eq!(state.said.as_deref(), Some("The shell ended: exit code 3."));
    let close = Call::Close { session: id("web"), terminal: shell(1), force: true };
    assert!(effects.contains(&Effect::Call(close)));
    assert_eq!(typed(&press(&mut state, Chord::char('x'))), [7]);
}

#[test]
fn the_panes_stay_when_the_agent_goes_on_in_another_terminal_and_when_another_tab_was_shown() {
    let mut state = with_shell();
    let moved = StreamEvent::Moved { from: terminal("web", 1), terminal: terminal("web", 2) };
    update(&mut state, Msg::Push(Push::Stream { stream: 7, event: moved }));
    let before = state.desk();
    let effects = after_prefix(&mut state, '1');
    assert!(effects.contains(&Effect::Call(Call::Detach(7))) && effects.contains(&Effect::Call(Call::Detach(8))));
    assert_eq!(state.desk().beside, None);
    let effects = after_prefix(&mut state, '2');
    assert_eq!(state.desk(), before);
    let attached = effects.iter().filter(|e| matches!(e, Effect::Call(Call::Attach { .. }))).count();
    assert_eq!(attached, 2, "{effects:?}");
}

/// Named by the fault: a successor whose state had the number of the one shown last was never told that it is shown, and sent
/// nothing any more.
#[test]
fn every_frame_that_was_shown_is_told_to_its_sender_whatever_its_number() {
    let mut state = listed((81, 24), &lines());
    let effects = press(&mut state, Chord::alt('2'));
    answer_attach(&mut state, &effects, 7);
    let mut model = Model::new(state.new_size(), 100);
    let mut framer = Framer::new();
    model.feed(b"hello");
    assert!(framer.update(&mut model));
    let keyframe = framer.frame_since(0).unwrap();
    let ack = Effect::Send(7, StreamInput::Ack { state: keyframe.head.state });
    for _ in 0..2 {
        update(&mut state, Msg::Frame(7, keyframe.clone()));
        assert_eq!(update(&mut state, Msg::Drawn(vec![])), std::slice::from_ref(&ack));
        assert_eq!(update(&mut state, Msg::Drawn(vec![])), []);
    }
}

#[test]
fn no_pane_opens_before_its_executor_is_ready() {
    let mut lines = lines();
    lines[1].executor_status = Some(ExecutorStatus::Starting);
    let mut state = listed((81, 24), &lines);
    if let Some(status) = state.tabs[1].status.as_mut() {
        status.executor_status = Some(ExecutorStatus::Starting);
    }
    after_prefix(&mut state, '%');
    assert_eq!(state.said.as_deref(), Some("Its executor is starting."));
    after_prefix(&mut state, 'g');
    assert_eq!(state.desk().beside, None);
}

#[test]
fn a_read_only_client_opens_and_closes_no_shell() {
    let mut state = listed((81, 24), &lines());
    state.setup = crate::tui::state::Setup { read_only: true, ..setup() };
    for key in ['%', 't', 'x', '.'] {
        let effects = after_prefix(&mut state, key);
        assert!(!effects.iter().any(|e| matches!(e, Effect::Call(Call::Shell { .. } | Call::Close { .. }))), "{key}");
    }
}

#[test]
fn frames_of_two_streams_that_are_not_known_yet_find_their_panes() {
    let mut state = listed((81, 24), &lines());
    state.panes.clear();
    let effects = update(&mut state, Msg::Connected);
    answer_attach(&mut state, &effects, 9);
    assert_eq!(state.panes.len(), 1);
    assert_eq!(state.panes[0].stream, Some(9));
}

#[test]
fn the_list_at_the_side_takes_keys_until_a_session_is_chosen() {
    let mut state = listed((81, 24), &lines());
    let effects = after_prefix(&mut state, 's');
    assert!(effects.contains(&Effect::Send(7, StreamInput::Resize(Size { cols: 57, rows: 22 }))), "{effects:?}");
    assert_eq!(typed(&press(&mut state, Chord::char('k'))), [] as [u32; 0]);
    press(&mut state, Chord::key(KeyCode::Enter));
    assert_eq!(state.current, Some(id("api")));
    assert_eq!((state.mode.clone(), state.sidebar), (Mode::Normal, true));
    after_prefix(&mut state, 's');
    press(&mut state, Chord::char('s'));
    assert!(!state.sidebar);
    state.size = (40, 10);
    after_prefix(&mut state, 's');
    press(&mut state, Chord::key(KeyCode::Esc));
    assert!(!state.sidebar, "where it lies over the panes it goes with its keys");
}

#[test]
fn a_closed_session_is_brought_back_from_the_list_and_shown() {
    let mut state = listed((81, 24), &lines());
    let mut all = lines();
    all.push(SessionLine {
        state: crate::domain::words::SessionState::Cancelled,
        ended_at: Some(9),
        ..line("old", Activity::Ended, "", 0)
    });
    let effects = after_prefix(&mut state, 'u');
    assert!(effects.contains(&Effect::Call(Call::List)), "{effects:?}");
    update(&mut state, Msg::Answered(Call::List, Ok(Answer::Sessions(all.clone()))));
    let effects = press(&mut state, Chord::key(KeyCode::Enter));
    let resume = Call::Resume { session: id("old"), reopen: true };
    assert!(effects.contains(&Effect::Call(resume.clone())), "{effects:?}");
    let answer = Answer::Resumed { resumed: true, message: String::new() };
    let effects = update(&mut state, Msg::Answered(resume, Ok(answer)));
    assert!(effects.contains(&Effect::Call(Call::List)), "{effects:?}");
    all[2].state = crate::domain::words::SessionState::WaitingForInput;
    update(&mut state, Msg::Answered(Call::List, Ok(Answer::Sessions(all))));
    assert_eq!(state.current, Some(id("old")));
}

#[test]
fn announcements_are_kept_and_a_kill_says_how_to_undo_it() {
    let mut state = listed((81, 24), &lines());
    update(&mut state, Msg::Answered(Call::Kill(id("web")), Ok(Answer::Done)));
    assert_eq!(state.said.as_deref(), Some("Ended web; Ctrl-Space u brings it back."));
    after_prefix(&mut state, 'm');
    assert!(matches!(state.mode, Mode::Messages(0)));
    assert_eq!(state.messages(80), ["Ended web; Ctrl-Space u brings it back."]);
    press(&mut state, Chord::key(KeyCode::Esc));
    assert_eq!(state.mode, Mode::Normal);
}

/// Named by the fault: the first letters after a change of tab went nowhere.
#[test]
fn what_is_typed_while_an_attach_is_on_its_way_is_sent_after_it_and_only_there() {
    let mut state = listed((80, 24), &lines());
    let sent = |effects: &[Effect]| -> Vec<(u32, StreamInput)> {
        let sent = |effect: &Effect| match effect {
            Effect::Send(stream, input @ (StreamInput::Key(_) | StreamInput::Text { .. })) => {
                Some((*stream, input.clone()))
            }
            _ => None,
        };
        effects.iter().filter_map(sent).collect()
    };
    let effects = after_prefix(&mut state, 'p');
    let attach = effects.iter().find_map(|effect| match effect {
        Effect::Call(call @ Call::Attach { .. }) => Some(call.clone()),
        _ => None,
    });
    assert_eq!(press(&mut state, Chord::char('l')), []);
    let text = StreamInput::Text { text: "s -a".into() };
    update(&mut state, Msg::Outer(crate::screen::decode::Outer::Text("s -a".into())));
    let attached = Attached { stream: 9, session_id: id("api"), terminal_id: Some(terminal("api", 1)) };
    let effects = update(&mut state, Msg::Answered(attach.unwrap(), Ok(Answer::Attached(attached))));
    assert_eq!(sent(&effects), [(9, StreamInput::Key(Chord::char('l').to_key())), (9, text)]);
    // What was meant for a terminal that cannot be had goes to no other one.
    let effects = after_prefix(&mut state, 'n');
    let attach = effects.iter().find_map(|effect| match effect {
        Effect::Call(call @ Call::Attach { .. }) => Some(call.clone()),
        _ => None,
    });
    press(&mut state, Chord::char('x'));
    let refusal = Refusal { code: None, message: "gone".into(), hint: None };
    update(&mut state, Msg::Answered(attach.unwrap(), Err(refusal)));
    let effects = after_prefix(&mut state, 'p');
    answer_attach(&mut state, &effects, 11);
    assert_eq!(sent(&press(&mut state, Chord::char('y'))), [(11, StreamInput::Key(Chord::char('y').to_key()))]);
}
