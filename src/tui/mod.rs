//! The terminal user interface: state, update, view, keys.
