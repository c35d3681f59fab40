//! The part of an agent's environment that goes stale: what `resume.refresh_env` names comes from the last client, not from the
//! first start. It is kept beside the sockets, so that a host that starts before any client has it too.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where ssh finds its agent: agents get the path of a link that always leads to the last client's.
const SSH_AGENT: &str = "SSH_AUTH_SOCK";

type Env = Vec<(String, String)>;

/// The last client's variables.
#[derive(Debug)]
pub struct Volatile {
    names: Vec<String>,
    link: PathBuf,
    file: PathBuf,
    last: Mutex<Option<Env>>,
}

impl Volatile {
    /// Variables with these names; `state` is the state directory.
    #[must_use]
    pub fn new(names: Vec<String>, state: &Path) -> Self {
        let file = state.join("client.env");
        let read = || -> Option<Env> { serde_json::from_slice(&fs::read(&file).ok()?).ok() };
        let kept = read().map(|env: Env| env.into_iter().filter(|(name, _)| names.contains(name)).collect());
        Self { names, link: state.join("ssh-agent.sock"), last: Mutex::new(kept), file }
    }

    fn last(&self) -> MutexGuard<'_, Option<Env>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client came with this environment, of which it may leave out what is not named.
    pub fn note(&self, env: &[(String, String)]) {
        let mut now: Env = env.iter().filter(|(name, _)| self.names.contains(name)).cloned().collect();
        now.sort();
        let mut last = self.last();
        // A client in a terminal of ours has our own link: it knows no other agent than the one before.
        if let Some(at) = now.iter().position(|(name, value)| name == SSH_AGENT && Path::new(value) == self.link) {
            now.remove(at);
            let before = last.iter().flatten().find(|(name, _)| name == SSH_AGENT);
            now.extend(before.cloned());
            now.sort();
        }
        if last.as_ref() == Some(&now) {
            return;
        }
        if let Err(error) = self.keep(&now) {
            tracing::warn!(%error, file = %self.file.display(), "the last client's environment is not kept");
        }
        if let Some((_, socket)) = now.iter().find(|(name, _)| name == SSH_AGENT)
            && let Err(error) = point(&self.link, socket)
        {
            tracing::warn!(%error, link = %self.link.display(), "the link to the ssh agent is not made");
        }
        *last = Some(now);
    }

    fn keep(&self, env: &Env) -> io::Result<()> {
        let new = self.file.with_extension("env.new");
        let _ = fs::remove_file(&new);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec(env)?)?;
        fs::rename(new, &self.file)
    }

    /// `env` with the last client's variables in the place of the named ones; as it is when no client ever came.
    #[must_use]
    pub fn refresh(&self, mut env: Env) -> Env {
        let last = self.last();
        let Some(last) = last.as_ref() else { return env };
        env.retain(|(name, _)| !self.names.contains(name));
        env.extend(last.iter().map(|(name, value)| {
            let linked = name == SSH_AGENT && fs::read_link(&self.link).is_ok_and(|to| to == Path::new(value));
            let value = if linked { self.link.to_string_lossy().into_owned() } else { value.clone() };
            (name.clone(), value)
        }));
        env
    }
}

/// Makes `link` lead to `target`, in one step.
fn point(link: &Path, target: &str) -> io::Result<()> {
    let new = link.with_extension("new");
    let _ = fs::remove_file(&new);
    symlink(target, &new)?;
    fs::rename(new, link)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn env(pairs: &[(&str, &str)]) -> Env {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn named(state: &Path) -> Volatile {
        Volatile::new(["DISPLAY", SSH_AGENT, "XAUTHORITY"].map(String::from).to_vec(), state)
    }

    #[test]
    fn the_named_ones_come_from_the_last_client_and_no_others() {
        let state = tempfile::tempdir().unwrap();
        let volatile = named(state.path());
        let first = env(&[("PATH", "/bin"), ("DISPLAY", ":0"), ("XAUTHORITY", "/old"), ("KEY", "1")]);
        assert_eq!(volatile.refresh(first.clone()), first, "no client came yet");
        volatile.note(&env(&[("PATH", "/other"), ("DISPLAY", ":1"), ("KEY", "2")]));
        let want = env(&[("PATH", "/bin"), ("KEY", "1"), ("DISPLAY", ":1")]);
        assert_eq!(volatile.refresh(first.clone()), want, "what it has not is gone");
        // The next host knows it before a client comes; others do not.
        assert_eq!(named(state.path()).refresh(first), want);
        let mode = fs::metadata(state.path().join("client.env")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_ssh_agent_is_a_link_that_follows_and_never_leads_to_itself() {
        let state = tempfile::tempdir().unwrap();
        let volatile = named(state.path());
        let link = state.path().join("ssh-agent.sock");
        let ours = env(&[(SSH_AGENT, link.to_str().unwrap())]);
        for socket in ["/tmp/agent.1", "/tmp/agent.2"] {
            volatile.note(&env(&[(SSH_AGENT, socket)]));
            assert_eq!(volatile.refresh(Env::new()), ours);
            assert_eq!(fs::read_link(&link).unwrap(), Path::new(socket));
        }
        volatile.note(&ours);
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("/tmp/agent.2"));
        assert_eq!(volatile.refresh(Env::new()), ours);
        volatile.note(&[]);
        assert_eq!(volatile.refresh(ours.clone()), []);
        volatile.note(&ours);
        assert_eq!(volatile.refresh(Env::new()), [], "nobody knows where it led to");
    }
}
