//! The throw-away directory of a demo: made, marked by a lock that says whether its demo lives, and removed with all that runs
//! in it.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::config::dirs::Dirs;
use crate::proc::lock::{self, LockFile};
use crate::wire::host::Stop;

use crate::cli::failure::{Failure, Result};
use crate::cli::{host, lost, reach};

/// How the directories of demos begin.
const PREFIX: &str = "relight-demo-";
/// The lock in it: held while its demo lives. A directory without one is not ours.
const LOCK: &str = "demo.lock";
/// Mark of one that the person keeps.
pub const KEPT: &str = "demo.kept";
/// Profile of the guide.
pub const GUIDE: &str = "guide";

/// Nobody needs to set anything up: the demo agent, and the guide as one more program.
const CONFIG: &str = r#"# Made by `relight demo`.
[defaults]
agent = "demo"

[agents.guide]
label = "Guide"
program = "{relight}"
agent = false

[agents.guide.launch]
args = ["demo-guide"]

[agents.guide.status]
sources = ["output"]
"#;

/// Something to look at in the panel of files.
const NOTES: &str = "This directory belongs to a demo of relight. It is removed when you leave the demo.\n";

/// The directory of one demo.
pub struct Home {
    path: PathBuf,
    /// Of the instance in it.
    pub dirs: Dirs,
    /// Held until it is removed or the program ends, however it ends.
    lock: LockFile,
}

impl Home {
    /// Makes one with a name of its own.
    pub fn make(temporary: &Path) -> Result<Self> {
        let temporary = std::path::absolute(temporary).unwrap_or_else(|_| temporary.to_owned());
        let name = uuid::Uuid::new_v4().simple().to_string();
        let path = temporary.join(format!("{PREFIX}{}", name.get(..8).unwrap_or(&name)));
        let failed = |error: io::Error| {
            Failure::config(format!("cannot make the demo's directory {}: {error}", path.display()))
                .hint("set TMPDIR to a directory that you can write")
        };
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        let Some(lock) = LockFile::try_take(&path.join(LOCK))? else {
            return Err(Failure::new(format!("another program holds the new directory {}", path.display())));
        };
        Ok(Self { dirs: Dirs::under(&path), path, lock })
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its agents work.
    pub fn project(&self) -> PathBuf {
        self.path.join("project")
    }

    /// Where the demo agent keeps its conversations.
    pub fn conversations(&self) -> PathBuf {
        self.path.join("conversations")
    }

    /// Settings, and something to work on.
    pub fn write(&self, keep: bool) -> Result<()> {
        self.dirs.create()?;
        let project = self.project();
        let all = [(self.dirs.config_file(), CONFIG), (project.join("NOTES.txt"), NOTES)];
        let written = fs::create_dir_all(&project)
            .and_then(|()| all.iter().try_for_each(|(path, text)| fs::write(path, text)))
            .and_then(|()| if keep { fs::write(self.path.join(KEPT), "") } else { Ok(()) });
        written.map_err(|error| Failure::config(format!("cannot write into {}: {error}", self.path.display())))
    }

    /// Leaves it as it is: nobody sweeps it.
    pub fn keep(self) {
        drop(self.lock);
    }

    /// Ends all that runs in it and removes it.
    pub async fn remove(self) -> Result<()> {
        remove(&self.path).await
    }
}

/// An agent that is told to end says goodbye within five seconds, and its agentctl then ends what is left.
const END_DEADLINE: Duration = Duration::from_secs(20);
/// Pause between two looks at the locks.
const POLL: Duration = Duration::from_millis(10);

/// Ends what runs in a demo's directory, then removes it.
async fn remove(path: &Path) -> Result<()> {
    let dirs = Dirs::under(path);
    let runs = || lock::is_held(&dirs.host_lock()).unwrap_or(false) || !lost::living(&dirs).is_empty();
    let begin = Instant::now();
    if runs() {
        // Where only agents are left, a host finds them and ends them.
        drop(reach::host(&dirs).await?);
        host::end(&dirs, Stop { agents: true, restart: false }).await?;
        while runs() && begin.elapsed() < END_DEADLINE {
            sleep(POLL).await;
        }
    }
    fs::remove_dir_all(path).map_err(|error| {
        Failure::config(format!("cannot remove the demo's directory {}: {error}", path.display()))
            .hint(format!("its agents have ended; `rm -r {}` removes it", path.display()))
    })
}

/// Removes what demos that were killed have left; how many. One that cannot be removed waits for the next time.
pub async fn sweep(temporary: &Path) -> usize {
    let me = rustix::process::geteuid().as_raw();
    let mine = |path: &PathBuf| {
        let named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        let owned = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == me);
        named && owned && path.join(LOCK).is_file() && !path.join(KEPT).exists()
    };
    let found: Vec<PathBuf> =
        fs::read_dir(temporary).into_iter().flatten().flatten().map(|entry| entry.path()).filter(mine).collect();
    let mut swept = 0;
    for path in found {
        if lock::is_held(&path.join(LOCK)).unwrap_or(true) {
            continue;
        }
        // Two demos that begin at once do not both end it.
        let Ok(Some(_lock)) = LockFile::try_take(&path.join(LOCK)) else { continue };
        swept += usize::from(remove(&path).await.is_ok());
    }
    swept
}
