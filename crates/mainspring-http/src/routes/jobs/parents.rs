//! `GET /v1/jobs/{id}/parents`: what a job waits for, and what came of it: a child reads its parents' results here.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::limits::DEPENDENCIES_MAX;
use mainspring_wire::{ParentView, Parents, ParentsQuery};

use crate::ask::{JobPath, Pairs, Tenant};
use crate::door::Door;
use crate::limits::PARENTS_BYTES_MAX;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::routes::jobs::get::load;
use crate::show;

/// Parents that are read from the store at once.
const STEP: usize = 100;

/// The jobs that a job waits for, in the order of its `depends_on`, with their results.
#[utoipa::path(
    get, path = "/v1/jobs/{id}/parents", tag = "jobs", params(("id" = Uuid, Path), ParentsQuery),
    responses((status = 200, description = "Its parents", body = Parents), Refused)
)]
pub(crate) async fn get_parents(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    JobPath(id): JobPath,
    mut pairs: Pairs,
) -> Answer {
    let limit = pairs.parse("limit", limit)?.unwrap_or(DEPENDENCIES_MAX);
    let from = pairs.parse("cursor", cursor)?.unwrap_or(0);
    pairs.done()?;
    let bonds = load(&door, &tenant, id).await?.job.depends_on;
    let end = bonds.len().min(from.saturating_add(limit));
    let (mut parents, mut bytes) = (Vec::new(), 0);
    let mut at = from.min(end);
    while at < end && bytes < PARENTS_BYTES_MAX {
        let step = &bonds[at..end.min(at + STEP)];
        let views = door.engine.store().get(&tenant, step.iter().map(|bond| bond.parent).collect()).await?;
        for (bond, view) in step.iter().zip(&views) {
            let parent = show::parent(bond, view.as_ref());
            bytes += weight(&parent);
            parents.push(parent);
            at += 1;
            if bytes >= PARENTS_BYTES_MAX {
                break;
            }
        }
    }
    let next_cursor = (at < bonds.len()).then(|| at.to_string());
    Ok(show::answer(StatusCode::OK, &Parents { parents, next_cursor }))
}

fn weight(parent: &ParentView) -> usize {
    let result = parent.result.as_ref().map_or(0, |result| result.get().len());
    let error = parent.error.as_ref();
    result + error.map_or(0, |error| error.message.len() + error.detail.as_ref().map_or(0, String::len))
}

fn limit(text: &str) -> Result<usize, String> {
    let read = text.parse().ok().filter(|limit| (1..=DEPENDENCIES_MAX).contains(limit));
    read.ok_or_else(|| format!("{text:?} is not a number from 1 to {DEPENDENCIES_MAX}"))
}

fn cursor(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text:?} is not a cursor: send the next_cursor of the page before"))
}
