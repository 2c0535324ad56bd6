//! A job as asked for becomes a draft. The good path allocates only what the draft keeps.

use std::time::Duration;

use mainspring_core::job::{Idempotency, Job, Json, Keys};
use mainspring_core::limits;
use mainspring_core::name::{BadName, IdempotencyKey, LimitKey, QueueName, Tag, TenantName, TypeName};
use mainspring_core::rank::Priority;
use mainspring_core::time::Time;
use mainspring_engine::{Draft, Expiry, IdempotencyAsk, When};
use mainspring_wire::{NewJob, Span};

use crate::accept::{Findings, depends, json, retry};
use crate::ask::FieldError;
use crate::convert::time;
use crate::fingerprint::fingerprint;
use crate::limits::{FIELD_ERRORS_MAX, JOB_WEIGHT_MAX};

/// Who asks, and when.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub tenant: TenantName,
    pub now: Time,
    /// From the `Idempotency-Key` header.
    pub key: Option<String>,
}

/// The names of the job before. The jobs of a batch mostly share them: a clone instead of a check and an allocation.
#[derive(Debug, Default)]
pub(crate) struct Names {
    queue: Option<QueueName>,
    kind: Option<TypeName>,
}

impl Names {
    pub(super) fn queue(&mut self, text: Option<&str>) -> Result<QueueName, BadName> {
        let text = text.unwrap_or("default");
        if let Some(last) = self.queue.as_ref().filter(|last| last.as_str() == text) {
            return Ok(last.clone());
        }
        let name = QueueName::parse(text)?;
        self.queue = Some(name.clone());
        Ok(name)
    }

    pub(super) fn kind(&mut self, text: &str) -> Result<TypeName, BadName> {
        if let Some(last) = self.kind.as_ref().filter(|last| last.as_str() == text) {
            return Ok(last.clone());
        }
        let name = TypeName::parse(text)?;
        self.kind = Some(name.clone());
        Ok(name)
    }
}

/// All or nothing: one wrong job refuses the batch, and is named.
pub(crate) fn submit_all(jobs: Vec<NewJob>, asking: &Asking) -> Result<Vec<Draft>, Vec<FieldError>> {
    if jobs.is_empty() {
        return Err(vec![FieldError::invalid("jobs", "is empty: send at least one job")]);
    }
    if jobs.len() > limits::BATCH_JOBS_MAX {
        return Err(vec![FieldError::too_many("jobs", jobs.len(), "batch_jobs_max", limits::BATCH_JOBS_MAX)]);
    }
    if asking.key.is_some() {
        let message = "names one job, not a batch: give each job its own idempotency_key";
        return Err(vec![FieldError::invalid("Idempotency-Key", message)]);
    }
    let mut names = Names::default();
    let mut drafts = Vec::with_capacity(jobs.len());
    let mut wrong = Vec::new();
    for (at, job) in jobs.into_iter().enumerate() {
        match submit(job, asking, &mut names) {
            Ok(draft) => drafts.push(draft),
            Err(errors) => wrong.extend(errors.into_iter().map(|error| error.within("jobs", at))),
        }
        if wrong.len() >= FIELD_ERRORS_MAX {
            break;
        }
    }
    if wrong.is_empty() { Ok(drafts) } else { Err(wrong) }
}

/// Whether this is a job, and which.
pub(crate) fn submit(mut job: NewJob, asking: &Asking, names: &mut Names) -> Result<Draft, Vec<FieldError>> {
    let mut found = Findings::default();
    let kind = names.kind(&job.kind).map_err(|error| found.add(FieldError::invalid("type", error.to_string())));
    let queue =
        names.queue(job.queue.as_deref()).map_err(|error| found.add(FieldError::invalid("queue", error.to_string())));
    // The fingerprint is over what was said, so it is made before the words are taken apart.
    let idempotency = found.keep(idempotency(&mut job, asking));
    let data = job.data.take().map(|raw| json("data", raw, "data_bytes_max", limits::DATA_BYTES_MAX));
    let data = data.unwrap_or_else(|| Ok(Json::null())).map_err(|error| found.add(error));
    let priority = found.keep(priority("priority", job.priority));
    let times = times(&job, asking.now, &mut found);
    let retry = job.retry.take().map(|policy| retry::policy(policy, &mut found)).unwrap_or_default();
    let max_attempts = found.keep(attempts(job.max_attempts));
    let max_crashes = found.keep(crashes(job.max_crashes));
    let timeout = found.keep(timeout(job.timeout));
    let tags = tags(&job.tags, &mut found);
    let depends_on = depends::depends_on(&job.depends_on, &mut found);
    let keys = keys([job.concurrency_key.take(), job.rate_key.take()], job.weight, &mut found);

    let (Ok(kind), Ok(queue), Ok(data)) = (kind, queue, data) else { return Err(found.0) };
    found.into_result(Draft {
        tenant: asking.tenant.clone(),
        queue,
        kind,
        data,
        priority,
        when: times.when,
        jitter: job.jitter.map(Duration::from).unwrap_or_default(),
        deadline: times.deadline,
        expires: times.expires,
        retry,
        max_attempts,
        max_crashes,
        timeout,
        tags,
        idempotency,
        depends_on,
        keys,
    })
}

pub(super) fn priority(field: &'static str, value: Option<i32>) -> Result<Priority, FieldError> {
    let Some(value) = value else { return Ok(Priority::DEFAULT) };
    Priority::new(i64::from(value)).ok_or_else(|| {
        let (min, max) = (limits::PRIORITY_MIN, limits::PRIORITY_MAX);
        FieldError::invalid(field, format!("{value} is not from {min} to {max}"))
    })
}

pub(super) fn attempts(value: Option<u32>) -> Result<u32, FieldError> {
    match value {
        None => Ok(Job::MAX_ATTEMPTS_DEFAULT),
        Some(value) if (1..=limits::ATTEMPTS_MAX).contains(&value) => Ok(value),
        Some(value) => {
            let message = format!("{value} is not from 1 to {}", limits::ATTEMPTS_MAX);
            Err(FieldError::invalid("max_attempts", message).limited("attempts_max", limits::ATTEMPTS_MAX.into()))
        }
    }
}

pub(super) fn crashes(value: Option<u32>) -> Result<u32, FieldError> {
    match value {
        None => Ok(Job::MAX_CRASHES_DEFAULT),
        Some(value) if value <= limits::CRASHES_MAX => Ok(value),
        Some(value) => {
            let message = format!("{value} is not from 0 to {}", limits::CRASHES_MAX);
            Err(FieldError::invalid("max_crashes", message).limited("crashes_max", limits::CRASHES_MAX.into()))
        }
    }
}

pub(super) fn timeout(span: Option<Span>) -> Result<Option<Duration>, FieldError> {
    let Some(span) = span else { return Ok(None) };
    if (limits::TIMEOUT_MIN..=limits::TIMEOUT_MAX).contains(&span.duration()) {
        return Ok(Some(span.duration()));
    }
    Err(FieldError::invalid("timeout", format!("{span} is not from 100ms to 30d")))
}

/// `names` are the concurrency key and the rate key.
pub(super) fn keys(names: [Option<String>; 2], weight: Option<u32>, found: &mut Findings) -> Keys {
    let mut key = |field: &'static str, text: Option<String>| {
        let wrong = |error: BadName| found.add(FieldError::invalid(field, error.to_string()));
        text.and_then(|text| LimitKey::parse(&text).map_err(wrong).ok())
    };
    let [concurrency, rate] = names;
    let (concurrency, rate) = (key("concurrency_key", concurrency), key("rate_key", rate));
    let weight = weight.unwrap_or(1);
    let fits = u16::try_from(weight).ok().filter(|weight| *weight > 0);
    if fits.is_none() {
        let error = FieldError::invalid("weight", format!("{weight} is not from 1 to {JOB_WEIGHT_MAX}"));
        found.add(error.limited("job_weight_max", JOB_WEIGHT_MAX.into()));
    }
    Keys { concurrency, rate, weight: fits.unwrap_or(1) }
}

pub(super) fn tags(words: &[String], found: &mut Findings) -> Vec<Tag> {
    if words.len() > limits::TAGS_MAX {
        let message = format!("has {} items, and tags_max is {}", words.len(), limits::TAGS_MAX);
        found.add(FieldError::invalid("tags", message).limited("tags_max", limits::TAGS_MAX as u64));
        return Vec::new();
    }
    let mut tags = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        match Tag::parse(word) {
            Ok(tag) => tags.push(tag),
            Err(error) => found.add(FieldError::invalid(format!("tags[{at}]"), error.to_string())),
        }
    }
    tags
}

#[derive(Debug)]
struct Times {
    when: When,
    deadline: Option<Time>,
    expires: Option<Expiry>,
}

fn times(job: &NewJob, now: Time, found: &mut Findings) -> Times {
    let horizon = now.after(limits::SPAN_MAX);
    let mut within_reach = |field: &'static str, at: Option<Time>| {
        if at.is_some_and(|at| at > horizon) {
            found.add(FieldError::invalid(field, "lies more than 100 years ahead"));
        }
        at
    };
    let run_at = within_reach("run_at", job.run_at.map(time));
    let deadline = within_reach("deadline", job.deadline.map(time));
    let expires_at = within_reach("expires_at", job.expires_at.map(time));

    if run_at.is_some() && job.delay.is_some() {
        found.add(FieldError::invalid("delay", "run_at and delay both say when: give one of them"));
    }
    if expires_at.is_some() && job.expires_in.is_some() {
        found.add(FieldError::invalid("expires_in", "expires_at and expires_in both say when: give one of them"));
    }
    if job.expires_in.is_some_and(|span| span.as_millis() == 0) {
        found.add(FieldError::invalid("expires_in", "is zero: the job would expire before it could start"));
    }
    let when = match (run_at, job.delay) {
        (Some(at), _) => When::At(at),
        (None, Some(delay)) => When::In(delay.into()),
        (None, None) => When::Now,
    };
    let first_at = match when {
        When::Now => now,
        When::At(at) => at.max(now),
        When::In(delay) => now.after(delay),
    };
    if expires_at.is_some_and(|at| at <= first_at) {
        found.add(FieldError::invalid(
            "expires_at",
            "is not after the job's run time: it would expire before it could start",
        ));
    }
    // A deadline that has passed already is late, not wrong; one before the run time cannot be met by anybody.
    if deadline.is_some_and(|at| first_at > now && at < first_at) {
        found.add(FieldError::invalid("deadline", "is before the job's run time: nobody could meet it"));
    }
    let expires = match (expires_at, job.expires_in) {
        (Some(at), _) => Some(Expiry::At(at)),
        (None, Some(span)) => Some(Expiry::In(span.into())),
        (None, None) => None,
    };
    Times { when, deadline, expires }
}

/// The header and the field may both name the key, if they agree.
fn idempotency(job: &mut NewJob, asking: &Asking) -> Result<Option<IdempotencyAsk>, FieldError> {
    let key = match (job.idempotency_key.take(), &asking.key) {
        (Some(field), Some(header)) if field != *header => {
            let message = "is not the key in the Idempotency-Key header: give one of them, or the same";
            return Err(FieldError::invalid("idempotency_key", message));
        }
        (Some(field), _) => field,
        (None, Some(header)) => header.clone(),
        (None, None) if job.idempotency_retention.is_some() => {
            let message = "is given without an idempotency_key";
            return Err(FieldError::invalid("idempotency_retention", message));
        }
        (None, None) => return Ok(None),
    };
    let key = IdempotencyKey::parse(&key).map_err(|error| FieldError::invalid("idempotency_key", error.to_string()))?;
    let retention = match job.idempotency_retention {
        Some(span) if span.as_millis() == 0 => {
            let message = "is zero: the key would be forgotten at once";
            return Err(FieldError::invalid("idempotency_retention", message));
        }
        Some(span) => span.duration(),
        None => Idempotency::RETENTION_DEFAULT,
    };
    Ok(Some(IdempotencyAsk { key, fingerprint: fingerprint(job), retention }))
}
