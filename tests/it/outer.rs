//! The outer terminal: the built program on real ones, how it leaves them, what it takes of them and what it costs.

mod kinds;
mod mouse;
mod quiet;
mod ssh;
mod ways_out;
