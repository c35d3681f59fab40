//! A place in a list that is taller than its room.

use super::key::{Room, Step};

/// The chosen row, and the first that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The chosen row, from 0.
    pub at: usize,
    top: usize,
}

impl Place {
    /// The first row to be shown, so that the chosen one is in sight and no row is left empty.
    #[must_use]
    pub fn first(&self, count: usize, height: usize) -> usize {
        let height = height.max(1);
        let top = self.top.min(count.saturating_sub(height));
        if self.at < top { self.at } else { top.max((self.at + 1).saturating_sub(height)) }
    }

    /// Goes a step.
    pub fn step(&mut self, step: Step, count: usize, room: Room) {
        self.choose(step.from(self.at, count), count, room);
    }

    /// Chooses a row.
    pub fn choose(&mut self, at: usize, count: usize, room: Room) {
        self.top = self.first(count, room.height);
        self.at = at.min(count.saturating_sub(1));
        self.top = self.first(count, room.height);
    }

    /// The row stays in sight as well.
    pub fn see(&mut self, row: usize) {
        self.top = self.top.min(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_row_is_always_in_sight() {
        let mut place = Place::default();
        for height in [1, 3, 10, 30] {
            for step in [Step::Down(1), Step::Down(7), Step::End, Step::Up(1), Step::Up(4), Step::Home, Step::Down(9)] {
                place.step(step, 20, Room { width: 10, height });
                // The room changes between two keys, too.
                for height in [height, 2, 19] {
                    let first = place.first(20, height);
                    assert!(first <= place.at && place.at < first + height, "{place:?} {height}");
                    assert!(first + height <= 20 || first == 0, "{place:?} {height}");
                }
            }
        }
        place.step(Step::End, 0, Room { width: 1, height: 1 });
        assert_eq!(place.first(0, 0), 0);
    }
}
