//! What is said over HTTP under `/v1`: serde types, versioned, no logic. Never validates beyond the shape of a
//! value (a queue name, a priority range or a batch limit is judged by the server), never reads a clock.
//!
//! Both sides of the wire use these types: the server answers with them, the Rust SDK and the CLI send them.
//!
//! - Scalars, which print and parse: [`Timestamp`], [`Span`], [`Status`]; ids are [`uuid::Uuid`], fences are `u64`.
//! - A job's walk, in its order: `submit`, `batch`, `claims`, `calls`, `settlements`.
//! - Jobs that make or wait for others: `schedules`, `depends`, `workflows`.
//! - Looking at it: `jobs`, `executions`, `explain`, `page`, `events`, `forecast`.
//! - Around it: `workers`, `queues`, `limits`, `dead`, `health`, `clock`, `cluster`, [`problem`].
//!
//! Requests refuse fields they do not know; answers leave out what is absent, and readers of answers skip what they do
//! not know, so an older client can talk to a newer server. The parts that are in both (`RetryPolicy`, `ErrorView`,
//! `Progress`, `Holding`, and the values of a schedule) are strict, so they cannot grow a field within `/v1`.
//!
//! `data`, `result` and `checkpoint` stay raw JSON text from the socket to the store and back: the hot path never builds a
//! tree of them.

mod beside;
mod parse;
mod short;
mod words;

mod span;
mod status;
mod timestamp;

mod batch;
mod calls;
mod claims;
mod depends;
mod retry;
mod settlements;
mod submit;

mod schedules;
mod workflows;

mod events;
mod executions;
mod explain;
mod jobs;
mod page;

mod clock;
mod cluster;
mod dead;
mod doctor;
mod forecast;
mod health;
mod limits;
pub mod problem;
mod queues;
mod workers;

#[cfg(test)]
mod check;

pub use batch::{Batch, BatchAnswer, BatchItem};
pub use calls::{Checkpoint, Complete, Fail, Held, Start};
pub use claims::{ClaimAnswer, ClaimRequest, ClaimedJob, Tenants};
pub use clock::{Advance, ClockView};
pub use cluster::{Cluster, ClusterNode, ClusterSegment};
pub use dead::{DeadQuery, Purge, Purged, Replay, Replayed};
pub use depends::{DependsOn, DependsOnLong, OnFailure, ParentView, Parents, ParentsQuery};
pub use doctor::{Doctor, Finding, Severity};
pub use events::{Event, EventKind};
pub use executions::{Execution, ExecutionOutcome, Executions};
pub use explain::{Explanation, Reason, ReasonParent};
pub use forecast::{Forecast, ForecastMinute, ForecastQuery, Herd};
pub use health::{Readiness, Ready};
pub use jobs::{CancelRequest, ErrorView, JobPatch, JobView, LeaseView, Progress, RetryRequest};
pub use limits::{BreakerPhase, BreakerState, LimitBreaker, LimitRate, LimitRule, LimitState, LimitView, Limits};
pub use page::{JobPage, JobQuery};
pub use parse::ParseError;
pub use problem::{FieldProblem, Limit, Problem};
pub use queues::{QueuePatch, QueueView, Queues};
pub use retry::{RetryPolicy, RetryStrategy};
pub use schedules::{
    Backfill, BackfillAnswer, BackfillOccurrence, BackfillResult, Catchup, CatchupLong, CatchupMode, ClockTimes, Dst,
    DstGap, DstOverlap, Every, EveryLong, Exclusion, ExclusionLong, LedgerPage, LedgerQuery, LedgerRow, LedgerWhat,
    Monthly, NewSchedule, Overlap, PauseView, PausedBy, Preview, PreviewOccurrence, PreviewQuery, SchedulePage,
    SchedulePause, ScheduleQuery, ScheduleStatus, ScheduleView, ScheduledJob, SkipReason, TimesOfDay, Timing, Weekly,
};
pub use serde_json::value::RawValue;
pub use settlements::{Outcome, SettleAnswer, SettleRequest, Settled, SettledAs, Settlement};
pub use span::Span;
pub use status::Status;
pub use submit::{NewJob, Submitted};
pub use timestamp::Timestamp;
pub use workers::{
    Heartbeat, HeartbeatAnswer, Holding, Order, OrderRequest, Register, Registered, WorkerView, Workers,
};
pub use workflows::{
    After, AfterLong, NewStep, NewWorkflow, WorkflowCancelled, WorkflowCounts, WorkflowQuery, WorkflowStatus,
    WorkflowSubmitted, WorkflowView,
};
