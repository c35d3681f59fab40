//! The only room that speaks SQLite: migrations, typed rows, one transaction per change.
