//! The demo agent: a small honest agent CLI, real in every respect but the model.
//!
//! It has an inline and a full-screen interface, answers that stream, a tool that asks permission, a conversation on
//! disk that is resumable by id once it was prompted, hooks, a title, OSC 9 and OSC 7501, a goodbye on SIGHUP, SIGTERM
//! and a clean quit, and none on SIGKILL. Its answers are rules ([`brain`]): what it was told to remember it knows only
//! from its conversation. Every way in which agents misbehave has a switch ([`misbehave`]).
//!
//! Parts: [`options`] arguments · [`app`] the state machine, pure · [`brain`] answers, pure · [`keys`] input, pure ·
//! [`paint`] what is drawn, pure · [`conversation`] the disk · [`hooks`] processes · [`drive`] the loop.
//! Beside it, [`guide`]: the words of `relight demo`.

mod app;
mod brain;
mod conversation;
mod drive;
mod effect;
pub mod guide;
mod hooks;
mod keys;
mod misbehave;
mod options;
mod paint;

use std::io::Write as _;

use conversation::{Conversation, Opened};
use options::{Options, Parsed};

/// Exit code of a usage error.
const USAGE: i32 = 2;

/// Runs the demo agent with the arguments behind `demo-agent`; gives its exit code: 0 after a clean quit, 1 when it
/// fails, 2 for wrong arguments, 129 and 143 after SIGHUP and SIGTERM.
#[must_use]
pub fn run(args: Vec<String>) -> i32 {
    let options = match options::parse(args, &|name| std::env::var(name).ok()) {
        Ok(Parsed::Run(options)) => *options,
        Ok(Parsed::Help) => {
            let _ = write!(std::io::stdout(), "{}", options::HELP);
            return 0;
        }
        Ok(Parsed::Leftover) => return hooks::be_leftover(),
        Err(problem) => return fail(USAGE, &format!("error: {problem}\n\nTry --help.")),
    };
    let switches = options.switches(&|path| path.exists());
    if let Some(delay) = switches.slow_start {
        std::thread::sleep(delay);
    }
    if switches.die {
        return fail(1, "demo agent: it dies at once, as told");
    }
    if switches.login_expired {
        return fail(1, "API error: 401 login expired. Please log in again.");
    }
    if switches.no_resume && options.resume.is_some() {
        return fail(USAGE, "error: unexpected argument '--resume'");
    }
    match open(&options, switches.empty_resume) {
        Ok(opened) => drive::run(options, switches, opened),
        Err(problem) => fail(1, &problem),
    }
}

fn fail(code: i32, message: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "{message}");
    code
}

/// The conversation that the arguments name, or a new one.
fn open(options: &Options, empty: bool) -> Result<Opened, String> {
    let dir = &options.dir;
    if let Some(id) = &options.resume {
        if empty {
            let mut opened = Conversation::begin(dir, None)?;
            opened.notes.push(format!("Failed to resume session {id}"));
            return Ok(opened);
        }
        return Conversation::resume(dir, id);
    }
    Conversation::begin(dir, options.session_id.as_deref())
}
