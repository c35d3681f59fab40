//! What a program asked for about its input: the modes that decide how keys, pastes, the mouse and focus are encoded.

/// Input modes of one terminal. The default is a terminal just reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "terminal modes are independent switches")]
pub struct InputModes {
    /// Cursor keys send SS3 (DECCKM).
    pub app_cursor: bool,
    /// The keypad is in application mode (DECKPAM).
    pub app_keypad: bool,
    /// Enter sends CR LF (LNM).
    pub newline: bool,
    /// Bracketed paste (2004).
    pub bracketed_paste: bool,
    /// Focus reports (1004).
    pub focus: bool,
    /// On the alternate screen the wheel becomes arrows when the mouse is not taken (1007).
    pub alternate_scroll: bool,
    /// The alternate screen is shown.
    pub alt_screen: bool,
    /// What of the mouse is reported.
    pub mouse: MouseTracking,
    /// How the mouse is encoded.
    pub mouse_encoding: MouseEncoding,
    /// xterm's modifyOtherKeys: 0, 1 or 2.
    pub modify_other_keys: u8,
    /// Flags of the kitty keyboard protocol: 1 disambiguate, 2 event types, 4 alternate keys, 8 all keys, 16 text.
    pub kitty: u8,
}

/// What of the mouse a program wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum MouseTracking {
    /// Nothing.
    #[default]
    Off,
    /// Buttons and wheel (1000).
    Click,
    /// Also moves with a button held (1002).
    Drag,
    /// Also moves without (1003).
    Motion,
}

/// How mouse events are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MouseEncoding {
    /// One byte per coordinate, up to column and row 223.
    #[default]
    X10,
    /// One UTF-8 character per coordinate (1005), up to 2015.
    Utf8,
    /// Decimal (1006).
    Sgr,
}
