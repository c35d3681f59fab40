//! What keys, answers and events lead to.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::update;
use crate::domain::launch::Size;
use crate::domain::rows::Event;
use crate::domain::words::{Activity, ErrorCode, ResumeReason, SessionState};
use crate::screen::decode::{Outer, Reply};
use crate::tui::chord::Chord;
use crate::tui::desk::Shows;
use crate::tui::keymap::{Command, DEFAULT_PREFIX};
use crate::tui::msg::{Answer, Call, Effect, Exit, Msg, Refusal, Timer};
use crate::tui::notice::Notice;
use crate::tui::samples::{
    after_prefix, answer_attach, dead, failed, id, key, line, listed, press, running, setup, take_status, terminal,
};
use crate::tui::state::{Link, Mode, State};
use crate::wire::agentctl::StreamEvent;
use crate::wire::host::{Push, SessionLine};
use crate::wire::input::{KeyCode, StreamInput};

pub(super) const SCREEN: (u16, u16) = (80, 24);

pub(super) fn three() -> Vec<SessionLine> {
    vec![
        line("api", Activity::Working, "a turn is running", 1),
        line("docs", Activity::Ready, "waiting for your next prompt", 2),
        line("web", Activity::Ready, "waiting for your next prompt", 3),
    ]
}

pub(super) fn calls(effects: &[Effect]) -> Vec<Call> {
    let call = |effect: &Effect| if let Effect::Call(call) = effect { Some(call.clone()) } else { None };
    effects.iter().filter_map(call).collect()
}

pub(super) fn sent(effects: &[Effect]) -> Vec<StreamInput> {
    let sent = |effect: &Effect| if let Effect::Send(_, input) = effect { Some(input.clone()) } else { None };
    effects.iter().filter_map(sent).collect()
}

pub(super) fn event(seq: u64, kind: &str, session: &str, data: serde_json::Value) -> Msg {
    Msg::Push(Push::Event(Event {
        seq,
        kind: kind.into(),
        session_id: id(session),
        task_id: crate::domain::ids::TaskId::new("task").unwrap(),
        at: 0,
        data,
    }))
}

#[test]
fn connecting_subscribes_and_lists_then_attaches_the_newest() {
    let mut state = State::new(setup(), SCREEN, None);
    assert_eq!(calls(&update(&mut state, Msg::Connected)), [Call::Subscribe(None)]);
    let subscribed = Msg::Answered(Call::Subscribe(None), Ok(Answer::Subscribed(4)));
    assert_eq!(calls(&update(&mut state, subscribed)), [Call::List]);
    let effects = update(&mut state, Msg::Answered(Call::List, Ok(Answer::Sessions(three()))));
    let attach =
        Call::Attach { session: id("web"), shows: Shows::Agent, size: Some(Size { cols: 80, rows: 22 }), ticket: 1 };
    assert_eq!(calls(&effects), [attach, Call::Status(id("web"))]);
    assert_eq!(state.current, Some(id("web")));
}

#[test]
fn keys_typed_before_the_sessions_are_known_are_no_commands() {
    let typed = |state: &mut State| ['d', 'q', 'y'].map(|c| press(state, Chord::char(c))).concat();
    let mut state = State::new(setup(), SCREEN, Some("docs".into()));
    assert_eq!(typed(&mut state), []);
    update(&mut state, Msg::Connected);
    assert_eq!(typed(&mut state), []);
    update(&mut state, Msg::Answered(Call::List, Ok(Answer::Sessions(three()))));
    assert_eq!((typed(&mut state), &state.mode), (vec![], &Mode::Normal), "the named one is still looked for");
    let mut empty = State::new(setup(), SCREEN, None);
    update(&mut empty, Msg::Connected);
    update(&mut empty, Msg::Answered(Call::List, Ok(Answer::Sessions(vec![]))));
    assert!(typed(&mut empty).contains(&Effect::Leave(Exit::Detached)), "with no session, keys are commands");
}

#[test]
fn the_session_that_the_person_named_is_chosen_or_the_client_says_why_not() {
    let mut state = State::new(setup(), SCREEN, Some("docs".into()));
    assert!(calls(&update(&mut state, Msg::Connected)).contains(&Call::Find("docs".into())));
    update(&mut state, Msg::Answered(Call::List, Ok(Answer::Sessions(three()))));
    assert_eq!(state.current, None, "nothing else is shown meanwhile");
    let made = crate::wire::host::SessionCreated { session_id: id("docs"), task_id: three()[0].task_id.clone() };
    update(&mut state, Msg::Answered(Call::Find("docs".into()), Ok(Answer::Session(made))));
    assert_eq!(state.current, Some(id("docs")));

    let mut state = State::new(setup(), SCREEN, Some("nope".into()));
    update(&mut state, Msg::Connected);
    let refusal = Refusal { code: Some(ErrorCode::SessionNotFound), message: "no session `nope`".into(), hint: None };
    let effects = update(&mut state, Msg::Answered(Call::Find("nope".into()), Err(refusal)));
    assert_eq!(effects, [Effect::Leave(Exit::Refused("no session `nope`".into()))]);
}

#[test]
fn keys_go_to_the_terminal_and_the_prefix_to_relight() {
    let mut state = listed(SCREEN, &three());
    let effects = press(&mut state, Chord::char('x'));
    assert_eq!(sent(&effects), [StreamInput::Key(key(KeyCode::Char('x')))]);
    assert!(sent(&press(&mut state, DEFAULT_PREFIX)).is_empty());
    assert_eq!(state.mode, Mode::Prefix);
    assert_eq!(sent(&press(&mut state, DEFAULT_PREFIX)), [StreamInput::Key(DEFAULT_PREFIX.to_key())]);
    press(&mut state, DEFAULT_PREFIX);
    assert!(sent(&press(&mut state, Chord::key(KeyCode::Esc))).is_empty());
    assert_eq!(state.mode, Mode::Normal);
    assert!(sent(&after_prefix(&mut state, 'Z')).is_empty());
    assert!(
        state
            .said
            .as_ref()
            .is_some_and(|said| said.contains("Z does nothing after Ctrl-Space; Ctrl-Space ? shows all keys."))
    );
    let text = update(&mut state, Msg::Outer(Outer::Text("hello".into())));
    assert_eq!(sent(&text), [StreamInput::Text { text: "hello".into() }]);
    let reply = update(&mut state, Msg::Outer(Outer::Reply(Reply::Other(b"\x1b[?64;1c".to_vec()))));
    assert!(reply.is_empty(), "a late reply of the terminal is never typed");
}

#[test]
fn tabs_are_chosen_by_step_number_last_and_need() {
    let mut state = listed(SCREEN, &three());
    let table = [('n', "api"), ('p', "web"), ('1', "api"), ('l', "web"), ('2', "docs"), ('l', "web")];
    for (c, wanted) in table {
        after_prefix(&mut state, c);
        assert_eq!(state.current, Some(id(wanted)), "after {c}");
    }
    press(&mut state, Chord::alt('1'));
    assert_eq!(state.current, Some(id("api")));
    after_prefix(&mut state, 'a');
    assert_eq!(state.said.as_deref(), Some("No session waits for you."));
    let activity = Push::Activity {
        session_id: id("docs"),
        task_id: three()[0].task_id.clone(),
        activity: Activity::NeedsPermission,
        why: "it wants to run `rm`".into(),
        title: String::new(),
        progress: None,
    };
    update(&mut state, Msg::Push(activity));
    after_prefix(&mut state, 'a');
    assert_eq!(state.current, Some(id("docs")));
    after_prefix(&mut state, '9');
    assert_eq!(state.said.as_deref(), Some("There is no tab with that number."));
}

#[test]
fn switching_lets_go_of_the_old_stream_and_a_late_answer_is_let_go_of_too() {
    let mut state = listed(SCREEN, &three());
    let first = press(&mut state, Chord::alt('1'));
    assert!(calls(&first).contains(&Call::Detach(7)));
    let second = press(&mut state, Chord::alt('2'));
    answer_attach(&mut state, &second, 9);
    let late = calls(&first).into_iter().find(|call| matches!(call, Call::Attach { .. })).unwrap();
    let attached = crate::wire::host::Attached { stream: 8, session_id: id("api"), terminal_id: None };
    let effects = update(&mut state, Msg::Answered(late, Ok(Answer::Attached(attached))));
    assert_eq!(calls(&effects), [Call::Detach(8)]);
    assert_eq!(state.panes[0].stream, Some(9));
}

#[test]
fn a_result_nobody_saw_is_marked_until_it_is_looked_at() {
    let mut state = listed(SCREEN, &three());
    let ready = crate::domain::status::Status { activity: Activity::Ready, ..running(&three()[0]) };
    take_status(&mut state, ready);
    assert!(state.tab(&id("api")).unwrap().unseen);
    after_prefix(&mut state, 'a');
    assert_eq!(state.current, Some(id("api")));
    assert!(!state.tab(&id("api")).unwrap().unseen);
}

#[test]
fn a_paste_is_chunks_and_a_commit_and_never_half_of_one() {
    let mut state = listed(SCREEN, &three());
    let paste = |state: &mut State, bytes: &[u8]| {
        let mut all = update(state, Msg::Outer(Outer::PasteStart));
        all.extend(update(state, Msg::Outer(Outer::PasteChunk(bytes.to_vec()))));
        all
    };
    let chunks = paste(&mut state, b"a\nb");
    assert_eq!(sent(&chunks), [StreamInput::PasteChunk { paste: 1, part: 0, data: STANDARD.encode("a\nb") }]);
    let end = update(&mut state, Msg::Outer(Outer::PasteEnd));
    assert_eq!(sent(&end), [StreamInput::PasteCommit { paste: 1, parts: 1 }]);

    paste(&mut state, b"lost");
    update(&mut state, Msg::Lost("gone".into()));
    update(&mut state, Msg::Connected);
    let end = update(&mut state, Msg::Outer(Outer::PasteEnd));
    assert!(sent(&end).is_empty());
    assert!(state.said.as_ref().is_some_and(|said| said.contains("not delivered")));
}

#[test]
fn a_window_being_dragged_sends_its_last_size_once() {
    let mut state = listed(SCREEN, &three());
    update(&mut state, Msg::Resized(100, 30));
    update(&mut state, Msg::Resized(120, 40));
    assert!(sent(&update(&mut state, Msg::Timer(Timer::Resize, 1))).is_empty(), "the first life is void");
    let effects = update(&mut state, Msg::Timer(Timer::Resize, 2));
    assert_eq!(sent(&effects), [StreamInput::Resize(Size { cols: 120, rows: 38 })]);
}

#[test]
fn a_resume_keeps_the_tab_and_drops_what_the_dead_terminal_said() {
    let mut state = listed(SCREEN, &three());
    state.tab_mut(&id("web")).unwrap().line.title = "old title".into();
    let moved = StreamEvent::Moved { from: terminal("web", 1), terminal: terminal("web", 2) };
    let effects = update(&mut state, Msg::Push(Push::Stream { stream: 7, event: moved }));
    assert_eq!(calls(&effects), [Call::Status(id("web"))]);
    let tab = state.chosen().unwrap();
    assert_eq!((tab.line.title.as_str(), state.current.clone()), ("", Some(id("web"))));
    assert_eq!(state.panes[0].terminal, Some(terminal("web", 2)));
    assert_eq!(state.panes[0].stream, Some(7));
}

#[test]
fn a_stream_that_does_not_follow_is_attached_anew() {
    let mut state = listed(SCREEN, &three());
    let resumed = json!({"old_terminal_id": terminal("web", 1), "terminal_id": terminal("web", 2)});
    let effects = update(&mut state, event(10, "session.resumed", "web", resumed));
    assert!(effects.iter().any(|e| matches!(e, Effect::Start(Timer::Follow, 1, _))));
    assert_eq!(state.said.as_deref(), Some("web was resumed."));
    let effects = update(&mut state, Msg::Timer(Timer::Follow, 1));
    assert!(calls(&effects).iter().any(|c| matches!(c, Call::Attach { session, .. } if *session == id("web"))));
    let again = update(&mut state, event(10, "session.resumed", "web", json!({})));
    assert!(again.is_empty(), "an event that was seen says nothing new");
}

#[test]
fn a_banner_takes_single_keys_but_not_letters_of_a_word() {
    let mut state = listed(SCREEN, &three());
    let effects = take_status(&mut state, failed(&three()[2]));
    assert!(matches!(state.notice(), Notice::Failure(_)));
    let Some(Effect::Start(Timer::Quiet, life, _)) = effects.last().cloned() else { panic!("{effects:?}") };
    assert!(calls(&press(&mut state, Chord::char('r'))).is_empty(), "it may be the rest of a word");
    update(&mut state, Msg::Timer(Timer::Quiet, life));
    assert!(calls(&press(&mut state, Chord::char('r'))).is_empty(), "the word went on meanwhile");
    update(&mut state, Msg::Timer(Timer::Quiet, life + 1));
    assert!(calls(&press(&mut state, Chord::char('r'))).is_empty());
    update(&mut state, Msg::Timer(Timer::Quiet, life + 3));
    let effects = press(&mut state, Chord::char('r'));
    assert_eq!(calls(&effects), [Call::Resume { session: id("web"), reopen: false }]);
    assert_eq!(calls(&after_prefix(&mut state, 'i')), [Call::Dismiss(id("web"))]);
}

#[test]
fn the_notice_is_chosen_by_the_status_alone() {
    let web = &three()[2];
    let cases = [
        (running(web), Notice::None),
        (dead(web, ResumeReason::Resuming, Activity::Resuming, ""), Notice::Pill("Resuming…".into())),
        (
            dead(web, ResumeReason::NotResumable, Activity::Error, ""),
            Notice::NewSession(crate::domain::status::NOT_RESUMABLE_BANNER.into()),
        ),
        (dead(web, ResumeReason::Completed, Activity::Ended, "you ended it"), Notice::Ended("You ended it.".into())),
        (
            dead(web, ResumeReason::ExecutorUnreachable, Activity::Unreachable, "no answer"),
            Notice::Unreachable("No answer.".into()),
        ),
        (crate::domain::status::Status { dismissed: true, ..failed(web) }, Notice::None),
        (
            crate::domain::status::Status {
                needs_resume: true,
                ..dead(web, ResumeReason::AutoOff, Activity::Interrupted, "")
            },
            Notice::Offer("The agent is not running; its conversation can be resumed.".into()),
        ),
    ];
    for (status, wanted) in cases {
        let reason = status.resume_reason;
        assert_eq!(crate::tui::notice::of(web, Some(&status)), wanted, "{reason}");
    }
}

#[test]
fn killing_asks_first_and_then_shows_the_tab_before() {
    let mut state = listed(SCREEN, &three());
    press(&mut state, Chord::alt('1'));
    press(&mut state, Chord::alt('3'));
    after_prefix(&mut state, 'X');
    assert!(matches!(state.mode, Mode::Ask(_)));
    press(&mut state, Chord::char('n'));
    assert_eq!(state.mode, Mode::Normal);
    after_prefix(&mut state, 'X');
    assert_eq!(calls(&press(&mut state, Chord::char('y'))), [Call::Kill(id("web"))]);
    update(&mut state, Msg::Answered(Call::Kill(id("web")), Ok(Answer::Done)));
    assert_eq!(state.current, Some(id("api")));
    assert_eq!(state.tabs.len(), 2);
}

#[test]
fn ended_sessions_leave_the_bar_once_they_are_not_looked_at() {
    let mut state = listed(SCREEN, &three());
    let ended = |line: &SessionLine| crate::domain::status::Status {
        state: SessionState::Completed,
        ..dead(line, ResumeReason::Completed, Activity::Ended, "you ended it from inside")
    };
    take_status(&mut state, ended(&three()[0]));
    assert!(state.tab(&id("api")).is_none());
    take_status(&mut state, ended(&three()[2]));
    assert_eq!(state.current, Some(id("web")), "what one looks at stays");
    after_prefix(&mut state, 'n');
    assert!(state.tab(&id("web")).is_none());
    assert_eq!(state.current, Some(id("docs")));
}

#[test]
fn a_new_session_is_made_by_a_form_and_then_shown() {
    let mut state = listed(SCREEN, &[]);
    assert!(state.listed && state.current.is_none());
    press(&mut state, Chord::char('c'));
    press(&mut state, Chord::char('d'));
    press(&mut state, Chord::key(KeyCode::BackTab));
    update(&mut state, Msg::Outer(Outer::Text("shop".into())));
    let effects = press(&mut state, Chord::key(KeyCode::Enter));
    let Some(Call::Create(create)) = calls(&effects).into_iter().next() else { panic!("{effects:?}") };
    assert_eq!((create.agent.as_str(), create.name.as_deref()), ("demo", Some("shop")));
    assert_eq!((create.cwd.as_str(), create.size), ("/home/anna/src/shop", Some(Size { cols: 80, rows: 22 })));
    let refusal =
        Refusal { code: Some(ErrorCode::AgentNotFound), message: "no `demo`".into(), hint: Some("look".into()) };
    update(&mut state, Msg::Answered(Call::Create(create.clone()), Err(refusal)));
    assert!(matches!(&state.mode, Mode::Form(form) if form.error.as_deref() == Some("no `demo` (look)") && !form.busy));
    press(&mut state, Chord::key(KeyCode::Enter));
    let made = crate::wire::host::SessionCreated { session_id: id("shop"), task_id: three()[0].task_id.clone() };
    let effects = update(&mut state, Msg::Answered(Call::Create(create), Ok(Answer::Session(made))));
    assert_eq!((calls(&effects), &state.mode), (vec![Call::List], &Mode::Normal));
    let shop = line("shop", Activity::Starting, "the agent is starting", 9);
    update(&mut state, Msg::Answered(Call::List, Ok(Answer::Sessions(vec![shop]))));
    assert_eq!(state.current, Some(id("shop")));
}

#[test]
fn a_host_that_is_away_is_tried_again_and_one_that_was_stopped_is_not_started() {
    let mut state = listed(SCREEN, &three());
    let effects = update(&mut state, Msg::Lost("the connection ended".into()));
    assert!(matches!(effects.as_slice(), [Effect::Connect { start: true, .. }]), "{effects:?}");
    assert!(matches!(state.link, Link::Away { .. }));
    assert!(sent(&press(&mut state, Chord::char('x'))).is_empty());
    let effects = update(&mut state, Msg::NoHost { why: "nobody".into(), refused: false });
    assert!(matches!(effects.as_slice(), [Effect::Connect { start: true, .. }]), "{effects:?}");
    let effects = update(&mut state, Msg::Connected);
    assert!(calls(&effects).iter().any(|c| matches!(c, Call::Attach { session, .. } if *session == id("web"))));

    update(&mut state, Msg::Push(Push::Goodbye { why: "stopped".into() }));
    let effects = update(&mut state, Msg::Lost("closed".into()));
    assert!(matches!(effects.as_slice(), [Effect::Connect { start: false, .. }]), "{effects:?}");
    let effects = after_prefix(&mut state, 'r');
    assert!(matches!(effects.as_slice(), [Effect::Connect { start: true, .. }]), "{effects:?}");
    let effects = update(&mut state, Msg::NoHost { why: "other version".into(), refused: true });
    assert_eq!(effects, [Effect::Leave(Exit::Refused("other version".into()))]);
}

#[test]
fn a_read_only_client_sends_no_input_no_size_and_no_order() {
    let mut state = State::new(crate::tui::state::Setup { read_only: true, ..setup() }, SCREEN, None);
    update(&mut state, Msg::Connected);
    let effects = update(&mut state, Msg::Answered(Call::List, Ok(Answer::Sessions(three()))));
    assert!(calls(&effects).iter().any(|c| matches!(c, Call::Attach { size: None, .. })));
    answer_attach(&mut state, &effects, 7);
    let effects = press(&mut state, Chord::char('x'));
    assert!(calls(&effects).is_empty() && sent(&effects).is_empty(), "{effects:?}");
    assert_eq!(state.said.as_deref(), Some("This client is read-only: keys are not sent."));
    update(&mut state, Msg::Resized(100, 30));
    assert!(sent(&update(&mut state, Msg::Timer(Timer::Resize, 1))).is_empty());
    for command in [Command::New, Command::Kill, Command::Resume, Command::Rename, Command::Quit, Command::Dismiss] {
        assert_eq!(state.can(command), Err("This client is read-only."), "{command:?}");
    }
    assert!(after_prefix(&mut state, 'd').contains(&Effect::Leave(Exit::Detached)));
}

#[test]
fn a_status_is_asked_for_once_at_a_time() {
    let mut state = listed(SCREEN, &three());
    let changed = |seq| event(seq, "session.state_changed", "api", json!({"state": "RUNNING"}));
    assert_eq!(calls(&update(&mut state, changed(1))), [Call::Status(id("api"))]);
    assert!(update(&mut state, changed(2)).is_empty());
    assert!(update(&mut state, changed(3)).is_empty());
    let effects = take_status(&mut state, running(&three()[0]));
    assert_eq!(calls(&effects), [Call::Status(id("api"))]);
    assert!(calls(&take_status(&mut state, running(&three()[0]))).is_empty());
}
