//! Cuts a program's bytes into what the model may take as it is and what relight reads itself. Every state is bounded, and the
//! model only ever sees whole sequences and whole characters.

use unicode_width::UnicodeWidthChar;

/// Longest escape or CSI sequence kept, in bytes: an SGR with 32 long parameters is shorter. A longer one is dropped whole.
const MAX_SEQUENCE_BYTES: usize = 512;

/// Longest string sequence kept, in bytes: the program status protocol allows 4,096. A longer one is dropped whole.
const MAX_STRING_BYTES: usize = 8 * 1024;

/// Longest OSC 52 kept, in bytes of base64: 768 KiB of text.
const MAX_CLIPBOARD_BYTES: usize = 1024 * 1024;

/// Whether to go on after a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// Read on.
    Next,
    /// Stop behind this token; the caller wants to look at the state between.
    Stop,
}

/// How a string sequence ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// BEL.
    Bel,
    /// ESC, of which the backslash comes next.
    St,
}

/// Takes the tokens.
pub(super) trait Sink {
    /// Text, controls and sequences that nobody but the model reads.
    fn pass(&mut self, bytes: &[u8]);
    /// One character that takes no column, in UTF-8.
    fn zero_width(&mut self, bytes: &[u8]);
    /// BEL; not passed.
    fn bell(&mut self);
    /// A whole CSI sequence that may be a query or a mode, with its introducer; not passed.
    fn csi(&mut self, sequence: &[u8]) -> Flow;
    /// ESC c; not passed.
    fn reset(&mut self);
    /// Payload of an OSC; not passed.
    fn osc(&mut self, payload: &[u8], end: End);
    /// Payload of a DCS; not passed.
    fn dcs(&mut self, payload: &[u8]);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    /// Inside a character of this many bytes.
    Utf8(u8),
    Escape,
    Csi,
    /// Too long: dropped up to its final byte.
    Ignore,
    Osc,
    Dcs,
    /// APC, PM, SOS: nobody reads them.
    Other,
}

/// The state between two reads.
#[derive(Debug, Default)]
pub(super) struct Sniffer {
    state: State,
    /// Bytes of the open sequence or character that came in earlier reads.
    carry: Vec<u8>,
    /// Payload of the open string.
    string: Vec<u8>,
    /// The open string is too long.
    overflow: bool,
}

impl Sniffer {
    /// Forgets an open sequence.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Reads until the end or until the sink says stop; how many bytes were read.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            let (used, flow) = match self.state {
                State::Ground => self.ground(&bytes[at..], sink),
                State::Utf8(len) => (self.utf8(&bytes[at..], len, sink), Flow::Next),
                State::Escape | State::Csi | State::Ignore => self.sequence(&bytes[at..], sink),
                State::Osc | State::Dcs | State::Other => (self.string(&bytes[at..], sink), Flow::Next),
            };
            at += used;
            if flow == Flow::Stop {
                break;
            }
        }
        at
    }

    /// Text and the sequences that are whole in this slice and read by nobody else, as one run.
    fn ground(&mut self, bytes: &[u8], sink: &mut impl Sink) -> (usize, Flow) {
        let mut from = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                0x1b => {
                    let Some(len) = plain_sequence(&bytes[at..]) else {
                        pass(sink, &bytes[from..at]);
                        self.state = State::Escape;
                        self.carry.clear();
                        self.carry.push(0x1b);
                        return (at + 1, Flow::Next);
                    };
                    at += len;
                }
                0x07 => {
                    pass(sink, &bytes[from..at]);
                    sink.bell();
                    at += 1;
                    from = at;
                }
                0x00..=0x7f => at += 1,
                _ => {
                    let len = char_len(&bytes[at..]);
                    if len == 0 {
                        pass(sink, &bytes[from..at]);
                        self.carry.clear();
                        self.carry.extend_from_slice(&bytes[at..]);
                        self.state = State::Utf8(wanted(byte));
                        return (bytes.len(), Flow::Next);
                    }
                    let end = at + len;
                    if is_zero_width(&bytes[at..end]) {
                        pass(sink, &bytes[from..at]);
                        sink.zero_width(&bytes[at..end]);
                        from = end;
                    }
                    at = end;
                }
            }
        }
        pass(sink, &bytes[from..]);
        (bytes.len(), Flow::Next)
    }

    /// The rest of a character that was cut.
    fn utf8(&mut self, bytes: &[u8], len: u8, sink: &mut impl Sink) -> usize {
        let mut used = 0;
        while self.carry.len() < usize::from(len) {
            match bytes.get(used) {
                Some(&byte) if byte & 0xc0 == 0x80 => {
                    self.carry.push(byte);
                    used += 1;
                }
                Some(_) => break,
                None => return used,
            }
        }
        let whole = std::mem::take(&mut self.carry);
        if is_zero_width(&whole) {
            sink.zero_width(&whole);
        } else {
            sink.pass(&whole);
        }
        self.state = State::Ground;
        used
    }

    /// ESC and CSI sequences.
    fn sequence(&mut self, bytes: &[u8], sink: &mut impl Sink) -> (usize, Flow) {
        for (at, &byte) in bytes.iter().enumerate() {
            let used = at + 1;
            match byte {
                0x18 | 0x1a => {
                    self.state = State::Ground;
                    return (used, Flow::Next);
                }
                0x1b => {
                    self.state = State::Escape;
                    self.carry.clear();
                    self.carry.push(byte);
                    continue;
                }
                0x07 => {
                    sink.bell();
                    continue;
                }
                _ => {}
            }
            if self.state == State::Ignore {
                if (0x40..=0x7e).contains(&byte) {
                    self.state = State::Ground;
                    return (used, Flow::Next);
                }
                continue;
            }
            if self.carry.len() >= MAX_SEQUENCE_BYTES {
                self.state = State::Ignore;
                self.carry.clear();
                // The final byte of an escape sequence may also be a digit, but none is this long by good intention.
                continue;
            }
            self.carry.push(byte);
            if self.state == State::Escape {
                if self.escape(byte, sink) {
                    return (used, Flow::Next);
                }
            } else if (0x40..=0x7e).contains(&byte) {
                self.state = State::Ground;
                let whole = std::mem::take(&mut self.carry);
                let flow = if is_read(&whole) {
                    sink.csi(&whole)
                } else {
                    sink.pass(&whole);
                    Flow::Next
                };
                self.carry = whole;
                return (used, flow);
            }
        }
        (bytes.len(), Flow::Next)
    }

    /// One byte after ESC; whether the state is another one now.
    fn escape(&mut self, byte: u8, sink: &mut impl Sink) -> bool {
        let first = self.carry.len() == 2;
        let next = match byte {
            b'[' if first => State::Csi,
            b']' if first => State::Osc,
            b'P' if first => State::Dcs,
            b'X' | b'^' | b'_' if first => State::Other,
            0x30..=0x7e => State::Ground,
            _ => return false,
        };
        self.state = next;
        match next {
            State::Ground => {
                match byte {
                    b'c' if first => sink.reset(),
                    b'\\' if first => {}
                    _ => sink.pass(&self.carry),
                }
                self.carry.clear();
            }
            State::Csi => return false,
            _ => {
                self.carry.clear();
                self.string.clear();
                self.overflow = false;
            }
        }
        true
    }

    /// OSC, DCS, APC, PM and SOS.
    fn string(&mut self, bytes: &[u8], sink: &mut impl Sink) -> usize {
        let is_osc = self.state == State::Osc;
        let end = bytes.iter().position(|b| matches!(b, 0x18 | 0x1a | 0x1b) || (is_osc && *b == 0x07));
        let part = &bytes[..end.unwrap_or(bytes.len())];
        if self.state != State::Other && !self.overflow {
            let limit = if is_osc && self.string.starts_with(b"52;") { MAX_CLIPBOARD_BYTES } else { MAX_STRING_BYTES };
            // The first part may be the whole of a long OSC 52.
            let limit =
                if is_osc && self.string.is_empty() && part.starts_with(b"52;") { MAX_CLIPBOARD_BYTES } else { limit };
            if self.string.len() + part.len() > limit {
                self.overflow = true;
                self.string = Vec::new();
            } else {
                self.string.extend_from_slice(part);
            }
        }
        let Some(end) = end else { return bytes.len() };
        let (state, whole) = (self.state, std::mem::take(&mut self.string));
        self.state = State::Ground;
        match bytes[end] {
            0x18 | 0x1a => return end + 1,
            0x1b => {
                self.state = State::Escape;
                self.carry.clear();
                self.carry.push(0x1b);
            }
            _ => {}
        }
        if !self.overflow {
            match state {
                State::Osc => sink.osc(&whole, if bytes[end] == 0x07 { End::Bel } else { End::St }),
                State::Dcs => sink.dcs(&whole),
                _ => {}
            }
        }
        end + 1
    }
}

fn pass(sink: &mut impl Sink, bytes: &[u8]) {
    if !bytes.is_empty() {
        sink.pass(bytes);
    }
}

/// Length of a whole sequence at the start of `bytes` that only the model reads, with nothing unusual inside.
fn plain_sequence(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'[' => {
            let window = &bytes[2..bytes.len().min(MAX_SEQUENCE_BYTES)];
            let at = window.iter().position(|b| !(0x20..=0x3f).contains(b))?;
            let whole = &bytes[..at + 3];
            ((0x40..=0x7e).contains(&window[at]) && !is_read(whole)).then_some(whole.len())
        }
        b'7' | b'8' | b'=' | b'>' | b'D' | b'E' | b'H' | b'M' => Some(2),
        b'(' | b')' => bytes.get(2).filter(|b| (0x30..=0x7e).contains(*b)).map(|_| 3),
        _ => None,
    }
}

/// Whether a whole CSI sequence is one that the sink reads.
fn is_read(sequence: &[u8]) -> bool {
    let private = sequence.get(2).copied();
    match sequence.last() {
        Some(b'c' | b'n' | b'p' | b'q' | b't' | b'b') => true,
        Some(b'u') => matches!(private, Some(b'?' | b'>' | b'<' | b'=')),
        Some(b'm') => matches!(private, Some(b'?' | b'>')),
        Some(b'h' | b'l') => private == Some(b'?'),
        _ => false,
    }
}

/// Bytes that the character with this first byte should have.
const fn wanted(first: u8) -> u8 {
    match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    }
}

/// Length of the character, valid or not, at the start of `bytes`; 0 when its end is still to come.
fn char_len(bytes: &[u8]) -> usize {
    let wanted = usize::from(bytes.first().map_or(1, |b| wanted(*b)));
    let tail = bytes.iter().skip(1).take(wanted - 1).take_while(|b| **b & 0xc0 == 0x80).count();
    let have = 1 + tail;
    if have < wanted && have == bytes.len() { 0 } else { have }
}

/// Whether `bytes` are one character that takes no column.
fn is_zero_width(bytes: &[u8]) -> bool {
    // Han and Hangul, most of what is not ASCII, need no look into the tables.
    if matches!(bytes, [0xe4..=0xec, ..]) {
        return false;
    }
    std::str::from_utf8(bytes).ok().and_then(|s| s.chars().next()).is_some_and(|c| c.width() == Some(0))
}
