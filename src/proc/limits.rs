//! Limits of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::proc::error::{Error, Result};

/// Most descriptors that we ask for: 100 sessions need some hundreds. Not more, because children inherit the limit and
/// some programs walk all possible descriptors.
pub const WANTED_NOFILE: u64 = 65_536;

/// Soft and hard limit of open descriptors; `None`: no limit.
#[must_use]
pub fn nofile() -> (Option<u64>, Option<u64>) {
    let now = getrlimit(Resource::Nofile);
    (now.current, now.maximum)
}

/// Raises the soft limit of open descriptors to the hard one, at most to [`WANTED_NOFILE`]; never lowers it. Returns
/// the limit that then holds.
///
/// # Errors
/// [`Error::Setting`] when the kernel refuses.
pub fn raise_nofile() -> Result<u64> {
    let now = getrlimit(Resource::Nofile);
    let current = now.current.unwrap_or(u64::MAX);
    let wanted = now.maximum.unwrap_or(u64::MAX).min(WANTED_NOFILE);
    if current >= wanted {
        return Ok(current);
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: now.maximum })
        .map_err(|errno| Error::Setting { what: "raise the limit of open descriptors", source: errno.into() })?;
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raising_is_idempotent() {
        let first = raise_nofile().unwrap();
        assert_eq!(raise_nofile().unwrap(), first);
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), first);
    }
}
