//! How an attempt ended, as its worker says. Each outcome has its own fields.

use std::time::Duration;

use mainspring_core::id::{Fence, LeaseId};
use mainspring_core::job::Json;
use mainspring_core::limits::{GATE_CLOSED_MAX, RESULT_BYTES_MAX};
use mainspring_core::name::TenantName;
use mainspring_core::verdict::Outcome;
use mainspring_engine::AttemptEnd;
use mainspring_wire::{self as wire, RawValue};

use crate::accept::{failure, json};
use crate::ask::FieldError;

/// The job is of the request's tenant, unless the settlement names another, as one that was claimed for all tenants does.
pub(crate) fn settlement(said: wire::Settlement, tenant: &TenantName) -> Result<AttemptEnd, FieldError> {
    if let Some(error) = foreign_field(&said) {
        return Err(error);
    }
    let tenant = match &said.tenant {
        Some(named) => TenantName::parse(named).map_err(|error| FieldError::invalid("tenant", error.to_string()))?,
        None => tenant.clone(),
    };
    let lease = LeaseId { job: said.job_id.into(), fence: Fence(said.fence) };
    let outcome = match said.outcome {
        wire::Outcome::Success => Outcome::Succeeded { result: result(said.result)? },
        wire::Outcome::Failure => {
            let Some(error) = said.error else {
                let message =
                    "must be given with outcome `failure`, such as {\"message\": \"the mail server said no\"}";
                return Err(FieldError::invalid("error", message));
            };
            failure(error, said.retry_after, said.never_retry)?
        }
        wire::Outcome::Snooze => {
            let Some(wait) = said.snooze_for else {
                return Err(FieldError::invalid("snooze_for", "must be given with outcome `snooze`, such as \"30s\""));
            };
            Outcome::Snoozed { wait: wait.into() }
        }
        wire::Outcome::RateLimited => {
            let Some(wait) = said.retry_after else {
                let message = "must be given with outcome `rate_limited`, such as \"30s\": how long to keep away";
                return Err(FieldError::invalid("retry_after", message));
            };
            // Cut and not refused: what the worker was told must get through, and whatever is closed opens again.
            Outcome::RateLimited { wait: Duration::from(wait).min(GATE_CLOSED_MAX) }
        }
        wire::Outcome::Release => Outcome::Released,
    };
    Ok(AttemptEnd { lease, tenant, outcome })
}

pub(crate) fn result(raw: Option<Box<RawValue>>) -> Result<Option<Json>, FieldError> {
    raw.map(|raw| json("result", raw, "result_bytes_max", RESULT_BYTES_MAX)).transpose()
}

/// A field that belongs to another outcome: the worker means something that would not happen.
fn foreign_field(said: &wire::Settlement) -> Option<FieldError> {
    use wire::Outcome::{Failure, RateLimited, Snooze, Success};
    let given: [(&'static str, bool, &[wire::Outcome]); 5] = [
        ("result", said.result.is_some(), &[Success]),
        ("error", said.error.is_some(), &[Failure]),
        ("retry_after", said.retry_after.is_some(), &[Failure, RateLimited]),
        ("never_retry", said.never_retry, &[Failure]),
        ("snooze_for", said.snooze_for.is_some(), &[Snooze]),
    ];
    let (field, _, owners) = given.into_iter().find(|(_, given, owners)| *given && !owners.contains(&said.outcome))?;
    let owners = owners.iter().map(|owner| format!("`{owner}`")).collect::<Vec<_>>().join(" or ");
    let message = format!("does not go with outcome `{}`, only with {owners}", said.outcome);
    Some(FieldError::invalid(field, message))
}
