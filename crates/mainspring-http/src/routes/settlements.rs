//! `POST /v1/settlements`: ends attempts, many at once. A late word is answered `stale`, and the others stand. A claim that
//! brings settlements has them checked and shown here too.

use axum::extract::State;
use http::StatusCode;
use mainspring_core::id::JobId;
use mainspring_core::lifecycle::State as JobState;
use mainspring_core::limits::BATCH_JOBS_MAX;
use mainspring_core::name::TenantName;
use mainspring_core::store::Settled as Stored;
use mainspring_engine::AttemptEnd;
use mainspring_wire::{Outcome, SettleAnswer, SettleRequest, Settled, SettledAs, Settlement};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::accept::settlement;
use crate::ask::{FieldError, Said, Tenant};
use crate::convert::{settled_as, stamp};
use crate::door::Door;
use crate::limits::FIELD_ERRORS_MAX;
use crate::openapi::Refused;
use crate::routes::Answer;
use crate::show::{printed, push};

/// As long as the answer for one settlement gets, mostly.
const ITEM_BYTES: usize = 80;

/// Settlements that may go to the engine, and what their answers need of them.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub ends: Vec<AttemptEnd>,
    pub words: Words,
}

/// Of each settlement, in order: which job, and what its worker said.
#[derive(Debug)]
pub(crate) struct Words(Vec<(JobId, Outcome)>);

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(settle_jobs))
}

/// Ends attempts.
///
/// A settlement that is not valid refuses all of them and is named; one whose lease is over is answered `stale`.
#[utoipa::path(
    post, path = "/v1/settlements", tag = "work", request_body = SettleRequest,
    responses((status = 200, description = "What became of each, in order", body = SettleAnswer), Refused)
)]
pub(crate) async fn settle_jobs(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    Said(said): Said<SettleRequest>,
) -> Answer {
    let Accepted { ends, words } = accepted(said.settlements, &tenant)?;
    let answers = if ends.is_empty() { Vec::new() } else { door.engine.settle(ends).await? };
    let mut answer = Vec::with_capacity(16 + words.bytes());
    answer.extend_from_slice(b"{\"results\":");
    words.print(&mut answer, &answers);
    answer.push(b'}');
    Ok(printed(StatusCode::OK, answer))
}

/// All of them, or every one that is wrong.
pub(crate) fn accepted(said: Vec<Settlement>, tenant: &TenantName) -> Result<Accepted, Vec<FieldError>> {
    let count = said.len();
    if count > BATCH_JOBS_MAX {
        return Err(vec![FieldError::too_many("settlements", count, "batch_jobs_max", BATCH_JOBS_MAX)]);
    }
    let mut words = Vec::with_capacity(count);
    let mut ends = Vec::with_capacity(count);
    let mut wrong = Vec::new();
    for (at, one) in said.into_iter().enumerate() {
        let word = one.outcome;
        match settlement(one, tenant) {
            Ok(end) => {
                words.push((end.lease.job, word));
                ends.push(end);
            }
            Err(error) if wrong.len() < FIELD_ERRORS_MAX => wrong.push(error.within("settlements", at)),
            Err(_) => break,
        }
    }
    if wrong.is_empty() { Ok(Accepted { ends, words: Words(words) }) } else { Err(wrong) }
}

impl Words {
    /// About as long as the list gets.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len() * ITEM_BYTES
    }

    /// The list of what each came to.
    pub(crate) fn print(&self, answer: &mut Vec<u8>, stored: &[Stored]) {
        answer.push(b'[');
        for (at, (&(job, word), stored)) in self.0.iter().zip(stored).enumerate() {
            if at > 0 {
                answer.push(b',');
            }
            push(answer, &settled(job, word, stored));
        }
        answer.push(b']');
    }
}

/// What one settlement came to.
pub(crate) fn settled(job: JobId, said: Outcome, stored: &Stored) -> Settled {
    let job_id = job.uuid();
    match stored {
        Stored::Stale => Settled { job_id, state: SettledAs::Stale, next_fire_time: None },
        Stored::Applied { state, ready_at, gates, .. } => {
            let goes_on = matches!(state, JobState::Waiting | JobState::Ready);
            // A job that closed its key is ready at once, and cannot start before the key opens.
            let opens_at = gates.as_ref().and_then(|gates| gates.closed.as_ref()).map(|(_, until)| *until);
            let next_fire_time = goes_on.then(|| stamp(opens_at.map_or(*ready_at, |at| at.max(*ready_at))));
            Settled { job_id, state: settled_as(said, *state), next_fire_time }
        }
    }
}
