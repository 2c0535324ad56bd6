//! The worker's life: register, work, and when it is told to, shut down without losing an attempt.
//!
//! Shutting down: no more claims → running handlers may finish within the grace → the rest is asked to stop → what does not is
//! dropped and given back → what ended is settled → leave. Heartbeats go on until the leave.

use std::sync::Arc;
use std::time::Duration;

use mainspring_wire::Order;
use tokio::task::JoinSet;

use super::Worker;
use super::claim::{self, Attempts};
use super::incarnation::Incarnation;
use super::settle;
use super::workplace::Workplace;
use crate::error::Result;

/// How long the last settlements may take to reach the server when the worker goes.
const LAST_SETTLE_WAIT_MAX: Duration = Duration::from_secs(10);
/// How long to say goodbye.
const LEAVE_WAIT_MAX: Duration = Duration::from_secs(3);
/// A dropped handler is gone at its next `await`. One that never comes to it is left behind.
const DROPPED_WAIT_MAX: Duration = Duration::from_secs(1);

/// Why the worker ends.
enum End {
    /// Running handlers may finish.
    Gently,
    /// An operator wants it gone.
    Terminated,
}

pub(super) async fn run(worker: Worker, shutdown: impl Future<Output = ()>) -> Result<()> {
    let workplace = Workplace::new(worker);
    let mut settler = JoinSet::new();
    settler.spawn(settle::send(Arc::clone(&workplace)));
    let mut attempts = Attempts::new();
    let mut incarnation = None;

    let end = tokio::select! {
        biased;
        () = shutdown => Ok(End::Gently),
        () = workplace.handle.stopped() => Ok(End::Gently),
        end = work(&workplace, &mut incarnation, &mut attempts) => end,
    };
    let grace = match end {
        Ok(End::Terminated) => Duration::ZERO,
        Ok(End::Gently) | Err(_) => workplace.settings.grace,
    };
    finish_attempts(&workplace, attempts, grace).await;
    if tokio::time::timeout(LAST_SETTLE_WAIT_MAX, settler.join_next()).await.is_err() {
        tracing::warn!(
            "the server did not take the last settlements; their jobs are given to others when the lease ends"
        );
    }
    if let Some(incarnation) = incarnation {
        leave(&workplace, incarnation).await;
    }
    end.map(drop)
}

/// Works as one incarnation after the other.
async fn work(workplace: &Arc<Workplace>, current: &mut Option<Incarnation>, attempts: &mut Attempts) -> Result<End> {
    loop {
        // The one before is dropped first, and its heartbeats with it.
        *current = None;
        let incarnation = current.insert(Incarnation::begin(workplace).await?);
        tokio::select! {
            biased;
            () = incarnation.standing.forgotten() => {}
            () = incarnation.standing.ordered(Order::Terminate) => return Ok(End::Terminated),
            error = claim::poll(workplace, incarnation, attempts) => return Err(error),
        }
    }
}

async fn finish_attempts(workplace: &Workplace, attempts: Attempts, grace: Duration) {
    workplace.handle.vitals().polls = false;
    let running = workplace.handle.running();
    tracing::info!(running, ?grace, "shutting down");
    if !workplace.emptied_within(grace).await {
        workplace.holds.stop_all(crate::stop::StopReason::ShuttingDown);
        let wait = workplace.settings.stop_grace + DROPPED_WAIT_MAX;
        if !workplace.emptied_within(wait).await {
            tracing::warn!("a handler does not end; it is left behind");
        }
    }
    drop(attempts);
    // The settler ends when it has sent what is left.
    workplace.outbox.close();
}

async fn leave(workplace: &Workplace, incarnation: Incarnation) {
    let worker_id = incarnation.worker_id;
    // A beat after the leave would only be told that nobody knows it.
    drop(incarnation);
    match tokio::time::timeout(LEAVE_WAIT_MAX, workplace.client.leave(worker_id)).await {
        Ok(Ok(())) => tracing::info!(%worker_id, "left"),
        Ok(Err(error)) if error.is_unknown_worker() => tracing::debug!(%worker_id, "was forgotten before it left"),
        Ok(Err(error)) => tracing::warn!(%worker_id, %error, "could not say goodbye"),
        Err(_) => tracing::warn!(%worker_id, "could not say goodbye in time"),
    }
    workplace.handle.vitals().worker_id = None;
}
