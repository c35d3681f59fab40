//! Integration tests: one binary. Tests that need a real Docker engine, sshd or agent CLI name what is missing.

mod architecture;
