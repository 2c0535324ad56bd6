//! `/v1/clock`: what time it is, and moving a clock that is virtual. A server on the real clock refuses to move it.

use axum::extract::State;
use http::StatusCode;
use mainspring_engine::{Advanced, ClockView as Clock};
use mainspring_wire::{Advance, ClockView, problem};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::accept::advance;
use crate::ask::{FieldError, Pairs, Said};
use crate::convert::stamp;
use crate::door::Door;
use crate::openapi::Refused;
use crate::problem::Refusal;
use crate::routes::Answer;
use crate::show;

pub(crate) fn table() -> OpenApiRouter<Door> {
    OpenApiRouter::new().routes(routes!(get_clock)).routes(routes!(advance_clock))
}

/// What time it is on the server.
#[utoipa::path(
    get, path = "/v1/clock", tag = "operations",
    responses((status = 200, description = "The clock", body = ClockView), Refused)
)]
pub(crate) async fn get_clock(State(door): State<Door>, pairs: Pairs) -> Answer {
    pairs.done()?;
    Ok(shown(door.engine.clock()))
}

/// Moves a virtual clock on: all that falls due on the way happens at its own time, and is done when the answer comes.
///
/// A very busy way may end early: the answer says how far it came.
#[utoipa::path(
    post, path = "/v1/clock/advance", tag = "operations", request_body = Advance,
    responses((status = 200, description = "What time it is now", body = ClockView), Refused)
)]
pub(crate) async fn advance_clock(State(door): State<Door>, Said(said): Said<Advance>) -> Answer {
    if !door.engine.clock().is_virtual {
        return Err(not_virtual());
    }
    let to = advance(said, door.engine.now())?;
    match door.engine.advance(to).await? {
        Advanced::Done { now } => Ok(shown(Clock { now, is_virtual: true })),
        Advanced::NotVirtual => Err(not_virtual()),
        Advanced::Backwards { now } => {
            let message = format!("lies in the past: the clock shows {}, and does not go back", stamp(now));
            Err(FieldError::invalid("to", message).into())
        }
    }
}

fn shown(clock: Clock) -> axum::response::Response {
    show::answer(StatusCode::OK, &ClockView { now: stamp(clock.now), is_virtual: clock.is_virtual })
}

fn not_virtual() -> Refusal {
    let detail = "this server goes by the real clock, which nobody advances. Start one for tests with mainspring serve \
                  --virtual-clock";
    Refusal::new(problem::CLOCK_NOT_VIRTUAL, StatusCode::CONFLICT, detail)
}
