//! The actor's part that follows the journal and keeps the link.

use crate::domain::journal::{Body, Record};
use crate::domain::rows::Millis;
use crate::link;
use crate::proc::clock;
use crate::store;
use crate::wire::agentctl::Feed;

use super::core::Link;
use super::jobs;
use super::recovery;
use super::session::Actor;

/// A link that was up for this long has lasted: the next loss is the first again.
const LASTING_MS: Millis = 10_000;
/// Pause before a record that the database refused is applied again: about what freeing some space takes.
const HELD_MS: Millis = 1_000;

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

    /// A binding that counts as live, of which a new agentctl knows nothing (its state directory was lost): it is dead.
    pub(super) async fn check_known(&mut self) {
        let (Some(client), Some(newest)) = (&self.client, &self.bundle.newest) else {
            return;
        };
        if newest.end_reason.is_some() || self.link != Link::Up {
            return;
        }
        if jobs::unheard(client, &newest.terminal_id).await {
            let ended = self
                .shared
                .store
                .terminal_lost(
                    self.id.clone(),
                    newest.terminal_id.clone(),
                    self.shared.policy.max_attempts,
                    clock::now_ms(),
                )
                .await;
            if let Err(error) = ended {
                tracing::warn!(session = %self.id, %error, "cannot end a lost agent");
            }
            self.reload().await;
        }
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
