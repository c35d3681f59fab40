//! `relight demo`: an instance of its own in a throw-away directory, with a guide and three demo sessions.

pub mod guide;
mod home;

use std::process::ExitCode;

use crate::config;
use crate::config::dirs::HOME_VARIABLE;
use crate::tui::Exit as Left;
use crate::wire::host::{SessionCreate, SessionCreated};

use super::failure::Result;
use super::{attach, caller, output, reach};
use home::Home;

/// Where the demo agent keeps its conversations: with the rest, not in the person's own directory.
const CONVERSATIONS: &str = "RELIGHT_DEMO_HOME";

/// Sessions beside the guide: name and first prompt.
const SESSIONS: [(&str, &str); 3] =
    [(guide::API, "remember amber"), (guide::DOCS, "tool ls"), ("shop", "count 600 every 500")];

/// Shows the demo until the person leaves it; then it is removed, or with `keep` left as it is.
pub async fn run(keep: bool) -> Result<ExitCode> {
    attach::needs_terminal()?;
    let temporary = std::env::temp_dir();
    let swept = home::sweep(&temporary).await;
    let home = Home::make(&temporary)?;
    let left = play(&home, keep).await;
    if keep {
        let path = home.path().display().to_string();
        home.keep();
        let exit = attach::exit_code(left?)?;
        output::line(&format!(
            "the demo is kept: `{HOME_VARIABLE}={path} relight` shows it again\n\
             to end it: `{HOME_VARIABLE}={path} relight host stop --agents && rm -r {path}`"
        ))?;
        return Ok(exit);
    }
    let removed = home.remove().await;
    let exit = attach::exit_code(left?)?;
    removed?;
    output::line("the demo is over: its agents have ended, and everything of it is removed")?;
    if swept > 0 {
        output::line(&format!("also removed: what {swept} killed demo(s) had left"))?;
    }
    Ok(exit)
}

async fn play(home: &Home, keep: bool) -> Result<Left> {
    let dirs = &home.dirs;
    home.write(keep)?;
    let config = config::load(dirs)?;
    let cwd = home.project().display().to_string();
    let mut env = caller::environment(&config);
    for (name, value) in [(HOME_VARIABLE, home.path().to_owned()), (CONVERSATIONS, home.conversations())] {
        crate::agent::scrub::set(&mut env, name, value.display().to_string());
    }
    let (client, _events) = reach::host(dirs).await?;
    let new = |agent: &str, name: &str, prompt: Option<&str>| SessionCreate {
        agent: agent.into(),
        name: Some(name.into()),
        task: Some("demo".into()),
        cwd: cwd.clone(),
        prompt: prompt.map(Into::into),
        executor: None,
        args: vec![],
        env: env.clone(),
        size: caller::terminal_size(),
    };
    let guide: SessionCreated = client.call("session.create", new(home::GUIDE, guide::NAME, None)).await?;
    for (name, prompt) in SESSIONS {
        client.call::<_, SessionCreated>("session.create", new("demo", name, Some(prompt))).await?;
    }
    // The screen has a connection of its own.
    drop(client);
    let how = attach::How {
        session: Some(guide.session_id.as_str()),
        place: Some(attach::Place { cwd: &cwd, env: &env }),
        ..attach::How::default()
    };
    attach::show(dirs, how).await
}
