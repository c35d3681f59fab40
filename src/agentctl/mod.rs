//! The supervisor of one session: terminals, journal, hooks, observers, its server.
