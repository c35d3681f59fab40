//! Pictures of every screen.
