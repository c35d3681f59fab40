//! Looks at files that wait no longer than a while.

use std::time::Duration;

use crate::cli::doctor::facts::Probe;

/// How long a look at files may take: a disk that answers does so at once, and one on a network that is away never.
const DEADLINE: Duration = Duration::from_secs(3);

/// Does `work` on a thread of its own, and waits for it no longer than a while.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Probe<T> {
    within(DEADLINE, work).await
}

/// The same with another deadline.
pub async fn within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> Probe<T> {
    match tokio::time::timeout(limit, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", limit.as_secs())),
    }
}
