//! OSC payloads → what they mean: signals, colour queries, links, notifications, program status.

use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use crate::domain::plain::steers;

use super::event::{BlockedOn, MAX_MESSAGE_CHARS, MAX_TITLE_CHARS, ModelEvent, ProgramState, PromptMark};

/// Longest report of the program status protocol, in bytes: its own limit.
const MAX_STATUS_BYTES: usize = 4096;

/// Longest message of a report, in bytes of base64: its own limit.
const MAX_STATUS_TEXT_BYTES: usize = 2732;

/// Longest identifier in a report or notification, in bytes.
const MAX_ID_BYTES: usize = 128;

/// Longest hyperlink, in bytes: what browsers and other terminals take.
const MAX_LINK_BYTES: usize = 2083;

/// Base64 as programs send it, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What an OSC asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Osc {
    /// A signal as it is.
    Event(ModelEvent),
    /// Set the title.
    Title(String),
    /// A hyperlink begins (or ends, when empty): for the model, rewritten.
    Link(Vec<u8>),
    /// Colours: queries and changes.
    Colours(Vec<Colour>),
    /// Progress and whether there is any.
    Progress {
        /// Something goes on.
        busy: bool,
        /// Percent.
        percent: Option<u8>,
    },
    /// A part of a kitty notification.
    Notify(NotifyPart),
    /// Whether OSC 99 is known; the id to answer with.
    NotifyQuery(String),
    /// Whether OSC 7501 is known.
    StatusQuery,
    /// Nothing that relight reads.
    Unknown,
}

/// One colour query or change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Colour {
    /// Indexed, `None`: say which.
    Indexed(u8, Option<Vec<u8>>),
    /// 10, 11, 12: text, ground, cursor.
    Dynamic(u16, Option<Vec<u8>>),
    /// Back to the default; `None`: all.
    ResetIndexed(Option<u8>),
    /// Back to the default: 10, 11, 12.
    ResetDynamic(u16),
}

/// A part of an OSC 99 notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotifyPart {
    /// Its id.
    pub id: String,
    /// It is text of the title, else of the body.
    pub is_title: bool,
    /// Text.
    pub text: String,
    /// No more parts follow.
    pub done: bool,
}

/// Reads a payload (what stands between `ESC ]` and its end).
pub(super) fn read(payload: &[u8]) -> Osc {
    let (number, rest) = split(payload, b';');
    let text = || String::from_utf8_lossy(rest);
    match number {
        b"0" | b"2" => Osc::Title(clean(&text(), MAX_TITLE_CHARS)),
        b"4" => indexed(rest),
        b"10" | b"11" | b"12" => dynamic(number, rest),
        b"104" if rest.is_empty() => Osc::Colours(vec![Colour::ResetIndexed(None)]),
        b"104" => {
            Osc::Colours(rest.split(|b| *b == b';').filter_map(index).map(|i| Colour::ResetIndexed(Some(i))).collect())
        }
        b"110" => Osc::Colours(vec![Colour::ResetDynamic(10)]),
        b"111" => Osc::Colours(vec![Colour::ResetDynamic(11)]),
        b"112" => Osc::Colours(vec![Colour::ResetDynamic(12)]),
        b"7" => directory(rest),
        b"8" => link(rest),
        b"9" => nine(rest),
        b"52" => clipboard(rest),
        b"99" => notification(rest),
        b"133" => mark(rest),
        b"777" => {
            let text = text();
            let mut parts = text.splitn(3, ';');
            if parts.next() != Some("notify") {
                return Osc::Unknown;
            }
            let title = clean(parts.next().unwrap_or_default(), MAX_TITLE_CHARS);
            notify(title, clean(parts.next().unwrap_or_default(), MAX_MESSAGE_CHARS))
        }
        b"7501" if rest == b"?" => Osc::StatusQuery,
        b"7501" => status(rest),
        _ => Osc::Unknown,
    }
}

/// `text` without control characters and invisible direction marks, at most `max` characters.
pub(super) fn clean(text: &str, max: usize) -> String {
    text.chars().filter(|c| !steers(*c)).take(max).collect::<String>().trim().to_owned()
}

fn notify(title: String, text: String) -> Osc {
    if title.is_empty() && text.is_empty() {
        return Osc::Unknown;
    }
    Osc::Event(ModelEvent::Notification { title, text })
}

fn split(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    match bytes.iter().position(|b| *b == at) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

fn index(digits: &[u8]) -> Option<u8> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn indexed(rest: &[u8]) -> Osc {
    let parts: Vec<&[u8]> = rest.split(|b| *b == b';').collect();
    let colour = |pair: &[&[u8]]| {
        let spec = (pair[1] != b"?").then(|| pair[1].to_vec());
        Some(Colour::Indexed(index(pair[0])?, spec))
    };
    Osc::Colours(parts.chunks_exact(2).filter_map(colour).collect())
}

fn dynamic(number: &[u8], rest: &[u8]) -> Osc {
    let first = index(number).map_or(0, u16::from);
    let colour = |(number, spec): (u16, &[u8])| Colour::Dynamic(number, (spec != b"?").then(|| spec.to_vec()));
    Osc::Colours((first..=12).zip(rest.split(|b| *b == b';')).map(colour).collect())
}

fn directory(rest: &[u8]) -> Osc {
    let path = match rest.strip_prefix(b"file://") {
        Some(rest) => rest.iter().position(|b| *b == b'/').map_or(&[][..], |at| &rest[at..]),
        None => rest,
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(&byte) = path.get(at) {
        let hex = path.get(at + 1..at + 3).and_then(|h| std::str::from_utf8(h).ok());
        let decoded = hex.and_then(|h| u8::from_str_radix(h, 16).ok()).filter(|_| byte == b'%');
        bytes.push(decoded.unwrap_or(byte));
        at += if decoded.is_some() { 3 } else { 1 };
    }
    match String::from_utf8(bytes) {
        Ok(path) if path.starts_with('/') && !path.contains(char::is_control) => Osc::Event(ModelEvent::Cwd(path)),
        _ => Osc::Unknown,
    }
}

fn link(rest: &[u8]) -> Osc {
    let (params, uri) = split(rest, b';');
    let mut out = b"\x1b]8;".to_vec();
    let fits =
        rest.len() <= MAX_LINK_BYTES && !rest.iter().any(u8::is_ascii_control) && std::str::from_utf8(rest).is_ok();
    if fits && !uri.is_empty() {
        out.extend_from_slice(params);
        out.push(b';');
        out.extend_from_slice(uri);
    } else {
        out.push(b';');
    }
    out.extend_from_slice(b"\x1b\\");
    Osc::Link(out)
}

/// OSC 9: progress and directory as ConEmu has them, anything else is a notification.
fn nine(rest: &[u8]) -> Osc {
    let mut parts = rest.split(|b| *b == b';');
    match parts.next() {
        Some(b"4") => {
            let state = parts.next().and_then(index).unwrap_or(0);
            let percent = parts.next().and_then(index).filter(|p| *p <= 100);
            match state {
                1 | 2 | 4 => Osc::Progress { busy: true, percent },
                3 => Osc::Progress { busy: true, percent: None },
                _ => Osc::Progress { busy: false, percent: None },
            }
        }
        Some(b"9") if rest.len() > 2 => {
            let path = &rest[2..];
            directory(path.strip_prefix(b"\"").and_then(|p| p.strip_suffix(b"\"")).unwrap_or(path))
        }
        _ => notify(String::new(), clean(&String::from_utf8_lossy(rest), MAX_MESSAGE_CHARS)),
    }
}

fn clipboard(rest: &[u8]) -> Osc {
    let (_, data) = split(rest, b';');
    match BASE64.decode(data) {
        Ok(bytes) if !bytes.is_empty() => Osc::Event(ModelEvent::Clipboard(bytes)),
        _ => Osc::Unknown,
    }
}

fn notification(rest: &[u8]) -> Osc {
    let (meta, payload) = split(rest, b';');
    let mut part = NotifyPart { id: String::new(), is_title: true, text: String::new(), done: true };
    let (mut encoded, mut query, mut known) = (false, false, true);
    for field in meta.split(|b| *b == b':') {
        let (key, value) = split(field, b'=');
        match (key, value) {
            (b"i", id) => part.id = safe_id(id),
            (b"p", b"title") => {}
            (b"p", b"body") => part.is_title = false,
            (b"p", b"?") => query = true,
            (b"p", _) => known = false,
            (b"d", b"0") => part.done = false,
            (b"e", b"1") => encoded = true,
            _ => {}
        }
    }
    if query {
        return Osc::NotifyQuery(part.id);
    }
    let bytes = if encoded { BASE64.decode(payload).unwrap_or_default() } else { payload.to_vec() };
    if !known {
        return Osc::Unknown;
    }
    part.text = clean(&String::from_utf8_lossy(&bytes), MAX_MESSAGE_CHARS);
    Osc::Notify(part)
}

fn safe_id(id: &[u8]) -> String {
    let fits = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'+' | b'.');
    id.iter().filter(fits).take(MAX_ID_BYTES).map(|b| char::from(*b)).collect()
}

fn mark(rest: &[u8]) -> Osc {
    let (kind, rest) = split(rest, b';');
    let mark = match kind {
        b"A" | b"P" => PromptMark::Prompt,
        b"B" => PromptMark::Input,
        b"C" => PromptMark::Output,
        b"D" => {
            let (code, _) = split(rest, b';');
            PromptMark::Done(std::str::from_utf8(code).ok().and_then(|c| c.parse().ok()))
        }
        _ => return Osc::Unknown,
    };
    Osc::Event(ModelEvent::PromptMark(mark))
}

fn status(rest: &[u8]) -> Osc {
    if rest.len() > MAX_STATUS_BYTES {
        return Osc::Unknown;
    }
    let mut state = None;
    let (mut kind, mut app, mut id, mut title, mut msg, mut progress) = (None, None, None, None, None, None);
    for field in rest.split(|b| *b == b':') {
        let (key, value) = split(field, b'=');
        match key {
            b"state" => state = program_state(value),
            b"kind" => {
                kind = match value {
                    b"permission" => Some(BlockedOn::Permission),
                    b"question" => Some(BlockedOn::Question),
                    b"auth" => Some(BlockedOn::Auth),
                    _ => None,
                }
            }
            b"app" => app = word(value),
            b"id" => id = word(value),
            b"title" => title = status_text(value, MAX_TITLE_CHARS),
            b"msg" => msg = status_text(value, MAX_MESSAGE_CHARS),
            b"progress" => progress = index(value).filter(|p| *p <= 100),
            _ => {}
        }
    }
    let Some(state) = state else { return Osc::Unknown };
    let kind = kind.filter(|_| state == ProgramState::Blocked);
    Osc::Event(ModelEvent::ProgramStatus { state, kind, app, id, title, msg, progress })
}

fn program_state(value: &[u8]) -> Option<ProgramState> {
    Some(match value {
        b"idle" => ProgramState::Idle,
        b"working" => ProgramState::Working,
        b"done" => ProgramState::Done,
        b"blocked" => ProgramState::Blocked,
        b"error" => ProgramState::Error,
        b"clear" => ProgramState::Clear,
        _ => return None,
    })
}

fn word(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?;
    let fits = !text.is_empty() && text.len() <= MAX_ID_BYTES && !text.contains(char::is_control);
    fits.then(|| clean(text, MAX_ID_BYTES))
}

/// Base64 of UTF-8 without control characters, or nothing.
fn status_text(value: &[u8], max: usize) -> Option<String> {
    if value.len() > MAX_STATUS_TEXT_BYTES {
        return None;
    }
    let text = String::from_utf8(BASE64.decode(value).ok()?).ok()?;
    (!text.contains(char::is_control)).then(|| clean(&text, max)).filter(|t| !t.is_empty())
}
