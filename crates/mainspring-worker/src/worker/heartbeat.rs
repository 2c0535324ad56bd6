//! Keeps the leases: says that the worker lives, and hands on what it hears. Never judges silence: only the server knows whether
//! a lease was lost.

use std::sync::Arc;
use std::time::Duration;

use mainspring_wire::HeartbeatAnswer;

use super::incarnation::Standing;
use super::workplace::Workplace;
use crate::backoff::Backoff;
use crate::clock;
use crate::error::with_causes;

/// Beats until the server forgets the worker, or the task is dropped.
pub(super) async fn beat(workplace: Arc<Workplace>, standing: Standing, every: Duration) {
    // A beat that hangs must not eat up the lease that the next one would save.
    let client = workplace.client.clone().with_timeout(every.min(workplace.client.timeout()));
    let mut backoff = Backoff::of_a_loop();
    let mut recount = false;
    let mut wait = every;
    loop {
        clock::sleep(wait).await;
        let heartbeat = workplace.holds.heartbeat(recount);
        match client.heartbeat(standing.worker_id, &heartbeat).await {
            Ok(answer) => {
                recount = answer.recount;
                hear(&workplace, &standing, &answer);
                backoff.reset();
                wait = every;
            }
            Err(error) if error.is_unknown_worker() => return standing.forget(&workplace),
            Err(error) => {
                wait = backoff.next(clock::dice()).min(every);
                tracing::warn!(error = with_causes(&error), ?wait, "a heartbeat failed; trying again");
            }
        }
    }
}

fn hear(workplace: &Workplace, standing: &Standing, answer: &HeartbeatAnswer) {
    workplace.handle.vitals().heard_at = Some(clock::now());
    workplace.holds.hear(answer);
    standing.order(workplace, answer.order);
}
