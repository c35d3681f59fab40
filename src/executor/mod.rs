//! Launches, recovers and stops an agentctl, wherever it runs.
