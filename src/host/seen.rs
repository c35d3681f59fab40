//! What an actor sees of its session beyond the rows: transient, in memory only, rebuilt at every start of the host.

use crate::domain::ids::TerminalId;
use crate::domain::status::Liveness;
use crate::domain::words::Activity;
use crate::link::agentctl::AgentctlClient;
use crate::store::Bundle;
use crate::wire::agentctl::ActivityReport;

use super::core::Link;

/// A view of one session, for status, lists and streams: the host's `executors_cache` entry.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Link to the agentctl.
    pub link: Link,
    /// The agentctl, while it answers.
    pub client: Option<AgentctlClient>,
    /// The session's agent terminal, live or newest dead; a successor before it is confirmed is not it.
    pub terminal: Option<TerminalId>,
    /// Newest transient report.
    pub activity: Option<ActivityReport>,
    /// Clients that look at it.
    pub viewers: u32,
    /// Grows with every change of link or terminal, so that streams notice a new agentctl under the same id.
    pub epoch: u64,
}

impl Default for Seen {
    fn default() -> Self {
        Self { link: Link::Down, client: None, terminal: None, activity: None, viewers: 0, epoch: 0 }
    }
}

impl Seen {
    /// Whether the session's agent lives. What an agentctl declared dead is dead, whatever became of the agentctl; what it
    /// declared alive is alive as long as it says so.
    #[must_use]
    pub fn liveness(&self, bundle: &Bundle) -> Liveness {
        match &bundle.newest {
            Some(newest) if newest.end_reason.is_none() => {
                if self.link == Link::Up {
                    Liveness::Alive
                } else {
                    Liveness::Unknown
                }
            }
            _ => Liveness::Dead,
        }
    }

    /// The report, if it is about the agent that lives now.
    #[must_use]
    pub fn activity_of(&self, bundle: &Bundle) -> Option<(Activity, &str)> {
        let newest = bundle.newest.as_ref()?;
        self.activity
            .as_ref()
            .filter(|report| report.terminal == newest.terminal_id)
            .map(|report| (report.activity, report.why.as_str()))
    }
}
