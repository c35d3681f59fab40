//! What is known about each agent CLI: arguments, what to watch and how to read it. Pure.
