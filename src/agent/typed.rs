//! Reads what a person types into an agent: lines, Ctrl-C, Ctrl-D, Esc. Keys may be legacy bytes or the kitty
//! protocol's, split anywhere.

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// A line was sent with Enter.
    Line(String),
    /// Ctrl-C.
    CtrlC,
    /// Ctrl-D; whether the line was empty.
    CtrlD(bool),
    /// Escape alone.
    Esc,
    /// Text or another key.
    Other,
}

/// Longest line kept, in bytes: quit lines are short. A longer one is none.
const MAX_LINE_BYTES: usize = 4096;
/// Longest parameter text of a key sequence.
const MAX_SEQUENCE_BYTES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum At {
    #[default]
    Text,
    Esc,
    /// After an Esc that was the last byte to arrive: a key of its own, or a sequence split right there.
    EscAlone,
    Csi(Vec<u8>),
    Ss3,
}

/// The parser.
#[derive(Debug, Clone, Default)]
pub(super) struct Typing {
    at: At,
    line: Vec<u8>,
    paste: bool,
}

impl Typing {
    /// Takes typed bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Typed> {
        let mut out = Vec::new();
        for &byte in bytes {
            match std::mem::take(&mut self.at) {
                At::Text => self.text(byte, &mut out),
                At::EscAlone if !matches!(byte, b'[' | b'O') => self.text(byte, &mut out),
                At::Esc | At::EscAlone => match byte {
                    b'[' => self.at = At::Csi(Vec::new()),
                    b'O' => self.at = At::Ss3,
                    0x1b => {
                        out.push(Typed::Esc);
                        self.at = At::Esc;
                    }
                    // Alt and a key: a newline inside a line, a word deleted.
                    b'\r' | b'\n' => self.push(b'\n'),
                    0x7f => self.word(),
                    _ => out.push(Typed::Other),
                },
                At::Csi(mut params) => {
                    if (0x40..=0x7e).contains(&byte) {
                        self.sequence(&params, byte, &mut out);
                    } else if params.len() < MAX_SEQUENCE_BYTES {
                        params.push(byte);
                        self.at = At::Csi(params);
                    }
                }
                At::Ss3 => out.push(Typed::Other),
            }
        }
        // An Esc that ends what arrived is the key; a split sequence goes on from there all the same.
        if self.at == At::Esc {
            out.push(Typed::Esc);
            self.at = At::EscAlone;
        }
        out
    }

    fn push(&mut self, byte: u8) {
        if self.line.len() < MAX_LINE_BYTES {
            self.line.push(byte);
        }
    }

    fn word(&mut self) {
        while self.line.pop_if(|b| *b == b' ').is_some() {}
        while self.line.pop_if(|b| *b != b' ').is_some() {}
    }

    fn enter(&mut self, out: &mut Vec<Typed>) {
        let line = String::from_utf8_lossy(&self.line).trim().to_owned();
        self.line.clear();
        out.push(Typed::Line(line));
    }

    fn text(&mut self, byte: u8, out: &mut Vec<Typed>) {
        match byte {
            0x1b => self.at = At::Esc,
            b'\r' | b'\n' if self.paste => self.push(b'\n'),
            b'\r' => self.enter(out),
            0x03 => {
                self.line.clear();
                out.push(Typed::CtrlC);
            }
            0x04 => out.push(Typed::CtrlD(self.line.is_empty())),
            0x15 => self.line.clear(),
            0x17 => self.word(),
            0x08 | 0x7f => {
                while self.line.pop_if(|b| (*b & 0xc0) == 0x80).is_some() {}
                self.line.pop();
            }
            b'\n' => self.push(b'\n'),
            0x00..=0x1f => out.push(Typed::Other),
            _ => {
                self.push(byte);
                out.push(Typed::Other);
            }
        }
    }

    /// A whole control sequence: paste marks, and keys of the kitty protocol and of modifyOtherKeys.
    fn sequence(&mut self, params: &[u8], last: u8, out: &mut Vec<Typed>) {
        let text = String::from_utf8_lossy(params);
        let fields: Vec<Vec<u32>> =
            text.split(';').map(|f| f.split(':').map(|n| n.parse().unwrap_or(0)).collect()).collect();
        let field = |i: usize, j: usize| fields.get(i).and_then(|f| f.get(j)).copied().unwrap_or(0);
        match (last, field(0, 0)) {
            (b'~', 200) => self.paste = true,
            (b'~', 201) => self.paste = false,
            (b'~', 27) => self.key(field(2, 0), field(1, 0), out),
            (b'u', code) if field(1, 1) != RELEASE => self.key(code, field(1, 0), out),
            (b'u', _) => {}
            _ => out.push(Typed::Other),
        }
    }

    fn key(&mut self, code: u32, mods: u32, out: &mut Vec<Typed>) {
        let mods = mods.saturating_sub(1) & (SHIFT | ALT | CTRL);
        match (code, mods) {
            (13 | 57_414, 0) => self.enter(out),
            (13, _) => self.push(b'\n'),
            (27, 0) => out.push(Typed::Esc),
            (127, 0) => self.text(0x7f, out),
            (99, CTRL) => self.text(0x03, out),
            (100, CTRL) => self.text(0x04, out),
            (117, CTRL) => self.text(0x15, out),
            (119, CTRL) | (127, ALT) => self.word(),
            (32..=0x0010_ffff, 0 | SHIFT) => {
                if let Some(c) = char::from_u32(code).filter(|c| !('\u{e000}'..='\u{f8ff}').contains(c)) {
                    let mut buffer = [0; 4];
                    c.encode_utf8(&mut buffer).bytes().for_each(|b| self.push(b));
                }
                out.push(Typed::Other);
            }
            _ => out.push(Typed::Other),
        }
    }
}

/// Modifier bits of the kitty protocol.
const SHIFT: u32 = 1;
const ALT: u32 = 2;
const CTRL: u32 = 4;
/// Event type of a key's release.
const RELEASE: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Typed> {
        Typing::default().feed(bytes).into_iter().filter(|t| *t != Typed::Other).collect()
    }

    #[test]
    fn lines_and_control_keys_are_read_in_every_encoding() {
        let line = |s: &str| vec![Typed::Line(s.to_owned())];
        assert_eq!(read(b"/quit\r"), line("/quit"));
        assert_eq!(read(b"/quix\x7ft\r"), line("/quit"));
        assert_eq!(read(b"some text\x15/quit\r"), line("/quit"));
        assert_eq!(read(b"a word\x17b\r"), line("a b"));
        assert_eq!(read(b"\x1b[200~/quit\nno\x1b[201~\r"), line("/quit\nno"));
        assert_eq!(read(b"/q\x1b[117;1uit\x1b[13u"), line("/quit"));
        assert_eq!(read("ä\x7f/quit\r".as_bytes()), line("/quit"));
        assert_eq!(read(b"\x03\x03"), [Typed::CtrlC, Typed::CtrlC]);
        assert_eq!(read(b"\x1b[99;5u\x1b[99;5:3u"), [Typed::CtrlC]);
        assert_eq!(read(b"\x1b[27;5;100~"), [Typed::CtrlD(true)]);
        assert_eq!(read(b"x\x04"), [Typed::CtrlD(false)]);
        assert_eq!(read(b"\x1b"), [Typed::Esc]);
        assert_eq!(read(b"\x1b[A\x1bOB"), []);
        let mut typing = Typing::default();
        typing.feed(b"\x1b");
        assert_eq!(typing.feed(b"/quit\r").last(), Some(&Typed::Line("/quit".into())));
    }

    #[test]
    fn a_sequence_split_anywhere_reads_the_same() {
        let whole = b"ab\x1b[200~c\rd\x1b[201~\x1b[99;5u/x\r";
        let want: Vec<_> = read(whole);
        for cut in 1..whole.len() {
            let mut typing = Typing::default();
            let (a, b) = whole.split_at(cut);
            let got: Vec<_> = [typing.feed(a), typing.feed(b)]
                .concat()
                .into_iter()
                .filter(|t| !matches!(t, Typed::Other | Typed::Esc))
                .collect();
            assert_eq!(got, want, "cut at {cut}");
        }
    }
}
