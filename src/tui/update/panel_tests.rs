//! What keys, answers and time do to the panels.

use super::update;
use crate::domain::words::{Activity, ErrorCode, ExecutorStatus};
use crate::screen::decode::Outer;
use crate::tui::chord::Chord;
use crate::tui::desk::Shows;
use crate::tui::msg::{Call, Effect, Msg, Refusal, Timer};
use crate::tui::panel::ask::{Ask, Found};
use crate::tui::samples::{
    after_prefix, asked, git_status, id, line, listed, press, running, take_status, tell, text, tree,
};
use crate::tui::state::State;
use crate::wire::agentctl::GitStatus;
use crate::wire::host::{Push, SessionLine};
use crate::wire::input::{KeyCode, Mods, Mouse, MouseKind};

const CHANGES: &[(&str, &str)] = &[("??", "notes.txt"), (" M", "src/b.rs"), ("M ", "src/a.rs"), ("??", "new/")];

fn lines() -> Vec<SessionLine> {
    vec![line("api", Activity::Ready, "", 1), line("web", Activity::Ready, "", 2)]
}

fn go(state: &mut State, code: KeyCode) -> Vec<Effect> {
    press(state, Chord::key(code))
}

fn git() -> State {
    let mut state = listed((81, 24), &lines());
    assert_eq!(asked(&after_prefix(&mut state, 'g')), [Ask::Status]);
    tell(&mut state, "web", Ask::Status, git_status(CHANGES));
    state
}

fn files() -> State {
    let mut state = listed((81, 24), &lines());
    assert_eq!(asked(&after_prefix(&mut state, 'f')), [Ask::Tree(String::new())]);
    tell(&mut state, "web", Ask::Tree(String::new()), tree(&[("docs/", 0), ("src/", 0), ("README.md", 9), ("to@", 3)]));
    state
}

fn chosen(state: &State) -> String {
    let panels = &state.chosen().unwrap().panels;
    match state.desk().beside {
        Some(Shows::Git) => panels.git.chosen().map(|entry| entry.path.clone()),
        _ => panels.files.chosen().map(|entry| entry.name.clone()),
    }
    .unwrap_or_default()
}

fn shown(state: &State) -> Option<String> {
    let panels = &state.chosen().unwrap().panels;
    let text = if state.desk().beside == Some(Shows::Git) { &panels.git.text } else { &panels.files.text };
    text.as_ref().map(|text| text.line(0).to_owned())
}

fn refused(state: &mut State, ask: Ask, code: ErrorCode) -> Vec<Effect> {
    let refusal = Refusal { code: Some(code), message: "it cannot be".into(), hint: None };
    update(state, Msg::Answered(Call::Workspace { session: id("web"), ask }, Err(refusal)))
}

fn timer(state: &mut State) -> Vec<Effect> {
    let life = state.timers[&Timer::Panel];
    update(state, Msg::Timer(Timer::Panel, life))
}

fn starts_timer(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Start(Timer::Panel, ..)))
}

fn active(name: &str, activity: Activity) -> Msg {
    let task_id = crate::domain::ids::TaskId::new("task").unwrap();
    let (why, title) = (String::new(), String::new());
    Msg::Push(Push::Activity { session_id: id(name), task_id, activity, why, title, progress: None })
}

#[test]
fn changes_stand_in_groups_and_a_diff_opens_over_them() {
    let mut state = git();
    assert_eq!(chosen(&state), "src/a.rs", "what is staged comes first");
    let mut order = vec![chosen(&state)];
    for _ in 0..3 {
        go(&mut state, KeyCode::Down);
        order.push(chosen(&state));
    }
    assert_eq!(order, ["src/a.rs", "src/b.rs", "new/", "notes.txt"]);
    go(&mut state, KeyCode::Home);
    press(&mut state, Chord::char('j'));
    assert_eq!(chosen(&state), "src/b.rs");
    assert_eq!(asked(&go(&mut state, KeyCode::Enter)), [Ask::Diff("src/b.rs".into())]);
    tell(&mut state, "web", Ask::Diff("src/b.rs".into()), text("diff --git\n@@ -1 +1 @@\n-a\n+b\n"));
    assert_eq!(shown(&state).as_deref(), Some("@@ -1 +1 @@"));
    go(&mut state, KeyCode::Left);
    assert_eq!((shown(&state), chosen(&state).as_str()), (None, "src/b.rs"));
    go(&mut state, KeyCode::End);
    assert_eq!(asked(&go(&mut state, KeyCode::Right)), [Ask::New("notes.txt".into())]);
}

#[test]
fn the_chosen_file_stays_chosen_when_the_list_changes() {
    let mut state = git();
    go(&mut state, KeyCode::Down);
    assert_eq!(asked(&press(&mut state, Chord::char('R'))), [Ask::Status]);
    tell(&mut state, "web", Ask::Status, git_status(&[("M ", "0.rs"), ("M ", "1.rs"), ("M ", "src/b.rs")]));
    assert_eq!(chosen(&state), "src/b.rs");
    press(&mut state, Chord::char('R'));
    tell(&mut state, "web", Ask::Status, git_status(&[("M ", "0.rs")]));
    assert_eq!(chosen(&state), "0.rs");
    press(&mut state, Chord::char('R'));
    tell(&mut state, "web", Ask::Status, git_status(&[]));
    assert_eq!(chosen(&state), "");
    assert_eq!(go(&mut state, KeyCode::Enter), []);
}

#[test]
fn no_key_text_or_paste_in_a_panel_reaches_the_agent() {
    for open in [git, files] {
        let mut state = open();
        let codes = [KeyCode::Enter, KeyCode::Tab, KeyCode::Backspace, KeyCode::Delete, KeyCode::F(5), KeyCode::Up];
        let mut all: Vec<Effect> = codes.into_iter().flat_map(|code| go(&mut state, code)).collect();
        all.extend(press(&mut state, Chord::char('x')));
        all.extend(update(&mut state, Msg::Outer(Outer::Text("rm -r .\r".into()))));
        all.extend(update(&mut state, Msg::Outer(Outer::PasteStart)));
        all.extend(update(&mut state, Msg::Outer(Outer::PasteChunk(b"pasted".to_vec()))));
        all.extend(update(&mut state, Msg::Outer(Outer::PasteEnd)));
        assert!(!all.iter().any(|effect| matches!(effect, Effect::Send(..))), "{all:?}");
        assert_eq!(state.said.as_deref(), Some("The paste was not delivered: nothing could take it."));
    }
}

#[test]
fn esc_gives_the_focus_back_and_q_closes() {
    let mut state = git();
    go(&mut state, KeyCode::Esc);
    assert_eq!((state.desk().beside, state.desk().away), (Some(Shows::Git), false));
    let typed = press(&mut state, Chord::char('q'));
    assert!(typed.iter().any(|effect| matches!(effect, Effect::Send(7, _))), "{typed:?}");
    after_prefix(&mut state, 'o');
    press(&mut state, Chord::char('q'));
    assert_eq!(state.desk().beside, None);
    let mut state = files();
    // What follows the q is for nobody.
    let effects = update(&mut state, Msg::Outer(Outer::Text("qx".into())));
    assert_eq!(state.desk().beside, None);
    assert!(
        !effects.iter().any(|effect| matches!(effect, Effect::Send(_, crate::wire::input::StreamInput::Text { .. })))
    );
}

#[test]
fn an_answer_that_nobody_waits_for_is_dropped() {
    let mut state = git();
    let (a, b) = (Ask::Diff("src/a.rs".into()), Ask::Diff("src/b.rs".into()));
    go(&mut state, KeyCode::Enter);
    go(&mut state, KeyCode::Esc);
    tell(&mut state, "web", a.clone(), text("a"));
    assert_eq!(shown(&state), None, "it was given up");
    go(&mut state, KeyCode::Enter);
    go(&mut state, KeyCode::Down);
    assert_eq!(asked(&go(&mut state, KeyCode::Enter)), [], "one question of a kind at a time");
    assert_eq!(asked(&tell(&mut state, "web", a, text("a"))), vec![b.clone()]);
    assert_eq!(shown(&state), None, "something else is wanted by now");
    tell(&mut state, "web", b.clone(), text("b"));
    assert_eq!(shown(&state).as_deref(), Some("b"));
    tell(&mut state, "web", b, text("late"));
    assert_eq!(shown(&state).as_deref(), Some("b"), "it was not asked again");
}

#[test]
fn directories_are_entered_and_left_at_the_place_that_was_chosen() {
    let mut state = files();
    go(&mut state, KeyCode::Down);
    assert_eq!(asked(&go(&mut state, KeyCode::Right)), [Ask::Tree("src".into())]);
    tell(&mut state, "web", Ask::Tree("src".into()), tree(&[("tui/", 0), ("lib.rs", 5)]));
    assert_eq!(chosen(&state), "tui");
    go(&mut state, KeyCode::Down);
    assert_eq!(asked(&go(&mut state, KeyCode::Enter)), [Ask::File("src/lib.rs".into())]);
    tell(&mut state, "web", Ask::File("src/lib.rs".into()), text("//! Library.\n"));
    assert_eq!(shown(&state).as_deref(), Some("//! Library."));
    go(&mut state, KeyCode::Esc);
    assert_eq!(chosen(&state), "lib.rs");
    assert_eq!(asked(&go(&mut state, KeyCode::Left)), [Ask::Tree(String::new())]);
    tell(&mut state, "web", Ask::Tree(String::new()), tree(&[("src/", 0), ("README.md", 9)]));
    assert_eq!(chosen(&state), "src", "where it came from");
    assert_eq!(go(&mut state, KeyCode::Left), [], "there is nothing above");
    go(&mut state, KeyCode::Enter);
    tell(&mut state, "web", Ask::Tree("src".into()), tree(&[("tui/", 0), ("lib.rs", 5)]));
    assert_eq!(chosen(&state), "lib.rs", "what was chosen there before");
}

#[test]
fn a_link_is_followed_to_whatever_it_leads_to() {
    let mut state = files();
    go(&mut state, KeyCode::End);
    assert_eq!(asked(&go(&mut state, KeyCode::Enter)), [Ask::File("to".into())]);
    assert_eq!(asked(&refused(&mut state, Ask::File("to".into()), ErrorCode::BadRequest)), [Ask::Tree("to".into())]);
    refused(&mut state, Ask::Tree("to".into()), ErrorCode::Forbidden);
    let failed = &state.chosen().unwrap().panels.files.failed;
    assert_eq!(failed.as_ref().map(|failure| failure.words.as_str()), Some("it cannot be"));
    assert_eq!(chosen(&state), "to");
}

#[test]
fn a_filter_is_typed_and_keys_are_letters_meanwhile() {
    let mut state = files();
    update(&mut state, Msg::Outer(Outer::Text("/rE".into())));
    assert_eq!(chosen(&state), "README.md");
    update(&mut state, Msg::Outer(Outer::PasteStart));
    update(&mut state, Msg::Outer(Outer::PasteChunk(b"q".to_vec())));
    update(&mut state, Msg::Outer(Outer::PasteEnd));
    assert_eq!((chosen(&state).as_str(), state.desk().beside), ("", Some(Shows::Files)));
    go(&mut state, KeyCode::Backspace);
    assert_eq!(asked(&go(&mut state, KeyCode::Enter)), [Ask::File("README.md".into())]);
    go(&mut state, KeyCode::Esc);
    let panels = &state.chosen().unwrap().panels;
    assert_eq!((panels.files.filter.clone(), chosen(&state).as_str()), (None, "README.md"));
    press(&mut state, Chord::char('/'));
    go(&mut state, KeyCode::Backspace);
    assert_eq!(state.chosen().unwrap().panels.files.filter, None);
    assert!(state.desk().away);
}

#[test]
fn a_directory_that_git_does_not_know_is_shown_by_the_files_panel() {
    let mut state = git();
    go(&mut state, KeyCode::End);
    go(&mut state, KeyCode::Up);
    assert_eq!(chosen(&state), "new/");
    assert_eq!(asked(&go(&mut state, KeyCode::Enter)), [Ask::Tree("new".into())]);
    assert_eq!(state.desk().focused(), &Shows::Files);
}

#[test]
fn nothing_is_asked_again_while_the_agent_rests_and_at_the_end_of_its_turn_it_is() {
    let mut lines = lines();
    lines[1].activity = Activity::Working;
    let mut state = listed((81, 24), &lines);
    let working = crate::domain::status::Status { activity: Activity::Working, ..running(&lines[1]) };
    take_status(&mut state, working);
    let effects = after_prefix(&mut state, 'g');
    assert!(starts_timer(&effects), "{effects:?}");
    tell(&mut state, "web", Ask::Status, git_status(CHANGES));
    let effects = timer(&mut state);
    assert_eq!((asked(&effects), starts_timer(&effects)), (vec![Ask::Status], true));
    assert_eq!(asked(&timer(&mut state)), [], "the answer is not there yet");
    tell(&mut state, "web", Ask::Status, git_status(CHANGES));
    tell(&mut state, "web", Ask::Status, git_status(CHANGES));
    assert_eq!(asked(&update(&mut state, active("web", Activity::Ready))), [Ask::Status]);
    tell(&mut state, "web", Ask::Status, git_status(CHANGES));
    let effects = timer(&mut state);
    assert_eq!((asked(&effects), starts_timer(&effects)), (vec![], false));
    // The end of a turn of another session is nothing to this one, and is known when it is looked at.
    update(&mut state, active("api", Activity::Working));
    assert_eq!(asked(&update(&mut state, active("api", Activity::Ready))), []);
}

#[test]
fn a_panel_that_is_not_in_sight_asks_nothing() {
    let mut state = git();
    after_prefix(&mut state, 'o');
    after_prefix(&mut state, 'z');
    update(&mut state, active("web", Activity::Working));
    let effects = update(&mut state, active("web", Activity::Ready));
    assert_eq!((asked(&effects), starts_timer(&effects)), (vec![], false));
    assert_eq!(asked(&after_prefix(&mut state, 'z')), [Ask::Status]);
}

#[test]
fn each_session_keeps_its_own_panel() {
    let mut state = git();
    go(&mut state, KeyCode::Down);
    assert_eq!(asked(&after_prefix(&mut state, '1')), []);
    assert_eq!(asked(&after_prefix(&mut state, 'f')), [Ask::Tree(String::new())]);
    assert_eq!(asked(&after_prefix(&mut state, '2')), [Ask::Status]);
    assert_eq!(chosen(&state), "src/b.rs");
    tell(&mut state, "api", Ask::Tree(String::new()), tree(&[("theirs", 1)]));
    assert_eq!(chosen(&state), "src/b.rs");
    after_prefix(&mut state, '1');
    assert_eq!(chosen(&state), "theirs");
}

#[test]
fn it_waits_until_the_executor_is_ready() {
    let mut state = git();
    let starting = crate::domain::status::Status {
        executor_status: Some(ExecutorStatus::Starting),
        ..running(&state.chosen().unwrap().line)
    };
    take_status(&mut state, starting.clone());
    assert_eq!(asked(&press(&mut state, Chord::char('R'))), []);
    let ready = crate::domain::status::Status { executor_status: Some(ExecutorStatus::Ready), ..starting.clone() };
    assert_eq!(asked(&take_status(&mut state, ready)), [Ask::Status]);
    // It closes whatever the executor does.
    take_status(&mut state, starting);
    after_prefix(&mut state, 'g');
    assert_eq!(state.desk().beside, None);
}

#[test]
fn what_passes_is_asked_again_by_itself_and_what_does_not_is_not() {
    let mut state = listed((81, 24), &lines());
    after_prefix(&mut state, 'g');
    assert!(starts_timer(&refused(&mut state, Ask::Status, ErrorCode::ExecutorUnreachable)));
    let failed = state.chosen().unwrap().panels.git.failed.clone();
    assert_eq!(failed.map(|failure| failure.words).as_deref(), Some("its executor does not answer"));
    assert_eq!(asked(&timer(&mut state)), [Ask::Status]);
    refused(&mut state, Ask::Status, ErrorCode::Internal);
    assert_eq!(asked(&timer(&mut state)), []);
    assert_eq!(asked(&press(&mut state, Chord::char('R'))), [Ask::Status]);
    tell(&mut state, "web", Ask::Status, git_status(&[]));
    assert_eq!(state.chosen().unwrap().panels.git.failed, None);
}

#[test]
fn after_the_host_was_away_it_asks_again() {
    let mut state = git();
    press(&mut state, Chord::char('R'));
    update(&mut state, Msg::Lost("gone".into()));
    assert_eq!(asked(&press(&mut state, Chord::char('R'))), []);
    assert_eq!(asked(&update(&mut state, Msg::Connected)), [Ask::Status]);
    assert_eq!(chosen(&state), "src/a.rs");
}

#[test]
fn the_mouse_chooses_opens_and_scrolls() {
    let mut state = git();
    after_prefix(&mut state, 'o');
    let mut mouse = |kind, row| {
        let effects = update(&mut state, Msg::Outer(Outer::Mouse(Mouse { kind, col: 60, row, mods: Mods(0) })));
        (chosen(&state), state.desk().away, asked(&effects))
    };
    // Rows: tab bar, head, a heading, a.rs, a heading, b.rs.
    assert_eq!(mouse(MouseKind::ScrollDown, 5), ("src/b.rs".into(), false, vec![]));
    assert_eq!(mouse(MouseKind::ScrollUp, 5), ("src/a.rs".into(), false, vec![]));
    assert_eq!(mouse(MouseKind::Down(0), 3), ("src/a.rs".into(), true, vec![]), "it only gets the focus");
    assert_eq!(mouse(MouseKind::Down(0), 4), ("src/a.rs".into(), true, vec![]), "a heading is not chosen");
    assert_eq!(mouse(MouseKind::Down(0), 5), ("src/b.rs".into(), true, vec![]));
    assert_eq!(mouse(MouseKind::Down(0), 5), ("src/b.rs".into(), true, vec![Ask::Diff("src/b.rs".into())]));
    assert_eq!(mouse(MouseKind::Down(0), 1), ("src/b.rs".into(), true, vec![]));
}

#[test]
fn on_a_small_screen_the_panel_alone_takes_keys() {
    let mut state = listed((30, 8), &lines());
    after_prefix(&mut state, 'g');
    assert!(state.panes.is_empty());
    tell(&mut state, "web", Ask::Status, git_status(CHANGES));
    go(&mut state, KeyCode::Down);
    assert_eq!(chosen(&state), "src/b.rs");
    go(&mut state, KeyCode::Esc);
    assert_eq!(state.panes.len(), 1);
}

#[test]
fn commits_and_what_is_no_repository() {
    let mut state = git();
    assert_eq!(asked(&press(&mut state, Chord::char('l'))), [Ask::Log]);
    tell(&mut state, "web", Ask::Log, crate::tui::samples::commits(&["One", "Two"]));
    go(&mut state, KeyCode::Down);
    assert_eq!(state.chosen().unwrap().panels.git.commit.at, 1);
    go(&mut state, KeyCode::Esc);
    assert_eq!(chosen(&state), "src/a.rs");
    press(&mut state, Chord::char('R'));
    let none = GitStatus { repository: false, branch: None, ahead_behind: None, entries: vec![] };
    tell(&mut state, "web", Ask::Status, Found::Status(none));
    assert_eq!(go(&mut state, KeyCode::Enter), []);
}
