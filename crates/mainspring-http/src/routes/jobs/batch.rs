//! `POST /v1/jobs/batch`: takes many jobs in with one write. A wrong job refuses the whole batch; a full queue or a key
//! seen before is the answer of that job alone.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::id::JobId;
use mainspring_core::store::Submitted as Stored;
use mainspring_engine::{Draft, Submission};
use mainspring_wire::{Batch, BatchAnswer, BatchItem};

use crate::accept::{Asking, submit_all};
use crate::ask::{HeaderKey, Said, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::jobs::submit::{accepted, duplicate, look_up, made_before, place};
use crate::show::{printed, push};

/// As long as the answer for one job gets, mostly.
const ITEM_BYTES: usize = 136;

/// Submits many jobs in one write.
///
/// An invalid job refuses the whole batch and is named; what the store says to each job is in `results`.
#[utoipa::path(
    post, path = "/v1/jobs/batch", tag = "jobs", request_body = Batch,
    responses((status = 202, description = "What became of each job, in order", body = BatchAnswer), Refused)
)]
pub(crate) async fn submit_batch(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    HeaderKey(key): HeaderKey,
    Said(batch): Said<Batch>,
) -> Answer {
    let asking = Asking { tenant, now: door.engine.now(), key };
    let drafts = submit_all(batch.jobs, &asking)?;
    // Only for those that have any: it is kept to say where a refused one is named.
    let parents_of = |draft: &Draft| draft.depends_on.iter().map(|one| one.parent).collect::<Vec<_>>();
    let parents: Vec<Vec<JobId>> = drafts.iter().map(parents_of).collect();
    let submissions = door.engine.submit(drafts).await?;
    let made_before = made_before(&submissions);
    let seen = match made_before.is_empty() {
        true => Vec::new(),
        false => look_up(&door, &asking.tenant, made_before).await?,
    };

    let mut seen = seen.into_iter();
    let mut answer = Vec::with_capacity(64 + submissions.len() * ITEM_BYTES);
    answer.extend_from_slice(b"{\"accepted\":");
    push(&mut answer, &submissions.iter().filter(|submission| is_durable(submission)).count());
    answer.extend_from_slice(b",\"results\":[");
    for (at, submission) in submissions.iter().enumerate() {
        if at > 0 {
            answer.push(b',');
        }
        match submission.answer {
            Stored::Accepted { state, ready_at } => push(&mut answer, &accepted(submission.id, state, ready_at)),
            Stored::Duplicate { id } => push(&mut answer, &duplicate(id, seen.next().flatten())),
            Stored::Mismatch { id } => push(&mut answer, &refused(Refusal::idempotency_mismatch(id), at)),
            Stored::QueueFull { max_depth } => {
                push(&mut answer, &refused(Refusal::queue_full(max_depth).at("queue"), at));
            }
            Stored::UnknownParent { parent } => {
                let refusal = Refusal::unknown_parent(parent).at(place(&parents[at], parent));
                push(&mut answer, &refused(refusal, at));
            }
            Stored::FailedParent { parent, state } => {
                let refusal = Refusal::failed_parent(parent, state).at(place(&parents[at], parent));
                push(&mut answer, &refused(refusal, at));
            }
        }
    }
    answer.extend_from_slice(b"]}");
    Ok(printed(StatusCode::ACCEPTED, answer))
}

fn is_durable(submission: &Submission) -> bool {
    matches!(submission.answer, Stored::Accepted { .. } | Stored::Duplicate { .. })
}

fn refused(refusal: Refusal, at: usize) -> BatchItem {
    let field = refusal.0.field.as_ref().map(|field| format!("jobs[{at}].{field}"));
    BatchItem::from(mainspring_wire::Problem { field, ..*refusal.0 })
}
