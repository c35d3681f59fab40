//! `relight hook`: puts what an agent says into its terminal's spool, then tells the agentctl. Never stands in the agent's
//! way: the spool needs nobody, and the agentctl is not waited for.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::time::Duration;

use serde_json::Value;

use crate::agent::hook::HookLine;
use crate::domain::ids::TerminalId;
use crate::link::agentctl::AgentctlClient;
use crate::link::endpoint::Endpoint;
use crate::link::place::SessionDir;
use crate::proc::table;

use super::error::Error;
use super::spool::MAX_LINE_BYTES;

/// The agentctl gets this long to hear of it; it reads the spool in any case, at the latest when the agent ends.
const POKE_MAX: Duration = Duration::from_millis(200);
/// First cut of a text in a payload that is too long, in bytes; halved until the line fits.
const TEXT_CUT_BYTES: usize = 64 * 1024;
/// Ancestors named in a line: an agent starts its hooks within a few.
const ANCESTORS: usize = 16;

/// What an agent's hook command was given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    /// Event name, when it was an argument.
    pub event: Option<String>,
    /// `RELIGHT_GENERATION` of the agent.
    pub generation: Option<u32>,
    /// Payload: JSON, or any text.
    pub payload: String,
}

/// Appends one line to the spool of `terminal` and pokes its agentctl.
///
/// # Errors
/// When the spool cannot be written. The caller logs it and lets the agent go on.
pub fn run(dir: &SessionDir, terminal: &TerminalId, said: Said) -> Result<(), Error> {
    let spool = dir.spool(terminal);
    let line = line(said, ancestors());
    // The directory may have been cleaned away under a live agentctl.
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir.spool_dir());
    made.map_err(|e| Error::file("make the directory", dir.spool_dir(), e))?;
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&spool);
    // One write of a whole line: lines of hooks that run at the same time do not mix.
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|e| Error::file("append to", spool, e))?;
    poke(dir);
    Ok(())
}

fn line(said: Said, pids: Vec<i32>) -> String {
    let body = serde_json::from_str(&said.payload).unwrap_or(Value::String(said.payload));
    let mut hook = HookLine { event: said.event, generation: said.generation, pids, body };
    let mut cut = TEXT_CUT_BYTES;
    loop {
        let line = hook.to_line() + "\n";
        if line.len() as u64 <= MAX_LINE_BYTES || cut == 0 {
            return line;
        }
        shorten(&mut hook.body, cut);
        cut /= 2;
    }
}

/// Cuts every text in `value` to `most` bytes.
fn shorten(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if text.len() > most => {
            let mut end = most;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, most)),
        Value::Object(fields) => fields.values_mut().for_each(|field| shorten(field, most)),
        _ => {}
    }
}

fn ancestors() -> Vec<i32> {
    let mut pids = Vec::new();
    let mut pid = std::process::id() as i32;
    while pids.len() < ANCESTORS
        && let Ok(Some(stat)) = table::stat(pid)
        && stat.ppid > 1
    {
        pids.push(stat.ppid);
        pid = stat.ppid;
    }
    pids
}

fn poke(dir: &SessionDir) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let client = AgentctlClient::new(Endpoint::Unix(dir.socket()), None);
    // Whether it heard or not: the line is in the spool.
    let _ = runtime.block_on(async { tokio::time::timeout(POKE_MAX, client.hooks()).await });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agentctl::spool::Spool;
    use serde_json::json;

    #[test]
    fn a_line_reaches_the_spool_without_any_agentctl() {
        let home = tempfile::tempdir().unwrap();
        let dir = SessionDir::at(home.path());
        fs::create_dir(dir.spool_dir()).unwrap();
        let terminal = TerminalId::new("t").unwrap();
        let said = |payload: &str| Said { event: Some("E".into()), generation: Some(1), payload: payload.into() };
        run(&dir, &terminal, said(r#"{"a": "line\nfeed"}"#)).unwrap();
        run(&dir, &terminal, said("no json")).unwrap();
        let lines = Spool::new(dir.spool(&terminal), 0).take(10).unwrap();
        let bodies: Vec<Value> = lines.iter().map(|l| HookLine::read(l.value.as_ref().unwrap()).body).collect();
        assert_eq!(bodies, [json!({"a": "line\nfeed"}), json!("no json")]);
        let pids = HookLine::read(lines[0].value.as_ref().unwrap()).pids;
        assert!(pids.contains(&(std::os::unix::process::parent_id() as i32)), "{pids:?}");
    }

    #[test]
    fn a_payload_that_is_too_long_is_cut_and_keeps_its_shape() {
        let long = json!({"session_id": "tok", "text": "ä".repeat(200_000), "more": ["x".repeat(200_000)]});
        let line = line(Said { payload: long.to_string(), ..Said::default() }, vec![]);
        assert!(line.len() as u64 <= MAX_LINE_BYTES);
        let body = HookLine::read(&serde_json::from_str(&line).unwrap()).body;
        assert_eq!(body["session_id"], "tok");
        assert!(body["text"].as_str().unwrap().len() > 10_000);
    }
}
