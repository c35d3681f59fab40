//! What the outer terminal sends, decoded.

use crate::wire::input::{Key, Mouse};

/// What the outer terminal sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outer {
    /// A key.
    Key(Key),
    /// Two or more plain characters in one read: fast typing, an input method, or a paste without brackets.
    Text(String),
    /// A bracketed paste begins.
    PasteStart,
    /// Bytes of the paste, exactly as sent.
    PasteChunk(Vec<u8>),
    /// The paste ends.
    PasteEnd,
    /// The mouse, in cells of the whole outer terminal, from 0.
    Mouse(Mouse),
    /// Focus came (true) or went.
    Focus(bool),
    /// The terminal answers a query; never input for a program.
    Reply(Reply),
}

/// Answers of the outer terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// DA1: its parameters.
    PrimaryAttributes(Vec<u16>),
    /// DA2: its parameters.
    SecondaryAttributes(Vec<u16>),
    /// Flags of the kitty keyboard protocol.
    KittyFlags(u8),
    /// DECRPM: state 0 unknown, 1 set, 2 reset, 3 and 4 permanently so.
    Mode {
        /// Private mode.
        mode: u16,
        /// State.
        state: u16,
    },
    /// Cursor, from 1.
    CursorPosition {
        /// Row.
        row: u16,
        /// Column.
        col: u16,
    },
    /// An OSC: what stands between introducer and terminator.
    Osc(Vec<u8>),
    /// A DCS: what stands between introducer and terminator (XTVERSION, XTGETTCAP, DECRQSS).
    Dcs(Vec<u8>),
    /// Anything else, whole.
    Other(Vec<u8>),
}
