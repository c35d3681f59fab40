//! The relight program: everything is in the library.

fn main() {}
