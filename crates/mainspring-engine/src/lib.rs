//! What moves jobs: time, gathering, leases, sweeps. Depends on the core's seams alone: which store there is, and how
//! callers come in, is not known here.
//!
//! Reading order:
//! - [`Engine`] (`engine`): the handle that callers hold. `node`: what its parts share, how it starts and ends.
//! - The verbs: `submit`, `workflow`, `dispatch` (claim), `report`, `settle`, `worker` (register, heartbeat, leave), `command`,
//!   `limit`, `schedule`, `forecast`, `explain`, `cluster`, `doctor`, `advance` (the clock of users' tests). Each is the caller's side, and the call to the store with all that follows from it.
//! - `gather`: concurrent requests of one verb become one call. `lanes`: one of them for each database.
//! - The actors, each named for the moment it owns: [`trigger`] (something falls due), `sweep` (something ran out),
//!   `ownership` (a term must be renewed). `actor` is the loop around them, `nudge`
//!   wakes one, `calm` knows when all rest.
//! - `announce`: who is told that something is ready. `gated`: that a limit lets something go. `relay`: the same for other nodes. `signal`: that the node closes. `events`: for onlookers.
//! - `clock` and `mint`: the only places with a clock, a sleep or a random number.
//! - `settings`, `error`, `health`, [`measure`].

mod engine;
mod node;

mod advance;
mod cluster;
mod command;
mod dispatch;
mod doctor;
mod explain;
mod forecast;
mod limit;
mod report;
mod schedule;
mod settle;
mod submit;
mod worker;
mod workflow;

mod gather;
mod lanes;

mod actor;
mod calm;
mod nudge;
mod ownership;
mod sweep;
pub mod trigger;

mod announce;
mod events;
mod gated;
mod relay;
mod signal;

mod clock;
mod mint;

mod error;
mod health;
pub mod measure;
mod settings;

#[cfg(test)]
mod tests;

pub use advance::{Advanced, ClockView};
pub use clock::{Clock, ManualClock, SystemClock, VirtualClock};
pub use cluster::{ClusterNode, ClusterSegment, ClusterView};
pub use command::Bulk;
pub use dispatch::ClaimAsk;
pub use doctor::Diagnosis;
pub use engine::{Engine, Parts};
pub use error::{Error, Result};
pub use events::{Event, EventKind, Events};
pub use explain::{Explanation, Parent, Reason};
pub use forecast::{
    FORECAST_FIRES_MAX, FORECAST_JOBS_MAX, FORECAST_SPAN_MAX, FORECAST_STEP_MIN, Forecast, ForecastAsk, ForecastMinute,
    Herd,
};
pub use health::Health;
pub use limit::{BadLimit, LimitSet};
pub use schedule::{Backfill, BackfillAsk, BackfillOccurrence, BackfillWas, Expect, ScheduleMove, SchedulePut};
pub use settings::Settings;
pub use settle::AttemptEnd;
pub use submit::{Draft, Expiry, IdempotencyAsk, Submission, When};
pub use worker::Registration;
pub use workflow::{StepDraft, WorkflowDraft, WorkflowStatus, WorkflowSubmission, WorkflowSubmitted};
