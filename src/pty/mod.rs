//! Starts, resizes, signals and reaps programs on PTYs; reader and writer apart, both bounded.
//!
//! The program's end and the end of its output are two events: a background process that holds the terminal keeps the
//! output open after the program has ended.

pub mod check;
pub mod control;
pub mod error;
pub mod exit;
pub mod reader;
pub mod spawn;
pub mod writer;

#[cfg(test)]
mod tests;
