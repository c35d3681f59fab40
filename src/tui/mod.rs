//! The terminal user interface: state, update, view, keys.

pub mod badge;
pub mod chord;
pub mod edit;
pub mod form;
pub mod keymap;
pub mod layout;
pub mod msg;
pub mod notice;
pub mod palette;
pub mod picture;
pub mod state;
pub mod tabbar;
pub mod update;
pub mod view;
