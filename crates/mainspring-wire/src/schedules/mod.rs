//! Schedules: `/v1/schedules`. A rule that makes jobs, as people write it down and as the server shows it.
//!
//! - `when`: when it fires. `exclude`: when it does not. `catchup`: what becomes of times that passed while nobody looked.
//! - `calls`: pause, back-fill, preview. `ledger`: what became of each occurrence.

mod calls;
mod catchup;
mod exclude;
mod ledger;
mod view;
mod when;

pub use calls::{
    Backfill, BackfillAnswer, BackfillOccurrence, BackfillResult, Dst, Preview, PreviewOccurrence, PreviewQuery,
    SchedulePause,
};
pub use catchup::{Catchup, CatchupLong, CatchupMode};
pub use exclude::{Exclusion, ExclusionLong, TimesOfDay};
pub use ledger::{LedgerPage, LedgerQuery, LedgerRow, LedgerWhat, SkipReason};
pub use view::{PauseView, PausedBy, SchedulePage, ScheduleQuery, ScheduleStatus, ScheduleView};
pub use when::{ClockTimes, Every, EveryLong, Monthly, Timing, Weekly};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::parse::is_false;
use crate::{RetryPolicy, Span, Timestamp};

/// A rule that makes jobs. One of `cron`, `every`, `daily`, `weekly`, `monthly` and `rrule` says when, or `when` says it with
/// several; `job` says what.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSchedule {
    /// Its name; the server makes one up if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_id: Option<String>,
    /// Five fields (minute, hour, day, month, weekday), six with seconds first, seven with a year last; `L W #`, names,
    /// `@daily`, and `H` for a value of the schedule's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "0 3 * * *")]
    pub cron: Option<String>,
    /// A length of real time, counted from an anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Every>,
    /// Every day at these times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily: Option<ClockTimes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weekly: Option<Weekly>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monthly: Option<Monthly>,
    /// An RFC 5545 rule, `FREQ=…`; a `DTSTART`, `RDATE` or `EXDATE` line may be with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0;BYSECOND=0")]
    pub rrule: Option<String>,
    /// Several rules in one schedule: it fires when any of them says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Timing>,
    /// An IANA time zone; UTC if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Europe/Berlin")]
    pub timezone: Option<String>,
    /// What becomes of a time of day that the clocks jump over; `shift` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst_gap: Option<DstGap>,
    /// Which of the two, when a time of day comes twice; `first` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst_overlap: Option<DstOverlap>,
    /// When it does not fire, whatever the rules say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<Exclusion>,
    /// Nothing fires before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_at: Option<Timestamp>,
    /// Nothing fires after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_at: Option<Timestamp>,
    /// Over after this many runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_runs: Option<u64>,
    /// Every occurrence is put off by up to this long: by how much is the same however often it is computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Span>,
    /// What becomes of occurrences that passed while the server was down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catchup: Option<Catchup>,
    /// What happens when the job before has not ended; `allow` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    /// Pauses itself when one of its jobs has failed for good.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pause_on_failure: bool,
    /// Why it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub job: ScheduledJob,
}

/// The job that every occurrence makes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduledJob {
    /// What the worker runs.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it waits; `default` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Handed to the worker as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    pub data: Option<Box<RawValue>>,
    /// From -1000 to 1000, higher first; 5 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Should be done this long after its run time: pulls the job forward in its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// Cancelled if it has not started this long after its run time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<Span>,
    /// When a failed attempt is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// Dead after this many failed attempts; 3 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Dead when more than this many workers were lost over it; 5 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_crashes: Option<u32>,
    /// How long one attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Jobs with the same key share a limit on how many run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<String>,
    /// Jobs with the same key share a limit on how many start in a span of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_key: Option<String>,
    /// How much of a limit it takes; 1 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
}

impl NewSchedule {
    /// A schedule by this name that makes jobs of this type, with every default; when it fires is still to be said.
    pub fn new(schedule_id: impl Into<String>, kind: impl Into<String>) -> NewSchedule {
        NewSchedule {
            schedule_id: Some(schedule_id.into()),
            job: ScheduledJob { kind: kind.into(), ..ScheduledJob::default() },
            ..NewSchedule::default()
        }
    }
}

crate::words::words! {
    /// What becomes of a time of day that the clocks jump over.
    #[derive(Default)]
    pub enum DstGap: "a policy for gaps" {
        /// It fires as much later as the clocks jump.
        #[default]
        Shift = "shift",
        /// It does not fire that day.
        Skip = "skip",
    }
}

crate::words::words! {
    /// Which one fires, when a time of day comes twice.
    #[derive(Default)]
    pub enum DstOverlap: "a policy for overlaps" {
        #[default]
        First = "first",
        Last = "last",
        Both = "both",
    }
}

crate::words::words! {
    /// What happens when the job before has not ended.
    #[derive(Default)]
    pub enum Overlap: "a policy for overlapping runs" {
        /// They run side by side.
        #[default]
        Allow = "allow",
        /// The occurrence is skipped.
        Skip = "skip",
        /// The job waits for the one before; while one waits, further occurrences are skipped.
        QueueOne = "queue_one",
        /// The job before is cancelled.
        CancelPrevious = "cancel_previous",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{refused, round_trip};

    #[test]
    fn a_schedule_says_the_same_again() {
        let small: NewSchedule = round_trip(r#"{"cron":"0 3 * * *","job":{"type":"report"}}"#);
        assert_eq!((small.schedule_id, small.cron.as_deref()), (None, Some("0 3 * * *")));
        round_trip::<NewSchedule>(concat!(
            r#"{"schedule_id":"nightly","when":[{"cron":"H 3 * * *"},{"every":"90s"},{"daily":["09:00","17:00"]},"#,
            r#"{"weekly":{"days":["MON","FRI"],"at":"09:00"}},{"monthly":{"days":[1,-1],"at":"00:00"}},{"rrule":"FREQ=DAILY"}],"#,
            r#""timezone":"Europe/Berlin","dst_gap":"skip","dst_overlap":"both","#,
            r#""exclude":["2026-12-25",{"from":"2026-12-24","through":"2027-01-01"},{"weekdays":["SAT"]},"#,
            r#"{"times":{"from":"22:00","to":"06:00"}},{"cron":"* * 1 * *"},{"rrule":"FREQ=YEARLY"}],"#,
            r#""start_at":"2026-12-01T09:00:00.000Z","end_at":"2027-12-01T09:00:00.000Z","max_runs":10,"jitter":"30s","#,
            r#""catchup":{"mode":"all","window":"1d","max":100},"overlap":"queue_one","pause_on_failure":true,"note":"why","#,
            r#""job":{"type":"report","queue":"q","data":{ "n": 18446744073709551616 },"priority":7,"deadline":"1h","expires_in":"2h","#,
            r#""retry":{"strategy":"fixed","base":"1s"},"max_attempts":4,"max_crashes":2,"timeout":"1m","tags":["t"],"#,
            r#""concurrency_key":"c","rate_key":"r","weight":2}}"#,
        ));
    }

    #[test]
    fn a_schedule_refuses_what_it_does_not_know() {
        refused::<NewSchedule>(r#"{"cron":"* * * * *"}"#, "missing field `job`");
        refused::<NewSchedule>(r#"{"crn":"* * * * *","job":{"type":"a"}}"#, "unknown field `crn`");
        refused::<NewSchedule>(r#"{"job":{"type":"a","run_at":0}}"#, "unknown field `run_at`");
        refused::<NewSchedule>(
            r#"{"dst_gap":"jump","job":{"type":"a"}}"#,
            "unknown variant `jump`, expected `shift` or `skip`",
        );
        refused::<NewSchedule>(r#"{"overlap":"queue","job":{"type":"a"}}"#, "unknown variant `queue`");
        refused::<NewSchedule>(r#"{"when":[{"crn":"x"}],"job":{"type":"a"}}"#, "unknown variant `crn`");
        refused::<NewSchedule>(r#"{"max_runs":-1,"job":{"type":"a"}}"#, "expected u64");
    }
}
