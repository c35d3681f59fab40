//! The demo agent's loop: terminal, signals and time in; effects out.

use std::collections::VecDeque;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::app::App;
use super::conversation::{Conversation, Opened};
use super::effect::{Effect, Status};
use super::hooks;
use super::keys::{Decoder, Key};
use super::misbehave::Switches;
use super::options::Options;
use super::paint::Painter;

/// Chunks of input on their way: a paste of a megabyte waits in the terminal, not here.
const INPUT_CHUNKS: usize = 64;
/// Lines kept to be shown again.
const TRANSCRIPT_LINES: usize = 5_000;
/// How long a lost terminal is waited for to be explained by a signal.
const HANGUP_WAIT: Duration = Duration::from_millis(500);
/// How long the loop sleeps when it has nothing to wait for.
const FOREVER: Duration = Duration::from_hours(1);

/// Exit codes after a signal.
const HUP: i32 = 129;
const INT: i32 = 130;
const TERM: i32 = 143;

/// What comes from other threads.
enum Incoming {
    Input(Vec<u8>),
    /// The terminal is gone, or the input has ended.
    End,
    Tool(String),
}

struct Signals {
    hup: Signal,
    int: Signal,
    term: Signal,
    winch: Signal,
}

struct Agent {
    options: Options,
    switches: Switches,
    conversation: Conversation,
    app: App,
    painter: Painter,
    keys: Decoder,
    transcript: VecDeque<String>,
    fresh: usize,
    sender: mpsc::Sender<Incoming>,
    began: Instant,
    /// When a lost terminal is taken for a hangup.
    hangup_at: Option<Instant>,
}

/// Runs until the end; gives the exit code.
pub fn run(options: Options, switches: Switches, opened: Opened) -> i32 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(serve(options, switches, opened)),
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "cannot start the event loop: {e}");
            1
        }
    }
}

async fn serve(options: Options, switches: Switches, opened: Opened) -> i32 {
    let signals = (|| {
        Ok::<_, std::io::Error>(Signals {
            hup: signal(SignalKind::hangup())?,
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            winch: signal(SignalKind::window_change())?,
        })
    })();
    let mut signals = match signals {
        Ok(signals) => signals,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "cannot watch signals: {e}");
            return 1;
        }
    };
    let raw = std::io::stdin().is_terminal() && crossterm::terminal::enable_raw_mode().is_ok();
    let (sender, mut incoming) = mpsc::channel(INPUT_CHUNKS);
    read_input(sender.clone());
    let mut agent = Agent::new(options, switches, opened, sender);
    let code = match agent.start() {
        Some(code) => code,
        None => agent.turn_around(&mut signals, &mut incoming).await,
    };
    agent.conversation.release();
    write(&format!("{}\x1b]0;\x07\x1b]7501;state=clear\x1b\\", agent.painter.leave()));
    if raw {
        let _ = crossterm::terminal::disable_raw_mode();
    }
    if code == 0 {
        write(&format!("Resume with: relight demo-agent --resume {}\r\n", agent.conversation.id));
    }
    code
}

fn read_input(sender: mpsc::Sender<Incoming>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        loop {
            let message = match std::io::stdin().read(&mut buffer) {
                Ok(0) => Incoming::End,
                Ok(n) => Incoming::Input(buffer.get(..n).unwrap_or_default().to_vec()),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => Incoming::End,
            };
            let last = matches!(message, Incoming::End);
            if sender.blocking_send(message).is_err() || last {
                return;
            }
        }
    });
}

/// Writes to the terminal. One that is gone is no error here: its signal tells.
fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn size() -> (u16, u16) {
    crossterm::terminal::size().unwrap_or((80, 24))
}

impl Agent {
    fn new(options: Options, switches: Switches, opened: Opened, sender: mpsc::Sender<Incoming>) -> Self {
        let painter = Painter::new(options.fullscreen, size());
        let app = App::new(prefix(&opened.conversation.id), opened.messages, switches.hang);
        let mut agent = Self {
            options,
            switches,
            conversation: opened.conversation,
            app,
            painter,
            keys: Decoder::default(),
            transcript: VecDeque::new(),
            fresh: 0,
            sender,
            began: Instant::now(),
            hangup_at: None,
        };
        agent.line("relight demo agent".to_owned());
        agent.line(format!("conversation {}", agent.conversation.id));
        opened.notes.into_iter().for_each(|note| agent.line(note));
        if opened.resumed {
            agent.line(format!("resumed {}, {} messages", agent.conversation.id, agent.app.messages()));
            agent.app.recap().into_iter().for_each(|line| agent.line(line));
        }
        agent
    }

    /// From the first output to `ready`, and the first prompt.
    fn start(&mut self) -> Option<i32> {
        write(self.painter.enter());
        write("\x1b]7501;?\x1b\\");
        self.draw();
        let resumed = self.options.resume.is_some() && self.app.messages() > 0;
        self.hook("SessionStart", &json!({"source": if resumed { "resume" } else { "startup" }}));
        if self.switches.setsid_child
            && let Some(pid) = hooks::leave_child()
        {
            self.line(format!("left a child {pid}"));
        }
        status(&Status::Idle);
        self.line("ready".to_owned());
        if self.switches.flood {
            self.app.flood();
        }
        let prompt = self.options.prompt.take();
        let effects = prompt.map(|text| self.app.prompt(&text, self.now())).unwrap_or_default();
        let code = self.apply(effects);
        self.draw();
        code
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn next(&self) -> Duration {
        let app = self.app.deadline().map(|at| Duration::from_millis(at.saturating_sub(self.now())));
        let death = self.switches.die_after.map(|after| after.saturating_sub(self.began.elapsed()));
        let hangup = self.hangup_at.map(|at| at.saturating_duration_since(Instant::now()));
        [app, death, hangup].into_iter().flatten().min().unwrap_or(FOREVER)
    }

    async fn turn_around(&mut self, signals: &mut Signals, incoming: &mut mpsc::Receiver<Incoming>) -> i32 {
        loop {
            let ended = tokio::select! {
                biased;
                _ = signals.term.recv() => self.signalled(TERM),
                _ = signals.hup.recv() => self.signalled(HUP),
                _ = signals.int.recv() => self.signalled(INT),
                _ = signals.winch.recv() => {
                    self.painter.resize(size());
                    None
                }
                Some(message) = incoming.recv() => self.take(message),
                () = tokio::time::sleep(self.next()) => self.tick(),
            };
            if let Some(code) = ended {
                return code;
            }
            self.draw();
        }
    }

    fn signalled(&mut self, code: i32) -> Option<i32> {
        if code == HUP && self.switches.ignore_sighup {
            return None;
        }
        if let Some(delay) = self.switches.late_goodbye {
            std::thread::sleep(delay);
        }
        self.hook("SessionEnd", &json!({"reason": "other"}));
        Some(if self.switches.exit0_on_sigterm { 0 } else { code })
    }

    fn take(&mut self, message: Incoming) -> Option<i32> {
        let effects = match message {
            Incoming::Input(bytes) => {
                let mut code = None;
                for key in self.keys.feed(&bytes) {
                    match key {
                        Key::PageUp => self.painter.scroll(1),
                        Key::PageDown => self.painter.scroll(-1),
                        key => {
                            let effects = self.app.key(&key, self.now());
                            code = code.or_else(|| self.apply(effects));
                        }
                    }
                }
                return code;
            }
            Incoming::End => {
                self.hangup_at = (!self.switches.ignore_sighup).then(|| Instant::now() + HANGUP_WAIT);
                return None;
            }
            Incoming::Tool(output) => self.app.tool_done(&output, self.now()),
        };
        self.apply(effects)
    }

    fn tick(&mut self) -> Option<i32> {
        if self.switches.die_after.is_some_and(|after| after <= self.began.elapsed()) {
            return Some(1);
        }
        if self.hangup_at.is_some_and(|at| at <= Instant::now()) {
            self.hangup_at = None;
            return self.signalled(HUP);
        }
        let effects = self.app.tick(self.now());
        self.apply(effects)
    }

    fn apply(&mut self, effects: Vec<Effect>) -> Option<i32> {
        for effect in effects {
            match effect {
                Effect::Save(message) => {
                    if let Err(e) = self.conversation.add(&message) {
                        self.line(format!("cannot keep this message: {e}"));
                    }
                }
                Effect::Hook(event, fields) => self.hook(event, &fields),
                Effect::Line(line) => self.line(line),
                Effect::Status(now) => status(&now),
                Effect::Notify(text) => write(&format!("\x1b]9;Demo agent: {text}\x07")),
                Effect::Tool(command) => {
                    let sender = self.sender.clone();
                    std::thread::spawn(move || sender.blocking_send(Incoming::Tool(hooks::tool(&command))));
                }
                Effect::Renew => self.renew(),
                Effect::Quit(code) => return Some(code),
            }
        }
        None
    }

    fn renew(&mut self) {
        self.conversation.release();
        match Conversation::begin(&self.options.dir, None) {
            Ok(opened) => {
                self.conversation = opened.conversation;
                self.app = App::new(prefix(&self.conversation.id), Vec::new(), self.switches.hang);
                self.line(format!("conversation {}", self.conversation.id));
            }
            Err(problem) => self.line(problem),
        }
    }

    fn hook(&self, event: &str, fields: &Value) {
        let Some(command) = self.options.hook.as_deref().filter(|_| !self.switches.no_hooks) else { return };
        let mut body = json!({
            "session_id": self.conversation.id,
            "hook_event_name": event,
            "cwd": std::env::current_dir().unwrap_or_default(),
            "transcript_path": self.conversation.file(),
            "pid": std::process::id(),
        });
        if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object()) {
            body.extend(fields.clone());
        }
        hooks::run(command, &body);
    }

    fn line(&mut self, line: String) {
        if self.transcript.len() == TRANSCRIPT_LINES {
            self.transcript.pop_front();
        }
        self.transcript.push_back(line);
        self.fresh = (self.fresh + 1).min(TRANSCRIPT_LINES);
    }

    fn draw(&mut self) {
        let fresh = std::mem::take(&mut self.fresh);
        let text = self.painter.draw(self.transcript.make_contiguous(), fresh, &self.app.live());
        write(&text);
    }
}

/// The beginning of a conversation's message ids.
fn prefix(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// Title, and the report of OSC 7501, whether or not the terminal asks for it.
fn status(status: &Status) {
    let (mark, report) = match status {
        Status::Idle => ('○', "state=idle".to_owned()),
        Status::Working => ('◐', "state=working".to_owned()),
        Status::Done => ('○', "state=done".to_owned()),
        Status::Blocked(what) => {
            let what = base64::engine::general_purpose::STANDARD.encode(what);
            ('?', format!("state=blocked:kind=permission:msg={what}"))
        }
    };
    write(&format!("\x1b]0;{mark} demo\x07\x1b]7501;{report}:app=relight-demo\x1b\\"));
}
