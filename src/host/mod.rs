//! Decides, recovers, resumes, queues, records, publishes.

pub mod api;
