//! Processes: identity, pidfd, flock, mark scan, fence, detach.
