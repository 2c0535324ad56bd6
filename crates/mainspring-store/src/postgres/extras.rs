//! What most jobs do not have, as one JSON value beside the columns of `jobs`: absent for a plain job. Also written by the
//! SQL function `submit`, so the names in it are part of the schema.

use std::time::Duration;

use mainspring_core::id::JobId;
use mainspring_core::job::{Dependency, Idempotency, Job, Membership, Origin, Role};
use mainspring_core::name::{IdempotencyKey, ScheduleName, StepName, Tag};
use mainspring_core::retry::{Backoff, RetryPolicy};
use mainspring_core::time::Time;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::numbers;

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Extras {
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<Retry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Key>,
    /// (parent, on_failure)
    #[serde(skip_serializing_if = "Vec::is_empty")]
    depends_on: Vec<(Uuid, i16)>,
    /// (step, whether it is the callback)
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<(String, bool)>,
    /// Of the schedule in the column of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    occurrence: Option<u64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    key: String,
    /// As a UUID is written.
    fingerprint: Uuid,
    until: u64,
}

/// Fractions are texts: a JSON number need not come back to the last bit.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Retry {
    backoff: Wait,
    cap_ms: u64,
    jitter: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Wait {
    #[serde(rename = "fixed_ms")]
    Fixed(u64),
    #[serde(rename = "linear_ms")]
    Linear(u64),
    #[serde(rename = "exponential_ms")]
    Exponential(u64, String),
    #[serde(rename = "list_ms")]
    List(Vec<u64>),
}

impl Extras {
    /// Nothing for a plain job.
    pub fn of(job: &Job) -> Option<Extras> {
        let extras = Extras {
            retry: (job.retry != RetryPolicy::default()).then(|| Retry::of(&job.retry)),
            tags: job.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
            key: job.idempotency.as_ref().map(|said| Key {
                key: said.key.as_str().to_owned(),
                fingerprint: Uuid::from_bytes(said.fingerprint),
                until: said.until.as_millis(),
            }),
            depends_on: job
                .depends_on
                .iter()
                .map(|it| (it.parent.uuid(), numbers::of_on_failure(it.on_failure)))
                .collect(),
            step: job.workflow.as_ref().map(|it| (it.step.as_str().to_owned(), it.role == Role::Callback)),
            occurrence: job.origin.as_ref().map(|it| it.occurrence.as_millis()),
        };
        (extras != Extras::default()).then_some(extras)
    }

    pub fn read(json: &str) -> Result<Extras, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    /// Gives the job what is in here; `workflow` and `schedule` are columns of their own.
    pub fn give(self, job: &mut Job, workflow: Option<Uuid>, schedule: Option<&str>) -> Result<(), String> {
        let say = |error: mainspring_core::name::BadName| error.to_string();
        job.retry = self.retry.map(Retry::policy).transpose()?.unwrap_or_default();
        job.tags = self.tags.iter().map(|tag| Tag::parse(tag)).collect::<Result<_, _>>().map_err(say)?;
        if let Some(said) = self.key {
            job.idempotency = Some(Idempotency {
                key: IdempotencyKey::parse(&said.key).map_err(say)?,
                fingerprint: said.fingerprint.into_bytes(),
                until: Time::from_millis(said.until),
            });
        }
        for (parent, number) in self.depends_on {
            let on_failure = numbers::on_failure(number).map_err(|error| error.to_string())?;
            job.depends_on.push(Dependency { parent: JobId::from(parent), on_failure });
        }
        if let (Some(workflow), Some((step, is_callback))) = (workflow, self.step) {
            job.workflow = Some(Box::new(Membership {
                workflow: mainspring_core::id::WorkflowId(workflow),
                step: StepName::parse(&step).map_err(say)?,
                role: if is_callback { Role::Callback } else { Role::Step },
            }));
        }
        if let (Some(schedule), Some(occurrence)) = (schedule, self.occurrence) {
            job.origin = Some(Box::new(Origin {
                schedule: ScheduleName::parse(schedule).map_err(say)?,
                occurrence: Time::from_millis(occurrence),
            }));
        }
        Ok(())
    }
}

impl Retry {
    fn of(policy: &RetryPolicy) -> Retry {
        let ms = |wait: &Duration| wait.as_millis() as u64;
        let backoff = match &policy.backoff {
            Backoff::Fixed { delay } => Wait::Fixed(ms(delay)),
            Backoff::Linear { step } => Wait::Linear(ms(step)),
            Backoff::Exponential { base, factor } => Wait::Exponential(ms(base), factor.to_string()),
            Backoff::List { delays } => Wait::List(delays.iter().map(ms).collect()),
        };
        Retry { backoff, cap_ms: ms(&policy.cap), jitter: policy.jitter.to_string() }
    }

    fn policy(self) -> Result<RetryPolicy, String> {
        let fraction = |text: &str| text.parse().map_err(|error| format!("{text:?} is no number: {error}"));
        let wait = Duration::from_millis;
        let backoff = match self.backoff {
            Wait::Fixed(ms) => Backoff::Fixed { delay: wait(ms) },
            Wait::Linear(ms) => Backoff::Linear { step: wait(ms) },
            Wait::Exponential(ms, factor) => Backoff::Exponential { base: wait(ms), factor: fraction(&factor)? },
            Wait::List(delays) => Backoff::List { delays: delays.into_iter().map(wait).collect() },
        };
        Ok(RetryPolicy { backoff, cap: wait(self.cap_ms), jitter: fraction(&self.jitter)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::stage::{child, job, json, keyed, step};

    fn read_back(of: &Job) -> Job {
        let mut read = Job { data: json("null"), ..job(1) };
        (read.id, read.data) = (of.id, of.data.clone());
        if let Some(extras) = Extras::of(of) {
            let workflow = of.workflow.as_ref().map(|it| it.workflow.0);
            let schedule = of.origin.as_ref().map(|it| it.schedule.as_str());
            let json = serde_json::to_string(&extras).unwrap();
            Extras::read(&json).unwrap().give(&mut read, workflow, schedule).unwrap();
        }
        read
    }

    #[test]
    fn a_plain_job_has_no_extras() {
        assert_eq!(Extras::of(&job(1)), None);
    }

    #[test]
    fn what_a_job_has_beside_its_columns_reads_back_to_the_last_bit() {
        let wait = Duration::from_millis;
        let backoffs = [
            Backoff::Fixed { delay: wait(1) },
            Backoff::Linear { step: wait(2) },
            Backoff::Exponential { base: wait(3), factor: 1.1 + 1e-15 },
            Backoff::List { delays: vec![wait(4), wait(5)] },
        ];
        for backoff in backoffs {
            let retry = RetryPolicy { backoff, cap: wait(6), jitter: 0.1 + 0.2 };
            let origin = Origin { schedule: ScheduleName::parse("nightly").unwrap(), occurrence: Time::from_millis(7) };
            let tags = vec![Tag::parse("käse & brot").unwrap()];
            let job = step(1, child(2, &[1]));
            let job = Job { retry, tags, origin: Some(Box::new(origin)), idempotency: Some(keyed("k", 3, 9)), ..job };
            assert_eq!(read_back(&job), job);
        }
    }
}
