//! The Prometheus recorder and what `/metrics` shows. Counts nothing itself: the engine does, and the depth of queues is
//! read from the store when somebody asks.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use mainspring_core::store::{Counts, QueueView};
use mainspring_core::time::Time;
use mainspring_engine::measure;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::limits::METRICS_QUEUES_MAX;

pub const QUEUE_DEPTH: &str = "mainspring_queue_depth";
pub const QUEUE_OLDEST_SECONDS: &str = "mainspring_queue_oldest_pending_seconds";
pub const QUEUE_PAUSED: &str = "mainspring_queue_paused";

/// From a tenth of a millisecond to ten minutes: a good lateness is at the left end, an outage at the right.
const SECONDS_BUCKETS: &[f64] = &[
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0,
];
const JOBS_BUCKETS: &[f64] = &[1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 10000.0];

/// Between scrapes, samples of histograms pile up until they are sorted into their buckets.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Installs the recorder of this process. Call it before the engine starts; calling it again changes nothing. Answers
/// whether `/metrics` will show what the engine counts: not if the program installed another recorder before.
pub fn install() -> bool {
    RECORDER.get_or_init(build).is_some()
}

fn build() -> Option<PrometheusHandle> {
    let seconds = Matcher::Suffix("_seconds".to_owned());
    let jobs = Matcher::Full(measure::GATHER_JOBS.to_owned());
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(seconds, SECONDS_BUCKETS)
        .and_then(|builder| builder.set_buckets_for_metric(jobs, JOBS_BUCKETS))
        .expect("the buckets are not empty");
    let handle = builder.install_recorder().ok()?;
    measure::describe();
    Some(handle)
}

/// Sorts samples into buckets, for ever.
#[allow(clippy::disallowed_methods, reason = "the recorder's own upkeep; nothing of a job depends on it")]
pub(crate) async fn keep_up() {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        if let Some(Some(recorder)) = RECORDER.get() {
            recorder.run_upkeep();
        }
    }
}

/// What the engine counted, and how deep the queues are.
pub(crate) fn render(now: Time, queues: Vec<QueueView>) -> String {
    let mut text = RECORDER.get().and_then(Option::as_ref).map(PrometheusHandle::render).unwrap_or_default();
    write_queues(&mut text, now, queues).expect("a string takes all");
    text
}

/// Printed here and not kept as gauges: a queue that is gone must not be shown for ever.
fn write_queues(text: &mut String, now: Time, mut queues: Vec<QueueView>) -> std::fmt::Result {
    queues.sort_by_key(|queue| Reverse(queue.counts.depth() + queue.counts.running));
    let rest = queues.split_off(queues.len().min(METRICS_QUEUES_MAX));
    queues.sort_by(|one, other| one.queue.cmp(&other.queue));

    writeln!(text, "# HELP {QUEUE_DEPTH} Jobs in a queue, by status\n# TYPE {QUEUE_DEPTH} gauge")?;
    for view in &queues {
        write_depth(text, view.queue.tenant.as_str(), view.queue.queue.as_str(), view.counts)?;
    }
    if !rest.is_empty() {
        // A name may not hold a star, so this is no queue's.
        write_depth(text, "*", "*", rest.iter().fold(Counts::default(), |sum, view| add(sum, view.counts)))?;
    }
    writeln!(
        text,
        "# HELP {QUEUE_OLDEST_SECONDS} How long the oldest pending job has been due\n# TYPE {QUEUE_OLDEST_SECONDS} gauge"
    )?;
    for view in &queues {
        let age = view.oldest_ready_at.map(|at| now.since(at)).unwrap_or_default();
        writeln!(text, "{QUEUE_OLDEST_SECONDS}{} {}", labels(view), age.as_secs_f64())?;
    }
    writeln!(text, "# HELP {QUEUE_PAUSED} 1 while nothing is claimed from it\n# TYPE {QUEUE_PAUSED} gauge")?;
    queues.iter().try_for_each(|view| writeln!(text, "{QUEUE_PAUSED}{} {}", labels(view), u8::from(view.paused)))
}

/// Names hold nothing that a label would have to escape.
fn labels(view: &QueueView) -> String {
    format!("{{tenant=\"{}\",queue=\"{}\"}}", view.queue.tenant, view.queue.queue)
}

fn write_depth(text: &mut String, tenant: &str, queue: &str, counts: Counts) -> std::fmt::Result {
    by_status(counts).into_iter().try_for_each(|(status, count)| {
        writeln!(text, "{QUEUE_DEPTH}{{tenant=\"{tenant}\",queue=\"{queue}\",status=\"{status}\"}} {count}")
    })
}

fn by_status(counts: Counts) -> [(&'static str, u64); 8] {
    [
        ("BLOCKED", counts.blocked),
        ("SCHEDULED", counts.waiting),
        ("PENDING", counts.ready),
        ("PAUSED", counts.paused),
        ("RUNNING", counts.running),
        ("COMPLETED", counts.succeeded),
        ("FAILED", counts.dead),
        ("CANCELLED", counts.cancelled),
    ]
}

fn add(sum: Counts, counts: Counts) -> Counts {
    Counts {
        blocked: sum.blocked + counts.blocked,
        waiting: sum.waiting + counts.waiting,
        ready: sum.ready + counts.ready,
        paused: sum.paused + counts.paused,
        running: sum.running + counts.running,
        succeeded: sum.succeeded + counts.succeeded,
        dead: sum.dead + counts.dead,
        cancelled: sum.cancelled + counts.cancelled,
    }
}

#[cfg(test)]
mod tests {
    use mainspring_core::name::{QueueName, QueueRef, TenantName};
    use mainspring_core::rank::Aging;

    use super::*;

    fn queue(name: &str, ready: u64) -> QueueView {
        QueueView {
            queue: QueueRef { tenant: TenantName::default_tenant(), queue: QueueName::parse(name).expect("a name") },
            paused: false,
            aging: Aging::DEFAULT,
            max_depth: None,
            counts: Counts { ready, ..Counts::default() },
            oldest_ready_at: Some(Time::from_millis(1_000)),
        }
    }

    #[test]
    fn a_queue_is_shown_with_its_depth_and_its_oldest_age() {
        let mut text = String::new();
        write_queues(&mut text, Time::from_millis(3_500), vec![queue("mail", 7)]).expect("a string takes all");
        for line in [
            r#"mainspring_queue_depth{tenant="default",queue="mail",status="PENDING"} 7"#,
            r#"mainspring_queue_depth{tenant="default",queue="mail",status="RUNNING"} 0"#,
            r#"mainspring_queue_oldest_pending_seconds{tenant="default",queue="mail"} 2.5"#,
            r#"mainspring_queue_paused{tenant="default",queue="mail"} 0"#,
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn past_the_limit_queues_are_summed_up_and_the_deepest_are_named() {
        let queues = (0..METRICS_QUEUES_MAX as u64 + 2).map(|n| queue(&format!("q{n}"), n)).collect();
        let mut text = String::new();
        write_queues(&mut text, Time::ZERO, queues).expect("a string takes all");
        assert!(text.contains(r#"tenant="*",queue="*",status="PENDING"} 1"#), "q0 and q1 together hold one");
        assert!(!text.contains(r#"queue="q1","#));
        assert!(text.contains(r#"queue="q1001",status="PENDING"} 1001"#));
    }
}
