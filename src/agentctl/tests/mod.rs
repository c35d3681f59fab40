//! Tests of a whole agentctl inside the test's process: real programs on real PTYs, a real socket, a real journal.

mod bed;
mod crash;
mod launching;
mod screen;
mod serving;
