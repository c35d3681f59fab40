//! Starts, resizes, signals and reaps programs on PTYs; reader and writer apart, both bounded.
