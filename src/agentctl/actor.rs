//! One running terminal: a task that reads the program's output into the model and serves everybody who looks.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::agent::token::TokenWatch;
use crate::domain::ids::TerminalId;
use crate::domain::journal::Body;
use crate::domain::launch::{Exit, Size};
use crate::domain::profile::Profile;
use crate::proc::clock;
use crate::pty::control::Control;
use crate::pty::reader::Reader;
use crate::screen::frames::Framer;
use crate::screen::model::Model;
use crate::wire::agentctl::{ActivityReport, StreamEvent};

use super::board::Board;
use super::courtesy::{Courtesy, Part};
use super::fallen::Fallen;
use super::input::Input;
use super::ledger::Ledger;
use super::order::{Order, Seen};
use super::scribe::{Noted, Scribe};
use super::sizes::Sizes;
use super::throttle::Bucket;
use super::typing::Typist;
use super::viewers::Viewers;

/// One read: what a PTY gives at once is rarely more.
const READ_BYTES: usize = 16 * 1024;
/// Output is gathered for one frame until the PTY has no more, but for no longer than this.
const GATHER: Duration = Duration::from_millis(2);
/// And no more than this, so that orders are heard.
const GATHER_BYTES: usize = 128 * 1024;
/// Frames follow each other no faster.
const FRAME_GAP: Duration = Duration::from_millis(8);
/// After its death a program's last output is waited for until the PTY was quiet for this long,
const DRAIN_QUIET: Duration = Duration::from_millis(30);
/// and no longer than this, since something it left may go on printing.
const DRAIN_MAX: Duration = Duration::from_millis(300);
/// An exit this old, with this agentctl still running, was not caused by an end of the box.
const SETTLED_AFTER: Duration = Duration::from_millis(crate::domain::ending::OUTSIDE_WINDOW_MS);

/// What a terminal is made of.
pub struct Parts {
    /// Id.
    pub id: TerminalId,
    /// Generation.
    pub generation: u32,
    /// Size, signals, end.
    pub control: Control,
    /// Output.
    pub reader: Reader,
    /// Input.
    pub input: Input,
    /// Its size.
    pub size: Size,
    /// Lines of history that the model keeps.
    pub history_lines: usize,
    /// For an agent: who writes down what it does.
    pub scribe: Option<Scribe>,
    /// How failures are known.
    pub profile: Profile,
    /// A first prompt that is typed once the agent is ready.
    pub prompt: Option<String>,
    /// Where the conversation id can be read.
    pub token_watch: Option<TokenWatch>,
    /// Journal.
    pub ledger: Arc<Ledger>,
    /// Badges.
    pub board: Arc<Board>,
    /// Floods.
    pub courtesy: Arc<Courtesy>,
}

/// How far the end of the program has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// It lives.
    Alive,
    /// It is dead; its last output is still read.
    Dying { exit: Exit, at: Instant, boot_ms: u64 },
    /// Its exit is in the journal.
    Dead { exit: Exit, settles: Option<Instant> },
}

/// The task's state.
pub(super) struct Actor {
    pub(super) p: Parts,
    pub(super) orders: mpsc::WeakSender<Order>,
    pub(super) model: Model,
    pub(super) framer: Framer,
    pub(super) viewers: Viewers,
    pub(super) sizes: Sizes,
    pub(super) typist: Typist,
    pub(super) seen: watch::Sender<Seen>,
    pub(super) life: Life,
    pub(super) progress: Option<u8>,
    pub(super) token_due: Option<Instant>,
    pub(super) dirty: bool,
    bucket: Bucket,
    part: Part,
    eof: bool,
    last_read: Instant,
    frame_at: Option<Instant>,
    frame_due: Option<Instant>,
    sync: Option<(u64, Instant)>,
}

/// Starts the task. Orders go in at the sender; the watch shows what is seen of the terminal.
#[must_use]
pub fn start(parts: Parts, room: usize) -> (mpsc::Sender<Order>, watch::Receiver<Seen>) {
    let (orders_in, orders) = mpsc::channel(room);
    let token = parts.scribe.as_ref().and_then(|s| s.observer().token()).map(str::to_owned);
    let state = parts.scribe.as_ref().map(|s| s.observer().state());
    let first = Seen { size: parts.size, title: String::new(), token, state, exit: None, watched: false };
    let (seen, seen_out) = watch::channel(first);
    let now = Instant::now();
    let fallen = Fallen {
        id: parts.id.clone(),
        generation: parts.generation,
        control: parts.control.clone(),
        ledger: Arc::clone(&parts.ledger),
        seen: seen.clone(),
    };
    let actor = Actor {
        orders: orders_in.downgrade(),
        model: Model::new(parts.size, parts.history_lines),
        p: parts,
        framer: Framer::new(),
        viewers: Viewers::default(),
        sizes: Sizes::default(),
        typist: Typist::default(),
        seen,
        life: Life::Alive,
        progress: None,
        token_due: None,
        dirty: false,
        bucket: Bucket::new(now),
        part: Part::default(),
        eof: false,
        last_read: now,
        frame_at: None,
        frame_due: None,
        sync: None,
    };
    let task = tokio::spawn(actor.run(orders));
    tokio::spawn(async move {
        if task.await.is_err() {
            fallen.end().await;
        }
    });
    (orders_in, seen_out)
}

impl Actor {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut buffer = vec![0; READ_BYTES];
        self.note(Noted { activity: true, ready: false });
        let end = self.p.control.clone();
        loop {
            let now = Instant::now();
            let paused = if self.viewers.is_empty() { self.bucket.wait(now) } else { None };
            self.step_back(paused.is_some());
            let wake = self.wake(now).into_iter().chain(paused).min();
            let most = if self.viewers.is_empty() { self.bucket.most(READ_BYTES) } else { READ_BYTES };
            let room = buffer.get_mut(..most).unwrap_or_default();
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    None | Some(Order::End) => break,
                    Some(order) => self.order(order),
                },
                exit = end.wait_exit(), if self.life == Life::Alive => {
                    self.life = Life::Dying { exit, at: Instant::now(), boot_ms: clock::boot_ms() };
                }
                () = self.p.input.pump() => {}
                () = at(wake) => {}
                read = self.p.reader.read(room), if !self.eof && paused.is_none() => {
                    self.read(read, &mut buffer);
                }
            }
            self.due(Instant::now());
        }
        self.step_back(false);
        self.p.courtesy.change(self.p.control.identity().pid, self.part, Part::default());
        self.p.board.forget(&self.p.id);
    }

    /// Takes what was read, and what more there is at once.
    fn read(&mut self, read: std::io::Result<usize>, buffer: &mut [u8]) {
        let begin = Instant::now();
        let mut read = read.map(Some);
        let mut total = 0;
        loop {
            match read {
                Ok(None) => break,
                Ok(Some(0)) => {
                    self.eof = true;
                    break;
                }
                Ok(Some(count)) => {
                    total += count;
                    self.output(buffer.get(..count).unwrap_or_default());
                }
                Err(error) => {
                    tracing::warn!(terminal = %self.p.id, %error, "the terminal cannot be read any more");
                    self.eof = true;
                    break;
                }
            }
            let unwatched = self.viewers.is_empty();
            if unwatched || total >= GATHER_BYTES || begin.elapsed() >= GATHER {
                break;
            }
            read = self.p.reader.try_read(buffer);
        }
        self.last_read = Instant::now();
        self.bucket.spend(total, self.last_read);
    }

    /// When something is due, if nothing else happens before.
    fn wake(&self, now: Instant) -> Option<Instant> {
        let life = match self.life {
            Life::Alive => None,
            Life::Dying { .. } => self.wake_of_death(),
            Life::Dead { settles, .. } => settles,
        };
        let observer = self.p.scribe.as_ref().filter(|_| !self.dead()).and_then(|s| s.observer().deadline());
        let observer = observer.map(|ms| now + Duration::from_millis(ms.saturating_sub(clock::boot_ms())));
        [life, observer, self.typist.deadline(now), self.frame_due, self.token_due].into_iter().flatten().min()
    }

    /// Does what is due.
    fn due(&mut self, now: Instant) {
        if let Life::Dying { exit, boot_ms, .. } = self.life
            && self.wake_of_death().is_some_and(|due| due <= now)
        {
            self.died(exit, boot_ms);
            self.life = Life::Dead { exit, settles: Some(now + SETTLED_AFTER) };
        }
        if let Life::Dead { exit, settles: Some(due) } = self.life
            && due <= now
        {
            self.life = Life::Dead { exit, settles: None };
            self.p.ledger.note(Body::ExitSettled { terminal: self.p.id.clone() });
        }
        if !self.dead() {
            let boot_ms = clock::boot_ms();
            if let Some(scribe) = &mut self.p.scribe
                && scribe.observer().deadline().is_some_and(|due| due <= boot_ms)
            {
                let noted = scribe.observe(|observer| observer.tick(boot_ms));
                self.note(noted);
            }
            if self.token_due.is_some_and(|due| due <= now) {
                self.look_for_token();
            }
        }
        self.type_on(now);
        self.frame(now);
    }

    fn wake_of_death(&self) -> Option<Instant> {
        let Life::Dying { at, .. } = self.life else { return None };
        Some(if self.eof { at } else { (self.last_read.max(at) + DRAIN_QUIET).min(at + DRAIN_MAX) })
    }

    pub(super) fn dead(&self) -> bool {
        matches!(self.life, Life::Dead { .. })
    }

    /// Makes a frame when one is due, and sends what the clients have room for.
    pub(super) fn frame(&mut self, now: Instant) {
        self.frame_due = None;
        if self.viewers.is_empty() {
            return;
        }
        if self.dirty {
            let next = self.frame_at.map_or(now, |at| at + FRAME_GAP);
            let due = next.max(self.held(now).unwrap_or(now));
            if due > now {
                self.frame_due = Some(due);
            } else {
                self.framer.update(&mut self.model);
                (self.dirty, self.frame_at) = (false, Some(now));
            }
        }
        for gone in self.viewers.frames(&self.framer, now) {
            self.left(gone);
        }
    }

    /// Until when the program holds its screen back (mode 2026). The time limit is kept here.
    fn held(&mut self, now: Instant) -> Option<Instant> {
        let Some(hold) = self.model.sync_deadline() else {
            self.sync = None;
            return None;
        };
        let until = match self.sync {
            Some((number, until)) if number == hold.number => until,
            _ => now + hold.limit,
        };
        self.sync = Some((hold.number, until));
        if until <= now {
            self.model.end_sync();
            return None;
        }
        Some(until)
    }

    fn step_back(&mut self, paused: bool) {
        let watched = !self.viewers.is_empty();
        let flooding = !watched && (paused || (self.part.flooding && !self.bucket.calm()));
        let part = Part { watched, flooding };
        self.p.courtesy.change(self.p.control.identity().pid, self.part, part);
        self.part = part;
    }

    /// Shows what observing changed.
    pub(super) fn note(&mut self, noted: Noted) {
        if let Some(scribe) = &self.p.scribe
            && noted.activity
            && !self.dead()
        {
            let (activity, why) = scribe.observer().activity();
            let (token, state) = (scribe.observer().token().map(str::to_owned), scribe.observer().state());
            let (terminal, title) = (self.p.id.clone(), self.model.title().to_owned());
            self.p.board.put(ActivityReport { terminal, activity, why, title, progress: self.progress });
            self.show(|seen| (seen.token, seen.state) = (token, Some(state)));
        }
        if noted.ready {
            self.type_first_prompt();
        }
    }

    /// Changes what is seen of the terminal.
    pub(super) fn show(&mut self, change: impl FnOnce(&mut Seen)) {
        self.seen.send_if_modified(|seen| {
            let before = seen.clone();
            change(seen);
            *seen != before
        });
    }

    /// A client is gone.
    pub(super) fn left(&mut self, viewer: u64) {
        self.viewers.leave(viewer);
        if let Some(size) = self.sizes.left(viewer) {
            self.resize(size);
        }
        let watched = !self.viewers.is_empty();
        self.show(|seen| seen.watched = watched);
    }

    /// The event that a client gets first.
    pub(super) fn hello(&self) -> StreamEvent {
        StreamEvent::Attached { terminal: self.p.id.clone(), size: self.model.size() }
    }
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => tokio::time::sleep_until(when).await,
        None => std::future::pending().await,
    }
}
