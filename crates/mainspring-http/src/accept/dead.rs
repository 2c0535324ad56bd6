//! Which dead letters are meant: by id, or by filter.

use mainspring_core::id::JobId;
use mainspring_core::lifecycle::Status;
use mainspring_core::limits::BATCH_JOBS_MAX;
use mainspring_core::name::{QueueName, Tag, TypeName};
use mainspring_core::store::Filter;
use uuid::Uuid;

use crate::accept::Findings;
use crate::ask::FieldError;
use crate::limits::DEAD_STEP_JOBS_MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    Named(Vec<JobId>),
    Found { filter: Filter, max: u64 },
}

/// `words` are queue, type and tag. To mean all of them, one has to say how many at most: `{}` is refused, because it
/// is what a program sends whose filter got lost.
pub(crate) fn pick(
    ids: Option<Vec<Uuid>>,
    words: [Option<String>; 3],
    max: Option<u64>,
) -> Result<Pick, Vec<FieldError>> {
    let by_filter = words.iter().any(Option::is_some);
    if let Some(ids) = ids {
        return by_ids(ids, by_filter || max.is_some());
    }
    let mut found = Findings::default();
    if !by_filter && max.is_none() {
        found.add(FieldError::invalid(
            "ids",
            "say which: give ids, a filter (queue, type, tag), or max for any of them",
        ));
    }
    if let Some(max) = max.filter(|max| !(1..=DEAD_STEP_JOBS_MAX).contains(max)) {
        let error = FieldError::invalid("max", format!("{max} is not from 1 to {DEAD_STEP_JOBS_MAX}"));
        found.add(error.limited("dead_step_jobs_max", DEAD_STEP_JOBS_MAX));
    }
    let [queue, kind, tag] = words;
    let mut wrong = |field: &'static str, error: mainspring_core::name::BadName| {
        found.add(FieldError::invalid(field, error.to_string()));
    };
    let queue = queue.and_then(|text| QueueName::parse(&text).map_err(|error| wrong("queue", error)).ok());
    let kind = kind.and_then(|text| TypeName::parse(&text).map_err(|error| wrong("type", error)).ok());
    let tag = tag.and_then(|text| Tag::parse(&text).map_err(|error| wrong("tag", error)).ok());
    let filter = Filter { statuses: vec![Status::Failed], queue, kind, tag, ..Filter::default() };
    found.into_result(Pick::Found { filter, max: max.unwrap_or(DEAD_STEP_JOBS_MAX) })
}

fn by_ids(ids: Vec<Uuid>, also_by_filter: bool) -> Result<Pick, Vec<FieldError>> {
    if also_by_filter {
        let message = "ids name the jobs already: leave out queue, type, tag and max";
        return Err(vec![FieldError::invalid("ids", message)]);
    }
    if ids.len() > BATCH_JOBS_MAX {
        return Err(vec![FieldError::too_many("ids", ids.len(), "batch_jobs_max", BATCH_JOBS_MAX)]);
    }
    // Each once: the second time it would be no dead letter any more.
    let mut ids: Vec<JobId> = ids.into_iter().map(JobId::from).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(Pick::Named(ids))
}
