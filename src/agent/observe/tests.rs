//! What an observer makes of an agent, event by event.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::domain::rows::StartMode;

fn demo() -> Profile {
    toml::from_str(include_str!("../../../assets/agents/demo.toml")).unwrap()
}

fn claude() -> Profile {
    toml::from_str(include_str!("../../../assets/agents/claude.toml")).unwrap()
}

fn shell() -> Profile {
    toml::from_str(include_str!("../../../assets/agents/shell.toml")).unwrap()
}

fn observer(profile: &Profile, token: Option<&str>) -> Observer {
    let start =
        Start { terminal: "t".into(), mode: StartMode::First, token: token.map(str::to_owned), prompted: false };
    Observer::new(profile, start)
}

fn event(name: &str, token: &str) -> Value {
    json!({"hook_event_name": name, "session_id": token})
}

/// Observations as words, activity changes left out.
fn words(out: Vec<Observation>) -> Vec<String> {
    out.into_iter()
        .filter_map(|o| match o {
            Observation::Activity => None,
            Observation::Signal(signal) => Some(format!("{signal:?}")),
            Observation::Prompted => Some("Prompted".into()),
            Observation::Token { token, source } => Some(format!("Token {token} {source}")),
            Observation::Message { id, role, text } => Some(format!("{role} {id} {text}")),
            Observation::Goodbye { reason, person } => Some(format!("Goodbye {reason} {person}")),
        })
        .collect()
}

fn status(state: ProgramState, kind: Option<BlockedOn>, id: Option<&str>, msg: &str) -> ModelEvent {
    ModelEvent::ProgramStatus {
        state,
        kind,
        app: None,
        id: id.map(str::to_owned),
        title: None,
        msg: (!msg.is_empty()).then(|| msg.to_owned()),
        progress: None,
    }
}

#[test]
fn a_turn_by_hooks() {
    let mut o = observer(&demo(), Some("a"));
    assert_eq!(o.state(), SessionState::Starting);
    let mut hook = |name: &str, want: &[&str], state, activity| {
        assert_eq!(words(o.on_hook(&event(name, "a"), 0)), want, "{name}");
        assert_eq!((o.state(), o.activity().0), (state, activity), "{name}");
    };
    let (running, waiting) = (SessionState::Running, SessionState::WaitingForInput);
    hook("SessionStart", &["Ready"], waiting, Activity::Ready);
    hook("SessionStart", &[], waiting, Activity::Ready);
    hook("UserPromptSubmit", &["Prompted", "TurnBegan"], running, Activity::Working);
    hook("PreToolUse", &[], running, Activity::Working);
    hook("PermissionRequest", &["NeedsPermission"], waiting, Activity::NeedsPermission);
    hook("PermissionRequest", &[], waiting, Activity::NeedsPermission);
    hook("PostToolUse", &["TurnBegan"], running, Activity::Working);
    hook("Stop", &["TurnEnded"], waiting, Activity::Ready);
    hook("Stop", &[], waiting, Activity::Ready);
    hook("PostToolUse", &[], waiting, Activity::Ready);
    hook("SessionEnd", &["Goodbye  false"], waiting, Activity::Ended);
    hook("SessionEnd", &[], waiting, Activity::Ended);
}

#[test]
fn another_agent_inside_changes_nothing() {
    let mut o = observer(&demo(), Some("a"));
    o.on_hook(&event("SessionStart", "a"), 0);
    for name in ["SessionStart", "UserPromptSubmit", "PermissionRequest", "SessionEnd"] {
        assert_eq!(o.on_hook(&event(name, "nested"), 0), [], "{name}");
    }
    assert_eq!(o.token(), Some("a"));
}

#[test]
fn the_agent_itself_moves_on_to_another_conversation() {
    let mut o = observer(&demo(), Some("a"));
    o.on_hook(&event("SessionStart", "a"), 0);
    o.on_hook(&event("UserPromptSubmit", "a"), 0);
    o.on_hook(&event("Stop", "a"), 0);
    let mut clear = event("SessionEnd", "a");
    clear["reason"] = json!("clear");
    assert_eq!(o.on_hook(&clear, 0), []);
    assert_eq!(words(o.on_hook(&event("SessionStart", "b"), 0)), ["Token b hook"]);
    assert_eq!(o.on_hook(&event("UserPromptSubmit", "a"), 0), [], "the old one is over");
    assert_eq!(words(o.on_hook(&event("UserPromptSubmit", "b"), 0)), ["Prompted", "TurnBegan"]);
    assert_eq!(o.on_token("b", "pid_file"), []);
    assert_eq!(words(o.on_token("c", "pid_file")), ["Token c pid_file"]);
}

#[test]
fn the_first_event_may_correct_the_id_and_one_from_elsewhere_may_not_tell_it() {
    let mut o = observer(&demo(), Some("assigned"));
    assert_eq!(words(o.on_hook(&event("SessionStart", "real"), 0)), ["Token real hook", "Ready"]);
    let mut o = observer(&demo(), None);
    o.set_agent_pid(7);
    let line = |pids: &[i32]| json!({"relight_hook": 1, "pids": pids, "body": event("SessionStart", "x")});
    assert_eq!(o.on_hook(&line(&[5, 4]), 0), []);
    assert_eq!(words(o.on_hook(&line(&[5, 7]), 0)), ["Token x hook", "Ready"]);
}

#[test]
fn messages_have_ids_of_their_own_or_of_their_terminal() {
    let mut o = observer(&demo(), Some("a"));
    let mut message = event("Message", "a");
    message["text"] = json!("hello");
    message["role"] = json!("user");
    assert_eq!(words(o.on_hook(&message, 0)), ["user t-1 hello"]);
    message["message_id"] = json!("m9");
    assert_eq!(words(o.on_hook(&message, 0)), ["user m9 hello"]);
}

#[test]
fn goodbyes_say_whether_a_person_caused_them() {
    let mut o = observer(&demo(), Some("a"));
    let mut bye = event("SessionEnd", "a");
    bye["reason"] = json!("other");
    assert_eq!(words(o.on_hook(&bye, 0)), ["Goodbye other false"]);
    bye["reason"] = json!("prompt_input_exit");
    assert_eq!(words(o.on_hook(&bye, 0)), ["Goodbye prompt_input_exit true"]);
}

#[test]
fn program_status_wins_over_hooks_where_the_profile_says_so() {
    let mut o = observer(&claude(), Some("a"));
    assert_eq!(words(o.on_model(&status(ProgramState::Idle, None, None, ""), 0)), ["Ready"]);
    assert_eq!(words(o.on_hook(&event("UserPromptSubmit", "a"), 0)), ["Prompted"], "only the facts of a hook count");
    assert_eq!(o.state(), SessionState::WaitingForInput);
    assert_eq!(words(o.on_model(&status(ProgramState::Working, None, None, "making a file"), 0)), ["TurnBegan"]);
    assert_eq!(o.activity(), (Activity::Working, "a turn is running: making a file".into()));
    let blocked = status(ProgramState::Blocked, Some(BlockedOn::Permission), None, "touch x");
    assert_eq!(words(o.on_model(&blocked, 0)), ["NeedsPermission"]);
    assert_eq!(o.activity(), (Activity::NeedsPermission, "it asks for permission: touch x".into()));
    assert_eq!(words(o.on_model(&status(ProgramState::Done, None, None, ""), 0)), ["TurnEnded"]);
    assert_eq!(o.on_model(&status(ProgramState::Clear, None, None, ""), 0), []);
    o.on_model(&status(ProgramState::Working, None, Some("task/1"), ""), 0);
    assert_eq!(o.activity().0, Activity::Background);
    o.on_model(&status(ProgramState::Clear, None, Some("task"), ""), 0);
    assert_eq!(o.activity().0, Activity::Ready);
}

#[test]
fn a_title_is_believed_late_when_it_says_idle_and_at_once_when_it_asks() {
    let profile: Profile = toml::from_str(include_str!("../../../assets/agents/gemini.toml")).unwrap();
    let mut o = observer(&profile, Some("a"));
    let title = |text: &str| ModelEvent::Title(text.into());
    assert_eq!(words(o.on_model(&title("◇  Ready (dir)"), 0)), ["Ready"]);
    assert_eq!(words(o.on_model(&title("✦  Working… (dir)"), 10)), ["Prompted", "TurnBegan"]);
    assert_eq!(o.on_model(&title("◇  Ready (dir)"), 20), []);
    assert_eq!(o.deadline(), Some(1520));
    assert_eq!(o.on_model(&title("✦  Working… (dir)"), 500), []);
    assert_eq!(o.tick(5000), [], "it went on working");
    assert_eq!(words(o.on_model(&title("✋  Action Required (dir)"), 6000)), ["NeedsPermission"]);
    o.on_model(&title("✦  Working… (dir)"), 7000);
    o.on_model(&title("◇  Ready (dir)"), 8000);
    assert_eq!(words(o.tick(9500)), ["TurnEnded"]);
}

#[test]
fn output_and_quiet_tell_the_state_of_a_program_without_words() {
    let mut o = observer(&shell(), None);
    assert_eq!(o.deadline(), None);
    assert_eq!(o.on_output(100), [], "it starts");
    assert_eq!(o.deadline(), Some(1600));
    assert_eq!(o.tick(1599), []);
    assert_eq!(words(o.tick(1600)), ["Ready"]);
    o.on_input(b"l", 2000);
    assert_eq!(o.on_output(2010), [], "an echo is no work");
    o.on_resize(2500);
    assert_eq!(o.on_output(2510), [], "a repaint is no work");
    assert_eq!(words(o.on_input(b"s\r", 3000)), ["Prompted"]);
    assert_eq!(words(o.on_output(3001)), ["TurnBegan"]);
    assert_eq!(o.on_output(4000), []);
    assert_eq!(o.deadline(), Some(5500));
    assert_eq!(words(o.tick(5500)), ["TurnEnded"]);
    assert_eq!(o.deadline(), None);
}

#[test]
fn an_agent_that_should_speak_and_is_quiet_may_be_asking_something() {
    let mut o = observer(&claude(), Some("a"));
    o.on_output(100);
    assert_eq!(words(o.tick(1600)), ["NeedsInput"]);
    assert_eq!(o.activity().0, Activity::NeedsInput);
    o.on_input(b"\r", 2000);
    assert_eq!(words(o.on_hook(&event("SessionStart", "a"), 2500)), ["Ready"]);
}

#[test]
fn quiet_after_an_interrupt_ends_the_turn_that_no_hook_ends() {
    let mut o = observer(&demo(), Some("a"));
    o.on_hook(&event("SessionStart", "a"), 0);
    o.on_hook(&event("UserPromptSubmit", "a"), 0);
    o.on_output(100);
    o.on_input(b"\x1b", 200);
    o.on_output(300);
    assert_eq!(o.tick(1700), []);
    assert_eq!(words(o.tick(1800)), ["TurnEnded"]);
    assert_eq!(o.state(), SessionState::WaitingForInput);
}

#[test]
fn quit_inputs_count_for_ten_seconds_and_until_the_next_prompt() {
    let quits = |inputs: &[(&[u8], u64)], at: u64| {
        let mut o = observer(&demo(), Some("a"));
        o.on_hook(&event("SessionStart", "a"), 0);
        for (bytes, now) in inputs {
            o.on_input(bytes, *now);
        }
        o.quit_input(at)
    };
    assert!(quits(&[(b"/quit\r", 100)], 10_100));
    assert!(!quits(&[(b"/quit\r", 100)], 10_101));
    assert!(!quits(&[(b"/quit", 100)], 200));
    assert!(!quits(&[(b"say /quit\r", 100)], 200));
    assert!(quits(&[(b"\x03", 100), (b"\x03", 1000)], 1100));
    assert!(!quits(&[(b"\x03", 100), (b"\x03", 2200)], 2300));
    assert!(!quits(&[(b"\x03", 100)], 200));
    assert!(quits(&[(b"\x04", 100)], 200));
    assert!(!quits(&[(b"x\x04", 100)], 200));
    let mut o = observer(&demo(), Some("a"));
    o.on_input(b"/quit\r", 100);
    o.on_hook(&event("UserPromptSubmit", "a"), 200);
    assert!(!o.quit_input(300));
}

#[test]
fn one_ctrl_c_in_a_turn_interrupts_and_does_not_quit() {
    let codex: Profile = toml::from_str(include_str!("../../../assets/agents/codex.toml")).unwrap();
    let mut o = observer(&codex, None);
    o.on_model(&status(ProgramState::Idle, None, None, ""), 0);
    o.on_model(&status(ProgramState::Working, None, None, ""), 10);
    o.on_input(b"\x03", 20);
    assert!(!o.quit_input(30));
    o.on_model(&status(ProgramState::Idle, None, None, ""), 5000);
    o.on_input(b"\x03", 6000);
    assert!(o.quit_input(6001));
}

#[test]
fn a_resume_into_an_empty_chat_keeps_the_id_and_says_so() {
    let start = Start { terminal: "t".into(), mode: StartMode::Resume, token: Some("a".into()), prompted: true };
    let mut o = Observer::new(&demo(), start);
    let mut begun = event("SessionStart", "other");
    begun["source"] = json!("startup");
    assert_eq!(words(o.on_hook(&begun, 0)), ["NeedsInput"]);
    assert_eq!((o.token(), o.activity().0), (Some("a"), Activity::Error));
    assert_eq!(o.on_hook(&event("UserPromptSubmit", "other"), 0), []);
    begun["source"] = json!("resume");
    begun["session_id"] = json!("fork");
    let start = Start { terminal: "t".into(), mode: StartMode::Resume, token: Some("a".into()), prompted: true };
    let mut o = Observer::new(&demo(), start);
    assert_eq!(words(o.on_hook(&begun, 0)), ["Token fork hook", "Prompted", "Ready"]);
}

/// Anything that can happen to an observer.
#[derive(Debug, Clone)]
enum Happens {
    Hook(&'static str, &'static str, &'static str),
    Status(ProgramState, Option<BlockedOn>, Option<&'static str>),
    Title(&'static str),
    Output,
    Resize,
    Input(&'static [u8]),
    Time(u64),
}

fn happens() -> impl Strategy<Value = Happens> {
    let hook = (
        prop::sample::select(vec![
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PermissionRequest",
            "Message",
            "Stop",
            "SessionEnd",
            "Unknown",
        ]),
        prop::sample::select(vec!["a", "b", ""]),
        prop::sample::select(vec!["", "clear", "resume", "startup", "prompt_input_exit"]),
    );
    let state = prop::sample::select(vec![
        ProgramState::Idle,
        ProgramState::Working,
        ProgramState::Done,
        ProgramState::Blocked,
        ProgramState::Error,
        ProgramState::Clear,
    ]);
    let kind = prop::sample::select(vec![None, Some(BlockedOn::Permission), Some(BlockedOn::Question)]);
    let inputs: Vec<&'static [u8]> =
        vec![b"x", b"\r", b"/quit\r", b"\x03", b"\x04", b"\x1b", b"\x1b[200~", b"\x1b[99;5u"];
    prop_oneof![
        hook.prop_map(|(name, token, reason)| Happens::Hook(name, token, reason)),
        (state, kind, prop::sample::select(vec![None, Some("p"), Some("p/q")]))
            .prop_map(|(state, kind, id)| Happens::Status(state, kind, id)),
        prop::sample::select(vec!["◐ demo", "○ demo", "? demo", "✳ Claude", "else"]).prop_map(Happens::Title),
        Just(Happens::Output),
        Just(Happens::Resize),
        prop::sample::select(inputs).prop_map(Happens::Input),
        (1u64..4000).prop_map(Happens::Time),
    ]
}

fn happen(o: &mut Observer, now: &mut u64, event: &Happens) -> Vec<Observation> {
    match event {
        Happens::Hook(name, token, reason) => {
            let body = json!({"hook_event_name": name, "session_id": token, "reason": reason, "source": reason,
                "text": "t", "message_id": "m"});
            o.on_hook(&body, *now)
        }
        Happens::Status(state, kind, id) => o.on_model(&status(*state, *kind, *id, ""), *now),
        Happens::Title(title) => o.on_model(&ModelEvent::Title((*title).into()), *now),
        Happens::Output => o.on_output(*now),
        Happens::Resize => {
            o.on_resize(*now);
            Vec::new()
        }
        Happens::Input(bytes) => o.on_input(bytes, *now),
        Happens::Time(ms) => {
            *now += ms;
            o.tick(*now)
        }
    }
}

proptest! {
    /// Who follows only the signals knows the state; and what is said twice says nothing the second time.
    #[test]
    fn signals_tell_the_state_and_repeats_tell_nothing(
        claude_like in any::<bool>(),
        resumes in any::<bool>(),
        events in prop::collection::vec(happens(), 1..60),
    ) {
        let profile = if claude_like { claude() } else { demo() };
        let mode = if resumes { StartMode::Resume } else { StartMode::First };
        let start = Start { terminal: "t".into(), mode, token: Some("a".into()), prompted: resumes };
        let mut o = Observer::new(&profile, start);
        let (mut now, mut state) = (0, SessionState::Starting);
        for event in &events {
            let out = happen(&mut o, &mut now, event);
            for observation in &out {
                if let Observation::Signal(signal) = observation {
                    state = match signal {
                        Signal::TurnBegan => SessionState::Running,
                        _ => SessionState::WaitingForInput,
                    };
                }
            }
            prop_assert_eq!(state, o.state(), "after {:?}: {:?}", event, out);
            if matches!(event, Happens::Hook(..) | Happens::Status(..) | Happens::Title(..)) {
                let again = happen(&mut o, &mut now, event);
                let news = again.iter().any(|o| {
                    matches!(o, Observation::Signal(_) | Observation::Prompted | Observation::Goodbye { .. } | Observation::Token { .. })
                });
                prop_assert!(!news, "again {:?}: {:?}", event, again);
            }
            // A deadline always lies ahead once time has passed it.
            if let Some(due) = o.deadline().filter(|due| *due <= now) {
                let out = o.tick(now);
                for observation in out {
                    if let Observation::Signal(signal) = observation {
                        state = if signal == Signal::TurnBegan { SessionState::Running } else { SessionState::WaitingForInput };
                    }
                }
                prop_assert!(o.deadline().is_none_or(|next| next > now), "{due} comes again");
            }
        }
    }
}
