//! The demo agent's state machine: keys, time and results in, effects out. No IO, no clock.

use std::collections::VecDeque;

use serde_json::json;

use super::brain::{self, Answer, Message};
use super::effect::{Effect, Status};
use super::keys::Key;
use super::paint::Live;

/// Time for one word of an answer: fast, and slow enough to be seen to stream.
const WORD_MS: u64 = 8;
/// A second Ctrl-C within this time leaves.
const TWICE_MS: u64 = 2_000;
/// Most messages of a resumed conversation that are shown again.
const RECAP: usize = 20;
/// Most lines of one prompt that are shown.
const SHOWN_LINES: usize = 20;
/// Lines of one portion of a flood.
const FLOOD_LINES: u64 = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    Idle,
    /// Lines still to be said, the first by words; lines said.
    Say {
        words: VecDeque<String>,
        lines: VecDeque<String>,
        said: Vec<String>,
        next: u64,
    },
    Count {
        at: u32,
        lines: u32,
        every: u64,
        next: u64,
    },
    Think {
        ms: u64,
        until: u64,
    },
    Asking(String),
    Tool,
    Hang,
    Flood(u64),
}

/// The state.
#[derive(Debug, Clone)]
pub struct App {
    history: Vec<Message>,
    /// Beginning of the ids of new messages.
    prefix: String,
    input: String,
    queue: VecDeque<String>,
    mode: Mode,
    partial: String,
    ctrl_c_at: Option<u64>,
    hangs: bool,
}

impl App {
    /// A conversation with these messages; `prefix` makes message ids unique beyond it.
    pub fn new(prefix: &str, history: Vec<Message>, hangs: bool) -> Self {
        Self {
            history,
            prefix: prefix.to_owned(),
            input: String::new(),
            queue: VecDeque::new(),
            mode: Mode::Idle,
            partial: String::new(),
            ctrl_c_at: None,
            hangs,
        }
    }

    /// What is shown of a resumed conversation.
    pub fn recap(&self) -> Vec<String> {
        let skipped = self.history.len().saturating_sub(RECAP);
        let mut out = Vec::new();
        for message in self.history.iter().skip(skipped) {
            let mark = if message.role == "user" { "> " } else { "" };
            let lines = message.text.lines().take(SHOWN_LINES).enumerate();
            out.extend(lines.map(|(n, line)| if n == 0 { format!("{mark}{line}") } else { line.to_owned() }));
        }
        out
    }

    /// How many messages the conversation has.
    pub fn messages(&self) -> usize {
        self.history.len()
    }

    /// When [`App::tick`] is due.
    pub fn deadline(&self) -> Option<u64> {
        match self.mode {
            Mode::Say { next, .. } | Mode::Count { next, .. } => Some(next),
            Mode::Think { until, .. } => Some(until),
            Mode::Flood(_) => Some(0),
            Mode::Idle | Mode::Asking(_) | Mode::Tool | Mode::Hang => None,
        }
    }

    /// What stands below the transcript.
    pub fn live(&self) -> Live {
        let shown: String = self.input.replace('\n', "⏎");
        Live {
            partial: self.partial.clone(),
            prompt: match &self.mode {
                Mode::Asking(command) => format!("Allow running `{command}`? (y/n) "),
                _ => format!("> {shown}"),
            },
        }
    }

    /// Begins to flood, with nobody asking.
    pub fn flood(&mut self) {
        self.mode = Mode::Flood(0);
    }

    /// A prompt that was given at the start.
    pub fn prompt(&mut self, text: &str, now: u64) -> Vec<Effect> {
        let mut out = Vec::new();
        self.submit(text, now, &mut out);
        out
    }

    /// A key.
    pub fn key(&mut self, key: &Key, now: u64) -> Vec<Effect> {
        let mut out = Vec::new();
        if matches!(self.mode, Mode::Asking(_)) {
            self.reply(key, now, &mut out);
            return out;
        }
        match key {
            Key::Char(c) => self.input.push(*c),
            Key::Paste(text) => self.input.push_str(text),
            Key::Backspace => {
                self.input.pop();
            }
            Key::Ctrl('u') => self.input.clear(),
            Key::Enter => {
                let text = std::mem::take(&mut self.input);
                self.submit(&text, now, &mut out);
            }
            Key::Ctrl('c') => self.ctrl_c(now, &mut out),
            Key::Ctrl('d') if self.input.is_empty() => quit(&mut out),
            Key::Esc if self.mode == Mode::Idle => self.input.clear(),
            Key::Esc => self.interrupt(&mut out),
            Key::Ctrl(_) | Key::PageUp | Key::PageDown => {}
        }
        out
    }

    fn ctrl_c(&mut self, now: u64, out: &mut Vec<Effect>) {
        let twice = self.ctrl_c_at.is_some_and(|at| now < at + TWICE_MS);
        self.ctrl_c_at = Some(now);
        if twice {
            quit(out);
        } else if self.mode == Mode::Idle {
            self.input.clear();
            out.push(Effect::Line("(press Ctrl-C again to leave)".to_owned()));
        } else {
            self.interrupt(out);
        }
    }

    /// Ends the turn. As with other agents no hook tells it.
    fn interrupt(&mut self, out: &mut Vec<Effect>) {
        self.flush(out);
        self.mode = Mode::Idle;
        self.queue.clear();
        out.push(Effect::Line("(interrupted)".to_owned()));
        out.push(Effect::Status(Status::Idle));
    }

    fn flush(&mut self, out: &mut Vec<Effect>) {
        if !self.partial.is_empty() {
            out.push(Effect::Line(std::mem::take(&mut self.partial)));
        }
    }

    fn submit(&mut self, text: &str, now: u64, out: &mut Vec<Effect>) {
        let text = text.trim();
        match text {
            "" => {}
            "/quit" | "/exit" => quit(out),
            "/clear" => {
                self.history.clear();
                self.mode = Mode::Idle;
                self.partial.clear();
                out.push(Effect::Hook("SessionEnd", json!({"reason": "clear"})));
                out.push(Effect::Renew);
                out.push(Effect::Hook("SessionStart", json!({"source": "clear"})));
                out.push(Effect::Status(Status::Idle));
            }
            command if command.starts_with('/') && !command.contains(char::is_whitespace) => {
                out.push(Effect::Line(format!("There is no command {command}.")));
            }
            _ if self.mode != Mode::Idle => self.queue.push_back(text.to_owned()),
            _ => self.begin(text, now, out),
        }
    }

    fn add(&mut self, role: &str, text: &str) -> Message {
        let id = format!("{}-{}", self.prefix, self.history.len() + 1);
        let message = Message { id, role: role.to_owned(), text: text.to_owned() };
        self.history.push(message.clone());
        message
    }

    fn begin(&mut self, text: &str, now: u64, out: &mut Vec<Effect>) {
        self.ctrl_c_at = None;
        let answer = brain::answer(&self.history, text);
        let message = self.add("user", text);
        out.push(Effect::Hook("UserPromptSubmit", json!({"prompt": text, "prompt_id": message.id})));
        out.push(Effect::Save(message.clone()));
        out.push(said(&message));
        for (n, line) in text.lines().take(SHOWN_LINES).enumerate() {
            let line: String = line.chars().take(SHOWN_CHARS).filter(|c| !c.is_control()).collect();
            out.push(Effect::Line(format!("{} {line}", if n == 0 { '>' } else { ' ' })));
        }
        out.push(Effect::Status(Status::Working));
        if self.hangs {
            self.mode = Mode::Hang;
            return;
        }
        self.mode = match answer {
            Answer::Say(lines) => say(lines, now),
            Answer::Count { lines, every } => {
                Mode::Count { at: 0, lines, every: u64::try_from(every.as_millis()).unwrap_or(u64::MAX), next: now }
            }
            Answer::Think(time) => {
                let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                Mode::Think { ms, until: now.saturating_add(ms) }
            }
            Answer::Tool(command) => {
                let message = format!("run {command}");
                out.push(Effect::Hook("PermissionRequest", json!({"tool_name": "sh", "message": message})));
                out.push(Effect::Status(Status::Blocked(message)));
                out.push(Effect::Notify("it asks for permission".to_owned()));
                Mode::Asking(command)
            }
            Answer::Flood => Mode::Flood(0),
        };
    }

    fn reply(&mut self, key: &Key, now: u64, out: &mut Vec<Effect>) {
        let Mode::Asking(command) = &self.mode else { return };
        let asked = format!("Allow running `{command}`? (y/n)");
        match key {
            Key::Char('y' | 'Y') | Key::Enter => {
                out.push(Effect::Line(format!("{asked} y")));
                out.push(Effect::Hook("PreToolUse", json!({"tool_name": "sh"})));
                out.push(Effect::Status(Status::Working));
                out.push(Effect::Tool(command.clone()));
                self.mode = Mode::Tool;
            }
            Key::Char('n' | 'N') | Key::Esc => {
                out.push(Effect::Line(format!("{asked} n")));
                out.push(Effect::Status(Status::Working));
                self.mode = say(vec!["I did not run it.".to_owned()], now);
            }
            Key::Ctrl('c') => self.ctrl_c(now, out),
            _ => {}
        }
    }

    /// The tool's command has ended with this output.
    pub fn tool_done(&mut self, output: &str, now: u64) -> Vec<Effect> {
        let mut out = Vec::new();
        if self.mode == Mode::Tool {
            out.push(Effect::Hook("PostToolUse", json!({"tool_name": "sh"})));
            let lines: Vec<String> = output.lines().flat_map(brain::wrapped).collect();
            out.extend(lines.into_iter().map(Effect::Line));
            self.finish("I ran it.", true, now, &mut out);
        }
        out
    }

    /// Time has passed.
    pub fn tick(&mut self, now: u64) -> Vec<Effect> {
        let mut out = Vec::new();
        match &mut self.mode {
            Mode::Say { words, lines, said, next } if *next <= now => {
                if let Some(word) = words.pop_front() {
                    if !self.partial.is_empty() {
                        self.partial.push(' ');
                    }
                    self.partial.push_str(&word);
                    *next = now + WORD_MS;
                } else {
                    let line = std::mem::take(&mut self.partial);
                    said.push(line.clone());
                    out.push(Effect::Line(line));
                    if let Some(line) = lines.pop_front() {
                        *words = split(&line);
                    } else {
                        let text = said.join("\n");
                        self.finish(&text, false, now, &mut out);
                    }
                }
            }
            Mode::Count { at, lines, every, next } if *next <= now => {
                if at == lines {
                    let text = format!("I counted to {lines}.");
                    self.finish(&text, true, now, &mut out);
                } else {
                    *at += 1;
                    *next += *every;
                    out.push(Effect::Line(format!("line {at} of {lines}")));
                }
            }
            Mode::Think { ms, until } if *until <= now => {
                let text = format!("I thought for {ms} ms.");
                self.finish(&text, true, now, &mut out);
            }
            Mode::Flood(n) => {
                let from = *n;
                *n += FLOOD_LINES;
                out.extend((from..*n).map(|n| Effect::Line(format!("flood {n:012} {}", "~".repeat(60)))));
            }
            _ => {}
        }
        out
    }

    /// Ends a turn with its answer; `show` it if it was not streamed. Then comes the next prompt of the queue.
    fn finish(&mut self, text: &str, show: bool, now: u64, out: &mut Vec<Effect>) {
        if show {
            out.push(Effect::Line(text.to_owned()));
        }
        let message = self.add("assistant", text);
        self.mode = Mode::Idle;
        out.push(Effect::Save(message.clone()));
        out.push(said(&message));
        out.push(Effect::Hook("Stop", json!({"last_assistant_message": text})));
        out.push(Effect::Status(Status::Done));
        out.push(Effect::Notify("it has answered".to_owned()));
        if let Some(next) = self.queue.pop_front() {
            self.begin(&next, now, out);
        }
    }
}

/// Most characters of one line of a prompt that are shown.
const SHOWN_CHARS: usize = 500;

fn quit(out: &mut Vec<Effect>) {
    out.push(Effect::Hook("SessionEnd", json!({"reason": "prompt_input_exit"})));
    out.push(Effect::Quit(0));
}

fn said(message: &Message) -> Effect {
    Effect::Hook("Message", json!({"message_id": message.id, "role": message.role, "text": message.text}))
}

fn split(line: &str) -> VecDeque<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn say(lines: Vec<String>, now: u64) -> Mode {
    let mut lines: VecDeque<String> = lines.into();
    let words = split(&lines.pop_front().unwrap_or_default());
    Mode::Say { words, lines, said: Vec::new(), next: now }
}

#[cfg(test)]
mod tests;
