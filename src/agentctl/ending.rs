//! Ends terminals: one that a person closes, or all when this agentctl is told to end.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::domain::ids::TerminalId;
use crate::domain::journal::Body;
use crate::domain::words::{ErrorCode, TerminalKind};
use crate::proc::fence::{Fence, fence};
use crate::proc::pidfd::{PidFd, Signal};
use crate::wire::agentctl::{CloseReply, CloseRequest};
use crate::wire::host::WireError;

use super::kept;
use super::order::{Handle, Order, not_found};
use super::shared::{Phase, Shared};

/// A closed program gets this long for its goodbye.
const CLOSE_GRACE: Duration = Duration::from_secs(3);
/// So does everything at the end; an orderly shutdown of the box gives us more than that.
const END_GRACE: Duration = Duration::from_secs(5);
/// After the last process is gone its exit is in the journal within this time, or never.
const RECORD_WAIT: Duration = Duration::from_secs(3);
/// A launch under way when the end comes is waited for this long.
const LAUNCH_WAIT: Duration = Duration::from_secs(5);
/// The host may read the last records this long.
pub const FEED_WAIT: Duration = Duration::from_secs(2);

/// Ends a terminal and all it left, and forgets its screen.
///
/// # Errors
/// `terminal_not_found` for one that was never heard of, `terminal_busy`, `fence_failed` when something does not end.
pub async fn close(shared: &Arc<Shared>, id: &TerminalId, request: CloseRequest) -> Result<CloseReply, WireError> {
    let known = shared.ledger.facts(|facts| facts.terminal(id).cloned()).ok_or_else(|| not_found(id))?;
    let handle = shared.terminal(id).ok();
    let shell = handle.as_ref().filter(|handle| request.unless_busy && handle.kind == TerminalKind::Shell);
    if let Some(program) = shell.and_then(|shell| shell.foreground()) {
        let text = format!("`{program}` runs in this shell");
        return Err(WireError::new(ErrorCode::TerminalBusy, text).hint("close it all the same with force"));
    }
    if let Some(handle) = &handle {
        hang_up(handle);
    }
    let leaders = known.identity.iter().cloned().collect();
    let report = fence(Fence { marks: vec![id.to_string()], leaders, grace: CLOSE_GRACE }).await;
    let problem = match &report {
        Ok(report) => report.left.first().map(|left| format!("process {} does not end", left.pid)),
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = problem {
        return Err(WireError::new(ErrorCode::FenceFailed, format!("terminal `{id}` cannot be closed: {problem}")));
    }
    let mut exit = known.exit;
    if let Some(handle) = handle {
        exit = timeout(RECORD_WAIT, handle.ended()).await.unwrap_or_default();
        // It may be gone already, by another caller.
        let _ = handle.order(Order::End).await;
        shared.remove(id);
    }
    kept::remove(&shared.dir, id);
    Ok(CloseReply { exit, ended: report.map_or(0, |report| report.ended) })
}

/// Interactive shells do not hear SIGTERM; SIGHUP they do, and pass it on.
fn hang_up(handle: &Handle) {
    if handle.kind == TerminalKind::Shell
        && handle.exit().is_none()
        && let Ok(Some(process)) = PidFd::open(&handle.identity)
    {
        // What does not hear it is fenced.
        let _ = process.signal(Signal::HUP);
    }
}

/// Ends everything, because of `by`: says so in the journal first, then the terminals, then their exits.
pub async fn end(shared: &Arc<Shared>, by: &str) {
    if !shared.advance(Phase::Ending) {
        return;
    }
    tracing::info!(by, "told to end");
    shared.ledger.note(Body::ToldToEnd { by: by.to_owned() });
    let launching = timeout(LAUNCH_WAIT, shared.launching.lock()).await;
    let handles = shared.terminals();
    for handle in &handles {
        hang_up(handle);
    }
    let marks = handles.iter().map(|handle| handle.id.to_string()).collect();
    let leaders = handles.iter().map(|handle| handle.identity.clone()).collect();
    match fence(Fence { marks, leaders, grace: END_GRACE }).await {
        Ok(report) => {
            for left in report.left {
                tracing::error!(pid = left.pid, "a process does not end");
            }
        }
        Err(error) => tracing::error!(%error, "terminals cannot be ended"),
    }
    for handle in &handles {
        if timeout(RECORD_WAIT, handle.ended()).await.is_err() {
            tracing::error!(terminal = %handle.id, "its exit was not seen");
        }
    }
    if let Err(error) = shared.ledger.settle() {
        tracing::error!(%error, "the journal's end is not on disk");
    }
    drop(launching);
    shared.advance(Phase::Ended);
}
