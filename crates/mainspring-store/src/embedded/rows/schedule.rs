//! Schedules: what a person said, apart from what has happened since, which is written again at every turn.

use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{Json, Keys};
use mainspring_core::name::{BadName, LimitKey, QueueName, Tag, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::schedule::{
    Catchup, CatchupMode, Overlap, Pause, PausedBy, Schedule, ScheduleRef, Standing, Template,
};
use mainspring_core::store::{Error, Result};
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};

use super::record::RetryRow;
use super::stored;
use super::when::WhenRow;

/// Its tenant and name are the key.
#[derive(Debug, Serialize, Deserialize)]
pub struct ScheduleRow<'a> {
    #[serde(borrow)]
    when: WhenRow<'a>,
    #[serde(borrow)]
    job: TemplateRow<'a>,
    catchup: (CatchupRow, u64, u32),
    overlap: OverlapRow,
    jitter_ms: u64,
    max_runs: Option<u64>,
    pause_on_failure: bool,
    note: Option<&'a str>,
}

stored!(CatchupRow is CatchupMode { None, Latest, All });
stored!(OverlapRow is Overlap { Allow, Skip, QueueOne, CancelPrevious });

impl<'a> ScheduleRow<'a> {
    pub fn of(schedule: &'a Schedule) -> ScheduleRow<'a> {
        let Catchup { mode, window, max } = schedule.catchup;
        ScheduleRow {
            when: WhenRow::of(&schedule.when),
            job: TemplateRow::of(&schedule.job),
            catchup: (mode.into(), ms(window), max),
            overlap: schedule.overlap.into(),
            jitter_ms: ms(schedule.jitter),
            max_runs: schedule.max_runs,
            pause_on_failure: schedule.pause_on_failure,
            note: schedule.note.as_deref(),
        }
    }

    pub fn schedule(self, of: &ScheduleRef) -> Result<Schedule> {
        let damaged = |what: &dyn std::fmt::Display| {
            Error::Damaged(format!("schedule {} of tenant {} cannot be read: {what}", of.name, of.tenant))
        };
        let (mode, window_ms, max) = self.catchup;
        Ok(Schedule {
            tenant: of.tenant.clone(),
            name: of.name.clone(),
            when: self.when.when().map_err(|bad| damaged(&bad))?,
            job: self.job.template().map_err(|bad| damaged(&bad))?,
            catchup: Catchup { mode: mode.into(), window: Duration::from_millis(window_ms), max },
            overlap: self.overlap.into(),
            jitter: Duration::from_millis(self.jitter_ms),
            max_runs: self.max_runs,
            pause_on_failure: self.pause_on_failure,
            note: self.note.map(str::to_owned),
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct TemplateRow<'a> {
    queue: &'a str,
    kind: &'a str,
    data: &'a str,
    priority: i16,
    deadline_ms: Option<u64>,
    expires_in_ms: Option<u64>,
    retry: RetryRow,
    max_attempts: u32,
    max_crashes: u32,
    timeout_ms: Option<u64>,
    #[serde(borrow)]
    tags: Vec<&'a str>,
    concurrency: Option<&'a str>,
    rate: Option<&'a str>,
    weight: u16,
}

impl<'a> TemplateRow<'a> {
    fn of(job: &'a Template) -> TemplateRow<'a> {
        TemplateRow {
            queue: job.queue.as_str(),
            kind: job.kind.as_str(),
            data: job.data.as_str(),
            priority: job.priority.value(),
            deadline_ms: job.deadline.map(ms),
            expires_in_ms: job.expires_in.map(ms),
            retry: RetryRow::of(&job.retry),
            max_attempts: job.max_attempts,
            max_crashes: job.max_crashes,
            timeout_ms: job.timeout.map(ms),
            tags: job.tags.iter().map(Tag::as_str).collect(),
            concurrency: job.keys.concurrency.as_ref().map(LimitKey::as_str),
            rate: job.keys.rate.as_ref().map(LimitKey::as_str),
            weight: job.keys.weight,
        }
    }

    fn template(self) -> std::result::Result<Template, BadName> {
        Ok(Template {
            queue: QueueName::parse(self.queue)?,
            kind: TypeName::parse(self.kind)?,
            data: Json(self.data.into()),
            priority: Priority::new(self.priority.into()).unwrap_or_default(),
            deadline: self.deadline_ms.map(Duration::from_millis),
            expires_in: self.expires_in_ms.map(Duration::from_millis),
            retry: self.retry.policy(),
            max_attempts: self.max_attempts,
            max_crashes: self.max_crashes,
            timeout: self.timeout_ms.map(Duration::from_millis),
            tags: self.tags.into_iter().map(Tag::parse).collect::<std::result::Result<_, _>>()?,
            keys: Keys {
                concurrency: self.concurrency.map(LimitKey::parse).transpose()?,
                rate: self.rate.map(LimitKey::parse).transpose()?,
                weight: self.weight,
            },
        })
    }
}

/// The version comes first: a turn asks for nothing else.
#[derive(Debug, Serialize, Deserialize)]
pub struct StandingRow {
    pub version: u64,
    pub wake_ms: Option<u64>,
    revision: u64,
    created_ms: u64,
    updated_ms: u64,
    pause: Option<PauseRow>,
    last_ms: u64,
    next_ms: Option<u64>,
    runs: u64,
    last_job: Option<[u8; 16]>,
    last_fired_ms: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PauseRow {
    note: String,
    since_ms: u64,
    until_ms: Option<u64>,
    /// Paused by a person unless there is a job that failed.
    failed: Option<[u8; 16]>,
}

impl StandingRow {
    pub fn of(version: u64, standing: &Standing) -> StandingRow {
        let pause = standing.pause.as_ref().map(|pause| PauseRow {
            note: pause.note.clone(),
            since_ms: pause.since.as_millis(),
            until_ms: pause.until.map(Time::as_millis),
            failed: match pause.by {
                PausedBy::Person => None,
                PausedBy::Failure(job) => Some(*job.as_bytes()),
            },
        });
        StandingRow {
            version,
            wake_ms: standing.wake_at.map(Time::as_millis),
            revision: standing.revision,
            created_ms: standing.created_at.as_millis(),
            updated_ms: standing.updated_at.as_millis(),
            pause,
            last_ms: standing.last.as_millis(),
            next_ms: standing.next.map(Time::as_millis),
            runs: standing.runs,
            last_job: standing.last_job.map(|job| *job.as_bytes()),
            last_fired_ms: standing.last_fired.map(Time::as_millis),
        }
    }

    pub fn standing(self) -> Standing {
        let pause = self.pause.map(|pause| Pause {
            note: pause.note,
            since: Time::from_millis(pause.since_ms),
            until: pause.until_ms.map(Time::from_millis),
            by: pause.failed.map_or(PausedBy::Person, |job| PausedBy::Failure(JobId::from_bytes(job))),
        });
        Standing {
            revision: self.revision,
            created_at: Time::from_millis(self.created_ms),
            updated_at: Time::from_millis(self.updated_ms),
            pause,
            last: Time::from_millis(self.last_ms),
            next: self.next_ms.map(Time::from_millis),
            wake_at: self.wake_ms.map(Time::from_millis),
            runs: self.runs,
            last_job: self.last_job.map(JobId::from_bytes),
            last_fired: self.last_fired_ms.map(Time::from_millis),
        }
    }
}

fn ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
