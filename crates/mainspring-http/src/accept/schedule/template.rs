//! The job that a schedule makes: the same bounds as for a job that is submitted.

use mainspring_core::job::Json;
use mainspring_core::limits;
use mainspring_core::schedule::Template;
use mainspring_wire::ScheduledJob;

use crate::accept::{Findings, Names, json, retry, submit};
use crate::ask::FieldError;

/// Nothing if its type, queue or data is wrong; what is wrong is among the findings.
pub(super) fn template(mut said: ScheduledJob, found: &mut Findings) -> Option<Template> {
    let mut own = Findings::default();
    let mut names = Names::default();
    let kind = names.kind(&said.kind).map_err(|error| own.add(FieldError::invalid("type", error.to_string())));
    let queue = names.queue(said.queue.as_deref());
    let queue = queue.map_err(|error| own.add(FieldError::invalid("queue", error.to_string())));
    let data = said.data.take().map(|raw| json("data", raw, "data_bytes_max", limits::DATA_BYTES_MAX));
    let data = data.unwrap_or_else(|| Ok(Json::null())).map_err(|error| own.add(error));
    let priority = own.keep(submit::priority("priority", said.priority));
    if said.expires_in.is_some_and(|span| span.as_millis() == 0) {
        own.add(FieldError::invalid("expires_in", "is zero: the job would expire before it could start"));
    }
    let retry = said.retry.take().map(|policy| retry::policy(policy, &mut own)).unwrap_or_default();
    let max_attempts = own.keep(submit::attempts(said.max_attempts));
    let max_crashes = own.keep(submit::crashes(said.max_crashes));
    let timeout = own.keep(submit::timeout(said.timeout));
    let tags = submit::tags(&said.tags, &mut own);
    let keys = submit::keys([said.concurrency_key.take(), said.rate_key.take()], said.weight, &mut own);
    own.0.into_iter().for_each(|error| found.add(error.inside("job")));
    let (Ok(kind), Ok(queue), Ok(data)) = (kind, queue, data) else { return None };
    Some(Template {
        queue,
        kind,
        data,
        priority,
        deadline: said.deadline.map(Into::into),
        expires_in: said.expires_in.map(Into::into),
        retry,
        max_attempts,
        max_crashes,
        timeout,
        tags,
        keys,
    })
}
