//! Changes that people ask of jobs and queues.

use mainspring_core::job::Json;
use mainspring_core::limits::{DATA_BYTES_MAX, NOTE_BYTES_MAX, SPAN_MAX};
use mainspring_core::rank::Aging;
use mainspring_core::store::{JobCommand, QueueCommand};
use mainspring_core::time::Time;
use mainspring_wire::{CancelRequest, JobPatch, QueuePatch, RawValue};

use crate::accept::{Findings, json, submit};
use crate::ask::FieldError;
use crate::convert::time;

pub(crate) fn update(said: JobPatch, now: Time) -> Result<JobCommand, Vec<FieldError>> {
    let mut found = Findings::default();
    if said.data.is_none() && said.priority.is_none() && said.run_at.is_none() && said.delay.is_none() {
        let message = "there is nothing to change: give data, priority, run_at or delay";
        return Err(vec![FieldError::invalid("data", message)]);
    }
    let data = found.keep(new_data(said.data));
    let priority = said.priority.map(|value| submit::priority("priority", Some(value)));
    let priority = found.keep(priority.transpose());
    if said.run_at.is_some() && said.delay.is_some() {
        found.add(FieldError::invalid("delay", "run_at and delay both say when: give one of them"));
    }
    let run_at = said.run_at.map(time).or(said.delay.map(|delay| now.after(delay.into())));
    if run_at.is_some_and(|at| at > now.after(SPAN_MAX)) {
        found.add(FieldError::invalid("run_at", "lies more than 100 years ahead"));
    }
    found.into_result(JobCommand::Update { data, priority, run_at })
}

pub(crate) fn new_data(raw: Option<Box<RawValue>>) -> Result<Option<Json>, FieldError> {
    raw.map(|raw| json("data", raw, "data_bytes_max", DATA_BYTES_MAX)).transpose()
}

pub(crate) fn cancel_reason(said: CancelRequest) -> Result<String, FieldError> {
    let reason = said.reason.unwrap_or_else(|| "asked through the API".to_owned());
    if reason.len() > NOTE_BYTES_MAX {
        return Err(FieldError::too_large("reason", reason.len(), "note_bytes_max", NOTE_BYTES_MAX));
    }
    Ok(reason)
}

pub(crate) fn queue_commands(said: QueuePatch) -> Result<Vec<QueueCommand>, Vec<FieldError>> {
    let mut found = Findings::default();
    let mut commands = Vec::new();
    if let Some(factor) = said.age_factor {
        match Aging::from_factor(factor) {
            Some(aging) => commands.push(QueueCommand::SetAging(aging)),
            None => {
                let (min, max) = (Aging::FACTOR_MIN, Aging::FACTOR_MAX);
                let message = format!("{factor} is neither 0, for strict order, nor from {min} to {max}");
                found.add(FieldError::invalid("age_factor", message));
            }
        }
    }
    match said.max_depth {
        None => {}
        Some(Some(0)) => {
            found.add(FieldError::invalid("max_depth", "is zero: the queue would take nothing. Pause it instead"));
        }
        Some(bound) => commands.push(QueueCommand::SetMaxDepth(bound)),
    }
    if commands.is_empty() && found.0.is_empty() {
        let message = "there is nothing to change: give age_factor or max_depth";
        found.add(FieldError::invalid("age_factor", message));
    }
    found.into_result(commands)
}
