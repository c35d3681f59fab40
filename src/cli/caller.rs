//! What a call brings from where it is made: directory, environment, size of the terminal.

use std::path::{Path, PathBuf};

use crate::agent::scrub;
use crate::config::Config;
use crate::domain::launch::Size;
use crate::domain::words::ErrorCode;

use super::failure::{Failure, Result};

/// The directory as an absolute path. Whether it exists is for the host to say: it may be another machine's.
pub fn directory(given: Option<&Path>) -> Result<String> {
    let path = match given {
        Some(path) => std::path::absolute(path),
        None => std::env::current_dir(),
    };
    let shown = || given.map_or_else(|| "the present directory".into(), |path: &Path| path.display().to_string());
    let path: PathBuf = path.map_err(|error| {
        Failure::coded(ErrorCode::DirectoryMissing, format!("cannot tell where {} is: {error}", shown()))
            .hint("go to a directory that exists, or name one with --cwd")
    })?;
    let text = path.into_os_string().into_string();
    text.map_err(|path| Failure::new(format!("the directory {} has a name that is no UTF-8", path.display())))
}

/// Our environment. Values that are no UTF-8 are left out. Never printed.
pub fn variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !name.starts_with("RELIGHT_TEST_"))
        .collect()
}

/// The same as the agent gets it: without what belongs to the terminal around us.
pub fn environment(config: &Config) -> Vec<(String, String)> {
    let mut env = scrub::scrub(&variables());
    if !config.defaults.shell.is_empty() {
        scrub::set(&mut env, "SHELL", config.defaults.shell.clone());
    }
    env
}

/// Of our environment what goes stale, for agents that are resumed from now on.
pub fn volatile(config: &Config) -> Vec<(String, String)> {
    let named = |name: &String| config.refresh_env.contains(name);
    environment(config).into_iter().filter(|(name, _)| named(name)).collect()
}

/// Size of our terminal, if we have one.
pub fn terminal_size() -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| Size::clamped(size.ws_col, size.ws_row))
}
