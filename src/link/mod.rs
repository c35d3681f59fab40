//! Byte streams between the processes: both halves, and the typed clients.
