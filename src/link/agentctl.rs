//! The typed client of an agentctl: one method per path of `wire::agentctl`.

use std::time::Duration;

use crate::domain::ids::TerminalId;
use crate::domain::launch::Size;
use crate::link::endpoint::Endpoint;
use crate::link::error::Error;
use crate::link::feed::JournalFeed;
use crate::link::http::{Ask, Remote};
use crate::link::socket::Socket;
use crate::link::terminal::TerminalStream;
use crate::wire::agentctl::{
    Capabilities, Captured, CloseReply, CloseRequest, Health, LaunchReply, LaunchRequest, SendRequest, TerminalInfo,
};
use crate::wire::journal::Record;

/// A healthy agentctl answers at once.
const HEALTH_DEADLINE: Duration = Duration::from_secs(3);
/// A launch fences first, and closing waits for what it ends: both have a grace period in them.
const SLOW_DEADLINE: Duration = Duration::from_secs(30);
/// git may take its own ten seconds.
const WORKSPACE_DEADLINE: Duration = Duration::from_secs(15);

/// An answer without content.
type Nothing = serde_json::Map<String, serde_json::Value>;

/// A client of one agentctl. Cheap to clone; each request has a connection of its own.
#[derive(Debug, Clone)]
pub struct AgentctlClient {
    remote: Remote,
}

/// Every method fails with the [`Error`]s of [`Remote::ask`]: `NobodyThere`, `Silent` (its fate is unknown), `Remote` and
/// so on.
#[expect(clippy::missing_errors_doc, reason = "said once, above")]
impl AgentctlClient {
    /// A client of the agentctl at `endpoint`, with its bearer token where it wants one.
    #[must_use]
    pub fn new(endpoint: Endpoint, token: Option<&str>) -> Self {
        Self { remote: Remote::new(endpoint, token) }
    }

    /// Where it is.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.remote.endpoint()
    }

    /// `GET /health`, within 3 s.
    pub async fn health(&self) -> Result<Health, Error> {
        self.remote.ask(Ask::get("/health").within(HEALTH_DEADLINE)).await
    }

    /// `GET /capabilities`, within 3 s.
    pub async fn capabilities(&self) -> Result<Capabilities, Error> {
        self.remote.ask(Ask::get("/capabilities").within(HEALTH_DEADLINE)).await
    }

    /// `GET /terminals`.
    pub async fn terminals(&self) -> Result<Vec<TerminalInfo>, Error> {
        self.remote.ask(Ask::get("/terminals")).await
    }

    /// `POST /terminals`, within 30 s.
    pub async fn launch(&self, request: &LaunchRequest) -> Result<LaunchReply, Error> {
        self.remote.ask(Ask::post("/terminals", request)?.within(SLOW_DEADLINE)).await
    }

    /// `GET /terminals/{id}/fate`: what became of a launch.
    pub async fn fate(&self, terminal: &TerminalId) -> Result<LaunchReply, Error> {
        self.remote.ask(Ask::get(format!("/terminals/{terminal}/fate"))).await
    }

    /// `POST /terminals/{id}/cancel`: cancelled for good, or what it found.
    pub async fn cancel(&self, terminal: &TerminalId) -> Result<LaunchReply, Error> {
        self.remote.ask(Ask::post(format!("/terminals/{terminal}/cancel"), &Nothing::new())?).await
    }

    /// `POST /terminals/{id}/input`.
    pub async fn send(&self, terminal: &TerminalId, request: &SendRequest) -> Result<(), Error> {
        self.post(format!("/terminals/{terminal}/input"), request).await
    }

    /// `POST /terminals/{id}/resize`.
    pub async fn resize(&self, terminal: &TerminalId, size: Size) -> Result<(), Error> {
        self.post(format!("/terminals/{terminal}/resize"), &size).await
    }

    /// `POST /terminals/{id}/close`, within 30 s.
    pub async fn close(&self, terminal: &TerminalId) -> Result<CloseReply, Error> {
        self.close_as(terminal, CloseRequest::default()).await
    }

    /// The same for a shell in which no program runs; `terminal_busy` for another. Within 30 s.
    pub async fn close_unless_busy(&self, terminal: &TerminalId) -> Result<CloseReply, Error> {
        self.close_as(terminal, CloseRequest { unless_busy: true }).await
    }

    async fn close_as(&self, terminal: &TerminalId, request: CloseRequest) -> Result<CloseReply, Error> {
        let ask = Ask::post(format!("/terminals/{terminal}/close"), &request)?;
        self.remote.ask(ask.within(SLOW_DEADLINE)).await
    }

    /// `GET /terminals/{id}/capture`: the screen and at most `history` lines above it, with SGR sequences if `ansi`.
    pub async fn capture(&self, terminal: &TerminalId, history: u32, ansi: bool) -> Result<Captured, Error> {
        self.remote.ask(Ask::get(format!("/terminals/{terminal}/capture?history={history}&ansi={ansi}"))).await
    }

    /// `GET /journal`: at most 1,000 records after `after`.
    pub async fn journal(&self, after: u64) -> Result<Vec<Record>, Error> {
        self.remote.ask(Ask::get(format!("/journal?after={after}"))).await
    }

    /// `GET /journal/stream`: every record after `after`, then what comes.
    pub async fn feed(&self, after: u64) -> Result<JournalFeed, Error> {
        Socket::open(&self.remote, format!("/journal/stream?after={after}")).await.map(JournalFeed::new)
    }

    /// `GET /terminals/{id}/stream`.
    pub async fn stream(&self, terminal: &TerminalId) -> Result<TerminalStream, Error> {
        Socket::open(&self.remote, format!("/terminals/{terminal}/stream")).await.map(TerminalStream::new)
    }

    /// `POST /hooks`: look at the spools now. Within 3 s.
    pub async fn hooks(&self) -> Result<(), Error> {
        let ask = Ask::post("/hooks", &Nothing::new())?.within(HEALTH_DEADLINE);
        self.remote.ask::<Nothing>(ask).await.map(drop)
    }

    /// One of the read-only paths `/workspace/…` and `/git/…`, with its query; within 15 s.
    pub async fn workspace(&self, path: &str) -> Result<serde_json::Value, Error> {
        if !(path.starts_with("/workspace/") || path.starts_with("/git/")) {
            let why = "only paths below /workspace/ and /git/ are".to_owned();
            return Err(Error::Unsendable { what: path.chars().take(200).collect(), why });
        }
        self.remote.ask(Ask::get(path).within(WORKSPACE_DEADLINE)).await
    }

    /// `POST /shutdown`: end every terminal, then itself; within 30 s.
    pub async fn shutdown(&self) -> Result<(), Error> {
        let ask = Ask::post("/shutdown", &Nothing::new())?.within(SLOW_DEADLINE);
        self.remote.ask::<Nothing>(ask).await.map(drop)
    }

    async fn post(&self, path: String, body: &impl serde::Serialize) -> Result<(), Error> {
        self.remote.ask::<Nothing>(Ask::post(path, body)?).await.map(drop)
    }
}
