//! The recordings of `tests/recordings`, for tests: what five agents wrote, with the sizes that their terminal had.

use crate::domain::launch::Size;

/// One recording.
pub(super) struct Recording {
    pub name: &'static str,
    pub bytes: &'static [u8],
    about: &'static str,
}

macro_rules! recording {
    ($name:literal) => {
        Recording {
            name: $name,
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/", $name, ".raw")),
            about: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/", $name, ".json")),
        }
    };
}

pub(super) const ALL: [Recording; 32] = [
    recording!("claude-fullscreen-permission-exit-100x30"),
    recording!("claude-ghostty-osc9-100x30"),
    recording!("claude-noreply-100x30"),
    recording!("claude-permission-prompt-100x30"),
    recording!("claude-resume-exit-100x30"),
    recording!("claude-resume-fullscreen-sigkill-100x30"),
    recording!("claude-start-prompt-sigkill-100x30"),
    recording!("claude-stream-sigkill-80x24"),
    recording!("claude-trust-dialog-100x30"),
    recording!("codex-approval-100x30"),
    recording!("codex-hooks-exit-100x30"),
    recording!("codex-noreply-100x30"),
    recording!("codex-resume-resize-exit-100x30"),
    recording!("codex-resume-sigterm-100x30"),
    recording!("codex-start-prompt-sigkill-100x30"),
    recording!("codex-stream-sigkill-80x24"),
    recording!("codex-trust-dialog-100x30"),
    recording!("codex-unfocused-osc9-100x30"),
    recording!("gemini-approval-100x30"),
    recording!("gemini-noreply-100x30"),
    recording!("gemini-resume-resize-exit-100x30"),
    recording!("gemini-start-prompt-sigkill-100x30"),
    recording!("opencode-noreply-100x30"),
    recording!("opencode-permission-100x30"),
    recording!("opencode-resume-resize-exit-100x30"),
    recording!("opencode-start-prompt-sigkill-100x30"),
    recording!("opencode-stream-sigkill-80x24"),
    recording!("vibe-approval-100x30"),
    recording!("vibe-continue-resize-exit-100x30"),
    recording!("vibe-noreply-100x30"),
    recording!("vibe-start-prompt-sigkill-100x30"),
    recording!("vibe-trust-100x30"),
];

impl Recording {
    /// Size at the start, then each later size with the offset where it came.
    pub(super) fn sizes(&self) -> (Size, Vec<(usize, Size)>) {
        let about: serde_json::Value = serde_json::from_str(self.about).unwrap();
        let size = |v: &serde_json::Value| {
            let side = |name: &str| u16::try_from(v[name].as_u64().unwrap()).unwrap();
            Size { cols: side("cols"), rows: side("rows") }
        };
        let resizes = about["resizes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let later = resizes.iter().map(|r| (usize::try_from(r["offset"].as_u64().unwrap()).unwrap(), size(r)));
        (size(&about), later.collect())
    }
}
