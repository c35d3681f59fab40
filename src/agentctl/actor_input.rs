//! Orders to a terminal: keys, pastes, sizes, texts to type, and what clients want to see.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::domain::journal::Body;
use crate::domain::launch::Size;
use crate::domain::words::ErrorCode;
use crate::proc::clock;
use crate::screen::encode;
use crate::wire::agentctl::StreamEvent;
use crate::wire::host::WireError;
use crate::wire::input::StreamInput;

use super::actor::{Actor, Life};
use super::order::Order;
use super::typing::{self, Job, Step};

impl Actor {
    /// Carries out an order.
    pub(super) fn order(&mut self, order: Order) {
        match order {
            Order::Attach(tell) => {
                let viewer = self.viewers.attach(self.hello());
                let id = viewer.0;
                self.dirty = true;
                self.show(|seen| seen.watched = true);
                if let Life::Dead { exit, .. } = self.life {
                    self.viewers.event_to(id, StreamEvent::Exited { exit });
                }
                if tell.send(viewer).is_err() {
                    self.left(id);
                }
            }
            Order::Input(viewer, input) => self.input(viewer, input),
            Order::Leave(viewer) => self.left(viewer),
            Order::Type { text, enter, prompt, tell } => self.type_text(Job { text, enter, prompt, tell: Some(tell) }),
            Order::Resize(size) => self.resize(size),
            Order::Capture(history, ansi, tell) => {
                // Whoever asked may have gone.
                let _ = tell.send(self.model.lines(history, ansi));
            }
            Order::Hooks => {
                if let Some(scribe) = &mut self.p.scribe {
                    let noted = scribe.read_spool(clock::boot_ms());
                    self.note(noted);
                }
            }
            Order::Token(token, source) => {
                if let Some(scribe) = &mut self.p.scribe {
                    let noted = scribe.observe(|observer| observer.on_token(&token, source));
                    self.note(noted);
                }
            }
            Order::End => {}
        }
    }

    fn input(&mut self, viewer: u64, input: StreamInput) {
        if !self.viewers.has(viewer) {
            return;
        }
        let now = Instant::now();
        let modes = self.model.input_modes();
        match input {
            StreamInput::Key(key) => self.typed(viewer, encode::key(&key, &modes)),
            StreamInput::Text { text } => self.typed(viewer, encode::text(&text, &modes)),
            StreamInput::PasteChunk { paste, part, data } => match STANDARD.decode(data) {
                Ok(bytes) => self.viewers.paste_chunk(viewer, paste, part, &bytes),
                Err(_) => self.viewers.paste_spoil(viewer, paste),
            },
            StreamInput::PasteCommit { paste, parts } => {
                if let Some(whole) = self.viewers.paste_commit(viewer, paste, parts) {
                    self.typed(viewer, encode::paste(&whole, &modes));
                }
            }
            StreamInput::Mouse(mouse) => self.write(encode::mouse(&mouse, &modes), false),
            StreamInput::Focus { gained } => self.write(encode::focus(gained, &modes), false),
            StreamInput::Resize(size) => {
                let size = Size::clamped(size.cols, size.rows);
                if let Some(size) = self.sizes.resized(viewer, size) {
                    self.resize(size);
                }
            }
            StreamInput::Ack { state } => self.viewers.ack(viewer, state, now),
            StreamInput::Keyframe => self.viewers.keyframe(viewer),
        }
    }

    /// What a person typed at a client, which the terminal's size follows.
    fn typed(&mut self, viewer: u64, bytes: Vec<u8>) {
        if let Some(size) = self.sizes.typed(viewer, Instant::now()) {
            self.resize(size);
        }
        self.write(bytes, true);
    }

    fn write(&mut self, bytes: Vec<u8>, keys: bool) {
        if bytes.is_empty() || self.life != Life::Alive {
            return;
        }
        let bytes = Bytes::from(bytes);
        match self.p.input.write(bytes.clone()) {
            Err(error) => tracing::warn!(terminal = %self.p.id, %error, "input is lost"),
            Ok(()) if !keys => {}
            Ok(()) => {
                if let Some(scribe) = &mut self.p.scribe {
                    let noted = scribe.observe(|observer| observer.on_input(&bytes, clock::boot_ms()));
                    self.note(noted);
                }
            }
        }
    }

    /// Gives the terminal another size.
    pub(super) fn resize(&mut self, size: Size) {
        let size = Size::clamped(size.cols, size.rows);
        if size == self.model.size() {
            return;
        }
        self.model.resize(size);
        self.dirty = true;
        if self.life == Life::Alive
            && let Err(error) = self.p.control.resize(size)
        {
            tracing::warn!(terminal = %self.p.id, %error, "the terminal keeps its size");
        }
        if let Some(scribe) = &mut self.p.scribe {
            scribe.observer_mut().on_resize(clock::boot_ms());
        }
        self.show(|seen| seen.size = size);
    }

    fn type_text(&mut self, job: Job) {
        if self.life != Life::Alive {
            let text = format!("the program in terminal `{}` has ended", self.p.id);
            return tell(job.tell, Err(WireError::new(ErrorCode::AgentNotRunning, text)));
        }
        if let Err(job) = self.typist.push(job) {
            let text = format!("too many texts wait to be typed into terminal `{}`", self.p.id);
            tell(job.tell, Err(WireError::new(ErrorCode::Timeout, text).hint("try again in a moment")));
        }
    }

    /// The agent takes input: its first prompt is typed, if it takes none as an argument.
    pub(super) fn type_first_prompt(&mut self) {
        if let Some(text) = self.p.prompt.take() {
            self.type_text(Job { text, enter: true, prompt: None, tell: None });
        }
    }

    /// Goes on with what is being typed.
    pub(super) fn type_on(&mut self, now: Instant) {
        if self.life != Life::Alive {
            return;
        }
        while let Some(step) = self.typist.step(now) {
            match step {
                Step::Begin(job) => self.begin(job, now),
                Step::Enter(job) => {
                    self.write(typing::enter(&self.model.input_modes()), true);
                    self.typed_whole(job);
                }
            }
        }
    }

    fn begin(&mut self, job: Job, now: Instant) {
        if let Some(id) = &job.prompt {
            let known = self.p.ledger.facts(|facts| facts.prompt(id));
            let refused = match known {
                Some(true) => return tell(job.tell, Ok(())),
                Some(false) => Some(WireError::new(
                    ErrorCode::Internal,
                    format!("prompt `{id}` was begun before and may have been delivered; it is not typed again"),
                )),
                None => {
                    let intent = Body::Prompt { id: id.clone(), terminal: self.p.id.clone(), done: false };
                    self.p.ledger.record(intent).err().map(|error| error.wire())
                }
            };
            if let Some(error) = refused {
                return tell(job.tell, Err(error));
            }
        }
        self.write(typing::text(&job.text, &self.model.input_modes()), true);
        if job.enter { self.typist.begun(job, now) } else { self.typed_whole(job) }
    }

    fn typed_whole(&mut self, job: Job) {
        if let Some(id) = job.prompt {
            self.p.ledger.note(Body::Prompt { id, terminal: self.p.id.clone(), done: true });
        }
        tell(job.tell, Ok(()));
    }
}

/// Tells whoever waits; they may have gone.
fn tell(who: Option<oneshot::Sender<Result<(), WireError>>>, what: Result<(), WireError>) {
    if let Some(who) = who {
        let _ = who.send(what);
    }
}
