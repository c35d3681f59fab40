//! The terminal user interface. Pure: [`state`], [`msg`], [`update`], [`view`] and [`keymap`], with what they are made of.
//! [`run()`] is the driver: it owns the outer terminal and the link to the host, does what `update` orders and draws what
//! `view` makes of the state.

pub mod badge;
mod calls;
mod can;
pub mod chord;
mod complete;
pub mod desk;
pub mod edit;
mod error;
pub mod explain;
pub mod form;
pub mod help;
pub mod keymap;
pub mod layout;
mod look;
pub mod msg;
pub mod notice;
mod options;
mod outer;
pub mod painter;
pub mod palette;
pub mod pane;
pub mod panel;
pub mod picture;
mod reach;
mod reports;
mod run;
#[cfg(test)]
mod samples;
pub mod sidebar;
pub mod spot;
pub mod state;
pub mod tabbar;
mod testpoint;
pub mod update;
pub mod view;

pub use error::Error;
pub use msg::Exit;
pub use options::{Options, StartHost};
pub use run::run;
