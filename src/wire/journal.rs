//! Records of an agentctl's journal, as they travel. The types are plain values of `domain`, since the store applies them.

pub use crate::domain::journal::{Body, Record, Signal};
