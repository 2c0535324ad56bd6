//! What happens, as it happens: `GET /v1/events` by SSE. Hints for people and dashboards: the truth is the job itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Timestamp;

crate::words::words! {
    /// What happened.
    pub enum EventKind: "a kind of event" {
        /// A job was accepted.
        Submitted = "submitted",
        /// Its time came.
        Ready = "ready",
        /// A worker took it.
        Claimed = "claimed",
        /// The worker said it began.
        Started = "started",
        /// It succeeded.
        Completed = "completed",
        /// An attempt failed; there will be another.
        Retrying = "retrying",
        /// It is a dead letter.
        Failed = "failed",
        /// It was cancelled, or it expired.
        Cancelled = "cancelled",
        /// Its worker asked for a later time.
        Snoozed = "snoozed",
        /// Its worker was told to come back later; it waits until its key opens.
        RateLimited = "rate_limited",
        /// Its worker gave it back.
        Released = "released",
        /// It was taken from a worker that went silent or was too slow.
        Reclaimed = "reclaimed",
        /// The job, or without `job_id` the queue, was paused.
        Paused = "paused",
        /// The job, or without `job_id` the queue, was resumed.
        Resumed = "resumed",
        /// A dead letter was made ready again.
        Revived = "revived",
        /// Its data, priority or time was changed.
        Updated = "updated",
        /// It was forgotten at a person's wish.
        Deleted = "deleted",
        /// An occurrence of a schedule made a job, or a person had one made.
        ScheduleFired = "schedule_fired",
        /// Occurrences of a schedule made no job, and `reason` says why.
        ScheduleSkipped = "schedule_skipped",
        /// Occurrences of a schedule passed while the server was down, and are not caught up.
        ScheduleMissed = "schedule_missed",
        SchedulePaused = "schedule_paused",
        ScheduleResumed = "schedule_resumed",
        /// A schedule was created, or replaced.
        ScheduleChanged = "schedule_changed",
        ScheduleRemoved = "schedule_removed",
        /// A limit was set, or replaced.
        LimitChanged = "limit_changed",
        LimitRemoved = "limit_removed",
        /// A person closed the breaker of a limit, and forgot what workers were told.
        LimitReopened = "limit_reopened",
        /// A worker was told to come back later: nothing of this key starts before `until`.
        KeyClosed = "key_closed",
        /// Too many attempts failed: nothing starts before `until`.
        BreakerOpened = "breaker_opened",
        /// A few jobs find out whether it is well again.
        BreakerProbing = "breaker_probing",
        /// It is well again.
        BreakerClosed = "breaker_closed",
        /// This reader was too slow: `missed` events were dropped.
        Lagged = "lagged",
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    pub at: Timestamp,
    pub kind: EventKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The type of the job.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub job_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_id: Option<String>,
    /// What is limited, as `/v1/limits` has it: `key:customer:42`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Until when a key is closed, or a breaker open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why occurrences were skipped, or a schedule was paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// With `ready`: how many jobs of the queue came due together. Of a schedule: how many occurrences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// With `lagged`: how many events were dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<u64>,
}

impl Event {
    /// An event with nothing but its kind.
    pub fn new(at: Timestamp, kind: EventKind) -> Event {
        Event {
            at,
            kind,
            job_id: None,
            queue: None,
            job_type: None,
            schedule_id: None,
            limit: None,
            until: None,
            attempt: None,
            worker_id: None,
            error: None,
            reason: None,
            count: None,
            missed: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::round_trip;

    #[test]
    fn an_event_says_the_same_again() {
        let event: Event = round_trip(r#"{"at":"2026-12-01T09:00:00.000Z","kind":"lagged","missed":12}"#);
        assert_eq!(event, Event { missed: Some(12), ..Event::new(event.at, EventKind::Lagged) });
        round_trip::<Event>(r#"{"at":"2026-12-01T09:00:00.000Z","kind":"ready","queue":"post","count":3}"#);
        round_trip::<Event>(concat!(
            r#"{"at":"2026-12-01T09:00:00.000Z","kind":"retrying","job_id":"JOB","queue":"post","type":"mail","attempt":2,"#,
            r#""worker_id":"WORKER","error":"boom"}"#,
        ));
        round_trip::<Event>(
            r#"{"at":"2026-12-01T09:00:00.000Z","kind":"breaker_opened","limit":"type:a","until":"2026-12-01T09:00:30.000Z"}"#,
        );
        round_trip::<Event>(
            r#"{"at":"2026-12-01T09:00:00.000Z","kind":"schedule_skipped","schedule_id":"nightly","reason":"overlap","count":1}"#,
        );
    }
}
