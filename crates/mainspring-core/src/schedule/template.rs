//! What the jobs of a schedule are like. Fires nothing.

use std::time::Duration;

use super::bad::BadSchedule;
use crate::id::JobId;
use crate::job::{Job, Json, Keys, Origin};
use crate::limits;
use crate::name::{QueueName, Tag, TenantName, TypeName};
use crate::rank::Priority;
use crate::retry::RetryPolicy;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub queue: QueueName,
    pub kind: TypeName,
    pub data: Json,
    pub priority: Priority,
    /// How long after it is due it should be finished.
    pub deadline: Option<Duration>,
    /// How long after it is due it is cancelled if it has not started.
    pub expires_in: Option<Duration>,
    pub retry: RetryPolicy,
    pub max_attempts: u32,
    pub max_crashes: u32,
    pub timeout: Option<Duration>,
    pub tags: Vec<Tag>,
    pub keys: Keys,
}

/// Which job is made of a template, and when.
#[derive(Clone, Debug)]
pub struct Made {
    pub id: JobId,
    pub tenant: TenantName,
    pub submitted_at: Time,
    pub run_at: Time,
    pub origin: Origin,
}

impl Template {
    /// This type in the default queue, with all defaults.
    pub fn new(kind: TypeName) -> Template {
        Template {
            queue: QueueName::default_queue(),
            kind,
            data: Json::null(),
            priority: Priority::default(),
            deadline: None,
            expires_in: None,
            retry: RetryPolicy::default(),
            max_attempts: Job::MAX_ATTEMPTS_DEFAULT,
            max_crashes: Job::MAX_CRASHES_DEFAULT,
            timeout: None,
            tags: Vec::new(),
            keys: Keys::default(),
        }
    }

    pub fn job(&self, made: Made) -> Job {
        Job {
            id: made.id,
            tenant: made.tenant,
            queue: self.queue.clone(),
            kind: self.kind.clone(),
            data: self.data.clone(),
            priority: self.priority,
            submitted_at: made.submitted_at,
            run_at: made.run_at,
            deadline: self.deadline.map(|span| made.run_at.after(span)),
            expires_at: self.expires_in.map(|span| made.run_at.after(span)),
            retry: self.retry.clone(),
            max_attempts: self.max_attempts,
            max_crashes: self.max_crashes,
            timeout: self.timeout,
            tags: self.tags.clone(),
            idempotency: None,
            depends_on: Vec::new(),
            workflow: None,
            origin: Some(Box::new(made.origin)),
            keys: self.keys.clone(),
        }
    }

    /// Bounds that a job's own types do not hold.
    pub(super) fn check(&self) -> Result<(), BadSchedule> {
        let most = |what: &str, len: usize, max: usize| match len > max {
            true => {
                Err(BadSchedule::new(format!("there are {len} of {what}"), format!("{max} are allowed")).within(what))
            }
            false => Ok(()),
        };
        most("tags", self.tags.len(), limits::TAGS_MAX)?;
        match self.data.as_str().len() > limits::DATA_BYTES_MAX {
            true => {
                let problem = format!("the data has {} bytes", self.data.as_str().len());
                Err(BadSchedule::new(problem, format!("{} are allowed", limits::DATA_BYTES_MAX)).within("data"))
            }
            false => Ok(()),
        }
    }
}
