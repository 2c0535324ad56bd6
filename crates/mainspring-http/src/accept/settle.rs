//! How an attempt ended, as its worker says. Each outcome has its own fields.

use mainspring_core::id::{Fence, LeaseId};
use mainspring_core::job::Json;
use mainspring_core::limits::RESULT_BYTES_MAX;
use mainspring_core::name::TenantName;
use mainspring_core::verdict::Outcome;
use mainspring_engine::AttemptEnd;
use mainspring_wire::{self as wire, RawValue};

use crate::accept::{failure, json};
use crate::ask::FieldError;

pub(crate) fn settlement(said: wire::Settlement, tenant: &TenantName) -> Result<AttemptEnd, FieldError> {
    if let Some(error) = foreign_field(&said) {
        return Err(error);
    }
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
        wire::Outcome::Release => Outcome::Released,
    };
    Ok(AttemptEnd { lease, tenant: tenant.clone(), outcome })
}

pub(crate) fn result(raw: Option<Box<RawValue>>) -> Result<Option<Json>, FieldError> {
    raw.map(|raw| json("result", raw, "result_bytes_max", RESULT_BYTES_MAX)).transpose()
}

/// A field that belongs to another outcome: the worker means something that would not happen.
fn foreign_field(said: &wire::Settlement) -> Option<FieldError> {
    let given = [
        ("result", said.result.is_some(), wire::Outcome::Success),
        ("error", said.error.is_some(), wire::Outcome::Failure),
        ("retry_after", said.retry_after.is_some(), wire::Outcome::Failure),
        ("never_retry", said.never_retry, wire::Outcome::Failure),
        ("snooze_for", said.snooze_for.is_some(), wire::Outcome::Snooze),
    ];
    let (field, _, owner) = given.into_iter().find(|&(_, given, owner)| given && owner != said.outcome)?;
    let message = format!("does not go with outcome `{}`, only with `{owner}`", said.outcome);
    Some(FieldError::invalid(field, message))
}
