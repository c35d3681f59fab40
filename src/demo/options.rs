//! The demo agent's arguments.

use std::path::{Path, PathBuf};

use super::conversation::plausible;
use super::misbehave::{self, Item, Switches};

/// Text of `--help`.
pub const HELP: &str = "\
relight demo-agent [OPTIONS] [PROMPT]

A small agent without a model, to try relight with.

  --session-id ID   id of the new conversation
  --resume ID       take up a conversation that was prompted
  --prompt TEXT     first prompt
  --fullscreen      use the alternate screen
  --hook CMD        run CMD by sh at each event, with the event as JSON on its standard input
  --dir DIR         where conversations are kept [env: RELIGHT_DEMO_HOME] [default: ~/.relight-demo]
  --misbehave LIST  misbehave [env: RELIGHT_DEMO_MISBEHAVE]: slow-start=MS, die, die-after=MS, ignore-sighup,
                    setsid-child, login-expired, late-goodbye=MS, exit0-on-sigterm, hang, flood, no-resume,
                    empty-resume, no-hooks; `resume:` in front: only on a resume; `@PATH` behind: only while PATH
                    exists. Each is also an option of its own: --die, --slow-start=MS

Prompts it understands: remember WORD · what is the code word? · count N [every MS] · think MS · tool [COMMAND] ·
say TEXT · flood · /clear · /quit, /exit (also Ctrl-C twice, or Ctrl-D)
";

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// Run the agent.
    Run(Box<Options>),
    /// Print the help.
    Help,
    /// Be the process that `setsid-child` leaves.
    Leftover,
}

/// Arguments of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Id of a new conversation.
    pub session_id: Option<String>,
    /// Conversation to resume.
    pub resume: Option<String>,
    /// Use the alternate screen.
    pub fullscreen: bool,
    /// First prompt.
    pub prompt: Option<String>,
    /// Hook command.
    pub hook: Option<String>,
    /// Where conversations are.
    pub dir: PathBuf,
    misbehave: Vec<Item>,
}

impl Options {
    /// The switches that hold for this run.
    pub fn switches(&self, exists: &dyn Fn(&Path) -> bool) -> Switches {
        misbehave::switches(&self.misbehave, self.resume.is_some(), exists)
    }
}

/// Internal option: be the process that `setsid-child` leaves.
pub const LEFTOVER: &str = "--be-leftover";

/// Reads arguments.
///
/// # Errors
/// A sentence about what is wrong.
pub fn parse(args: Vec<String>, env: &dyn Fn(&str) -> Option<String>) -> Result<Parsed, String> {
    let mut options = Options::default();
    let mut dir = None;
    let mut items = misbehave::parse(&env("RELIGHT_DEMO_MISBEHAVE").unwrap_or_default())?;
    let mut only_words = false;
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if only_words || !arg.starts_with('-') || arg == "-" {
            set(&mut options.prompt, arg, "prompt")?;
            continue;
        }
        let (name, joined) = match arg.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (arg.clone(), None),
        };
        let mut value = || joined.clone().or_else(|| args.next()).ok_or_else(|| format!("`{name}` needs a value"));
        match name.as_str() {
            "--" => only_words = true,
            "--help" | "-h" => return Ok(Parsed::Help),
            LEFTOVER => return Ok(Parsed::Leftover),
            "--fullscreen" => options.fullscreen = true,
            "--session-id" => set(&mut options.session_id, value()?, "--session-id")?,
            "--resume" => set(&mut options.resume, value()?, "--resume")?,
            "--prompt" => set(&mut options.prompt, value()?, "prompt")?,
            "--hook" => set(&mut options.hook, value()?, "--hook")?,
            "--dir" => dir = Some(value()?),
            "--misbehave" => items.extend(misbehave::parse(&value()?)?),
            other => {
                let name = other.trim_start_matches('-');
                let timed = misbehave::takes_time(name.strip_prefix("resume:").unwrap_or(name));
                match timed {
                    Some(true) => items.extend(misbehave::parse(&format!("{name}={}", value()?))?),
                    Some(false) => items.extend(misbehave::parse(arg.trim_start_matches('-'))?),
                    None => return Err(format!("unexpected argument '{other}'")),
                }
            }
        }
    }
    if options.session_id.is_some() && options.resume.is_some() {
        return Err("`--session-id` and `--resume` exclude each other".to_owned());
    }
    for id in options.session_id.iter().chain(&options.resume) {
        if !plausible(id) {
            return Err(format!("`{id}` is no conversation id"));
        }
    }
    options.hook = options.hook.filter(|hook| !hook.is_empty());
    options.misbehave = items;
    options.dir = home(dir, env)?;
    Ok(Parsed::Run(Box::new(options)))
}

fn set(slot: &mut Option<String>, value: String, what: &str) -> Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{what} is given twice")),
    }
}

fn home(dir: Option<String>, env: &dyn Fn(&str) -> Option<String>) -> Result<PathBuf, String> {
    let set = |name| env(name).filter(|value| !value.is_empty());
    if let Some(dir) = dir.or_else(|| set("RELIGHT_DEMO_HOME")) {
        return Ok(PathBuf::from(dir));
    }
    let home = set("HOME").ok_or("neither --dir, RELIGHT_DEMO_HOME nor HOME is set")?;
    Ok(PathBuf::from(home).join(".relight-demo"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &str) -> Result<Options, String> {
        let args = args.split_whitespace().map(str::to_owned).collect();
        match parse(args, &|name| (name == "HOME").then(|| "/h".to_owned()))? {
            Parsed::Run(options) => Ok(*options),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_are_read() {
        let got = read("--session-id a-1 --fullscreen --hook x hello --slow-start=5 --resume:die").unwrap();
        assert_eq!(got.session_id.as_deref(), Some("a-1"));
        assert_eq!(got.prompt.as_deref(), Some("hello"));
        assert_eq!(got.dir, Path::new("/h/.relight-demo"));
        assert!(got.fullscreen);
        let on = got.switches(&|_| true);
        assert!(on.slow_start.is_some() && !on.die);
        assert_eq!(read("--dir=/d -- --hi").unwrap().prompt.as_deref(), Some("--hi"));
        assert_eq!(read("--prompt --hi").unwrap().prompt.as_deref(), Some("--hi"));
    }

    #[test]
    fn wrong_arguments_are_named() {
        let check = |args: &str, want: &str| {
            let got = read(args).unwrap_err();
            assert!(got.contains(want), "{args}: {got}");
        };
        check("--resume", "needs a value");
        check("--resume a --session-id b", "exclude");
        check("--resume ../a", "no conversation id");
        check("--what", "unexpected argument '--what'");
        check("a b", "twice");
        check("--misbehave dance", "`dance`");
    }
}
