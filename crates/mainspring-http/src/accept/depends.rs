//! What a job waits for: each parent once, and not too many.

use std::collections::HashSet;

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, OnFailure};
use mainspring_core::limits::DEPENDENCIES_MAX;
use mainspring_wire::{self as wire, DependsOn};

use crate::accept::Findings;
use crate::ask::FieldError;

pub(super) fn depends_on(said: &[DependsOn], found: &mut Findings) -> Vec<Dependency> {
    // Nearly every job: nothing is allocated.
    if said.is_empty() {
        return Vec::new();
    }
    if said.len() > DEPENDENCIES_MAX {
        found.add(too_many("depends_on", said.len()));
        return Vec::new();
    }
    let mut named = HashSet::with_capacity(said.len());
    let mut parents = Vec::with_capacity(said.len());
    for (at, one) in said.iter().enumerate() {
        if named.insert(one.job_id) {
            parents.push(Dependency { parent: JobId::from(one.job_id), on_failure: on_failure(one.on_failure) });
        } else {
            let message = format!("{} is named twice among what the job waits for: name it once", one.job_id);
            found.add(FieldError::invalid(format!("depends_on[{at}]"), message));
        }
    }
    parents
}

pub(super) fn too_many(field: &'static str, count: usize) -> FieldError {
    let message = format!(
        "has {count} items, and dependencies_max is {DEPENDENCIES_MAX}: put a job in between that gathers some of them"
    );
    FieldError::invalid(field, message).limited("dependencies_max", DEPENDENCIES_MAX as u64)
}

pub(super) fn on_failure(said: wire::OnFailure) -> OnFailure {
    match said {
        wire::OnFailure::Cancel => OnFailure::Cancel,
        wire::OnFailure::Run => OnFailure::Run,
        wire::OnFailure::Hold => OnFailure::Hold,
    }
}
