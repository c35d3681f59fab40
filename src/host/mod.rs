//! Decides, recovers, resumes, queues, records, publishes.
