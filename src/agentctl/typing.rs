//! Types texts into a program one after another: the text, a pause that ends when the program has shown it, then Enter.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::domain::ids::PromptId;
use crate::screen::encode;
use crate::screen::modes::InputModes;
use crate::wire::host::WireError;
use crate::wire::input::{Key, KeyCode, KeyKind, Mods};

/// Texts that wait for their turn; a person's scripts send far fewer at once.
const QUEUE: usize = 32;
/// Programs take a burst of bytes for a paste: Enter comes no sooner than this after the text.
const GAP_MIN: Duration = Duration::from_millis(120);
/// The program has shown the text when it printed something after it and was quiet for this long.
const QUIET: Duration = Duration::from_millis(60);
/// A program that shows nothing gets its Enter after this time.
const GAP_MAX: Duration = Duration::from_millis(800);

/// One text to type.
#[derive(Debug)]
pub struct Job {
    /// Text.
    pub text: String,
    /// Press Enter afterwards.
    pub enter: bool,
    /// Queued prompt that it is.
    pub prompt: Option<PromptId>,
    /// Who waits for it.
    pub tell: Option<oneshot::Sender<Result<(), WireError>>>,
}

/// What is to be done now.
#[derive(Debug)]
pub enum Step {
    /// This job begins: write [`text`] of it, unless it is refused; see [`Typist::begun`].
    Begin(Job),
    /// Press Enter, and the job is done.
    Enter(Job),
}

#[derive(Debug)]
struct Typed {
    job: Job,
    at: Instant,
    shown: Option<Instant>,
}

/// The texts of one terminal.
#[derive(Debug, Default)]
pub struct Typist {
    queue: VecDeque<Job>,
    typed: Option<Typed>,
}

impl Typist {
    /// Takes a job, or gives it back when too many wait.
    ///
    /// # Errors
    /// The job.
    pub fn push(&mut self, job: Job) -> Result<(), Job> {
        if self.queue.len() >= QUEUE {
            return Err(job);
        }
        self.queue.push_back(job);
        Ok(())
    }

    /// The program printed something.
    pub fn on_output(&mut self, now: Instant) {
        if let Some(typed) = &mut self.typed {
            typed.shown = Some(now);
        }
    }

    /// The text of `job` was written; its Enter is due later. A job without Enter is not given here.
    pub fn begun(&mut self, job: Job, now: Instant) {
        self.typed = Some(Typed { job, at: now, shown: None });
    }

    /// When [`Typist::step`] has something to do.
    #[must_use]
    pub fn deadline(&self, now: Instant) -> Option<Instant> {
        match &self.typed {
            Some(typed) => Some(typed.due()),
            None => (!self.queue.is_empty()).then_some(now),
        }
    }

    /// What is due now.
    pub fn step(&mut self, now: Instant) -> Option<Step> {
        if let Some(typed) = self.typed.take_if(|typed| typed.due() <= now) {
            return Some(Step::Enter(typed.job));
        }
        if self.typed.is_some() {
            return None;
        }
        self.queue.pop_front().map(Step::Begin)
    }

    /// Everything that was not typed to its end: the program is gone.
    pub fn drain(&mut self) -> Vec<Job> {
        self.typed.take().map(|typed| typed.job).into_iter().chain(self.queue.drain(..)).collect()
    }
}

impl Typed {
    fn due(&self) -> Instant {
        let shown = self.shown.map(|at| (at + QUIET).max(self.at + GAP_MIN));
        shown.map_or(self.at + GAP_MAX, |due| due.min(self.at + GAP_MAX))
    }
}

/// The bytes of a text: a bracketed paste when the program asked for that and it has more than one line.
#[must_use]
pub fn text(text: &str, modes: &InputModes) -> Vec<u8> {
    if text.contains('\n') && modes.bracketed_paste {
        encode::paste(text.as_bytes(), modes)
    } else {
        encode::text(text, modes)
    }
}

/// The bytes of Enter.
#[must_use]
pub fn enter(modes: &InputModes) -> Vec<u8> {
    encode::key(&Key { code: KeyCode::Enter, mods: Mods::default(), kind: KeyKind::Press }, modes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(text: &str) -> Job {
        Job { text: text.into(), enter: true, prompt: None, tell: None }
    }

    #[test]
    fn enter_waits_until_the_text_was_shown_and_texts_do_not_mix() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut typist = Typist::default();
        typist.push(job("a")).unwrap();
        typist.push(job("b")).unwrap();
        let Some(Step::Begin(first)) = typist.step(at(0)) else { panic!("begin") };
        typist.begun(first, at(0));
        assert!(typist.step(at(1)).is_none(), "nothing between a text and its Enter");
        typist.on_output(at(100));
        assert_eq!(typist.deadline(at(1)), Some(at(160)));
        assert!(typist.step(at(159)).is_none());
        typist.on_output(at(159));
        assert!(typist.step(at(160)).is_none(), "it still draws");
        assert!(matches!(typist.step(at(219)), Some(Step::Enter(j)) if j.text == "a"));
        let Some(Step::Begin(second)) = typist.step(at(219)) else { panic!("begin") };
        typist.begun(second, at(219));
        assert_eq!(typist.deadline(at(219)), Some(at(219) + GAP_MAX), "a silent program");
        assert_eq!(typist.drain().len(), 1);
    }

    #[test]
    fn too_many_texts_are_given_back() {
        let mut typist = Typist::default();
        for _ in 0..QUEUE {
            typist.push(job("x")).unwrap();
        }
        assert!(typist.push(job("y")).is_err());
    }
}
