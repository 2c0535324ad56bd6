//! `POST /v1/jobs`: takes one job in. 202 means that it is durable.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::id::JobId;
use mainspring_core::job::JobView;
use mainspring_core::lifecycle::State as JobState;
use mainspring_core::name::TenantName;
use mainspring_core::store::Submitted as Stored;
use mainspring_core::time::Time;
use mainspring_engine::Submission;
use mainspring_wire::{NewJob, Status, Submitted};

use crate::accept::{Asking, Names, submit};
use crate::ask::{HeaderKey, Said, Tenant};
use crate::convert::{fresh_status, stamp, status};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::show::{printed, push};

/// As long as an answer gets.
const ANSWER_BYTES: usize = 192;

/// Submits one job.
///
/// The same idempotency key and body again answers the job it made first, with `duplicate`.
#[utoipa::path(
    post, path = "/v1/jobs", tag = "jobs", request_body = NewJob,
    params(("Idempotency-Key" = Option<String>, Header, description = "Instead of the field `idempotency_key`")),
    responses((status = 202, description = "The job is durable", body = Submitted), Refused)
)]
pub(crate) async fn submit_job(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    HeaderKey(key): HeaderKey,
    Said(job): Said<NewJob>,
) -> Answer {
    let asking = Asking { tenant, now: door.engine.now(), key };
    let draft = submit(job, &asking, &mut Names::default())?;
    let parents: Vec<JobId> = draft.depends_on.iter().map(|one| one.parent).collect();
    let submission = door.engine.submit(vec![draft]).await?.pop().expect("one answer for one job");
    let submitted = match submission.answer {
        Stored::Accepted { state, ready_at } => accepted(submission.id, state, ready_at),
        Stored::Duplicate { id } => duplicate(id, look_up(&door, &asking.tenant, vec![id]).await?.pop().flatten()),
        Stored::Mismatch { id } => return Err(Refusal::idempotency_mismatch(id)),
        Stored::QueueFull { max_depth } => return Err(Refusal::queue_full(max_depth).at("queue")),
        Stored::UnknownParent { parent } => return Err(Refusal::unknown_parent(parent).at(place(&parents, parent))),
        Stored::FailedParent { parent, state } => {
            return Err(Refusal::failed_parent(parent, state).at(place(&parents, parent)));
        }
    };
    let mut answer = Vec::with_capacity(ANSWER_BYTES);
    push(&mut answer, &submitted);
    Ok(printed(StatusCode::ACCEPTED, answer))
}

/// Where a job names this parent.
pub(super) fn place(parents: &[JobId], parent: JobId) -> String {
    let at = parents.iter().position(|other| *other == parent);
    at.map_or_else(|| "depends_on".to_owned(), |at| format!("depends_on[{at}]"))
}

pub(crate) fn accepted(id: JobId, state: JobState, ready_at: Time) -> Submitted {
    Submitted {
        job_id: id.uuid(),
        status: fresh_status(state),
        next_fire_time: (state == JobState::Waiting).then(|| stamp(ready_at)),
        retry_count: 0,
        duplicate: false,
    }
}

/// The job that the key made before, as it is now. A key may be remembered for longer than its job, which then has ended.
pub(crate) fn duplicate(id: JobId, view: Option<JobView>) -> Submitted {
    let gone = Submitted {
        job_id: id.uuid(),
        status: Status::Completed,
        next_fire_time: None,
        retry_count: 0,
        duplicate: true,
    };
    let Some(view) = view else { return gone };
    let standing = &view.standing;
    Submitted {
        status: status(view.status()),
        next_fire_time: (standing.state == JobState::Waiting).then(|| stamp(standing.ready_at)),
        retry_count: standing.tally.retries(),
        ..gone
    }
}

pub(super) async fn look_up(
    door: &Door,
    tenant: &TenantName,
    ids: Vec<JobId>,
) -> Result<Vec<Option<JobView>>, Refusal> {
    Ok(door.engine.store().get(tenant, ids).await?)
}

/// The jobs that were made before, in the order of the submissions that met them.
pub(super) fn made_before(submissions: &[Submission]) -> Vec<JobId> {
    let ids = submissions.iter().filter_map(|submission| match submission.answer {
        Stored::Duplicate { id } => Some(id),
        _ => None,
    });
    ids.collect()
}
