//! Exactly once: whoever asks, and how many ask at the same time.

mod adopt;
mod owners;
mod race;
mod siblings;
