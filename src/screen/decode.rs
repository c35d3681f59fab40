//! Bytes of the outer terminal → keys, text, pastes, mouse, focus and replies. Pure and incremental: a sequence may be cut
//! anywhere.

use crate::wire::input::{Key, KeyCode, Mods};

use super::decode_escape::{self, Found};
use super::decode_plain::{self, press};

pub use super::outer::{Outer, Reply};

/// Longest reply string kept, in bytes; the rest of a longer one is thrown away up to its end.
const MAX_REPLY_BYTES: usize = 64 * 1024;

/// Flushes after which a reply that does not end is given up: with a flush each 25 ms, about two seconds.
const MAX_FLUSHES: u32 = 80;

/// End of a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

/// What the next bytes belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Keys,
    Paste,
    /// The rest of a reply that was too long.
    Discard,
}

/// Decoder of one outer terminal's bytes.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
    /// Bytes that wait for their rest.
    buffer: Vec<u8>,
    /// A lone ESC was just given out as a key; what follows may be the rest of its sequence.
    escaped: bool,
    flushes: u32,
}

impl Decoder {
    /// A decoder between sequences.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the bytes of one read.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Outer> {
        let mut out = Vec::new();
        if bytes.is_empty() {
            return out;
        }
        self.flushes = 0;
        let escaped = std::mem::take(&mut self.escaped);
        if escaped && continues_reply(bytes) {
            self.buffer.push(0x1b);
        } else if self.pending() && self.buffer.iter().all(|b| *b == 0x1b) && !continues_sequence(bytes) {
            // ESC came alone and what follows is no sequence: two keys, not one with Alt.
            out.extend(self.buffer.drain(..).map(|_| Outer::Key(press(KeyCode::Esc))));
        }
        self.buffer.extend_from_slice(bytes);
        self.run(&mut out);
        out
    }

    /// Whether a sequence, or a lone ESC, waits for its rest. If nothing comes for some 25 ms, call [`Decoder::flush`].
    pub fn pending(&self) -> bool {
        self.state == State::Keys && !self.buffer.is_empty()
    }

    /// Nothing followed for a while: a lone ESC becomes the Escape key. What began as a reply keeps waiting for about two
    /// seconds of flushes, a paste for ever.
    pub fn flush(&mut self) -> Vec<Outer> {
        if !self.pending() {
            return Vec::new();
        }
        self.flushes += 1;
        let key = match self.buffer.as_slice() {
            [0x1b] => {
                self.escaped = true;
                Some(press(KeyCode::Esc))
            }
            [0x1b, 0x1b] => {
                self.buffer.clear();
                return vec![Outer::Key(press(KeyCode::Esc)); 2];
            }
            // The introducer of a sequence alone: Alt and that character.
            [0x1b, byte] => Some(Key { mods: Mods(Mods::ALT), ..press(KeyCode::Char(char::from(*byte))) }),
            _ if self.flushes >= MAX_FLUSHES => None,
            _ => return Vec::new(),
        };
        self.buffer.clear();
        self.flushes = 0;
        key.map(Outer::Key).into_iter().collect()
    }

    /// Reads what is whole in the buffer.
    fn run(&mut self, out: &mut Vec<Outer>) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        while at < buffer.len() {
            let rest = &buffer[at..];
            let used = match self.state {
                State::Paste => self.paste(rest, out),
                State::Discard => self.discard(rest),
                State::Keys => self.keys(rest, out),
            };
            at += used;
            if used == 0 {
                break;
            }
        }
        self.buffer = buffer;
        self.buffer.drain(..at);
        if self.buffer.capacity() > MAX_REPLY_BYTES && self.buffer.is_empty() {
            self.buffer = Vec::new();
        }
    }

    /// One key, text, sequence or reply; how many bytes it took, 0: wait.
    fn keys(&mut self, bytes: &[u8], out: &mut Vec<Outer>) -> usize {
        if bytes[0] != 0x1b {
            return decode_plain::read(bytes, out);
        }
        match decode_escape::read(bytes) {
            Found::Item(used, item) => {
                if item == Some(Outer::PasteStart) {
                    self.state = State::Paste;
                }
                out.extend(item);
                used
            }
            Found::Wait if bytes.len() > MAX_REPLY_BYTES => {
                self.state = State::Discard;
                bytes.len()
            }
            Found::Wait => 0,
        }
    }

    /// Up to the end marker, or to where it may have begun.
    fn paste(&mut self, bytes: &[u8], out: &mut Vec<Outer>) -> usize {
        let end = bytes.windows(PASTE_END.len()).position(|window| window == PASTE_END);
        let keep = end.unwrap_or_else(|| {
            let tail = (1..PASTE_END.len()).rev().find(|len| bytes.ends_with(&PASTE_END[..*len])).unwrap_or(0);
            bytes.len() - tail
        });
        if keep > 0 {
            out.push(Outer::PasteChunk(bytes[..keep].to_vec()));
        }
        if end.is_none() {
            return keep;
        }
        out.push(Outer::PasteEnd);
        self.state = State::Keys;
        keep + PASTE_END.len()
    }

    /// Up to the end of the string that was too long.
    fn discard(&mut self, bytes: &[u8]) -> usize {
        match bytes.iter().position(|b| matches!(b, 0x07 | 0x18 | 0x1a | 0x1b)) {
            None => bytes.len(),
            Some(at) => {
                self.state = State::Keys;
                match &bytes[at..] {
                    [0x1b, b'\\', ..] => at + 2,
                    [0x1b, ..] => at,
                    _ => at + 1,
                }
                .max(1)
            }
        }
    }
}

/// Whether bytes behind a lone ESC of an earlier read go on with a sequence.
fn continues_sequence(bytes: &[u8]) -> bool {
    matches!(bytes, [b'[' | b']' | b'P' | b'_' | b'^' | b'\\', ..]) || matches!(bytes, [b'O', b'A'..=b'y', ..] | [b'O'])
}

/// Whether bytes behind an ESC that was given out as a key look like the rest of a reply, which nobody types in one go.
fn continues_reply(bytes: &[u8]) -> bool {
    match bytes {
        [b'[', b'<' | b'?' | b'>', digit, ..] => digit.is_ascii_digit(),
        [b']', a, b, ..] => a.is_ascii_digit() && (b.is_ascii_digit() || *b == b';'),
        [b'P', b'>' | b'0' | b'1', b'|' | b'+' | b'$', ..] | [b'_', b'G', ..] => true,
        _ => false,
    }
}
