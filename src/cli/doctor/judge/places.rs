//! Where relight keeps its things.

use crate::cli::doctor::facts::{Database, Dir, Disk, Found, Probe, Settings, Space};
use crate::cli::doctor::finding::{Finding, Level};

/// A socket's address has room for this many bytes, without the one that ends it.
const SOCKET_BYTES: usize = 107;
/// Below this a database and its journals soon find no room.
const FULL_BYTES: u64 = 64 * 1024 * 1024;
/// Below this it is time to look.
const LITTLE_BYTES: u64 = 1024 * 1024 * 1024;
/// The same in files.
const FULL_FILES: u64 = 1_000;
/// Others may read or enter.
const OTHERS: u32 = 0o077;
/// Others may write.
const OTHERS_WRITE: u32 = 0o022;

/// Settings file.
pub fn settings(settings: &Settings) -> Finding {
    const TOPIC: &str = "settings";
    let path = settings.path.display();
    match (&settings.wrong, settings.exists) {
        (Some(why), _) => {
            Finding::problem(TOPIC, why.clone(), format!("mend {path}; `relight config check` looks again"))
        }
        (None, true) => Finding::ok(TOPIC, format!("{path} is valid")),
        (None, false) => Finding::ok(TOPIC, format!("{path} does not exist: the defaults hold")),
    }
}

/// One directory.
pub fn dir(dir: &Dir) -> Finding {
    let (topic, path) = (dir.name, dir.path.display());
    let found = match &dir.found {
        Ok(Some(found)) => found,
        Ok(None) => return Finding::ok(topic, format!("{path} does not exist yet")),
        Err(why) => return Finding::problem(topic, format!("{path} cannot be looked at: {why}"), "mend that"),
    };
    let Found { directory, owner, mode, writable } = *found;
    let bits = mode & 0o7777;
    if !directory {
        return Finding::problem(topic, format!("{path} is no directory"), "move it away");
    }
    if owner != dir.me {
        let todo = format!("`sudo chown -R {} {path}`, or set RELIGHT_HOME to a place of your own", dir.me);
        return Finding::problem(
            topic,
            format!("{path} belongs to the user with id {owner}, and you are {}", dir.me),
            todo,
        );
    }
    if !writable {
        return Finding::problem(
            topic,
            format!("{path} cannot be written ({bits:04o})"),
            format!("`chmod u+rwx {path}`"),
        );
    }
    if topic == "state" && bits & OTHERS != 0 {
        let what = format!("{path} is open to other users ({bits:04o}): who enters it can act as you");
        return Finding::problem(topic, what, format!("`chmod 700 {path}`"));
    }
    if bits & OTHERS_WRITE != 0 {
        let what = format!("{path} can be written by other users ({bits:04o})");
        return Finding::problem(topic, what, format!("`chmod go-w {path}`"));
    }
    Finding::ok(topic, path.to_string())
}

/// Whether the state directory is this machine's.
pub fn machine(machine: &Probe<()>) -> Finding {
    const TOPIC: &str = "machine";
    match machine {
        Ok(()) => Finding::ok(TOPIC, "the state directory is of this machine"),
        Err(why) => {
            Finding::problem(TOPIC, why.clone(), "set RELIGHT_HOME, or XDG_STATE_HOME, to a directory of this machine")
        }
    }
}

/// Length of socket names.
pub fn sockets(bytes: usize) -> Finding {
    const TOPIC: &str = "sockets";
    if bytes <= SOCKET_BYTES {
        return Finding::ok(TOPIC, format!("their longest name has {bytes} bytes"));
    }
    let what =
        format!("their longest name has {bytes} bytes, and an address holds {SOCKET_BYTES}: relight goes around it");
    Finding::note(TOPIC, what).todo("for other programs that are to connect, a shorter RELIGHT_HOME")
}

/// Room and kind of a file system.
pub fn disk(disk: &Disk) -> Finding {
    const TOPIC: &str = "disk";
    let (name, path) = (disk.name, disk.path.display());
    let space = match &disk.space {
        Ok(space) => space,
        Err(why) => {
            let todo = "is it on a network that is away?";
            return Finding::problem(TOPIC, format!("{name}: {path} cannot be asked: {why}"), todo);
        }
    };
    let Space { free_bytes, free_files, network, memory, read_only } = *space;
    let free = human(free_bytes);
    let move_it = "set RELIGHT_HOME, or the XDG directories, to a local disk";
    if let Some(kind) = network {
        let what =
            format!("{name}: {path} is on a network file system ({kind}): locks and database are not safe there");
        return Finding::problem(TOPIC, what, move_it);
    }
    if read_only {
        return Finding::problem(TOPIC, format!("{name}: {path} can only be read"), move_it);
    }
    if free_bytes < FULL_BYTES {
        return Finding::problem(TOPIC, format!("{name}: only {free} are free at {path}"), "free some space");
    }
    if let Some(files) = free_files.filter(|files| *files < FULL_FILES) {
        return Finding::problem(TOPIC, format!("{name}: only {files} more files fit at {path}"), "remove some");
    }
    if memory {
        return Finding::note(TOPIC, format!("{name}: {path} is in memory: after a reboot no session comes back"))
            .todo(move_it);
    }
    if free_bytes < LITTLE_BYTES {
        return Finding::note(TOPIC, format!("{name}: {free} are free at {path}")).todo("free some space");
    }
    Finding::ok(TOPIC, format!("{name}: {free} are free"))
}

fn human(bytes: u64) -> String {
    const STEPS: [(u64, &str); 3] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")];
    let step = STEPS.iter().find(|(size, _)| bytes >= *size);
    step.map_or_else(|| format!("{} KiB", bytes / 1024), |(size, unit)| format!("{} {unit}", bytes / size))
}

/// Database.
pub fn database(database: &Database) -> Finding {
    const TOPIC: &str = "database";
    let path = database.path.display();
    let state = match &database.state {
        Ok(Some(state)) => state,
        Ok(None) => return Finding::ok(TOPIC, format!("{path} does not exist yet")),
        // These words say what to do.
        Err(why) => return Finding { level: Level::Problem, ..Finding::ok(TOPIC, why.clone()) },
    };
    let size = human(state.bytes);
    if state.schema > state.known {
        let what = format!("{path} is of a newer relight (version {}, known is {})", state.schema, state.known);
        return Finding::problem(TOPIC, what, "use the newest relight");
    }
    match state.checked.as_deref() {
        Some("ok") => {}
        Some(wrong) => {
            let todo = "stop the host and put the newest copy from `backups` beside it in its place";
            return Finding::problem(TOPIC, format!("{path} is damaged: {wrong}"), todo);
        }
        None => return Finding::note(TOPIC, format!("{path} ({size}) is readable; its check was not done in time")),
    }
    if let Some(mode) = database.mode.filter(|mode| mode & OTHERS != 0) {
        let what =
            format!("{path} can be read by other users ({:04o}), and agents' environment is in it", mode & 0o7777);
        return Finding::problem(TOPIC, what, format!("`chmod 600 {path}`"));
    }
    if state.schema < state.known {
        return Finding::ok(
            TOPIC,
            format!("{path} ({size}) is of an older relight: the next host migrates it after a backup"),
        );
    }
    Finding::ok(TOPIC, format!("{path} ({size}) is sound"))
}
