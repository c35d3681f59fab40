//! What keys, answers and events lead to.
