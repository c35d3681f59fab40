//! A terminal's output and end: into the model, to the observer, to the journal.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use tokio::time::Instant;

use crate::agent::failure;
use crate::domain::journal::Body;
use crate::domain::launch::Exit;
use crate::domain::plain::steers;
use crate::domain::words::ErrorCode;
use crate::proc::clock;
use crate::screen::event::ModelEvent;
use crate::wire::agentctl::StreamEvent;
use crate::wire::host::WireError;

use super::actor::Actor;
use super::order::Order;
use super::token_file;

/// Lines before the screen that may hold an agent's last words.
const LAST_WORDS: usize = 30;
/// Longest last line kept, in characters.
const LAST_LINE_CHARS: usize = 200;
/// The conversation id is looked for this long after output, and no more often, until it is known,
const TOKEN_SOON: Duration = Duration::from_millis(300);
/// and this often when it is, since an agent may go over to another one.
const TOKEN_LATER: Duration = Duration::from_secs(3);

impl Actor {
    /// Takes a chunk of output.
    pub(super) fn output(&mut self, bytes: &[u8]) {
        let events = self.model.feed(bytes);
        self.dirty = true;
        self.typist.on_output(Instant::now());
        for event in &events {
            self.model_event(event);
        }
        if self.dead() {
            return;
        }
        let now_ms = clock::boot_ms();
        if let Some(scribe) = &mut self.p.scribe {
            let noted = scribe.observe(|observer| {
                let mut seen = observer.on_output(now_ms);
                for event in &events {
                    seen.extend(observer.on_model(event, now_ms));
                }
                seen
            });
            self.note(noted);
        }
        if self.p.token_watch.is_some() && self.token_due.is_none() {
            let known = self.seen.borrow().token.is_some();
            self.token_due = Some(Instant::now() + if known { TOKEN_LATER } else { TOKEN_SOON });
        }
    }

    fn model_event(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Reply(bytes) => {
                if let Err(error) = self.p.input.write(Bytes::copy_from_slice(bytes)) {
                    tracing::debug!(terminal = %self.p.id, %error, "a reply to a query is lost");
                }
            }
            ModelEvent::Title(title) => {
                let text = title.clone();
                self.show(|seen| seen.title = text);
                self.viewers.event(&StreamEvent::Title { text: title.clone() });
                self.note(super::scribe::Noted { activity: true, ready: false });
            }
            ModelEvent::Bell => self.viewers.event(&StreamEvent::Bell),
            ModelEvent::Notification { title, text } => {
                self.viewers.event(&StreamEvent::Notification { title: title.clone(), text: text.clone() });
            }
            ModelEvent::Clipboard(bytes) => {
                self.viewers.event(&StreamEvent::Clipboard { data: STANDARD.encode(bytes) });
            }
            ModelEvent::Progress(progress) => {
                self.progress = *progress;
                self.note(super::scribe::Noted { activity: true, ready: false });
            }
            ModelEvent::ProgramStatus { id: None, progress, .. } => self.progress = *progress,
            ModelEvent::ProgramStatus { .. } | ModelEvent::Busy(_) | ModelEvent::Cwd(_) | ModelEvent::PromptMark(_) => {
            }
        }
    }

    /// The program is dead and its last output read: says so, once.
    pub(super) fn died(&mut self, exit: Exit, boot_ms: u64) {
        let mut quit_input = false;
        if let Some(scribe) = &mut self.p.scribe {
            // A goodbye was written before the end: it comes before it in the journal, too.
            scribe.read_spool(boot_ms);
            quit_input = scribe.observer().quit_input(boot_ms);
        }
        let lines = self.model.lines(LAST_WORDS, false);
        let failure = match exit {
            Exit::Code(0) => None,
            _ => failure::classify(&self.p.profile, &lines),
        };
        let last_line = lines.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or_default();
        let last_line = last_line.chars().filter(|c| !steers(*c)).take(LAST_LINE_CHARS).collect();
        self.p.ledger.note(Body::Exit {
            terminal: self.p.id.clone(),
            generation: self.p.generation,
            exit,
            quit_input,
            failure,
            last_line,
        });
        self.model.reset_after_death();
        self.dirty = true;
        self.p.board.forget(&self.p.id);
        self.viewers.event(&StreamEvent::Exited { exit });
        for job in self.typist.drain() {
            if let Some(tell) = job.tell {
                let text = format!("the program in terminal `{}` ended before all was typed", self.p.id);
                // Whoever waited may have gone.
                let _ = tell.send(Err(WireError::new(ErrorCode::AgentNotRunning, text)));
            }
        }
        self.show(|seen| seen.exit = Some(exit));
    }

    /// Looks for the conversation id in the agent's own files, off this thread.
    pub(super) fn look_for_token(&mut self) {
        self.token_due = None;
        let Some(watch) = self.p.token_watch.clone() else { return };
        let (profile, pid) = (self.p.profile.clone(), self.p.control.identity().pid);
        let orders = self.orders.clone();
        tokio::spawn(async move {
            let source = watch.source();
            let found = tokio::task::spawn_blocking(move || token_file::find(&watch, &profile, pid)).await;
            if let (Ok(Some(token)), Some(orders)) = (found, orders.upgrade()) {
                // A terminal that is closed meanwhile needs no token.
                let _ = orders.send(Order::Token(token, source)).await;
            }
        });
    }
}
