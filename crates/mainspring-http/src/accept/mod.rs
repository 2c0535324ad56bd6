//! Whether what was asked for is allowed: wire types in, types of the core and the engine out, or every wrong field.
//! Pure: no IO, and `now` comes in from outside.

mod claim;
mod clock;
mod dead;
mod depends;
mod fail;
mod limit;
mod register;
mod report;
mod retry;
mod schedule;
mod settle;
mod submit;
mod update;
mod workflow;

pub(crate) use claim::claim;
pub(crate) use clock::advance;
pub(crate) use dead::{Pick, pick};
pub(crate) use fail::failure;
pub(crate) use limit::{limit, wrong_limit};
pub(crate) use register::{holding, register};
pub(crate) use report::checkpoint;
pub(crate) use schedule::{Form, Written, backfill, pause, schedule, schedule_name};
pub(crate) use settle::{result, settlement};
pub(crate) use submit::{Asking, Names, submit, submit_all};
pub(crate) use update::{cancel_reason, new_data, queue_commands, update};
pub(crate) use workflow::{Shape, workflow};

use mainspring_core::job::Json;
use mainspring_wire::RawValue;

use crate::ask::FieldError;

/// Raw JSON within a limit. Its text becomes ours without a copy.
fn json(field: &'static str, raw: Box<RawValue>, limit: &'static str, max: usize) -> Result<Json, FieldError> {
    let bytes = raw.get().len();
    if bytes > max { Err(FieldError::too_large(field, bytes, limit, max)) } else { Ok(Json(raw.into())) }
}

/// Collects what is wrong instead of stopping at the first.
#[derive(Debug, Default)]
struct Findings(Vec<FieldError>);

impl Findings {
    fn add(&mut self, error: FieldError) {
        self.0.push(error);
    }

    /// The value, or a finding and the value's default.
    fn keep<T: Default>(&mut self, value: Result<T, FieldError>) -> T {
        value.unwrap_or_else(|error| {
            self.add(error);
            T::default()
        })
    }

    fn into_result<T>(self, value: T) -> Result<T, Vec<FieldError>> {
        if self.0.is_empty() { Ok(value) } else { Err(self.0) }
    }
}
