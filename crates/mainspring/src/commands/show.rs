//! Answers as tables. JSON needs no help: it is the API's own answer.

use comfy_table::Table;
use mainspring_wire::{
    DependsOn, Event, Executions, Explanation, JobPage, JobView, OnFailure, QueueView, Queues, Submitted, Timestamp,
    Workers,
};

use crate::output::{Format, facts, or_dash, table};

/// Of a long text, a table shows this much.
const CELL_CHARS_MAX: usize = 60;

pub fn submitted(submitted: &Submitted) -> Table {
    facts([
        ("job_id", Some(submitted.job_id.to_string())),
        ("status", Some(submitted.status.to_string())),
        ("next_fire_time", submitted.next_fire_time.map(|at| at.to_string())),
        ("duplicate", submitted.duplicate.then(|| "yes: this key was used before".to_owned())),
    ])
}

pub fn job(job: &JobView) -> Table {
    let text = |value: &dyn ToString| Some(value.to_string());
    let counted = |count: u32| (count > 0).then(|| count.to_string());
    facts([
        ("job_id", text(&job.job_id)),
        ("type", text(&job.kind)),
        ("queue", text(&job.queue)),
        ("status", text(&job.status)),
        ("priority", text(&job.priority)),
        ("tags", Some(job.tags.join(", ")).filter(|tags| !tags.is_empty())),
        ("submitted_at", text(&job.submitted_at)),
        ("run_at", text(&job.run_at)),
        ("next_fire_time", job.next_fire_time.map(|at| at.to_string())),
        ("deadline", job.deadline.map(|at| at.to_string())),
        ("expires_at", job.expires_at.map(|at| at.to_string())),
        ("ended_at", job.ended_at.map(|at| at.to_string())),
        ("timeout", job.timeout.map(|timeout| timeout.to_string())),
        ("attempts", Some(format!("{} (at most {} may fail)", job.attempts, job.max_attempts))),
        ("failures", counted(job.failures)),
        ("crashes", counted(job.crashes)),
        ("idempotency_key", job.idempotency_key.clone()),
        ("schedule_id", job.schedule_id.clone()),
        ("occurrence", job.occurrence.map(|at| at.to_string())),
        ("workflow_id", job.workflow_id.map(|id| id.to_string())),
        ("step", job.step.clone()),
        ("depends_on", parents(&job.depends_on)),
        ("concurrency_key", job.concurrency_key.clone()),
        ("rate_key", job.rate_key.clone()),
        ("weight", job.weight.map(|weight| weight.to_string())),
        ("worker", job.lease.as_ref().map(|lease| format!("{} (fence {})", lease.worker_id, lease.fence))),
        ("cancel_requested", job.lease.as_ref().filter(|lease| lease.cancel_requested).map(|_| "yes".to_owned())),
        (
            "progress",
            job.progress.as_ref().map(|progress| {
                let percent = progress.percent.map(|percent| format!("{percent}%"));
                [percent, progress.note.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ")
            }),
        ),
        ("data", text(&job.data)),
        ("checkpoint", job.checkpoint.as_ref().map(|json| json.to_string())),
        ("result", job.result.as_ref().map(|json| json.to_string())),
        // Of its last failed attempt: a job that completed in the end keeps it.
        ("last error", job.error.as_ref().map(|error| error.message.clone())),
        ("detail", job.error.as_ref().and_then(|error| error.detail.clone())),
        ("cancel_reason", job.cancel_reason.clone()),
    ])
}

fn parents(parents: &[DependsOn]) -> Option<String> {
    let parent = |parent: &DependsOn| match parent.on_failure {
        OnFailure::Cancel => parent.job_id.to_string(),
        on_failure => format!("{} (if it fails: {on_failure})", parent.job_id),
    };
    Some(parents.iter().map(parent).collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

pub fn jobs(page: &JobPage) -> Table {
    let mut rows = table(["JOB", "TYPE", "QUEUE", "STATUS", "PRIORITY", "NEXT", "ATTEMPTS", "TAGS"]);
    for job in &page.jobs {
        rows.add_row([
            job.job_id.to_string(),
            job.kind.clone(),
            job.queue.clone(),
            job.status.to_string(),
            job.priority.to_string(),
            or_dash(job.next_fire_time),
            job.attempts.to_string(),
            or_dash(Some(job.tags.join(",")).filter(|tags| !tags.is_empty())),
        ]);
    }
    rows
}

pub fn dead(page: &JobPage) -> Table {
    let mut rows = table(["JOB", "TYPE", "QUEUE", "ENDED", "FAILURES", "CRASHES", "ERROR"]);
    for job in &page.jobs {
        rows.add_row([
            job.job_id.to_string(),
            job.kind.clone(),
            job.queue.clone(),
            or_dash(job.ended_at),
            job.failures.to_string(),
            job.crashes.to_string(),
            or_dash(job.error.as_ref().map(|error| short(&error.message))),
        ]);
    }
    rows
}

/// A page that is not the last says so where it does not disturb the data.
pub fn say_more(page: &JobPage, format: Format) {
    if let (Some(cursor), Format::Table) = (&page.next_cursor, format) {
        eprintln!("there is more: --cursor {cursor}");
    }
}

pub fn executions(executions: &Executions) -> Table {
    let mut rows = table(["ATTEMPT", "FENCE", "STARTED", "DURATION", "OUTCOME", "WORKER", "ERROR"]);
    for execution in &executions.executions {
        rows.add_row([
            execution.attempt.to_string(),
            execution.fence.to_string(),
            execution.started_at.to_string(),
            or_dash(execution.duration),
            execution.outcome.map_or_else(|| "running".to_owned(), |outcome| outcome.to_string()),
            or_dash(execution.worker_id),
            or_dash(execution.error.as_ref().map(|error| short(&error.message))),
        ]);
    }
    rows
}

pub fn explanation(explanation: &Explanation) -> Table {
    let mut shown = vec![("status", Some(explanation.status.to_string()))];
    for reason in &explanation.reasons {
        shown.push((reason.code.as_str(), Some(reason.text.clone())));
        let holders: Vec<String> = reason.holders.iter().map(ToString::to_string).collect();
        shown.push(("  held by", Some(holders.join("\n")).filter(|holders| !holders.is_empty())));
    }
    shown.push(("starts at", explanation.eta.map(|at| format!("{at} at the earliest"))));
    facts(shown)
}

pub fn queue(queue: &QueueView) -> Table {
    queues(&Queues { queues: vec![queue.clone()] })
}

pub fn queues(queues: &Queues) -> Table {
    let mut rows = table([
        "QUEUE",
        "PAUSED",
        "BLOCKED",
        "SCHEDULED",
        "PENDING",
        "RUNNING",
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "OLDEST PENDING",
        "AGE FACTOR",
        "MAX DEPTH",
    ]);
    for queue in &queues.queues {
        rows.add_row([
            queue.name.clone(),
            if queue.paused { "yes" } else { "no" }.to_owned(),
            queue.blocked.to_string(),
            queue.scheduled.to_string(),
            queue.pending.to_string(),
            queue.running.to_string(),
            queue.completed.to_string(),
            queue.failed.to_string(),
            queue.cancelled.to_string(),
            or_dash(queue.oldest_pending_at),
            queue.age_factor.to_string(),
            or_dash(queue.max_depth),
        ]);
    }
    rows
}

pub fn workers(workers: &Workers, now: Timestamp) -> Table {
    let mut rows = table(["WORKER", "NAME", "HOST", "PID", "QUEUES", "HELD", "ORDER", "STATE", "LAST SEEN"]);
    for worker in &workers.workers {
        rows.add_row([
            worker.worker_id.to_string(),
            or_dash(worker.name.as_ref()),
            or_dash(worker.host.as_ref()),
            or_dash(worker.pid),
            or_dash(Some(worker.queues.join(",")).filter(|queues| !queues.is_empty())),
            worker.held.to_string(),
            worker.order.to_string(),
            if worker.expires_at > now { "alive" } else { "silent" }.to_owned(),
            worker.last_seen_at.to_string(),
        ]);
    }
    rows
}

pub fn event(event: &Event) -> String {
    let facts = [
        event.queue.as_ref().map(|queue| format!("queue={queue}")),
        event.job_type.as_ref().map(|kind| format!("type={kind}")),
        event.limit.as_ref().map(|limit| format!("limit={limit}")),
        event.until.map(|until| format!("until={until}")),
        event.attempt.map(|attempt| format!("attempt={attempt}")),
        event.worker_id.map(|worker| format!("worker={worker}")),
        event.missed.map(|missed| format!("missed={missed}")),
        event.error.as_ref().map(|error| format!("error={:?}", short(error))),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    format!("{} {:<10} {} {}", event.at, event.kind, or_dash(event.job_id), facts.join(" "))
}

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(CELL_CHARS_MAX) {
        None => line.to_owned(),
        Some((cut, _)) => format!("{}…", &line[..cut]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_or_many_lined_error_takes_one_short_cell() {
        assert_eq!(short("boom\nat line 3"), "boom");
        assert_eq!(short(&"é".repeat(61)), format!("{}…", "é".repeat(60)));
        assert_eq!(short(""), "");
    }

    #[test]
    fn a_worker_that_was_not_heard_from_in_time_is_silent() {
        let json = r#"{"workers":[{"worker_id":"01980000-0000-7000-8000-000000000001","queues":[],
            "registered_at":"2026-12-01T09:00:00Z","last_seen_at":"2026-12-01T09:00:00Z",
            "expires_at":"2026-12-01T09:00:30Z","held":1,"order":"work"}]}"#;
        let listed = serde_json::from_str(json).expect("workers");
        let shown = |now: &str| workers(&listed, now.parse().expect("a time")).to_string();
        assert!(shown("2026-12-01T09:00:29Z").contains("alive"));
        assert!(shown("2026-12-01T09:00:30Z").contains("silent"));
    }

    #[test]
    fn a_completed_job_shows_its_old_error_as_what_it_is() {
        let json = r#"{"job_id":"01980000-0000-7000-8000-000000000001","tenant":"default","type":"t","queue":"q",
            "status":"COMPLETED","data":null,"priority":5,"submitted_at":0,"run_at":0,"retry":{"strategy":"fixed"},
            "max_attempts":3,"max_crashes":5,"attempts":2,"retry_count":1,"failures":1,"crashes":0,
            "error":{"message":"boom"}}"#;
        let shown = job(&serde_json::from_str(json).expect("a job")).to_string();
        let line = shown.lines().find(|line| line.contains("boom")).expect("the error is shown");
        assert!(line.trim().starts_with("last error"), "{line}");
    }

    #[test]
    fn an_event_is_one_line_with_what_it_knows() {
        let json =
            r#"{"at":"2026-12-01T09:00:00.000Z","kind":"failed","queue":"mail","attempt":3,"error":"no\nroute"}"#;
        let shown = event(&serde_json::from_str(json).expect("an event"));
        assert_eq!(shown, r#"2026-12-01T09:00:00.000Z failed     - queue=mail attempt=3 error="no""#);
    }
}
