//! Whose size a terminal has: that of the client that typed last. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::launch::Size;

/// A client that begins to type takes the size over once nobody else has typed for this long.
const HANDOVER: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, Default)]
struct Viewer {
    size: Option<Size>,
    typed: Option<Instant>,
}

/// The viewers of one terminal and their sizes.
#[derive(Debug, Default)]
pub struct Sizes {
    viewers: BTreeMap<u64, Viewer>,
    owner: Option<u64>,
}

impl Sizes {
    /// A viewer's pane has this size. The terminal's new size, if it changes.
    pub fn resized(&mut self, viewer: u64, size: Size) -> Option<Size> {
        self.viewers.entry(viewer).or_default().size = Some(size);
        let owner = *self.owner.get_or_insert(viewer);
        (owner == viewer).then_some(size)
    }

    /// A viewer types. The terminal's new size, if it changes.
    pub fn typed(&mut self, viewer: u64, now: Instant) -> Option<Size> {
        self.viewers.entry(viewer).or_default().typed = Some(now);
        if self.owner == Some(viewer) {
            return None;
        }
        let owner = self.owner.and_then(|owner| self.viewers.get(&owner)).and_then(|v| v.typed);
        if owner.is_some_and(|at| now < at + HANDOVER) {
            return None;
        }
        let size = self.viewers.get(&viewer)?.size?;
        self.owner = Some(viewer);
        Some(size)
    }

    /// A viewer is gone. The terminal's new size, if it changes.
    pub fn left(&mut self, viewer: u64) -> Option<Size> {
        self.viewers.remove(&viewer);
        if self.owner != Some(viewer) {
            return None;
        }
        let heirs = self.viewers.iter().filter(|(_, v)| v.size.is_some());
        let heir = heirs.max_by_key(|(_, v)| v.typed).map(|(id, v)| (*id, v.size));
        self.owner = heir.map(|(id, _)| id);
        heir.and_then(|(_, size)| size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_that_of_the_client_that_typed_last() {
        let (a, b) = (Size { cols: 80, rows: 24 }, Size { cols: 100, rows: 30 });
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut sizes = Sizes::default();
        assert_eq!(sizes.resized(1, a), Some(a), "the first one");
        assert_eq!(sizes.resized(2, b), None, "looking changes nothing");
        assert_eq!(sizes.typed(1, at(0)), None);
        assert_eq!(sizes.typed(2, at(500)), None, "1 still types");
        assert_eq!(sizes.typed(2, at(1000)), Some(b));
        assert_eq!(sizes.resized(1, a), None);
        assert_eq!(sizes.typed(3, at(9000)), None, "a client without a size never sets it");
        assert_eq!(sizes.left(2), Some(a), "back to who is left");
        assert_eq!(sizes.left(1), None);
        assert_eq!(sizes.resized(3, b), Some(b));
    }
}
