//! What a client sends into a terminal: events, not bytes. agentctl encodes them for the modes that the program asked for.

use serde::{Deserialize, Serialize};

use crate::domain::launch::Size;

/// One message into a terminal's stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum StreamInput {
    /// A key.
    Key(Key),
    /// Text as typed (an input method, or a burst of plain characters).
    Text {
        /// Text.
        text: String,
    },
    /// A part of a paste. Nothing of a paste reaches the program before it is committed.
    PasteChunk {
        /// Number of the paste, chosen by the client.
        paste: u32,
        /// Number of this part in it, from 0: a paste whose agent was restarted in the middle is nobody's.
        part: u32,
        /// Base64 of the bytes.
        data: String,
    },
    /// The paste is whole: type it, bracketed if the program asked for that.
    PasteCommit {
        /// Its number.
        paste: u32,
        /// How many parts it has. If not all came, nothing of it is typed, and the client is told.
        parts: u32,
    },
    /// The mouse.
    Mouse(Mouse),
    /// Focus came or went.
    Focus {
        /// It is here.
        gained: bool,
    },
    /// The client's pane has this size.
    Resize(Size),
    /// Frames up to this state number were drawn.
    Ack {
        /// State number.
        state: u64,
    },
    /// Send everything anew.
    Keyframe,
}

/// A key with modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Which.
    pub code: KeyCode,
    /// With what held.
    #[serde(default)]
    pub mods: Mods,
    /// Press, repeat or release.
    #[serde(default)]
    pub kind: KeyKind,
}

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyCode {
    /// A character, as the unshifted layout or the text has it.
    Char(char),
    /// F1 to F35.
    F(u8),
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Shift+Tab as one key.
    BackTab,
    /// Backspace.
    Backspace,
    /// Escape.
    Esc,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Insert.
    Insert,
    /// Delete.
    Delete,
    /// A key of the kitty protocol that has no other name here, by its number.
    Other(u32),
}

/// Modifier bits as in the kitty protocol: shift 1, alt 2, ctrl 4, super 8, hyper 16, meta 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mods(pub u8);

impl Mods {
    /// Shift.
    pub const SHIFT: u8 = 1;
    /// Alt.
    pub const ALT: u8 = 2;
    /// Ctrl.
    pub const CTRL: u8 = 4;

    /// Whether all bits of `bits` are set.
    #[must_use]
    pub const fn has(self, bits: u8) -> bool {
        self.0 & bits == bits
    }
}

/// Press, repeat or release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// Press.
    #[default]
    Press,
    /// Repeat.
    Repeat,
    /// Release.
    Release,
}

/// A mouse event in cells of the pane, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mouse {
    /// What.
    pub kind: MouseKind,
    /// Column.
    pub col: u16,
    /// Row.
    pub row: u16,
    /// Modifiers.
    #[serde(default)]
    pub mods: Mods,
}

/// What the mouse did. Buttons: 0 left, 1 middle, 2 right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MouseKind {
    /// Button pressed.
    Down(u8),
    /// Button released.
    Up(u8),
    /// Moved with a button held.
    Drag(u8),
    /// Moved.
    Moved,
    /// Wheel.
    ScrollUp,
    /// Wheel.
    ScrollDown,
}
