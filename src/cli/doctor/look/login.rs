//! What systemd-logind ends at a logout.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::doctor::facts::Login;

/// Where systemd's settings lie, the most important first.
const PLACES: [&str; 4] = ["etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd"];

/// Nothing could be found out.
pub fn unknown() -> Login {
    Login { systemd: true, user_manager: false, user: "you".into(), linger: false, kills: None }
}

/// Looks below `root`, which is `/` but in tests.
pub fn look(root: &Path) -> Login {
    let uid = rustix::process::getuid().as_raw();
    let user = user(root, uid);
    let settings = Settings::read(root);
    Login {
        systemd: root.join("run/systemd/system").is_dir(),
        user_manager: root.join(format!("run/user/{uid}/systemd/private")).exists(),
        linger: root.join("var/lib/systemd/linger").join(&user).exists(),
        kills: settings.kills(&user),
        user,
    }
}

/// The name of the user, from the file of users, else from the environment.
fn user(root: &Path, uid: u32) -> String {
    let users = fs::read_to_string(root.join("etc/passwd")).unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    let told = || ["LOGNAME", "USER"].iter().find_map(|name| std::env::var(name).ok());
    named.or_else(told).unwrap_or_else(|| uid.to_string())
}

/// What the files say, with the file that said it last.
#[derive(Debug, Default)]
struct Settings {
    kill: Option<(bool, PathBuf)>,
    only: Vec<String>,
    exclude: Option<Vec<String>>,
}

impl Settings {
    /// The first main file, then the files beside it by name; of the same name the most important counts.
    fn read(root: &Path) -> Self {
        let mut settings = Self::default();
        let main = PLACES.iter().map(|place| root.join(place).join("logind.conf")).find(|path| path.exists());
        if let Some(path) = main {
            settings.take(&path, true);
        }
        let mut beside = BTreeMap::new();
        for place in PLACES.iter().rev() {
            let entries = fs::read_dir(root.join(place).join("logind.conf.d"));
            for entry in entries.into_iter().flatten().flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|ending| ending == "conf") {
                    beside.insert(entry.file_name(), path);
                }
            }
        }
        for path in beside.values() {
            settings.take(path, false);
        }
        settings
    }

    /// One file. In the main one a line that is commented out says what holds without it.
    fn take(&mut self, path: &Path, main: bool) {
        let text = fs::read_to_string(path).unwrap_or_default();
        for line in text.lines().map(str::trim) {
            let (line, default) = match line.strip_prefix('#') {
                Some(rest) if main => (rest.trim(), true),
                Some(_) => continue,
                None => (line, false),
            };
            let Some((name, value)) = line.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
                continue;
            };
            let names = || value.split_whitespace().map(String::from).collect::<Vec<_>>();
            match name {
                "KillUserProcesses" => match value {
                    "yes" | "true" | "on" | "1" => self.kill = Some((true, path.to_owned())),
                    "no" | "false" | "off" | "0" => self.kill = Some((false, path.to_owned())),
                    _ => {}
                },
                "KillOnlyUsers" if !default => self.only = names(),
                "KillExcludeUsers" if !default => self.exclude = Some(names()),
                _ => {}
            }
        }
    }

    fn kills(self, user: &str) -> Option<(bool, PathBuf)> {
        let (kill, path) = self.kill?;
        let named = |names: &[String]| names.iter().any(|name| name == user);
        let excluded = self.exclude.map_or(user == "root", |names| named(&names));
        let meant = self.only.is_empty() || named(&self.only);
        Some((kill && meant && !excluded, path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn files_beside_the_main_one_count_by_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let kills = |user: &str| Settings::read(root).kills(user).map(|(kills, _)| kills);
        assert_eq!(kills("anna"), None);
        write(root, "usr/lib/systemd/logind.conf", "[Login]\n#KillUserProcesses=no\n#KillExcludeUsers=root\n");
        assert_eq!(kills("anna"), Some(false), "what holds without a line");
        write(root, "usr/lib/systemd/logind.conf.d/50-x.conf", "[Login]\nKillUserProcesses = yes\n");
        assert_eq!((kills("anna"), kills("root")), (Some(true), Some(false)), "root is left alone by itself");
        write(root, "etc/systemd/logind.conf.d/50-x.conf", "# KillUserProcesses=yes\n");
        assert_eq!(kills("anna"), Some(false), "of the same name, /etc counts");
        write(root, "etc/systemd/logind.conf.d/60-y.conf", "KillUserProcesses=1\nKillExcludeUsers=anna berta\n");
        assert_eq!((kills("anna"), kills("root")), (Some(false), Some(true)));
        write(root, "run/systemd/logind.conf.d/70-z.conf", "KillExcludeUsers=\nKillOnlyUsers=carl\n");
        assert_eq!((kills("anna"), kills("carl")), (Some(false), Some(true)));
        write(root, "etc/systemd/logind.conf", "[Login]\nKillUserProcesses=no\n");
        write(root, "etc/systemd/logind.conf.d/60-y.conf", "");
        assert_eq!(kills("carl"), Some(false), "the first main file alone counts");
    }

    #[test]
    fn users_and_lingering_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let uid = rustix::process::getuid().as_raw();
        write(root, "etc/passwd", &format!("a:x:{}:0::/:/\nanna:x:{uid}:{uid}:A:/h:/bin/sh\n", uid + 1));
        let login = look(root);
        assert_eq!(
            (login.user.as_str(), login.systemd, login.user_manager, login.linger),
            ("anna", false, false, false)
        );
        write(root, "run/systemd/system/x", "");
        write(root, &format!("run/user/{uid}/systemd/private"), "");
        write(root, "var/lib/systemd/linger/anna", "");
        let login = look(root);
        assert_eq!((login.systemd, login.user_manager, login.linger), (true, true, true));
    }
}
