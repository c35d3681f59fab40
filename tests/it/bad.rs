//! Bad input: a clear error, a documented exit code, and nothing lost.

mod config;
