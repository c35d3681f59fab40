//! A frame: the change of a terminal's screen from one state to another, as VT text in a small safe subset, with what such
//! text cannot carry beside it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Magic and version, first bytes of every encoded frame.
const MAGIC: [u8; 2] = [b'F', 1];

/// Largest encoded frame accepted, in bytes: a screen of 1000 x 200 cells with a style each stays below.
pub const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What stands beside the VT text.
    pub head: FrameHead,
    /// Whole rows, each self-contained; the subset is described in `screen`.
    pub vt: Bytes,
}

/// Everything of a frame but its VT text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FrameHead {
    /// Number of the state after this frame; grows.
    pub state: u64,
    /// State it builds on; 0: none, a keyframe.
    pub base: u64,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Cursor.
    pub cursor: CursorState,
    /// Modes that matter to a viewer.
    pub modes: ScreenModes,
    /// Ranges with what VT text cannot carry. For every row that the frame sends, they replace the row's old ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlay: Vec<Overlay>,
    /// Rows sent, from 0, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<u16>,
    /// Lines of history above the screen.
    #[serde(default)]
    pub history: u64,
}

/// Cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CursorState {
    /// Row from 0.
    pub row: u16,
    /// Column from 0.
    pub col: u16,
    /// Shown.
    pub visible: bool,
    /// DECSCUSR parameter, 0 to 6.
    pub shape: u8,
}

/// Modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "terminal modes are independent switches")]
pub struct ScreenModes {
    /// Alternate screen.
    pub alt: bool,
    /// The program takes mouse clicks (1000, 1002 or 1003).
    pub mouse: bool,
    /// It takes drags (1002) or all motion (1003).
    pub mouse_motion: bool,
    /// Bracketed paste.
    pub paste: bool,
    /// Focus events.
    pub focus: bool,
    /// Wheel becomes arrows on the alternate screen.
    pub alternate_scroll: bool,
}

/// What one range of a row has beyond VT text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlay {
    /// Row from 0.
    pub row: u16,
    /// First column.
    pub from: u16,
    /// Column behind the last.
    pub to: u16,
    /// What.
    pub what: OverlayKind,
}

/// Kinds of overlay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlayKind {
    /// Struck out.
    Strike,
    /// Bold and dim together: dim on top of the bold that is sent.
    Dim,
    /// Hidden text (drawn as blanks).
    Hidden,
    /// Underline style: 2 double, 3 curly, 4 dotted, 5 dashed.
    Underline(u8),
    /// Underline colour.
    UnderlineColor([u8; 3]),
    /// Hyperlink.
    Link(String),
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    /// Too short or without the magic bytes.
    #[error("a frame of {0} bytes does not begin with the frame mark of this version")]
    NoMark(usize),
    /// Longer than allowed.
    #[error("a frame of {0} bytes is longer than {MAX_FRAME_BYTES}")]
    TooLong(usize),
    /// The head is cut off or not JSON.
    #[error("the head of a frame of {len} bytes cannot be read: {why}")]
    Head {
        /// Length of the frame.
        len: usize,
        /// Why.
        why: String,
    },
}

impl Frame {
    /// The frame as bytes: mark, length of the head (u32, big endian), head as JSON, VT text.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let head = serde_json::to_vec(&self.head).unwrap_or_default();
        let mut out = Vec::with_capacity(6 + head.len() + self.vt.len());
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&u32::try_from(head.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend_from_slice(&head);
        out.extend_from_slice(&self.vt);
        Bytes::from(out)
    }

    /// Reads what [`Frame::encode`] wrote.
    ///
    /// # Errors
    /// [`BadFrame`] for anything else.
    pub fn decode(bytes: &Bytes) -> Result<Self, BadFrame> {
        let len = bytes.len();
        if len > MAX_FRAME_BYTES {
            return Err(BadFrame::TooLong(len));
        }
        let (Some(mark), Some(size)) = (bytes.get(..2), bytes.get(2..6)) else {
            return Err(BadFrame::NoMark(len));
        };
        if mark != MAGIC {
            return Err(BadFrame::NoMark(len));
        }
        let size = u32::from_be_bytes([size[0], size[1], size[2], size[3]]) as usize;
        let end = size.saturating_add(6);
        let head =
            bytes.get(6..end).ok_or_else(|| BadFrame::Head { len, why: format!("it should have {size} bytes") })?;
        let head = serde_json::from_slice(head).map_err(|e| BadFrame::Head { len, why: e.to_string() })?;
        Ok(Self { head, vt: bytes.slice(end..) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_reads_back_and_garbage_does_not() {
        let frame = Frame {
            head: FrameHead { state: 7, base: 6, cols: 80, rows: 24, sent: vec![3], ..FrameHead::default() },
            vt: Bytes::from_static(b"\x1b[4;1H\x1b[mhi"),
        };
        let bytes = frame.encode();
        assert_eq!(Frame::decode(&bytes), Ok(frame));
        for cut in 0..bytes.len().min(40) {
            assert!(Frame::decode(&bytes.slice(..cut)).is_err(), "cut at {cut}");
        }
        assert_eq!(Frame::decode(&Bytes::from_static(b"hello, world")), Err(BadFrame::NoMark(12)));
        assert!(Frame::decode(&Bytes::from_static(b"F\x01\xff\xff\xff\xff")).is_err());
    }
}
