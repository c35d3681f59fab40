//! `relight` and `relight attach`: the sessions in this terminal.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use crate::config;
use crate::config::dirs::Dirs;

use super::failure::{Exit, Failure, Result};
use super::{logging, reach};

/// Shows the sessions until the person detaches.
pub async fn run(dirs: &Dirs, _session: Option<&str>, _read_only: bool) -> Result<ExitCode> {
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        let failure = Failure::new("attach needs a terminal on stdin and stdout");
        let hint = "`relight ls`, `relight capture` and `relight send` do without one";
        return Err(Failure { code: Exit::Usage, word: "no_terminal".into(), ..failure }.hint(hint));
    }
    let config = config::load(dirs)?;
    dirs.create()?;
    logging::start(&dirs.logs, "client", &config.log)?;
    let (_client, _events) = reach::host(dirs).await?;
    Err(Failure::new("this build has no screen"))
}
