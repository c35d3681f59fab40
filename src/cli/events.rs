//! `relight events`: what happened, in order, without a gap.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::sleep;

use crate::config::dirs::Dirs;
use crate::domain::ids::SessionId;
use crate::domain::plain::plain;
use crate::domain::rows::Event;
use crate::domain::sentence;
use crate::link::host::{HostClient, HostEvents, HostItem};
use crate::wire::host::{Push, SessionLine, Subscribe};

use super::failure::{Exit, Failure, Result};
use super::{output, reach};

/// Pause between two looks for a host while one follows and none runs.
const RECONNECT: Duration = Duration::from_millis(200);

#[derive(Deserialize)]
struct Newest {
    seq: u64,
}

/// Prints events until the newest one at the start, or for ever.
pub async fn run(dirs: &Dirs, since: Option<u64>, follow: bool, json: bool) -> Result<ExitCode> {
    let mut reader = Reader { last: since, names: HashMap::new(), json };
    if !follow && since.is_none() {
        reader.last = Some(0);
    }
    let (mut client, mut events) = reach::host(dirs).await?;
    loop {
        match reader.read(&client, &mut events, follow).await? {
            End::Reached => return Ok(ExitCode::SUCCESS),
            End::Lost(why) if !follow => {
                let message = format!("the host ended while events were read: {why}");
                return Err(Failure { code: Exit::Unreachable, ..Failure::new(message) });
            }
            // Whoever follows waits for the next host; agentctls start one unless it was stopped on purpose.
            End::Lost(_) => (client, events) = next_host(dirs).await?,
            End::Behind => {}
        }
    }
}

async fn next_host(dirs: &Dirs) -> Result<(HostClient, HostEvents)> {
    loop {
        match reach::running(dirs).await {
            Ok(Some(connected)) => return Ok(connected),
            Err(failure) if failure.code == Exit::Foreign => return Err(failure),
            _ => sleep(RECONNECT).await,
        }
    }
}

/// Why reading stopped.
enum End {
    /// Everything that there was at the start is printed.
    Reached,
    /// The host dropped events for us: subscribe again.
    Behind,
    /// The connection is gone.
    Lost(String),
}

struct Reader {
    /// Number of the last printed event.
    last: Option<u64>,
    /// Names of sessions, for sentences.
    names: HashMap<SessionId, String>,
    json: bool,
}

impl Reader {
    async fn read(&mut self, client: &HostClient, events: &mut HostEvents, follow: bool) -> Result<End> {
        let params = Subscribe { session_id: None, since: self.last, activity: false };
        let newest: Newest = match client.call("events.subscribe", params).await {
            Ok(newest) => newest,
            Err(crate::link::Error::Closed { why, .. }) => return Ok(End::Lost(why)),
            Err(error) => return Err(error.into()),
        };
        if self.last.is_none() {
            self.last = Some(newest.seq);
        }
        loop {
            if !follow && self.last >= Some(newest.seq) {
                return Ok(End::Reached);
            }
            match events.next().await {
                HostItem::Push(Push::Event(event)) if self.last < Some(event.seq) => {
                    self.last = Some(event.seq);
                    self.print(client, &event).await?;
                }
                HostItem::Push(Push::Resync { .. }) => return Ok(End::Behind),
                HostItem::Push(Push::Goodbye { why }) | HostItem::Closed(why) => return Ok(End::Lost(why)),
                HostItem::Push(_) | HostItem::Frame { .. } => {}
            }
        }
    }

    async fn print(&mut self, client: &HostClient, event: &Event) -> Result<()> {
        if self.json {
            return output::json(event);
        }
        let known = self.names.contains_key(&event.session_id) && event.kind != "session.renamed";
        if !known && let Ok(lines) = client.call::<_, Vec<SessionLine>>("session.list", json!({})).await {
            self.names = lines.into_iter().map(|line| (line.session_id, line.name)).collect();
        }
        let name = self.names.get(&event.session_id).map_or(event.session_id.short(), String::as_str);
        output::line(&format!("{:>6}  {}", event.seq, plain(&words(event, name))))
    }
}

/// The event as the status line announces it, or by its name when nobody needs to be told.
fn words(event: &Event, name: &str) -> String {
    let text = |key: &str| event.data.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
    sentence::of(event, name)
        .unwrap_or_else(|| format!("{name}: {} {}", event.kind, text("state")).trim_end().to_owned())
}
