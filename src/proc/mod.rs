//! Processes: identity, clock, pidfd, lock, marks, fence, detach, subreaper, autogroup, limits, named test points.
//!
//! A process is named by boot id, pid and start time and held as a pidfd, never by a name. A zombie counts as dead.

pub mod ask;
pub mod autogroup;
pub mod clock;
pub mod detach;
pub mod error;
pub mod fence;
pub mod identity;
pub mod limits;
pub mod lock;
pub mod marks;
pub mod pidfd;
pub mod program;
pub mod ready;
pub mod reap;
pub mod table;
pub mod testpoint;
