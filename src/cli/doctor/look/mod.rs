//! Finds out. Every look has a deadline, all of them run side by side, and none starts a host or changes anything.

mod login;
mod owners;
mod places;
mod programs;
mod terminal;
mod within;

use std::path::Path;

use crate::config::dirs::Dirs;
use crate::config::{self, Config};
use crate::proc::pidfd::PidFd;
use crate::proc::{autogroup, detach, identity, limits};

use super::facts::{Facts, Kernel, Program, Settings};
use crate::cli::local;
use within::blocking;

/// Looks at everything.
pub async fn everything(dirs: &Dirs) -> Facts {
    let (settings, config) = settings(dirs).await;
    let prefix = local::keys(dirs, &config).map(|keys| keys.prefix().to_string()).unwrap_or_default();
    let (host, sessions, terminal, around, login, places, programs) = tokio::join!(
        owners::host(dirs),
        owners::sessions(&dirs.state),
        blocking(move || terminal::terminal(prefix)),
        terminal::around(),
        blocking(|| login::look(Path::new("/"))),
        places::look(dirs),
        programs::look(&config),
    );
    let (places, (git, agents)) = (places, programs);
    Facts {
        program: Program {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            path: detach::own_program().unwrap_or_default(),
        },
        host,
        sessions,
        terminal: terminal.unwrap_or_default(),
        around,
        login: login.unwrap_or_else(|_| login::unknown()),
        dirs: places.dirs,
        settings,
        disks: places.disks,
        machine: places.machine,
        socket_bytes: places::socket_bytes(dirs),
        database: places.database,
        kernel: kernel(),
        agents,
        default_agent: config.defaults.agent.clone(),
        git,
    }
}

/// The settings file, and the settings: the defaults when it is wrong.
async fn settings(dirs: &Dirs) -> (Settings, Config) {
    let path = dirs.config_file();
    let mine = dirs.clone();
    let read = blocking(move || {
        let exists = mine.config_file().exists();
        let config = config::load(&mine).map_err(|error| error.to_string());
        let sound = config.and_then(|config| {
            local::check(&config).and_then(|()| local::keys(&mine, &config)).map_err(|failure| failure.message)?;
            Ok(config)
        });
        (exists, sound)
    });
    match read.await {
        Ok((exists, Ok(config))) => (Settings { path, exists, wrong: None }, config),
        Ok((exists, Err(wrong))) => (Settings { path, exists, wrong: Some(wrong) }, Config::default()),
        Err(why) => {
            (Settings { path, exists: true, wrong: Some(format!("it cannot be read: {why}")) }, Config::default())
        }
    }
}

fn kernel() -> Kernel {
    let held = identity::me().and_then(|me| PidFd::open(&me));
    Kernel {
        files: limits::nofile(),
        pidfd: match held {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err("this very process cannot be found".into()),
            Err(error) => Err(error.to_string()),
        },
        autogroup: autogroup::enabled(),
    }
}
