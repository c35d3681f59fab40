//! Which clients are screens, and how one client sends the others away.
//!
//! A screen names itself. One whose connection broke is remembered, so that it is sent away too when it comes back.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::host::api::ClientId;
use crate::serve::outbox::Outbox;
use crate::wire::host::Push;

/// What a screen that is sent away is told.
const WHY: &str = "Detached by another client.";
/// Names of screens without a connection that are remembered, and of those sent away: far more than come and go.
const NAMES: usize = 256;

/// One connected screen.
#[derive(Debug)]
struct Screen {
    name: String,
    outbox: Arc<Outbox>,
}

#[derive(Debug, Default)]
struct Table {
    here: BTreeMap<ClientId, Screen>,
    /// Whose connection ended; most of them never come back.
    gone: VecDeque<String>,
    sent_away: VecDeque<String>,
}

/// The screens of one served host.
#[derive(Debug, Default)]
pub struct Screens {
    table: Mutex<Table>,
}

impl Screens {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Client `id` is the screen `name`. One that was sent away while it had no connection is sent away now.
    pub fn came(&self, id: ClientId, name: String, outbox: &Arc<Outbox>) {
        let screen = Screen { name, outbox: Arc::clone(outbox) };
        let mut table = self.table();
        if table.sent_away.contains(&screen.name) {
            screen.send_away();
        } else {
            table.gone.retain(|gone| *gone != screen.name);
            table.here.insert(id, screen);
        }
    }

    /// Client `id` has no connection any more.
    pub fn left(&self, id: ClientId) {
        let mut table = self.table();
        if let Some(screen) = table.here.remove(&id) {
            remember(&mut table.gone, screen.name);
        }
    }

    /// Sends every screen but that of client `id` away; how many were connected. Waits for none of them.
    pub fn detach_others(&self, id: ClientId) -> u32 {
        let mut table = self.table();
        let (mine, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut table.here).into_iter().partition(|(other, _)| *other == id);
        table.here = mine;
        let away: Vec<String> = table.gone.drain(..).collect();
        for name in away {
            remember(&mut table.sent_away, name);
        }
        let count = others.len();
        for screen in others.into_values() {
            screen.send_away();
            remember(&mut table.sent_away, screen.name);
        }
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

impl Screen {
    /// Its outbox closes at once, also when it takes nothing: with that its streams end, and its say about sizes.
    fn send_away(&self) {
        if self.outbox.push(&Push::Detached { why: WHY.into() }).is_err() {
            tracing::debug!(name = self.name, "a screen is too far behind to be told that it is detached");
        }
        self.outbox.close("detached by another client");
    }
}

fn remember(names: &mut VecDeque<String>, name: String) {
    if names.len() >= NAMES {
        names.pop_front();
    }
    names.push_back(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(screens: &Screens, id: u64, name: &str) -> Arc<Outbox> {
        let outbox = Arc::new(Outbox::default());
        screens.came(ClientId(id), name.into(), &outbox);
        outbox
    }

    fn stays(outbox: &Outbox) -> bool {
        !outbox.is_closed()
    }

    #[test]
    fn all_but_the_one_that_asks_are_sent_away_also_one_that_is_not_there_at_the_moment() {
        let screens = Screens::default();
        let (one, two) = (came(&screens, 1, "one"), came(&screens, 2, "two"));
        came(&screens, 3, "lost its connection");
        screens.left(ClientId(3));
        assert_eq!(screens.detach_others(ClientId(2)), 1);
        assert!(!stays(&one) && stays(&two));
        assert!(!stays(&came(&screens, 4, "one")), "it was told to stay away");
        assert!(!stays(&came(&screens, 5, "lost its connection")));
        assert!(stays(&came(&screens, 6, "another")), "who comes later is welcome");
        assert_eq!(screens.detach_others(ClientId(7)), 2, "whoever asks need not be a screen");
    }

    #[test]
    fn a_screen_that_only_came_back_is_no_longer_gone() {
        let screens = Screens::default();
        came(&screens, 1, "one");
        screens.left(ClientId(1));
        let back = came(&screens, 2, "one");
        assert_eq!(screens.detach_others(ClientId(2)), 0);
        assert!(stays(&back) && stays(&came(&screens, 3, "one")));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let screens = Screens::default();
        for id in 0..1_000 {
            came(&screens, id, &format!("screen {id}"));
            screens.left(ClientId(id));
        }
        screens.detach_others(ClientId(5_000));
        let table = screens.table();
        assert_eq!((table.gone.len(), table.sent_away.len()), (0, NAMES));
    }
}
