//! Bad input: a clear error, a documented exit code, and nothing lost.

mod agents;
mod calls;
mod config;
mod database;
mod disk;
mod frames;
mod garbage;
mod machine;
mod names;
mod peers;
mod places;
mod removed;
mod support;
mod terminals;
mod versions;
