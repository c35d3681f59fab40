//! The demo agent's turns, step by step.

use super::*;

fn typed(app: &mut App, text: &str, now: u64) -> Vec<Effect> {
    let mut out: Vec<Effect> = text.chars().flat_map(|c| app.key(&Key::Char(c), now)).collect();
    out.extend(app.key(&Key::Enter, now));
    out
}

/// Effects as short words.
fn words(effects: &[Effect]) -> Vec<String> {
    effects
        .iter()
        .map(|effect| match effect {
            Effect::Save(message) => format!("save {}", message.role),
            Effect::Hook(event, fields) => {
                let detail = ["reason", "source"].iter().find_map(|f| fields.get(f)?.as_str());
                format!("hook {event}{}", detail.map(|d| format!(" {d}")).unwrap_or_default())
            }
            Effect::Line(line) => format!("| {line}"),
            Effect::Status(status) => format!("{status:?}"),
            Effect::Notify(_) => "notify".into(),
            Effect::Tool(command) => format!("tool {command}"),
            Effect::Renew => "renew".into(),
            Effect::Quit(code) => format!("quit {code}"),
        })
        .collect()
}

/// Lets time pass until the turn is over.
fn settle(app: &mut App) -> Vec<Effect> {
    let mut out = Vec::new();
    while let Some(at) = app.deadline() {
        out.extend(app.tick(at));
    }
    out
}

#[test]
fn a_turn_is_told_kept_streamed_and_ended() {
    let mut app = App::new("p", Vec::new(), false);
    let began = typed(&mut app, "remember heron", 0);
    assert_eq!(words(&began), ["hook UserPromptSubmit", "save user", "hook Message", "| > remember heron", "Working"]);
    app.tick(0);
    app.tick(8);
    assert_eq!(app.live().partial, "I will");
    assert_eq!(
        words(&settle(&mut app)),
        ["| I will remember heron.", "save assistant", "hook Message", "hook Stop", "Done", "notify"]
    );
    typed(&mut app, "what is the code word?", 100);
    assert_eq!(words(&settle(&mut app))[0], "| The code word is heron.");
    assert_eq!(app.recap()[0], "> remember heron");
    assert_eq!(app.messages(), 4);
}

#[test]
fn counting_has_its_pace() {
    let mut app = App::new("p", Vec::new(), false);
    typed(&mut app, "count 2 every 10", 100);
    assert_eq!(words(&app.tick(100)), ["| line 1 of 2"]);
    assert_eq!(app.tick(105), []);
    assert_eq!(app.deadline(), Some(110));
    assert_eq!(words(&app.tick(110)), ["| line 2 of 2"]);
    assert_eq!(words(&app.tick(120))[0], "| I counted to 2.");
}

#[test]
fn a_tool_asks_first() {
    let mut app = App::new("p", Vec::new(), false);
    let asked = words(&typed(&mut app, "tool ls", 0));
    assert_eq!(asked[4..], ["Working", "hook PermissionRequest", "Blocked(\"run ls\")", "notify"]);
    assert_eq!(app.live().prompt, "Allow running `ls`? (y/n) ");
    assert_eq!(app.key(&Key::Char('x'), 0), []);
    let allowed = words(&app.key(&Key::Char('y'), 0));
    assert_eq!(allowed, ["| Allow running `ls`? (y/n) y", "hook PreToolUse", "Working", "tool ls"]);
    let done = words(&app.tool_done("a\nb", 0));
    assert_eq!(done[..4], ["hook PostToolUse", "| a", "| b", "| I ran it."]);
    typed(&mut app, "tool ls", 0);
    assert!(!words(&app.key(&Key::Char('n'), 0)).iter().any(|w| w.starts_with("tool")));
    assert_eq!(words(&settle(&mut app))[0], "| I did not run it.");
}

#[test]
fn leaving_is_said() {
    let bye = ["hook SessionEnd prompt_input_exit", "quit 0"];
    let mut app = App::new("p", Vec::new(), false);
    assert_eq!(words(&typed(&mut app, "/quit", 0)), bye);
    assert_eq!(words(&typed(&mut app, "/exit", 0)), bye);
    assert_eq!(words(&app.key(&Key::Ctrl('d'), 0)), bye);
    app.key(&Key::Char('x'), 0);
    assert_eq!(app.key(&Key::Ctrl('d'), 0), []);
    app.key(&Key::Ctrl('c'), 0);
    assert_eq!(words(&app.key(&Key::Ctrl('c'), 3000)), ["| (press Ctrl-C again to leave)"]);
    assert_eq!(words(&app.key(&Key::Ctrl('c'), 3100)), bye);
}

#[test]
fn an_interrupt_ends_the_turn_without_a_hook() {
    let mut app = App::new("p", Vec::new(), false);
    typed(&mut app, "count 100", 0);
    assert_eq!(words(&app.key(&Key::Ctrl('c'), 0)), ["| (interrupted)", "Idle"]);
    assert_eq!(app.deadline(), None);
    typed(&mut app, "flood", 10);
    assert!(app.tick(10).len() > 10);
    assert_eq!(words(&app.key(&Key::Esc, 10)), ["| (interrupted)", "Idle"]);
}

#[test]
fn prompts_wait_for_their_turn_and_commands_do_not() {
    let mut app = App::new("p", Vec::new(), false);
    typed(&mut app, "think 50", 0);
    assert_eq!(typed(&mut app, "say second", 1), []);
    let all = words(&settle(&mut app));
    assert!(all.contains(&"| second".to_owned()), "{all:?}");
    typed(&mut app, "think 50", 0);
    assert_eq!(words(&typed(&mut app, "/quit", 1)).last().map(String::as_str), Some("quit 0"));
}

#[test]
fn clear_begins_another_conversation() {
    let mut app = App::new("p", Vec::new(), false);
    typed(&mut app, "remember heron", 0);
    settle(&mut app);
    assert_eq!(
        words(&typed(&mut app, "/clear", 0)),
        ["hook SessionEnd clear", "renew", "hook SessionStart clear", "Idle"]
    );
    typed(&mut app, "code word?", 0);
    assert_eq!(words(&settle(&mut app))[0], "| I do not know a code word.");
}

#[test]
fn one_that_hangs_never_answers() {
    let mut app = App::new("p", Vec::new(), true);
    typed(&mut app, "hello", 0);
    assert_eq!(app.deadline(), None);
    assert_eq!(app.tick(1_000_000), []);
}
