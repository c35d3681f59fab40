//! Terminal model, history, replies and signals; frames; what a pane draws; keys. Pure.
//!
//! Bytes of a program go into [`model::Model`], which keeps the one true screen, answers queries and reports signals.
//! [`frames::Framer`] turns its changes into frames, which [`view::View`] parses and draws. [`decode::Decoder`] reads what
//! the outer terminal sends, and [`encode`] writes what the program asked to read.

#![allow(clippy::similar_names, reason = "modes and mods are the standard words for two different things")]

pub mod decode;
pub mod encode;
pub mod event;
pub mod frames;
pub mod model;
pub mod modes;
pub mod pane;
pub mod view;

mod cell;
mod csi;
mod decode_csi;
mod decode_escape;
mod decode_plain;
mod interpret;
mod keyboard;
mod keytable;
mod kitty;
mod legacy;
mod osc;
mod outer;
mod palette;

mod reply;
mod row;
mod sniff;
mod style;
mod text;

#[cfg(test)]
mod equality;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod key_tests;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod recordings;
#[cfg(test)]
mod view_tests;
