//! Output as a hostile or clumsy program might write it, for tests: text of all widths, sequences with odd parameters.

/// A small generator of numbers: the same seed gives the same numbers.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `bound`, at least 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

const TEXTS: [&str; 26] = [
    "a",
    "hello world ",
    "x",
    "  ",
    "\u{4f60}\u{597d}",
    "\u{ac00}",
    "\u{1f600}",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "e\u{301}",
    "\u{301}",
    "\u{26a0}\u{fe0f}",
    "\u{fe0f}",
    "\u{1f1e9}\u{1f1ea}",
    "\u{1f44d}\u{1f3fd}",
    "\u{fffd}",
    "\u{0e33}",
    "\u{200b}",
    "\u{ad}",
    "\u{2500}\u{2500}",
    "\u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
    "\u{0915}\u{094d}\u{0937}",
    "\u{7f}",
    "\u{85}",
    "\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}\u{30b}\u{30c}",
    "\u{3000}",
    "\u{ff21}",
];

const CONTROLS: [&[u8]; 18] = [
    b"\r\n", b"\n", b"\r", b"\x08", b"\t", b"\x0e", b"\x0f", b"\x1b7", b"\x1b8", b"\x1bM", b"\x1bD", b"\x1bE",
    b"\x1b(0", b"\x1b(B", b"\x1b#8", b"\x1bH", b"\x1bc", b"\x07",
];

const SGRS: [&str; 30] = [
    "",
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "9",
    "22",
    "23",
    "24",
    "27",
    "28",
    "29",
    "31",
    "42",
    "95",
    "106",
    "39",
    "49",
    "38;5;200",
    "48;5;17",
    "38;2;1;2;3",
    "48;2;200;100;0",
    "38:2::9:8:7",
    "4:3",
    "4:0",
    "58;2;1;2;3",
    "59",
];

const FINALS: &[u8] = b"ABCDEFGHJKLMPSTXZ@adefgbr`";

const MODES: [u16; 12] = [1, 6, 7, 25, 1049, 47, 2026, 2004, 1000, 1006, 3, 12];

/// A piece of such output.
pub(super) fn stream(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..=random.below(40) {
        match random.below(14) {
            0..=5 => out.extend_from_slice(random.pick(&TEXTS).as_bytes()),
            6 => out.extend_from_slice(random.pick(&CONTROLS)),
            7 | 8 => {
                let (first, second) = (random.pick(&SGRS), random.pick(&SGRS));
                out.extend_from_slice(format!("\x1b[{first};{second}m").as_bytes());
            }
            9 | 10 => {
                let last = char::from(random.pick(FINALS));
                let number = |random: &mut Random| match random.below(5) {
                    0 => String::new(),
                    1 => random.pick(&[0, 65_535, 99_999, 1000]).to_string(),
                    _ => random.below(26).to_string(),
                };
                let (first, second) = (number(random), number(random));
                let params = if random.below(2) == 0 { first } else { format!("{first};{second}") };
                out.extend_from_slice(format!("\x1b[{params}{last}").as_bytes());
            }
            11 => {
                let (mode, last) = (random.pick(&MODES), random.pick(&['h', 'l']));
                out.extend_from_slice(format!("\x1b[?{mode}{last}").as_bytes());
            }
            12 => out.extend_from_slice(random.pick(&[
                b"\x1b[4h".as_slice(),
                b"\x1b[4l",
                b"\x1b]8;;http://a.example/\x1b\\",
                b"\x1b]8;;\x07",
                b"\x1b]0;t;u\x07",
                b"\x1bP+q544e\x1b\\",
                b"\x1b_Ga=q\x1b\\",
                b"\x1b[6n",
                b"\xe4\xb8",
                b"\xff",
                b"\x1b[1;",
                b"\x1b]",
                b"\x18",
                b"\x1b[2J",
                b"\x1b[3J",
                b"\x1b[20h",
            ])),
            _ => {
                let (top, bottom) = (random.below(24), random.below(26));
                out.extend_from_slice(format!("\x1b[{top};{bottom}r").as_bytes());
            }
        }
    }
    out
}
