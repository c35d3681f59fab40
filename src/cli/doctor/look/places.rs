//! Directories, disks, the database.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access, statfs, statvfs};

use crate::cli::doctor::facts::{Database, DatabaseState, Dir, Disk, Found, Probe, Space};
use crate::config;
use crate::config::dirs::Dirs;
use crate::link::place::SessionDir;
use crate::store;

use super::within::{blocking, within};

/// The check of a large database is given up after this.
const CHECK: Duration = Duration::from_secs(3);
/// What the rest of a look at the database may take.
const CHECK_DEADLINE: Duration = Duration::from_secs(6);
/// File systems in memory, by the magic numbers of tmpfs and ramfs.
const MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58F6];
/// A session's id, as long as all of them.
const ID_BYTES: usize = 36;

/// What was found.
pub struct Places {
    pub dirs: Vec<Dir>,
    pub disks: Vec<Disk>,
    pub machine: Probe<()>,
    pub database: Database,
}

/// Looks at all of them.
pub async fn look(dirs: &Dirs) -> Places {
    let named = [("config", &dirs.config), ("data", &dirs.data), ("state", &dirs.state), ("logs", &dirs.logs)];
    let me = rustix::process::geteuid().as_raw();
    let mut all = Vec::new();
    for (name, path) in named {
        let at = path.clone();
        let found = blocking(move || directory(&at)).await.and_then(|found| found);
        all.push(Dir { name, path: path.clone(), found, me });
    }
    let state = dirs.state.clone();
    let machine = blocking(move || config::machine::refuse_foreign(&state).map_err(|error| error.to_string()));
    let (disks, machine, database) = tokio::join!(disks(dirs), machine, database(dirs));
    Places { dirs: all, disks, machine: machine.and_then(|found| found), database }
}

fn directory(path: &Path) -> Probe<Option<Found>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(Found {
            directory: found.is_dir(),
            owner: found.uid(),
            mode: found.permissions().mode(),
            writable: access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok(),
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// The longest name of a socket: an agentctl's.
pub fn socket_bytes(dirs: &Dirs) -> usize {
    let session = SessionDir::at(dirs.state.join("sessions").join("x".repeat(ID_BYTES)));
    session.socket().as_os_str().len().max(dirs.host_socket().as_os_str().len())
}

/// The file systems of state and data; one line for both when they are the same.
async fn disks(dirs: &Dirs) -> Vec<Disk> {
    let one = async |path: &Path| {
        let path = path.to_owned();
        let above = path.clone();
        let found = blocking(move || {
            let path = nearest(&path);
            let device = fs::metadata(&path).map(|found| found.dev()).map_err(|error| error.to_string());
            let found = device.and_then(|device| Ok((device, space(&path)?)));
            (path, found)
        });
        found.await.unwrap_or_else(|why| (above, Err(why)))
    };
    let (state, data) = tokio::join!(one(&dirs.state), one(&dirs.data));
    let disk =
        |name, (path, found): (PathBuf, Probe<(u64, Space)>)| Disk { name, path, space: found.map(|(_, space)| space) };
    if matches!((&state.1, &data.1), (Ok((a, _)), Ok((b, _))) if a == b) {
        return vec![disk("state and data", state)];
    }
    vec![disk("state", state), disk("data", data)]
}

/// The path itself, or the nearest above it that is there.
fn nearest(path: &Path) -> PathBuf {
    path.ancestors().find(|path| path.exists()).unwrap_or(path).to_owned()
}

fn space(path: &Path) -> Probe<Space> {
    let room = statvfs(path).map_err(|errno| errno.to_string())?;
    let kind = statfs(path).map_err(|errno| errno.to_string())?.f_type as u64 & 0xFFFF_FFFF;
    Ok(Space {
        free_bytes: room.f_bavail.saturating_mul(room.f_frsize),
        free_files: (room.f_files > 0).then_some(room.f_favail),
        network: store::network_filesystem(kind),
        memory: MEMORY.contains(&kind),
        read_only: room.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
    })
}

async fn database(dirs: &Dirs) -> Database {
    let (path, backups) = (dirs.database(), dirs.backups());
    let at = path.clone();
    let found = within(CHECK_DEADLINE, move || {
        let mode = fs::metadata(&at).ok().map(|found| found.permissions().mode());
        (mode, store::inspect(&at, &backups, CHECK).map_err(|error| error.to_string()))
    });
    let (mode, state) = match found.await {
        Ok((mode, state)) => (mode, state),
        Err(why) => (None, Err(format!("{} cannot be looked at: {why}", path.display()))),
    };
    let state = state.map(|found| {
        let known = store::SCHEMA;
        found.map(|found| DatabaseState { schema: found.schema, known, bytes: found.bytes, checked: found.checked })
    });
    Database { path, state, mode }
}
