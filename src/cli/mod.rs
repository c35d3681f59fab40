//! Arguments, subcommands, and the one place where rooms are wired together.
