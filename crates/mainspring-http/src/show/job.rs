//! A job as an API user sees it.

use mainspring_core::job::{Dependency, Failure, JobView, Standing};
use mainspring_core::lifecycle::State;
use mainspring_core::limits;
use mainspring_core::retry::{Backoff, RetryPolicy};
use mainspring_wire::{self as wire, DependsOn, RetryStrategy, Span};

use crate::convert::{on_failure, raw, stamp, status};

pub(crate) fn job(view: &JobView) -> wire::JobView {
    let JobView { job, standing } = view;
    let ended = standing.ended.as_ref();
    wire::JobView {
        job_id: job.id.uuid(),
        tenant: job.tenant.to_string(),
        kind: job.kind.to_string(),
        queue: job.queue.to_string(),
        status: status(view.status()),
        paused: standing.paused,
        data: raw(&job.data),
        priority: job.priority.value().into(),
        tags: job.tags.iter().map(ToString::to_string).collect(),
        submitted_at: stamp(job.submitted_at),
        run_at: stamp(job.run_at),
        next_fire_time: (standing.state == State::Waiting).then(|| stamp(standing.ready_at)),
        deadline: job.deadline.map(stamp),
        expires_at: job.expires_at.map(stamp),
        timeout: job.timeout.map(Span::from),
        retry: retry(&job.retry),
        max_attempts: job.max_attempts,
        max_crashes: job.max_crashes,
        attempts: standing.tally.attempts,
        retry_count: standing.tally.retries(),
        failures: standing.tally.failures,
        crashes: standing.tally.crashes,
        idempotency_key: job.idempotency.as_ref().map(|idempotency| idempotency.key.to_string()),
        depends_on: job.depends_on.iter().map(depends_on).collect(),
        concurrency_key: job.keys.concurrency.as_ref().map(ToString::to_string),
        rate_key: job.keys.rate.as_ref().map(ToString::to_string),
        weight: weight(job.keys.weight),
        schedule_id: job.origin.as_ref().map(|origin| origin.schedule.to_string()),
        occurrence: job.origin.as_ref().map(|origin| stamp(origin.occurrence)),
        workflow_id: job.workflow.as_ref().map(|place| place.workflow.0),
        step: job.workflow.as_ref().map(|place| place.step.to_string()),
        lease: lease(standing),
        checkpoint: standing.checkpoint.as_ref().map(raw),
        progress: standing.progress.clone().map(|said| wire::Progress { percent: said.percent, note: said.note }),
        result: ended.and_then(|ended| ended.result.as_ref()).map(raw),
        error: standing.last_error.as_ref().map(failure),
        ended_at: ended.map(|ended| stamp(ended.at)),
        cancel_reason: ended.and_then(|ended| ended.reason.clone()),
    }
}

pub(crate) fn failure(error: &Failure) -> wire::ErrorView {
    wire::ErrorView { message: error.message.clone(), kind: error.kind.clone(), detail: error.detail.clone() }
}

fn depends_on(one: &Dependency) -> DependsOn {
    DependsOn { job_id: one.parent.uuid(), on_failure: on_failure(one.on_failure) }
}

/// Nearly every job takes 1, which goes without saying.
pub(super) fn weight(weight: u16) -> Option<u32> {
    (weight != 1).then_some(weight.into())
}

fn lease(standing: &Standing) -> Option<wire::LeaseView> {
    let lease = standing.lease.as_ref()?;
    Some(wire::LeaseView {
        worker_id: lease.worker.0,
        fence: lease.fence.0,
        attempt: standing.tally.attempts,
        claimed_at: stamp(lease.claimed_at),
        started_at: lease.started_at.map(stamp),
        timeout_at: lease.timeout_at.map(stamp),
        cancel_requested: lease.cancel_asked.is_some(),
    })
}

pub(super) fn retry(policy: &RetryPolicy) -> wire::RetryPolicy {
    let span = |wait| Some(Span::from(wait));
    let (strategy, base, factor, delays) = match &policy.backoff {
        Backoff::Fixed { delay } => (RetryStrategy::Fixed, span(*delay), None, None),
        Backoff::Linear { step } => (RetryStrategy::Linear, span(*step), None, None),
        Backoff::Exponential { base, factor } => (RetryStrategy::Exponential, span(*base), Some(*factor), None),
        Backoff::List { delays } => {
            (RetryStrategy::List, None, None, Some(delays.iter().copied().map(Span::from).collect()))
        }
    };
    // The longest span there is caps nothing.
    let cap = (policy.cap < limits::SPAN_MAX).then(|| Span::from(policy.cap));
    wire::RetryPolicy { strategy, base, cap, factor, jitter: Some(policy.jitter), delays }
}
