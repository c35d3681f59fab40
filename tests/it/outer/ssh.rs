//! Over a real ssh: what a person sees on the far side, and that a link that is cut ends the screen and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use relight::proc::identity;

use crate::support::Home;
use crate::support::home::RELIGHT;
use crate::support::kill;
use crate::support::missing;
use crate::support::modes::Modes;
use crate::support::terminal::{PREFIX, Terminal};
use crate::support::told::Told;

/// Where Debian has it; it is on no person's PATH.
const SSHD: &str = "/usr/sbin/sshd";

/// What `ssh` has to be told: keys and a server of our own, which it starts itself and talks to over a pipe.
struct Ssh {
    options: Vec<String>,
    host: String,
}

impl Ssh {
    /// Says what is missing, if it cannot be.
    fn new(home: &Home) -> Option<Self> {
        if !Path::new(SSHD).exists() || Command::new("ssh").arg("-V").output().is_err() {
            missing("ssh", "a system with `ssh` and `sshd`");
            return None;
        }
        let dir = home.path().join("ssh");
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
        let file = |name: &str| dir.join(name).display().to_string();
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &file(key)]).output();
            assert!(made.unwrap().status.success(), "a {key} key");
        }
        fs::copy(file("user.pub"), file("authorized")).unwrap();
        let server = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nPidFile none\nPrintMotd no\nPrintLastLog no\n",
            file("host"),
            file("authorized")
        );
        fs::write(file("sshd_config"), server).unwrap();
        let user = Command::new("id").arg("-un").output().unwrap();
        let user = String::from_utf8(user.stdout).unwrap();
        let proxy = format!("{SSHD} -i -f {} -E {}", file("sshd_config"), file("sshd.log"));
        let options = [
            ("ProxyCommand", proxy),
            ("IdentityFile", file("user")),
            ("IdentitiesOnly", "yes".into()),
            ("UserKnownHostsFile", file("known")),
            ("StrictHostKeyChecking", "accept-new".into()),
            ("LogLevel", "ERROR".into()),
        ];
        let mut all = vec!["-F".to_owned(), "/dev/null".to_owned()];
        for (name, value) in options {
            all.extend(["-o".to_owned(), format!("{name}={value}")]);
        }
        Some(Self { options: all, host: format!("{}@far", user.trim()) })
    }

    /// Starts relight on the far side, as a person does who types it there.
    fn start(&self, home: &Home, terminal: &mut Terminal, args: &[&str]) {
        let quoted = |text: &str| format!("'{text}'");
        let plain = home.command(&[]);
        let env = plain.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?.to_str()?)));
        let env = env.map(|(name, value)| quoted(&format!("{name}={value}"))).collect::<Vec<_>>().join(" ");
        let far = format!("exec env {env} {RELIGHT} {}", args.join(" "));
        let mut all: Vec<&str> = self.options.iter().map(String::as_str).collect();
        all.extend(["-tt", &self.host, &far]);
        terminal.start_program(home, "ssh", &all);
    }
}

#[test]
fn it_works_over_ssh_and_a_link_that_is_cut_ends_the_screen_only() {
    let home = Home::new();
    let Some(ssh) = Ssh::new(&home) else { return };
    let told = Told::new(&home, "kiwi");
    let (agent, agentctl, host) = (home.agent(&told.id), home.agentctl(&told.id), home.host().unwrap());
    let mut terminal = Terminal::new((80, 24));
    let before = terminal.termios();

    ssh.start(&home, &mut terminal, &["attach", &told.id]);
    terminal.until_text(&home, "I will remember kiwi.");
    terminal.keys("what is the code word?\r");
    terminal.until_text(&home, "The code word is kiwi.");
    terminal.resize((60, 12));
    terminal.until(&home, "the screen in its new size", |t| t.rows()[11].contains("help"));
    terminal.resize((80, 24));
    terminal.until(&home, "the screen in its old size", |t| t.rows()[23].contains("help"));
    terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(terminal.until_code(&home), 0, "{}", terminal.text());
    assert_eq!((terminal.termios(), terminal.modes.left()), (before, Modes::default().left()));
    terminal.until_text(&home, "detached");

    let mut terminal = Terminal::new((80, 24));
    ssh.start(&home, &mut terminal, &["attach", &told.id]);
    terminal.until_text(&home, "The code word is kiwi.");
    let clients = || home.json(&["host", "status"])["clients"].as_u64().unwrap();
    // The call that asks is one as well.
    home.until("the screen at the host", || clients() == 2);
    kill::kill(terminal.process());
    terminal.until_end(&home);
    home.until("no screen at the host", || clients() == 1);
    assert!([&agent, &agentctl, &host].iter().all(|one| identity::alive(one)), "{}", home.report());

    let mut terminal = Terminal::new((80, 24));
    ssh.start(&home, &mut terminal, &["attach", &told.id]);
    terminal.until_text(&home, "The code word is kiwi.");
    terminal.keys(&format!("{PREFIX}d"));
    assert_eq!(terminal.until_code(&home), 0);
    told.back_once(&home, 1);
}
