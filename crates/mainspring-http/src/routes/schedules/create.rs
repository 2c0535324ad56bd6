//! `POST /v1/schedules`: makes a schedule. One that exists already is not touched: `PUT` replaces.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use mainspring_core::name::ScheduleName;
use mainspring_engine::{Engine, Error, Expect, SchedulePut};
use mainspring_wire::{NewSchedule, ScheduleView};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::accept::{schedule, schedule_name};
use crate::ask::{Said, Tenant};
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::routes::schedules::created;

/// Makes a schedule.
///
/// Without a `schedule_id` the server makes one up.
#[utoipa::path(
    post, path = "/v1/schedules", tag = "schedules", request_body = NewSchedule,
    responses(
        (status = 201, description = "The schedule is durable", body = ScheduleView,
         headers(("ETag" = String, description = "Its revision"), ("Location" = String, description = "Its path"))),
        Refused
    )
)]
pub(crate) async fn create_schedule(
    State(door): State<Door>,
    Tenant(tenant): Tenant,
    Said(said): Said<NewSchedule>,
) -> Answer {
    let name = match &said.schedule_id {
        Some(text) => schedule_name(text)?,
        None => made_up(&door.engine),
    };
    let written = schedule(said, tenant, name)?;
    match door.engine.put_schedule(written.schedule.clone(), Expect::Absent).await {
        Ok(SchedulePut::Created(view) | SchedulePut::Replaced(view) | SchedulePut::Unchanged(view)) => {
            Ok(created(&view))
        }
        Ok(SchedulePut::Conflict { .. }) => {
            let name = &written.schedule.name;
            let detail = format!("there is a schedule {name} already: PUT /v1/schedules/{name} replaces it");
            Err(Refusal::conflict(detail).at("schedule_id"))
        }
        Err(Error::Schedule(bad)) => Err(written.form.wrong(bad).into()),
        Err(error) => Err(error.into()),
    }
}

/// A name that nobody has: from the node, the time and a count, without a random number. Two of them that were the same would
/// be noticed, because a schedule is only made where there is none.
fn made_up(engine: &Engine) -> ScheduleName {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let digest = Sha256::new()
        .chain_update(engine.node().0.as_bytes())
        .chain_update(engine.now().as_millis().to_be_bytes())
        .chain_update(MADE.fetch_add(1, Ordering::Relaxed).to_be_bytes())
        .finalize();
    let id = uuid::Builder::from_custom_bytes(std::array::from_fn(|at| digest[at])).into_uuid();
    ScheduleName::parse(&Uuid::to_string(&id)).expect("a UUID is a word")
}
