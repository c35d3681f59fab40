//! What the integration tests stand on: an instance of their own, waits with words, and readers of what relight tells.

#![allow(dead_code, reason = "each helper is there for the tests that need it")]

pub mod client;
pub mod home;
pub mod kill;
pub mod missing;
pub mod modes;
pub mod pane;
pub mod reply;
pub mod terminal;
pub mod told;
pub mod tui;
pub mod wait;

pub use home::Home;
pub use missing::missing;
