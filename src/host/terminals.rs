//! The real [`Terminals`]: orders to one session's agentctl, with the profile resolved.

use std::time::Duration;

use crate::agent::person;
use crate::domain::ids::TerminalId;
use crate::domain::launch::Size;
use crate::domain::profile::TokenSource;
use crate::domain::rows::{Pending, StartMode};
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::link;
use crate::link::agentctl::AgentctlClient;
use crate::store::Bundle;
use crate::wire::agentctl::{LaunchReply, LaunchRequest};

use super::common;
use super::ids;
use super::resume::{Terminals, Unknown};
use super::shared::Shared;

/// A launch whose answer was lost is asked for this often before its claim is left open.
const ASK_AGAIN: u32 = 3;
/// Pause between two questions.
const ASK_PAUSE: Duration = Duration::from_millis(200);

/// Orders to one agentctl.
pub struct Agentctl<'a> {
    shared: &'a Shared,
    bundle: &'a Bundle,
    client: AgentctlClient,
    first_size: Size,
}

impl<'a> Agentctl<'a> {
    /// Orders for the session of `bundle`.
    #[must_use]
    pub fn new(shared: &'a Shared, bundle: &'a Bundle, client: AgentctlClient, first_size: Size) -> Self {
        Self { shared, bundle, client, first_size }
    }

    /// A conversation id for a start that is not a resume, if the agent takes one.
    #[must_use]
    pub fn preassigned(&self) -> Option<String> {
        let profile = self.shared.profiles.get(&self.bundle.session.agent_profile_id)?;
        let chosen = person::chooses(profile, &self.bundle.session.launch.args);
        (profile.token.source == TokenSource::Preassign && !chosen).then(ids::conversation)
    }

    fn request(&self, pending: &Pending) -> Option<LaunchRequest> {
        let session = &self.bundle.session;
        let profile = self.shared.profiles.get(&session.agent_profile_id)?.clone();
        let mut fence: Vec<TerminalId> = pending.dead.iter().cloned().collect();
        if let Some(newest) = &self.bundle.newest
            && newest.terminal_id != pending.terminal_id
            && !fence.contains(&newest.terminal_id)
        {
            fence.push(newest.terminal_id.clone());
        }
        Some(LaunchRequest {
            terminal: pending.terminal_id.clone(),
            kind: TerminalKind::Agent,
            generation: pending.generation,
            epoch: pending.epoch,
            mode: pending.mode,
            profile,
            token: pending.token.clone(),
            prompted: pending.mode == StartMode::Resume,
            args: session.launch.args.clone(),
            env: common::environment_of(&self.shared.volatile, self.bundle),
            cwd: common::directory_of(self.bundle),
            prompt: session.launch.prompt.clone().filter(|_| pending.mode == StartMode::First),
            size: self.size(),
            fence,
        })
    }

    /// An answer that got lost is asked for again, as long as the agentctl is there.
    async fn ask(&self, terminal: &TerminalId, lost: link::Error) -> Result<LaunchReply, Unknown> {
        let mut why = lost.to_string();
        for _ in 0..ASK_AGAIN {
            tokio::time::sleep(ASK_PAUSE).await;
            match self.client.fate(terminal).await {
                Ok(LaunchReply::Unheard) => why = "its agentctl has not heard of it".into(),
                Ok(reply) => return Ok(reply),
                Err(error) => why = error.to_string(),
            }
        }
        Err(Unknown(why))
    }
}

impl Terminals for Agentctl<'_> {
    async fn launch(&self, pending: &Pending) -> Result<LaunchReply, Unknown> {
        let Some(request) = self.request(pending) else {
            return Ok(LaunchReply::Failed {
                code: ErrorCode::ConfigGone,
                message: format!(
                    "the agent profile `{}` is gone from the configuration",
                    self.bundle.session.agent_profile_id
                ),
            });
        };
        match self.client.launch(&request).await {
            Ok(reply) => Ok(reply),
            // Refused: provably not launched, once a tombstone stands.
            Err(link::Error::Remote(error)) => match self.client.cancel(&pending.terminal_id).await {
                Ok(LaunchReply::Cancelled) => Ok(LaunchReply::Failed { code: error.code, message: error.message }),
                Ok(reply) => Ok(reply),
                Err(lost) => Err(Unknown(lost.to_string())),
            },
            Err(lost) => self.ask(&pending.terminal_id, lost).await,
        }
    }

    async fn fate(&self, terminal: &TerminalId) -> Result<LaunchReply, Unknown> {
        self.client.fate(terminal).await.map_err(|e| Unknown(e.to_string()))
    }

    async fn cancel(&self, terminal: &TerminalId) -> Result<LaunchReply, Unknown> {
        self.client.cancel(terminal).await.map_err(|e| Unknown(e.to_string()))
    }

    fn size(&self) -> Size {
        self.bundle.terminal.as_ref().map_or(self.first_size, |t| t.size)
    }

    async fn dispose(&self, terminal: &TerminalId) -> Result<(), Unknown> {
        match self.client.close(terminal).await {
            Ok(_) => Ok(()),
            Err(link::Error::Remote(error)) if error.code == ErrorCode::TerminalNotFound => Ok(()),
            Err(error) => Err(Unknown(error.to_string())),
        }
    }
}
