//! The actor's part that follows the journal and keeps the link.

use std::time::Duration;

use tokio::time::timeout;

use crate::domain::ids::TerminalId;
use crate::domain::journal::{Body, Record};
use crate::domain::rows::{Millis, Terminal};
use crate::domain::words::{TerminalKind, TerminalStatus};
use crate::link;
use crate::proc::clock;
use crate::store;
use crate::wire::agentctl::Feed;

use super::common;
use super::core::Link;
use super::jobs;
use super::recovery;
use super::session::{Actor, HELD_MS};

/// A link that was up for this long has lasted: the next loss is the first again.
const LASTING_MS: Millis = 10_000;
/// What an agentctl that has ended sent before is here already; nothing of it is waited for longer.
const LAST_RECORDS: Duration = Duration::from_secs(2);

impl Actor {
    pub(super) async fn on_feed(&mut self, item: Result<Feed, link::Error>) {
        match item {
            Err(error) => self.lost(&error.to_string()),
            Ok(Feed::Activity(report)) => {
                self.activity = Some(report);
            }
            Ok(Feed::CaughtUp { .. }) => {
                self.up();
                self.reload().await;
                self.check_known().await;
                jobs::flush_prompts(&self.shared, &self.bundle, self.client.as_ref());
            }
            Ok(Feed::Record(record)) => self.apply(record).await,
        }
    }

    pub(super) async fn apply(&mut self, record: Record) {
        match jobs::apply(&self.shared, &self.bundle, &record).await {
            Ok(jobs::Applied::Done) => {
                if self.link == Link::Up {
                    self.reload().await;
                    self.after_record(&record);
                }
            }
            Ok(jobs::Applied::Early) => {
                // Only a start on its way explains it; the rows say which.
                self.reload().await;
                self.early = Some(record);
                self.up();
            }
            Ok(jobs::Applied::Gap) => self.lost("its journal had a gap; reading again"),
            // Its agentctl and its agent are well: they stay in reach, and the record waits with all behind it.
            Err(error @ (store::Error::DiskFull { .. } | store::Error::Locked { .. })) => {
                tracing::warn!(session = %self.id, %error, seq = record.seq, "a journal record waits for the database");
                self.held = Some((record, clock::now_ms() + HELD_MS));
            }
            Err(error) => {
                tracing::warn!(session = %self.id, %error, seq = record.seq, "cannot apply a journal record");
                self.lost("the database refused a record");
            }
        }
    }

    /// Applies the record that waits for the database, when its time has come.
    pub(super) async fn retry_held(&mut self) {
        if let Some((record, _)) = self.held.take_if(|(_, at)| *at <= clock::now_ms()) {
            self.apply(record).await;
        }
    }

    pub(super) fn after_record(&mut self, record: &Record) {
        let ended = match &record.body {
            Body::Exit { terminal, .. } => Some(terminal),
            _ => None,
        };
        // The end of a shell beside the agent says nothing about the agent.
        let agent_ended = ended.is_some() && ended == self.current().as_ref();
        if agent_ended || matches!(record.body, Body::Signal { .. } | Body::LaunchFailed { .. }) {
            self.place = None;
        }
        if agent_ended {
            self.at_start = false;
            self.activity = None;
        }
        jobs::flush_prompts(&self.shared, &self.bundle, self.client.as_ref());
    }

    /// The agentctl of a session that is to be stopped is gone. What it said last is read first: how its terminals ended.
    pub(super) async fn on_retired(&mut self) {
        while let (Some(feed), None, None) = (&mut self.feed, &self.early, &self.held) {
            match timeout(LAST_RECORDS, feed.next()).await {
                Ok(Ok(item)) => self.on_feed(Ok(item)).await,
                Ok(Err(_)) | Err(_) => break,
            }
        }
        match self.shared.store.executor_stopped(self.id.clone(), clock::now_ms()).await {
            Ok(_) => {
                self.reload().await;
                self.tries = 0;
                self.lost("the session was ended");
            }
            Err(error) => {
                let error = common::store_error(&error);
                self.waiters.fail(&error);
                self.lost(&error.message);
            }
        }
    }

    /// A terminal that counts as live, of which a new agentctl knows nothing (its state directory was lost): it is dead.
    pub(super) async fn check_known(&mut self) {
        let (Some(client), Link::Up) = (self.client.clone(), self.link) else {
            return;
        };
        let (store, attempts) = (&self.shared.store, self.shared.policy.max_attempts);
        let mut live: Vec<TerminalId> = match store.terminals(self.id.clone()).await {
            Ok(rows) => rows.into_iter().filter(is_live_shell).map(|row| row.id).collect(),
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "cannot read its terminals");
                Vec::new()
            }
        };
        let agent = self.bundle.newest.as_ref().filter(|newest| newest.end_reason.is_none());
        live.extend(agent.map(|agent| agent.terminal_id.clone()));
        for terminal in live {
            if jobs::unheard(&client, &terminal).await
                && let Err(error) = store.terminal_lost(self.id.clone(), terminal, attempts, clock::now_ms()).await
            {
                tracing::warn!(session = %self.id, %error, "cannot end a lost terminal");
            }
        }
        self.reload().await;
    }

    pub(super) fn up(&mut self) {
        if self.link == Link::Reading {
            self.link = Link::Up;
            self.up_since = clock::now_ms();
            self.epoch += 1;
        }
    }

    /// The link is gone: it is made anew at once, or, when it does not last, after a pause that grows.
    pub(super) fn lost(&mut self, why: &str) {
        if self.client.is_some() {
            tracing::info!(session = %self.id, why, "link lost");
        }
        let now = clock::now_ms();
        if self.link == Link::Up {
            self.at_start = false;
            if now - self.up_since >= LASTING_MS {
                self.tries = 0;
            }
        }
        self.feed = None;
        self.client = None;
        self.early = None;
        self.held = None;
        self.activity = None;
        self.epoch += 1;
        self.link = match self.tries {
            0 => Link::Down,
            tries => Link::Waiting { retry_at: now + recovery::retry_ms(tries, clock::boot_ms()) },
        };
        self.tries = self.tries.saturating_add(1);
    }
}

fn is_live_shell(row: &Terminal) -> bool {
    row.kind == TerminalKind::Shell && row.status == TerminalStatus::Active
}
