//! What is executed, profile by profile.

use super::*;
use crate::domain::ids::TerminalId;
use crate::domain::launch::Size;
use crate::domain::words::TerminalKind;

fn profile(name: &str) -> Profile {
    let text = match name {
        "demo" => include_str!("../../../assets/agents/demo.toml"),
        "shell" => include_str!("../../../assets/agents/shell.toml"),
        "generic" => include_str!("../../../assets/agents/generic.toml"),
        "claude" => include_str!("../../../assets/agents/claude.toml"),
        "codex" => include_str!("../../../assets/agents/codex.toml"),
        "opencode" => include_str!("../../../assets/agents/opencode.toml"),
        "gemini" => include_str!("../../../assets/agents/gemini.toml"),
        "vibe" => include_str!("../../../assets/agents/vibe.toml"),
        other => panic!("no profile {other}"),
    };
    let profile: Profile = toml::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    Profile { name: name.to_owned(), ..profile }
}

fn request(name: &str, mode: StartMode, token: Option<&str>, args: &str, prompt: Option<&str>) -> LaunchRequest {
    LaunchRequest {
        terminal: TerminalId::new("t1").unwrap(),
        kind: TerminalKind::Agent,
        generation: 1,
        epoch: 1,
        mode,
        profile: profile(name),
        token: token.map(str::to_owned),
        prompted: mode == StartMode::Resume,
        args: args.split_whitespace().map(str::to_owned).collect(),
        env: vec![("PATH".into(), "/bin".into()), ("SHELL".into(), "/bin/zsh".into()), ("TMUX".into(), "x".into())],
        cwd: "/w".into(),
        prompt: prompt.map(str::to_owned),
        size: Size::DEFAULT,
        fence: Vec::new(),
    }
}

fn planned(request: &LaunchRequest) -> Result<Plan, Error> {
    let tools = Tools { relight: "/r/relight".into(), hook: "/r/relight hook -t 't 1'".into(), home: "/h".into() };
    plan(request, &tools)
}

/// The argv as one line; the hook settings of claude as `HOOKS`.
fn line(request: &LaunchRequest) -> String {
    let plan = planned(request).unwrap();
    let args = plan.args.iter().map(|arg| if arg.starts_with("{\"hooks\"") { "HOOKS" } else { arg.as_str() });
    let typed = plan.typed_prompt.iter().map(|p| format!("⌨{p}"));
    let token = plan.token.iter().map(|t| format!("[{t}]"));
    let all: Vec<String> = [plan.program.clone()].into_iter().chain(args.map(str::to_owned)).collect();
    all.into_iter().chain(typed).chain(token).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_agent_is_started_resumed_and_started_fresh_as_its_profile_says() {
    let check = |name: &str, mode, token, args: &str, prompt, want: &str| {
        assert_eq!(line(&request(name, mode, token, args, prompt)), want);
    };
    let (first, resume, fresh) = (StartMode::First, StartMode::Resume, StartMode::Fresh);
    let (id, hi) = (Some("u-1"), Some("hi there"));
    let hook = "--hook /r/relight hook -t 't 1'";
    check("demo", first, id, "", None, &format!("/r/relight demo-agent {hook} --session-id u-1 [u-1]"));
    check(
        "demo",
        first,
        id,
        "--fullscreen",
        hi,
        &format!("/r/relight demo-agent {hook} --fullscreen --session-id u-1 --prompt hi there [u-1]"),
    );
    check(
        "demo",
        resume,
        id,
        "--fullscreen go",
        hi,
        &format!("/r/relight demo-agent {hook} --fullscreen --resume u-1 [u-1]"),
    );
    check(
        "demo",
        fresh,
        Some("u-2"),
        "--session-id u-1",
        hi,
        &format!("/r/relight demo-agent {hook} --session-id u-2 [u-2]"),
    );
    check(
        "claude",
        first,
        id,
        "--model opus",
        hi,
        "claude --settings HOOKS --model opus --session-id u-1 hi there [u-1]",
    );
    check("claude", first, id, "--resume x", None, "claude --settings HOOKS --resume x [x]");
    check("claude", first, id, "-c", None, "claude --settings HOOKS -c");
    check("claude", first, id, "", Some("-v"), "claude --settings HOOKS --session-id u-1 ⌨-v [u-1]");
    check("claude", resume, id, "-c --model opus", hi, "claude --settings HOOKS --model opus --resume u-1 [u-1]");
    check("codex", first, None, "-m x", hi, "codex --no-daemon -m x hi there");
    check("codex", resume, id, "-m x", hi, "codex resume u-1 --no-daemon -m x [u-1]");
    check("opencode", first, None, "", hi, "opencode --prompt hi there");
    check("opencode", resume, Some("ses_1"), "", hi, "opencode --session ses_1 [ses_1]");
    check("gemini", first, id, "", hi, "gemini --session-id u-1 -i hi there [u-1]");
    check("gemini", resume, id, "", hi, "gemini --resume u-1 [u-1]");
    check("vibe", first, None, "--trust", hi, "vibe --trust hi there");
    check("vibe", resume, id, "--trust go", None, "vibe --trust --resume u-1 [u-1]");
    check("shell", first, None, "-l", None, "/bin/zsh -l");
    check("generic", first, None, "my-agent --flag", hi, "my-agent --flag ⌨hi there");
    check("generic", fresh, None, "my-agent --flag", hi, "my-agent --flag");
}

#[test]
fn what_cannot_be_started_is_refused_with_its_code() {
    use crate::domain::words::ErrorCode;
    let check = |name: &str, mode, token, args: &str, want: ErrorCode| {
        let got = planned(&request(name, mode, token, args, None));
        assert_eq!(got.as_ref().map_err(Error::code).err(), Some(want), "{name}: {got:?}");
    };
    check("generic", StartMode::First, None, "", ErrorCode::ConfigGone);
    check("generic", StartMode::Resume, Some("x"), "a", ErrorCode::ResumeUnsupported);
    check("shell", StartMode::Resume, Some("x"), "", ErrorCode::ResumeUnsupported);
    check("claude", StartMode::Resume, None, "", ErrorCode::MissingResumeToken);
    check("claude", StartMode::Resume, Some(""), "", ErrorCode::MissingResumeToken);
    let nul = request("claude", StartMode::First, None, "", Some("a\0b"));
    assert_eq!(planned(&nul).map_err(|e| e.code()).err(), Some(ErrorCode::BadRequest));
}

#[test]
fn the_hook_settings_of_claude_are_json_with_the_command_in_it() {
    let plan = planned(&request("claude", StartMode::First, Some("u"), "", None)).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&plan.args[1]).unwrap();
    let command = settings.pointer("/hooks/SessionEnd/0/hooks/0/command").and_then(|c| c.as_str());
    assert_eq!(command, Some("/r/relight hook -t 't 1'"));
    let profile = profile("claude");
    for event in profile.hooks.events.keys() {
        assert!(settings.pointer(&format!("/hooks/{event}")).is_some(), "{event} is read but not asked for");
    }
}

#[test]
fn without_a_hook_command_no_hook_arguments_are_passed() {
    let tools = Tools { relight: "/r".into(), hook: String::new(), home: "/h".into() };
    let plan = plan(&request("demo", StartMode::First, Some("u"), "", None), &tools).unwrap();
    assert_eq!(plan.args, ["demo-agent", "--session-id", "u"]);
}

#[test]
fn the_environment_is_scrubbed_and_the_profiles_own_is_added() {
    let mut request = request("gemini", StartMode::First, Some("u"), "", None);
    request.profile.env.insert("PROGRAM".into(), "{relight}".into());
    let env = planned(&request).unwrap().env;
    let of = |name: &str| env.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    assert_eq!(of("TMUX"), None);
    assert_eq!(of("TERM"), Some("xterm-256color"));
    assert_eq!(of("PWD"), Some("/w"));
    assert_eq!(of("GEMINI_CLI_NO_RELAUNCH"), Some("true"));
    assert_eq!(of("PROGRAM"), Some("/r/relight"));
    assert_eq!(of("PATH"), Some("/bin"));
}

#[test]
fn a_prompt_is_never_looked_into_for_places() {
    let request = request("claude", StartMode::First, Some("u"), "{token}", Some("say {token}"));
    let plan = planned(&request).unwrap();
    assert_eq!(plan.args.last().map(String::as_str), Some("say {token}"));
    assert!(plan.args.contains(&"{token}".to_owned()));
}

#[test]
fn every_profile_says_what_it_rests_on_and_maps_known_events_only() {
    for name in ["demo", "shell", "generic", "claude", "codex", "opencode", "gemini", "vibe"] {
        let profile = profile(name);
        assert!(!profile.note.is_empty() && !profile.label.is_empty(), "{name}");
        for word in profile.hooks.events.values() {
            let known = [
                "session_start",
                "prompt",
                "turn_start",
                "turn_end",
                "permission",
                "question",
                "tool",
                "message",
                "goodbye",
            ];
            assert!(known.contains(&word.as_str()), "{name}: {word}");
        }
    }
}
