//! The demo agent: a small honest agent CLI, real in every respect but the model.
