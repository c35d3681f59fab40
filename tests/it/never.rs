//! What never happens: an end that a person chose is undone by nothing, a failure does not loop, a token is not lost.

mod failed;
mod fresh;
mod stopped;
mod workspace;
