//! The modes that bytes leave a terminal in, as far as programs switch them.

use std::collections::BTreeMap;

use alacritty_terminal::vte;

/// Private modes that are on in a fresh terminal: wrap, cursor.
const ON: [u16; 2] = [7, 25];

/// Modes of a terminal that follows xterm, with the key stacks of kitty, one per screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Modes {
    /// Private modes that are not as in a fresh terminal.
    pub changed: BTreeMap<u16, bool>,
    saved: BTreeMap<u16, bool>,
    /// What was pushed for keys on the main screen and on the alternate one.
    pub keys: [Vec<u16>; 2],
    /// Shape of the cursor; 0: the person's.
    pub shape: u16,
    /// Colours or attributes are set.
    pub coloured: bool,
    /// How often a colour was set.
    pub colours: usize,
    /// Its title was set.
    pub title: bool,
}

impl Modes {
    /// Whether a private mode is on.
    pub fn is_on(&self, mode: u16) -> bool {
        self.changed.get(&mode).copied().unwrap_or_else(|| ON.contains(&mode))
    }

    fn set(&mut self, mode: u16, on: bool) {
        if on == ON.contains(&mode) {
            self.changed.remove(&mode);
        } else {
            self.changed.insert(mode, on);
        }
    }

    /// What matters when somebody else gets the terminal.
    pub fn left(&self) -> (BTreeMap<u16, bool>, [Vec<u16>; 2], u16, bool) {
        (self.changed.clone(), self.keys.clone(), self.shape, self.coloured)
    }
}

impl vte::Perform for Modes {
    fn csi_dispatch(&mut self, params: &vte::Params, intermediates: &[u8], _ignore: bool, action: char) {
        let numbers: Vec<u16> = params.iter().map(|param| param[0]).collect();
        let first = numbers.first().copied().unwrap_or(0);
        match (intermediates, action) {
            (b"?", 'h' | 'l') => numbers.into_iter().for_each(|mode| self.set(mode, action == 'h')),
            (b"?", 's') => {
                for mode in numbers {
                    self.saved.insert(mode, self.is_on(mode));
                }
            }
            (b"?", 'r') => {
                for mode in numbers {
                    if let Some(on) = self.saved.get(&mode).copied() {
                        self.set(mode, on);
                    }
                }
            }
            (b">", 'u') => {
                let screen = usize::from(self.is_on(1049));
                self.keys[screen].push(first);
            }
            (b"<", 'u') => {
                let stack = &mut self.keys[usize::from(self.is_on(1049))];
                stack.truncate(stack.len().saturating_sub(usize::from(first.max(1))));
            }
            (b" ", 'q') => self.shape = first,
            (b"", 'm') => {
                self.coloured = numbers != [0] && !numbers.is_empty();
                let colour = |n: &u16| matches!(n, 30..=38 | 40..=48 | 90..=97 | 100..=107);
                self.colours += numbers.iter().filter(|n| colour(n)).count();
            }
            _ => {}
        }
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _bell: bool) {
        self.title |= matches!(params.first(), Some(&(b"0" | b"2")));
    }
}
