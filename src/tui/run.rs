//! The driver: one loop over the outer terminal, the host and the clock. It does what `update` orders and draws at most
//! sixty times a second, and only when something happened.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::error::Error;
use super::form::Choice;
use super::look::Look;
use super::msg::{Effect, Exit, Msg};
use super::options::Options;
use super::outer::{self, Outer};
use super::painter::Painter;
use super::reach::{News, Reach};
use super::state::{Setup, State};
use super::testpoint;
use super::update::{begin, update};
use crate::link::host::HostItem;
use crate::screen::decode::Decoder;
use crate::wire::host::ClientEnvironment;

/// Shortest time between two pictures.
const FRAME: Duration = Duration::from_millis(16);
/// And after one that showed nothing new.
const NOTHING: Duration = Duration::from_millis(1);
/// Rest of a sequence that has begun comes within this time, even over a slow link; else ESC was the key.
const ESC_ALONE: Duration = Duration::from_millis(40);
/// Answers and timers that wait to be taken: more than can be under way.
const INBOX: usize = 256;
/// Longest text put on the clipboard, as base64: what terminals take.
const MAX_CLIPBOARD: usize = 100 * 1024;

/// Shows the screen until the person leaves, the terminal is gone or a signal comes.
///
/// # Errors
/// [`Error`]: no terminal, or one that cannot be used.
pub async fn run(options: Options) -> Result<Exit, Error> {
    let look = Look::read(|name| std::env::var(name).ok());
    let setup = Setup {
        read_only: options.read_only,
        keys: options.keys,
        agents: options.agents.into_iter().map(|(value, label)| Choice { value, label }).collect(),
        executors: options.executors,
        home: options.home,
        cwd: options.cwd,
        env: options.env,
        ascii: look.ascii,
        colour: look.colour,
        mouse: options.mouse,
    };
    // Who only looks is not the one for whom agents work.
    let environment = (!options.read_only).then_some(ClientEnvironment { env: options.volatile });
    let signals = Signals::new()?;
    let outer = Outer::open(look.shapes)?;
    let (news, inbox) = mpsc::channel(INBOX);
    let mut driver = Driver {
        state: State::new(setup, outer.size(), options.session),
        painter: Painter::new(look.depth, look.shapes),
        reach: Reach::new(options.endpoint, options.start_host, environment, news),
        outer,
        signals,
        inbox,
        decoder: Decoder::new(),
        escape: None,
        backlog: VecDeque::new(),
        out: Vec::new(),
        written: 0,
        drawing: false,
        dirty: true,
        next: Instant::now(),
        kitty: false,
    };
    let exit = driver.go().await;
    drop(driver);
    Ok(exit)
}

struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    resized: Signal,
    stopped: Signal,
    awoke: Signal,
}

impl Signals {
    fn new() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(|source| Error::Wait { what: "signals", source });
        Ok(Self {
            hangup: listen(SignalKind::hangup())?,
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            resized: listen(SignalKind::window_change())?,
            quit: listen(SignalKind::quit())?,
            stopped: listen(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            awoke: listen(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }
}

/// Why the loop woke up.
enum Woke {
    End(Exit),
    Panicked,
    Resized,
    Stopped,
    Awoke,
    Typed(Vec<u8>),
    EscapeAlone,
    News(Box<News>),
    Host(Box<HostItem>),
    Room,
    Written(Option<usize>),
    Draw,
}

struct Driver {
    state: State,
    painter: Painter,
    reach: Reach,
    outer: Outer,
    signals: Signals,
    inbox: mpsc::Receiver<News>,
    decoder: Decoder,
    /// When an unfinished sequence counts as ESC.
    escape: Option<Instant>,
    /// Input that the link has no room for yet; nothing more is read from the outer terminal meanwhile.
    backlog: VecDeque<(u32, crate::wire::input::StreamInput)>,
    /// Bytes for the outer terminal.
    out: Vec<u8>,
    written: usize,
    /// `out` holds a picture.
    drawing: bool,
    dirty: bool,
    /// No picture before this time.
    next: Instant,
    kitty: bool,
}

impl Driver {
    async fn go(&mut self) -> Exit {
        if let Some(exit) = self.perform(begin()) {
            return exit;
        }
        loop {
            let ended = match self.wait().await {
                Woke::End(exit) => Some(exit),
                Woke::Panicked => Some(Exit::Refused(
                    "relight had an internal error; what it was is written above and in the log".into(),
                )),
                Woke::Stopped => {
                    outer::suspend();
                    // The handler keeps the default from happening; from here on the shell has the terminal.
                    let _stopped =
                        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
                    None
                }
                Woke::Resized => {
                    let (cols, rows) = self.outer.size();
                    self.take(Msg::Resized(cols, rows))
                }
                Woke::Awoke => self.awoke(),
                Woke::Typed(bytes) if bytes.is_empty() => Some(Exit::TerminalGone),
                Woke::Typed(bytes) => {
                    testpoint::typed(&bytes);
                    let said = self.decoder.feed(&bytes);
                    self.escape = self.decoder.pending().then(|| Instant::now() + ESC_ALONE);
                    self.take_all(said.into_iter().map(Msg::Outer))
                }
                Woke::EscapeAlone => {
                    self.escape = None;
                    let said = self.decoder.flush();
                    self.take_all(said.into_iter().map(Msg::Outer))
                }
                Woke::News(news) => match self.reach.news(*news) {
                    Some(msg) => self.take(msg),
                    None => None,
                },
                Woke::Host(item) => {
                    let msg = self.reach.item(*item);
                    self.take(msg)
                }
                Woke::Room => {
                    self.reach.hand_over(&mut self.backlog);
                    None
                }
                Woke::Written(None) => Some(Exit::TerminalGone),
                Woke::Written(Some(count)) => self.wrote(count),
                Woke::Draw => {
                    self.draw();
                    if self.out.is_empty() { self.drawn() } else { None }
                }
            };
            if let Some(exit) = ended {
                return exit;
            }
        }
    }

    /// Waits for the next thing to do, the most pressing first.
    async fn wait(&mut self) -> Woke {
        let Self { signals, outer, inbox, reach, out, written, .. } = self;
        let escape = self.escape;
        let draw = (self.dirty && out.is_empty()).then_some(self.next);
        let rest = out.get(*written..).unwrap_or_default();
        let typing = self.backlog.is_empty();
        tokio::select! {
            biased;
            _ = signals.hangup.recv() => Woke::End(Exit::Signal(rustix::process::Signal::HUP.as_raw())),
            _ = signals.terminate.recv() => Woke::End(Exit::Signal(rustix::process::Signal::TERM.as_raw())),
            _ = signals.interrupt.recv() => Woke::End(Exit::Signal(rustix::process::Signal::INT.as_raw())),
            _ = signals.quit.recv() => Woke::End(Exit::Signal(rustix::process::Signal::QUIT.as_raw())),
            () = outer::panicked() => Woke::Panicked,
            _ = signals.stopped.recv() => Woke::Stopped,
            _ = signals.awoke.recv() => Woke::Awoke,
            _ = signals.resized.recv() => Woke::Resized,
            count = outer.write(rest), if !rest.is_empty() => Woke::Written(count),
            () = until(draw), if draw.is_some() => Woke::Draw,
            bytes = outer.read(), if typing => Woke::Typed(bytes),
            () = until(escape), if escape.is_some() => Woke::EscapeAlone,
            Some(news) = inbox.recv() => Woke::News(Box::new(news)),
            woke = reach.next(!typing) => woke.map_or(Woke::Room, |item| Woke::Host(Box::new(item))),
        }
    }

    /// Takes what happened; something may have changed.
    fn take(&mut self, msg: Msg) -> Option<Exit> {
        self.dirty = true;
        self.take_quietly(msg)
    }

    fn take_all(&mut self, msgs: impl Iterator<Item = Msg>) -> Option<Exit> {
        msgs.into_iter().find_map(|msg| self.take(msg))
    }

    fn take_quietly(&mut self, msg: Msg) -> Option<Exit> {
        let effects = update(&mut self.state, msg);
        self.perform(effects)
    }

    fn perform(&mut self, effects: Vec<Effect>) -> Option<Exit> {
        for effect in effects {
            match effect {
                Effect::Call(call) => self.reach.call(call),
                Effect::Send(stream, input) => self.backlog.push_back((stream, input)),
                Effect::Start(timer, life, after) => self.reach.timer(timer, life, after),
                Effect::Connect { after, start } => self.reach.connect(after, start),
                Effect::Complete(text) => self.reach.complete(text, &self.state.setup.cwd, &self.state.setup.home),
                Effect::Clipboard(text) => self.clipboard(&text),
                Effect::Bell => self.out.push(7),
                Effect::Redraw => {
                    self.painter.forget();
                    self.dirty = true;
                }
                Effect::KittyKeys if !self.kitty => {
                    self.kitty = true;
                    outer::kitty_on();
                    self.out.extend_from_slice(outer::KITTY_PUSH);
                }
                Effect::KittyKeys => {}
                Effect::Leave(exit) => return Some(exit),
            }
        }
        self.reach.hand_over(&mut self.backlog);
        None
    }

    fn clipboard(&mut self, text: &str) {
        let base64 = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
        if text.len() <= MAX_CLIPBOARD && text.bytes().all(base64) {
            self.out.extend_from_slice(b"\x1b]52;c;");
            self.out.extend_from_slice(text.as_bytes());
            self.out.extend_from_slice(b"\x1b\\");
        }
    }

    fn draw(&mut self) {
        self.dirty = false;
        self.out = self.painter.paint(&self.state);
        // A key changes nothing until the program echoes it: a picture that was not drawn holds up no other.
        self.next = Instant::now() + if self.out.is_empty() { NOTHING } else { FRAME };
        self.written = 0;
        self.drawing = true;
    }

    fn drawn(&mut self) -> Option<Exit> {
        let spots = self.painter.spots();
        self.take_quietly(Msg::Drawn(spots))
    }

    fn wrote(&mut self, count: usize) -> Option<Exit> {
        self.written += count;
        if self.written < self.out.len() {
            return None;
        }
        self.out.clear();
        self.written = 0;
        if std::mem::take(&mut self.drawing) { self.drawn() } else { None }
    }

    /// The program was stopped and goes on: the shell has had the terminal meanwhile.
    fn awoke(&mut self) -> Option<Exit> {
        self.out.clear();
        self.written = 0;
        self.kitty = false;
        if self.outer.enter().is_err() {
            return Some(Exit::TerminalGone);
        }
        let (cols, rows) = self.outer.size();
        self.take(Msg::Resized(cols, rows)).or_else(|| self.take(Msg::Awoke))
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
