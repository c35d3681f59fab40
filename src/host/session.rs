//! One actor per session: it alone talks to the session's agentctl, applies its journal, and does the steps that `core`
//! decides. A fault here ends one session's actor, never another's.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::domain::ids::{SessionId, TerminalId};
use crate::domain::journal::Record;
use crate::domain::launch::Size;
use crate::domain::rows::Millis;
use crate::domain::words::{ErrorCode, ResumeReason};
use crate::link;
use crate::link::agentctl::AgentctlClient;
use crate::link::feed::JournalFeed;
use crate::proc::clock;
use crate::store::{Bundle, Transient};
use crate::wire::agentctl::{ActivityReport, Feed};
use crate::wire::host::{Push, Resumed, WireError};

use super::core::{self, Link, Step, View, Wish};
use super::gate::Place;
use super::jobs::{self, Done};
use super::orders::Command;
use super::resume::Outcome;
use super::seen::Seen;
use super::shared::{Handle, Shared};
use super::waiters::{self, Waiters};

/// Orders that may wait for one actor: more than all clients of a person send at once.
const ORDERS: usize = 64;

/// A launch counts towards the bound of parallel launches until its agent has said something, but no longer than this.
const LAUNCH_WEIGHT: Duration = Duration::from_secs(5);

/// Pause before what the database refused is tried again: about what freeing some space takes.
pub(super) const HELD_MS: Millis = 1_000;

/// One session's actor.
pub struct Actor {
    pub(super) shared: Arc<Shared>,
    pub(super) id: SessionId,
    pub(super) bundle: Bundle,
    pub(super) orders: mpsc::Receiver<Command>,
    pub(super) seen: watch::Sender<Seen>,
    pub(super) link: Link,
    pub(super) client: Option<AgentctlClient>,
    pub(super) feed: Option<JournalFeed>,
    pub(super) job: Option<JoinHandle<Done>>,
    pub(super) waiters: Waiters,
    /// When the link came up last.
    pub(super) up_since: Millis,
    /// A record about a successor that is not confirmed yet: applied again afterwards.
    pub(super) early: Option<Record>,
    /// A record that the database refused for want of space or of its lock, and when it is applied again.
    pub(super) held: Option<(Record, Millis)>,
    /// The database refused a read, or a change that no asker repeats: when to try again.
    pub(super) again: Option<Millis>,
    pub(super) tries: u32,
    pub(super) at_start: bool,
    pub(super) viewers: u32,
    pub(super) activity: Option<ActivityReport>,
    pub(super) place: Option<(Place, Millis)>,
    pub(super) epoch: u64,
    /// Size of an agent that nobody has looked at yet.
    pub(super) size: Size,
    pub(super) pushed: Option<(String, String, String, Option<u8>)>,
}

/// Starts the actor of a session and enters it in the table.
pub fn spawn(shared: &Arc<Shared>, bundle: Bundle, at_start: bool) -> Handle {
    let (orders_in, orders) = mpsc::channel(ORDERS);
    let (seen, seen_out) = watch::channel(Seen::default());
    let handle = Handle { orders: orders_in, seen: seen_out };
    let id = bundle.session.id.clone();
    shared.enter(id.clone(), handle.clone());
    let actor = Actor {
        shared: Arc::clone(shared),
        id,
        bundle,
        orders,
        seen,
        link: Link::Down,
        client: None,
        feed: None,
        job: None,
        waiters: Waiters::default(),
        up_since: 0,
        early: None,
        held: None,
        again: None,
        tries: 0,
        at_start,
        viewers: 0,
        activity: None,
        place: None,
        epoch: 0,
        size: Size::DEFAULT,
        pushed: None,
    };
    tokio::spawn(actor.run());
    handle
}

impl Actor {
    async fn run(mut self) {
        let mut counted = self.at_start;
        loop {
            self.retry_held().await;
            if self.again.take_if(|at| *at <= clock::now_ms()).is_some() {
                self.reload().await;
            }
            let until = self.advance().await;
            let until = [until, self.held.as_ref().map(|(_, at)| *at), self.again].into_iter().flatten().min();
            self.show();
            if counted && self.job.is_none() && !matches!(self.link, Link::Reading) {
                counted = false;
                self.shared.recovered_one();
            }
            let sleep = until.map(|at| Duration::from_millis(u64::try_from(at - clock::now_ms()).unwrap_or(0)));
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(order) => self.on_order(order).await,
                    None => return,
                },
                item = next_item(&mut self.feed), if self.early.is_none() && self.held.is_none() => self.on_feed(item).await,
                done = finished(&mut self.job) => self.on_done(done).await,
                () = tokio::time::sleep(sleep.unwrap_or(Duration::MAX)), if sleep.is_some() => {}
            }
        }
    }

    /// Does steps until there is nothing to do now; answers with the time to look again.
    async fn advance(&mut self) -> Option<Millis> {
        // A host that ends begins nothing: what ends now is meant to.
        if self.shared.ends() {
            return None;
        }
        let now = clock::now_ms();
        if self.place.as_ref().is_some_and(|(_, until)| *until <= now) {
            self.place = None;
        }
        let place_until = self.place.as_ref().map(|(_, until)| *until);
        loop {
            let profile_resumes = self.shared.profile_resumes(&self.bundle.session.agent_profile_id);
            let step = core::next(
                &View {
                    session: &self.bundle.session,
                    executor: self.bundle.executor.as_ref(),
                    newest: self.bundle.newest.as_ref(),
                    link: self.link,
                    busy: self.job.is_some(),
                    at_start: self.at_start,
                    viewed: self.viewers > 0,
                    wish: self.waiters.wish(),
                    profile_resumes,
                    policy: &self.shared.policy,
                },
                now,
            );
            match step {
                Step::Rest => return place_until,
                Step::Until(at) => return Some(place_until.map_or(at, |p| p.min(at))),
                Step::Mark(reason) => {
                    if !self.mark(reason).await {
                        return place_until;
                    }
                }
                Step::Refuse(reason) => self.waiters.refuse(reason, self.current().as_ref()),
                Step::Recover => self.job = Some(jobs::recover(&self.shared, &self.bundle)),
                Step::First => {
                    let size = self.size;
                    self.job = self.with_client(|s, b, c| jobs::first(s, b, c, size));
                }
                Step::Settle(_) => {
                    let size = self.size;
                    self.job = self.with_client(|s, b, c| jobs::settle(s, b, c, size));
                }
                Step::Retire => self.job = self.with_client(jobs::retire),
                Step::Restart { wish, trigger } => {
                    let (viewed, size) = (self.viewers > 0, self.size);
                    self.job = self.with_client(|shared, bundle, client| {
                        jobs::restart(shared, bundle, client, size, jobs::Why { wish, trigger, viewed })
                    });
                }
            }
        }
    }

    fn with_client(
        &mut self,
        job: impl FnOnce(&Arc<Shared>, &Bundle, AgentctlClient) -> JoinHandle<Done>,
    ) -> Option<JoinHandle<Done>> {
        if let Some(client) = self.client.clone() {
            Some(job(&self.shared, &self.bundle, client))
        } else {
            self.lost("its link is gone");
            None
        }
    }

    async fn mark(&mut self, reason: ResumeReason) -> bool {
        let marked =
            self.shared.store.session_error(self.id.clone(), reason.as_str().to_owned(), None, clock::now_ms()).await;
        if let Err(error) = marked {
            tracing::warn!(session = %self.id, %error, "cannot mark the session");
            self.again = Some(clock::now_ms() + HELD_MS);
            return false;
        }
        self.reload().await
    }

    async fn on_order(&mut self, order: Command) {
        match order {
            Command::Resume { terminal, reopen, tell } => self.on_resume(terminal, reopen, tell).await,
            Command::First { size, tell } => {
                self.size = size;
                self.waiters.join_first(tell);
            }
            Command::Changed => {
                self.reload().await;
                jobs::flush_prompts(&self.shared, &self.bundle, self.client.as_ref());
            }
            Command::Viewed(begun) => {
                self.viewers = if begun { self.viewers.saturating_add(1) } else { self.viewers.saturating_sub(1) };
            }
            Command::Retry => {
                if matches!(self.link, Link::Waiting { .. }) {
                    self.link = Link::Down;
                }
            }
        }
    }

    async fn on_resume(
        &mut self,
        terminal: Option<TerminalId>,
        reopen: bool,
        tell: oneshot::Sender<Result<Resumed, WireError>>,
    ) {
        self.reload().await;
        let target = self
            .bundle
            .session
            .pending
            .as_ref()
            .map_or_else(|| self.bundle.newest.as_ref().map(|b| b.terminal_id.clone()), |p| p.dead.clone());
        if terminal.is_some() && terminal != target {
            let live = self.bundle.newest.as_ref().is_some_and(|b| b.end_reason.is_none());
            let reason = if live { ResumeReason::AgentRunning } else { ResumeReason::Superseded };
            let _ = tell.send(Ok(waiters::not_resumed(reason, self.current(), terminal)));
            return;
        }
        // Joins the start that is on its way, if there is one; else it is decided next.
        let wish = if reopen { Wish::Reopen } else { Wish::Resume };
        self.waiters.join(target, tell, self.bundle.session.pending.is_none().then_some(wish));
    }

    async fn on_done(&mut self, done: Done) {
        self.job = None;
        self.reload().await;
        match done {
            Done::Connected { client, feed } => {
                self.client = Some(client);
                self.feed = Some(*feed);
                self.link = Link::Reading;
                self.early = None;
            }
            Done::Away { why } => {
                self.tries = self.tries.max(1);
                self.lost(&why);
                self.waiters.fail(&WireError::new(ErrorCode::ExecutorUnreachable, why));
            }
            Done::Broken(error) => {
                self.tries = self.tries.max(1);
                self.lost(&error.message);
                self.waiters.fail(&error);
            }
            Done::Start { outcome, place } => self.on_outcome(outcome, place).await,
            Done::Retired => self.on_retired().await,
            Done::Trouble(error) => {
                self.waiters.fail(&error);
                self.lost(&error.message);
            }
        }
        self.at_start &= self.link != Link::Up;
    }

    async fn on_outcome(&mut self, outcome: Outcome, place: Option<Place>) {
        let current = self.current();
        match outcome {
            Outcome::Started { terminal, dead, mode } => {
                let until = clock::now_ms() + LAUNCH_WEIGHT.as_millis() as Millis;
                self.place = place.map(|place| (place, until));
                let newest = self.bundle.newest.as_ref().filter(|newest| newest.terminal_id == terminal);
                let died = newest.is_some_and(|newest| newest.end_reason.is_some());
                self.waiters.started(&terminal, dead.as_ref(), mode, died);
                self.epoch += 1;
            }
            Outcome::Refused(reason) => self.waiters.refuse(reason, current.as_ref()),
            Outcome::Failed { code, message } => {
                self.waiters.failed(&WireError::new(code, message), current.as_ref());
            }
            Outcome::Stopped => self.waiters.refuse(ResumeReason::Disposed, current.as_ref()),
            Outcome::Unknown(why) => {
                if self.client.is_some() {
                    self.lost(&why);
                }
            }
        }
        if let Some(record) = self.early.take() {
            self.apply(record).await;
        }
    }

    pub(super) fn current(&self) -> Option<TerminalId> {
        core::current(&self.bundle.session, self.bundle.newest.as_ref())
    }

    pub(super) async fn reload(&mut self) -> bool {
        match self.shared.store.bundle(self.id.clone()).await {
            Ok(bundle) => {
                self.bundle = bundle;
                true
            }
            Err(error) => {
                tracing::warn!(session = %self.id, %error, "cannot read the session");
                self.again = Some(clock::now_ms() + HELD_MS);
                false
            }
        }
    }

    /// Tells readers of the watch and, when the badge changed, the bus.
    fn show(&mut self) {
        let seen = Seen {
            link: self.link,
            client: self.client.clone(),
            terminal: self.current(),
            activity: self.activity.clone(),
            viewers: self.viewers,
            epoch: self.epoch,
        };
        let status = self.shared.status(&self.bundle, &seen);
        let (title, progress) = self.activity.as_ref().map_or((String::new(), None), |a| (a.title.clone(), a.progress));
        let badge = (status.activity.to_string(), status.why.clone(), title.clone(), progress);
        self.seen.send_replace(seen);
        if self.pushed.as_ref() != Some(&badge) {
            self.pushed = Some(badge);
            self.shared.latest.put(Transient {
                session: self.id.clone(),
                activity: status.activity,
                why: status.why.clone(),
                title: title.clone(),
                progress,
                last_seen_at: clock::now_ms(),
            });
            self.shared.publish(Push::Activity {
                session_id: self.id.clone(),
                task_id: self.bundle.session.task_id.clone(),
                activity: status.activity,
                why: status.why,
                title,
                progress,
            });
        }
    }
}

async fn next_item(feed: &mut Option<JournalFeed>) -> Result<Feed, link::Error> {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}

async fn finished(job: &mut Option<JoinHandle<Done>>) -> Done {
    match job {
        Some(handle) => match handle.await {
            Ok(done) => done,
            Err(error) => {
                Done::Trouble(WireError::new(ErrorCode::Internal, format!("a step of this session failed: {error}")))
            }
        },
        None => std::future::pending().await,
    }
}
