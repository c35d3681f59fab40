//! Bytes of the terminal as keys.

/// A key, or what a terminal sends like one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// Ctrl and a letter.
    Ctrl(char),
    /// Escape alone.
    Esc,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A whole bracketed paste.
    Paste(String),
}

/// End of a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

#[derive(Debug, Clone, Default)]
enum At {
    #[default]
    Text,
    Esc,
    Csi(Vec<u8>),
    /// OSC, DCS, APC: up to BEL or ESC \.
    String,
    StringEsc,
    Ss3,
    Paste(Vec<u8>),
}

/// The decoder. A sequence may be split anywhere.
#[derive(Debug, Default)]
pub struct Decoder {
    at: At,
    utf8: Vec<u8>,
}

impl Decoder {
    /// Takes bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut out = Vec::new();
        for &byte in bytes {
            self.byte(byte, &mut out);
        }
        if matches!(self.at, At::Esc) {
            self.at = At::Text;
            out.push(Key::Esc);
        }
        out
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<Key>) {
        self.at = match std::mem::take(&mut self.at) {
            At::Text if byte == 0x1b => At::Esc,
            At::Text => {
                self.text(byte, out);
                At::Text
            }
            At::Esc => match byte {
                b'[' => At::Csi(Vec::new()),
                b']' | b'P' | b'_' | b'^' => At::String,
                b'O' => At::Ss3,
                b'\r' => {
                    out.push(Key::Char('\n'));
                    At::Text
                }
                _ => At::Text,
            },
            At::Csi(params) if params == b"200" && byte == b'~' => At::Paste(Vec::new()),
            At::Csi(params) if (0x40..=0x7e).contains(&byte) => {
                out.extend(sequence(&params, byte));
                At::Text
            }
            At::Csi(mut params) => {
                params.push(byte);
                At::Csi(params)
            }
            At::String if byte == 0x1b => At::StringEsc,
            At::String if byte != 0x07 => At::String,
            At::StringEsc if byte != b'\\' => At::String,
            At::String | At::StringEsc | At::Ss3 => At::Text,
            At::Paste(mut text) => {
                text.push(byte);
                if text.ends_with(PASTE_END) {
                    text.truncate(text.len() - PASTE_END.len());
                    let text = String::from_utf8_lossy(&text).replace("\r\n", "\n").replace('\r', "\n");
                    out.push(Key::Paste(text));
                    At::Text
                } else {
                    At::Paste(text)
                }
            }
        };
    }

    fn text(&mut self, byte: u8, out: &mut Vec<Key>) {
        match byte {
            b'\r' | b'\n' => out.push(Key::Enter),
            0x08 | 0x7f => out.push(Key::Backspace),
            0x01..=0x1a => out.push(Key::Ctrl(char::from(byte + b'a' - 1))),
            0x00..=0x1f => {}
            0x20..=0x7e => out.push(Key::Char(char::from(byte))),
            _ => {
                self.utf8.push(byte);
                match std::str::from_utf8(&self.utf8) {
                    Ok(text) => out.extend(text.chars().map(Key::Char)),
                    Err(e) if e.error_len().is_none() => return,
                    Err(_) => {}
                }
                self.utf8.clear();
            }
        }
    }
}

fn sequence(params: &[u8], last: u8) -> Option<Key> {
    match (params, last) {
        (b"5", b'~') => Some(Key::PageUp),
        (b"6", b'~') => Some(Key::PageDown),
        (b"13", b'u') => Some(Key::Enter),
        (b"27", b'u') => Some(Key::Esc),
        (b"99;5", b'u') => Some(Key::Ctrl('c')),
        (b"100;5", b'u') => Some(Key::Ctrl('d')),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_replies_of_the_terminal_are_not() {
        let bytes =
            "aä\r\x7f\x03\x1b[5~\x1b]7501;?\x1b\\\x1b]11;rgb:0/0/0\x07\x1b[?62;4c\x1bOA\x1b[200~x\ry\x1b[201~\x1b";
        let want = [
            Key::Char('a'),
            Key::Char('ä'),
            Key::Enter,
            Key::Backspace,
            Key::Ctrl('c'),
            Key::PageUp,
            Key::Paste("x\ny".into()),
            Key::Esc,
        ];
        assert_eq!(Decoder::default().feed(bytes.as_bytes()), want);
        for cut in 1..bytes.len() {
            let mut decoder = Decoder::default();
            let (a, b) = bytes.as_bytes().split_at(cut);
            if a.ends_with(b"\x1b") {
                continue;
            }
            assert_eq!([decoder.feed(a), decoder.feed(b)].concat(), want, "cut at {cut}");
        }
    }
}
