//! What a worker says of itself, and of what it holds.

use std::time::Duration;

use mainspring_core::id::{Fence, LeaseId};
use mainspring_core::limits::{BATCH_JOBS_MAX, CLAIM_QUEUES_MAX, LEASE_MAX, LEASE_MIN};
use mainspring_core::store::WorkerInfo;
use mainspring_wire::{Holding, Register};

use crate::accept::{Findings, claim};
use crate::ask::FieldError;
use crate::limits::{CONCURRENCY_MAX, WORKER_TEXT_BYTES_MAX};

const CONCURRENCY_DEFAULT: u32 = 10;

pub(crate) fn register(said: Register) -> Result<(WorkerInfo, Option<Duration>), Vec<FieldError>> {
    let mut found = Findings::default();
    for (field, text) in [("name", &said.name), ("host", &said.host), ("version", &said.version)] {
        let bytes = text.as_ref().map_or(0, String::len);
        if bytes > WORKER_TEXT_BYTES_MAX {
            found.add(FieldError::too_large(field, bytes, "worker_text_bytes_max", WORKER_TEXT_BYTES_MAX));
        }
    }
    if said.queues.len() > CLAIM_QUEUES_MAX {
        found.add(FieldError::too_many("queues", said.queues.len(), "claim_queues_max", CLAIM_QUEUES_MAX));
        return Err(found.0);
    }
    let queues = claim::queue_names(&said.queues, &mut found);
    let concurrency = said.concurrency.unwrap_or(CONCURRENCY_DEFAULT);
    if !(1..=CONCURRENCY_MAX).contains(&concurrency) {
        let error = FieldError::invalid("concurrency", format!("{concurrency} is not from 1 to {CONCURRENCY_MAX}"));
        found.add(error.limited("concurrency_max", CONCURRENCY_MAX.into()));
    }
    let lease = said.lease.map(Duration::from);
    if let (Some(lease), Some(said)) = (lease, said.lease)
        && !(LEASE_MIN..=LEASE_MAX).contains(&lease)
    {
        found.add(FieldError::invalid("lease", format!("{said} is not from 1s to 1h")));
    }
    let Register { name, host, pid, version, .. } = said;
    found.into_result((WorkerInfo { name, host, pid, version, queues, concurrency }, lease))
}

pub(crate) fn holding(said: Option<Vec<Holding>>) -> Result<Option<Vec<LeaseId>>, FieldError> {
    let Some(holding) = said else { return Ok(None) };
    if holding.len() > BATCH_JOBS_MAX {
        return Err(FieldError::too_many("holding", holding.len(), "batch_jobs_max", BATCH_JOBS_MAX));
    }
    let leases = holding.into_iter().map(|held| LeaseId { job: held.job_id.into(), fence: Fence(held.fence) });
    Ok(Some(leases.collect()))
}
