//! The guide in its terminal: looks at the instance whenever something happens, and shows what comes next.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use crate::config::dirs::{Dirs, HOME_VARIABLE};
use crate::demo::guide::{Guide, Seen, Session, Words};
use crate::domain::words::SessionState;
use crate::link::host::{HostClient, HostEvents, HostItem};
use crate::tui::keymap::{Command, Keymap};
use crate::wire::host::{HostStatus, Push, SessionLine, Subscribe};

use crate::cli::failure::{Failure, Result};
use crate::cli::{caller, reach};

use super::home::KEPT;

/// Name of the guide's own session, whose tab is the first.
pub const NAME: &str = "guide";
/// The session that is killed and asked, in the second tab.
pub const API: &str = "api";
/// The session that is ended on purpose, in the third.
pub const DOCS: &str = "docs";

/// Pause between two looks for a host while none answers.
const RECONNECT: Duration = Duration::from_millis(100);

/// Is the guide until its terminal is closed.
pub fn main() -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::new(format!("cannot start the runtime: {error}")))?.block_on(run())
}

async fn run() -> Result<ExitCode> {
    let dirs = Dirs::resolve(|name| std::env::var_os(name))?;
    let Some(home) = dirs.home.clone() else {
        return Err(Failure::config(format!("{HOME_VARIABLE} is not set: the guide belongs to `relight demo`")));
    };
    quiet_terminal();
    let resized = signal(SignalKind::window_change());
    let mut screen = Screen {
        guide: Guide::new(words(home.join(KEPT).exists())),
        asked: 0,
        shown: String::new(),
        resized: resized.map_err(|error| Failure::new(format!("cannot watch the size of the terminal: {error}")))?,
    };
    loop {
        if let Ok(Some((client, mut events))) = reach::running(&dirs).await {
            // The host may end at any time: then there is another soon.
            let _ = screen.follow(&client, &mut events).await;
        }
        screen.look(Seen::default())?;
        sleep(RECONNECT).await;
    }
}

/// What is typed here goes nowhere, so it is not shown either.
fn quiet_terminal() {
    if let Ok(mut modes) = tcgetattr(io::stdin()) {
        modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
    }
    let _ = write!(io::stdout(), "\x1b[?25l");
}

fn words(kept: bool) -> Words {
    let keys = Keymap::builtin();
    let key = |command| keys.spoken(command).unwrap_or_else(|| "the key that `?` names".to_owned());
    Words {
        shell: key(Command::SplitRight),
        api_tab: key(Command::Jump(2)),
        docs_tab: key(Command::Jump(3)),
        back: key(Command::Jump(1)),
        kill: key(Command::Kill),
        reopen: key(Command::Reopen),
        detach: key(Command::Detach),
        api: API.into(),
        docs: DOCS.into(),
        end: if kept {
            "Then you are told how to come back, and how to end all of it."
        } else {
            "Everything of it is ended and removed then."
        }
        .into(),
    }
}

struct Screen {
    guide: Guide,
    /// Prompts that the asked session got, all told.
    asked: usize,
    shown: String,
    resized: Signal,
}

impl Screen {
    /// Looks after everything that happens, until the host is gone.
    async fn follow(&mut self, client: &HostClient, events: &mut HostEvents) -> Result<()> {
        let status: HostStatus = client.call("host.status", json!({})).await?;
        let subscribe = Subscribe { session_id: None, since: Some(0), activity: false };
        client.call::<_, serde_json::Value>("events.subscribe", subscribe).await?;
        self.asked = 0;
        loop {
            let lines: Vec<SessionLine> = client.call("session.list", json!({})).await?;
            let api = lines.iter().find(|line| line.name == API).map(|line| line.session_id.clone());
            self.look(Seen {
                host: Some(status.hello.identity.pid),
                sessions: lines.iter().map(session).collect(),
                asked: self.asked,
            })?;
            tokio::select! {
                item = events.next() => match item {
                    HostItem::Push(Push::Event(event)) => {
                        let said = event.kind == "session.message.added" && event.data["role"] == "user";
                        self.asked += usize::from(said && Some(&event.session_id) == api.as_ref());
                    }
                    HostItem::Push(Push::Goodbye { .. } | Push::Resync { .. }) | HostItem::Closed(_) => return Ok(()),
                    HostItem::Push(_) | HostItem::Frame { .. } => {}
                },
                _ = self.resized.recv() => {}
            }
        }
    }

    fn look(&mut self, seen: Seen) -> Result<()> {
        if seen.host.is_some() {
            self.guide.look(seen);
        }
        let (cols, rows) = caller::terminal_size().map_or((80, 24), |size| (size.cols, size.rows));
        let mut text = String::from("\x1b[H");
        let lines = self.guide.text(usize::from(cols), usize::from(rows));
        for (row, line) in lines.iter().enumerate() {
            text.push_str(if row == 0 { "" } else { "\r\n" });
            text.push_str(line);
            text.push_str("\x1b[K");
        }
        text.push_str("\x1b[J");
        if text != self.shown {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes())
                .and_then(|()| out.flush())
                .map_err(|error| Failure::new(format!("cannot write to the terminal: {error}")))?;
            self.shown = text;
        }
        Ok(())
    }
}

fn session(line: &SessionLine) -> Session {
    Session {
        name: line.name.clone(),
        pid: line.pid,
        generation: line.generation.unwrap_or(0),
        ended: matches!(line.state, SessionState::Cancelled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_names_a_key_that_there_is() {
        let words = words(false);
        for key in
            [&words.shell, &words.api_tab, &words.docs_tab, &words.back, &words.kill, &words.reopen, &words.detach]
        {
            assert!(key.starts_with("Ctrl-Space "), "{key}");
        }
    }
}
