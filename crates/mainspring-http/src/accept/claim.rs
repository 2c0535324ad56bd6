//! A worker's ask for jobs.

use std::time::Duration;

use mainspring_core::id::WorkerId;
use mainspring_core::limits::{CLAIM_JOBS_MAX, CLAIM_QUEUES_MAX};
use mainspring_core::name::{QueueName, TenantName};
use mainspring_core::store::Whose;
use mainspring_engine::ClaimAsk;
use mainspring_wire::{ClaimRequest, Tenants};

use crate::accept::Findings;
use crate::ask::FieldError;

/// A longer wait than the server's is cut to it: an early empty answer costs the worker one more call. Beside settlements
/// there is no wait: their results must not be held back for it. The settlements themselves are not looked at here.
pub(crate) fn claim(said: &ClaimRequest, tenant: TenantName, wait_max: Duration) -> Result<ClaimAsk, Vec<FieldError>> {
    let mut found = Findings::default();
    if said.queues.is_empty() {
        found.add(FieldError::invalid("queues", "is empty: name at least one queue"));
    }
    if said.queues.len() > CLAIM_QUEUES_MAX {
        found.add(FieldError::too_many("queues", said.queues.len(), "claim_queues_max", CLAIM_QUEUES_MAX));
        return Err(found.0);
    }
    let max = said.max as usize;
    if !(1..=CLAIM_JOBS_MAX).contains(&max) {
        let error = FieldError::invalid("max", format!("{max} is not from 1 to {CLAIM_JOBS_MAX}"));
        found.add(error.limited("claim_jobs_max", CLAIM_JOBS_MAX as u64));
    }
    let queues = queue_names(&said.queues, &mut found);
    let wait = said.wait.filter(|_| said.settlements.is_empty()).map(Duration::from).unwrap_or_default().min(wait_max);
    let whose = match said.tenants {
        Tenants::Own => Whose::Own,
        Tenants::All => Whose::All,
    };
    found.into_result(ClaimAsk { worker: WorkerId(said.worker_id), tenant, whose, queues, max, wait })
}

/// Each once, in the order given.
pub(super) fn queue_names(texts: &[String], found: &mut Findings) -> Vec<QueueName> {
    let mut queues: Vec<QueueName> = Vec::with_capacity(texts.len());
    for (at, text) in texts.iter().enumerate() {
        match QueueName::parse(text) {
            Ok(queue) if queues.contains(&queue) => {}
            Ok(queue) => queues.push(queue),
            Err(error) => found.add(FieldError::invalid(format!("queues[{at}]"), error.to_string())),
        }
    }
    queues
}
