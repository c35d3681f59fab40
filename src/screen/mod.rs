//! Terminal model, history, replies and signals; frames; what a pane draws; keys. Pure.
//!
//! Bytes of a program go into [`model::Model`], which keeps the one true screen, answers queries and reports signals.
//! [`frames::Framer`] turns its changes into frames, which [`view::View`] parses and draws. [`decode::Decoder`] reads what
//! the outer terminal sends, and [`encode`] writes what the program asked to read.

pub mod decode;
pub mod encode;
pub mod event;
pub mod frames;
pub mod model;
pub mod modes;
pub mod view;
